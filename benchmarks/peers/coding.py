"""Our words as TextAttack sees them: the token `w12c3` is word 12 of the text in its 3rd candidate, 0 the original.

Tokens are letters and digits, so that TextAttack's own splitting leaves them whole; no two positions share one, so that
a token alone tells what may replace it. A text in which tokens are missing is one with those words left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

TOKEN = re.compile(r"w([0-9]+)c([0-9]+)")


def token(position: int, candidate: int) -> str:
    return f"w{position}c{candidate}"


def place(given: str) -> tuple[int, int]:
    """(position, candidate) of a token.

    >>> place("w12c3")
    (12, 3)
    """
    match = TOKEN.fullmatch(given)
    if match is None:
        raise ValueError(f"{given!r} is no token; expected such as 'w12c3'")
    return int(match[1]), int(match[2])


@dataclass(frozen=True)
class Coded:
    """One text: what stands before, between and after its words, and what each word may be (first itself).

    >>> text = Coded(("", " ", "!"), (("good", "fine"), ("film",)))
    >>> text.original, text.replacements("w0c0"), text.decode("w0c1 w1c0"), text.decode("w1c0")
    ('w0c0 w1c0', ['w0c1'], 'fine film!', 'film!')
    """

    gaps: Sequence[str]
    options: Sequence[Sequence[str]]

    @cached_property
    def _word(self) -> dict[str, str]:
        return {
            token(position, candidate): word
            for position, words in enumerate(self.options)
            for candidate, word in enumerate(words)
        }

    @cached_property
    def original(self) -> str:
        return " ".join(token(position, 0) for position in range(len(self.options)))

    @cached_property
    def changeable(self) -> frozenset[int]:
        """Positions with a candidate beside the original."""
        return frozenset(position for position, words in enumerate(self.options) if len(words) > 1)

    def replacements(self, given: str) -> list[str]:
        """The other tokens of a token's position."""
        position, _ = place(given)
        every = (token(position, candidate) for candidate in range(len(self.options[position])))
        return [one for one in every if one != given]

    def choice(self, coded: str) -> list[int]:
        """One candidate number for each position, of a text with all its words."""
        places = [place(one) for one in coded.split()]
        if [position for position, _ in places] != list(range(len(self.options))):
            raise ValueError(f"{coded[:60]!r} is not the row of all {len(self.options)} words")
        return [candidate for _, candidate in places]

    def decode(self, coded: str) -> str:
        """The real text. Where a word is left out, so is the gap that would be left double."""
        tokens = coded.split()
        if len(tokens) == len(self.options):
            # Much the most frequent, and asked many thousand times: no token is taken apart.
            words = self._word
            return self.gaps[0] + "".join([words[one] + gap for one, gap in zip(tokens, self.gaps[1:], strict=True)])
        kept = {place(one)[0]: self._word[one] for one in tokens}
        text = self.gaps[0]
        for position, after in enumerate(self.gaps[1:]):
            if position in kept:
                text += kept[position] + after
            elif not (after.isspace() and (not text or text[-1].isspace())):
                text += after
        return text
