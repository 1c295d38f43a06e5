"""Words as tokens for TextAttack: `w12c3` is word 12 of the text, replaced by its candidate 3; 0 is the original.

Tokens consist of letters and digits, so that TextAttack does not split them, and belong to one position, so that they
determine their replacements. A text with missing tokens is the text without those words.
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
        raise ValueError(f"{given!r} is not a token; expected one like 'w12c3'")
    return int(match[1]), int(match[2])


@dataclass(frozen=True)
class Coded:
    """One text: the gaps before, between and after its words, and the options of each word (the word itself first).

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
        """Positions with candidates."""
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
            raise ValueError(f"{coded[:60]!r} is not a sequence of all {len(self.options)} words")
        return [candidate for _, candidate in places]

    def decode(self, coded: str) -> str:
        """The text itself. If a word is missing, one of the two gaps around it is dropped, too."""
        tokens = coded.split()
        if len(tokens) == len(self.options):
            # By far the most frequent case, and called many thousand times, so no token is parsed.
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
