"""The search space: which texts may be written in place of some texts, as problems that solvers understand."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from discotext.problem import Batch, Problem
from discotext.segments import Choices
from discotext.text.candidates import Candidates
from discotext.text.words import Words, budget_for, split

DEFAULT_SHARE = 0.2


def may_change(text: Words, share: float | str | None, words: int | None) -> int:
    """How many words of a text may change: a share of them, or so many."""
    if words is not None:
        return min(words, len(text))
    return budget_for(len(text), DEFAULT_SHARE if share is None else share)


@dataclass(frozen=True, eq=False)
class Space:
    """Texts, what each of their words may be (first itself), and how many words of each text may change.

    refused: for each text, how many candidates each filter refused; empty where that is not known.

    >>> space = Space.of(["They purchased it"], Candidates(), words=1)
    >>> sorted(space.options[0][1]), str(space.texts[0]) == space.text(0, [0, 0, 0])
    (['acquired', 'bought', 'purchased'], True)
    """

    texts: tuple[Words, ...]
    options: tuple[tuple[tuple[str, ...], ...], ...]
    budgets: tuple[int, ...]
    refused: tuple[dict[str, int], ...] = ()

    @classmethod
    def of(
        cls,
        texts: Iterable[str],
        candidates: Candidates,
        share: float | str | None = None,
        words: int | None = None,
    ) -> Space:
        """Make a space. share: of the words that may change (0.2 where nothing is said). words: how many, instead."""
        if share is not None and words is not None:
            raise ValueError(f"share is {share} and words is {words}; give one of them")
        if words is not None and words < 0:
            raise ValueError(f"words is {words}; choose 0 or more")
        texts = list(texts)
        cut = tuple(split(text) for text in texts)
        found = candidates.of_texts(texts)
        return cls(
            cut,
            tuple(tuple((one.word, *one.candidates) for one in text) for text in found),
            tuple(may_change(text, share, words) for text in cut),
            tuple(dict(Counter(name for one in text for _, name in one.refused)) for text in found),
        )

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, texts: Sequence[int]) -> Space:
        """The space of some of the texts."""
        return Space(
            tuple(self.texts[number] for number in texts),
            tuple(self.options[number] for number in texts),
            tuple(self.budgets[number] for number in texts),
            tuple(self.refused[number] for number in texts) if self.refused else (),
        )

    def changeable(self, problem: int) -> int:
        """How many words of a text have a candidate."""
        return sum(len(words) > 1 for words in self.options[problem])

    def can_change(self, problem: int) -> bool:
        """Whether any text but the original is allowed."""
        return self.budgets[problem] > 0 and self.changeable(problem) > 0

    @cached_property
    def batch(self) -> Batch:
        """The shapes of all this: one problem a text."""
        return Batch.of(
            [
                Problem(tuple(len(choices) for choices in options), budget)
                for options, budget in zip(self.options, self.budgets, strict=True)
            ]
        )

    def words(self, problem: int, choice: Sequence[int] | Choices) -> tuple[str, ...]:
        """The words of a choice; what lies beyond the text's end is ignored."""
        options = self.options[problem]
        return tuple(words[candidate] for words, candidate in zip(options, choice[: len(options)], strict=True))

    def text(self, problem: int, choice: Sequence[int] | Choices) -> str:
        """The text of a choice: gaps as they were, words as chosen."""
        return str(Words(self.words(problem, choice), self.texts[problem].gaps))

    def shortened(self, problem: int, position: int) -> str:
        """The original text without one word, and without the gap that would be left double."""
        text = self.texts[problem]
        before, after = text.gaps[position], text.gaps[position + 1]
        gap = before if after.isspace() and (not before or before[-1:].isspace()) else before + after
        return str(
            Words(
                text.words[:position] + text.words[position + 1 :],
                (*text.gaps[:position], gap, *text.gaps[position + 2 :]),
            )
        )

    def changes(self, problem: int, choice: Sequence[int] | Choices) -> list[dict[str, Any]]:
        """What a choice changes: position, where it was in the original text, old and new word."""
        spans = self.texts[problem].spans()
        return [
            {"position": number, "start": spans[number][0], "end": spans[number][1], "old": old, "new": new}
            for number, (old, new) in enumerate(
                zip(self.texts[problem].words, self.words(problem, choice), strict=True)
            )
            if old != new
        ]

    @cached_property
    def hash(self) -> str:
        """A name for exactly this space: another text, candidate, order or budget gives another."""
        content = [[str(text) for text in self.texts], self.options, self.budgets]
        return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()[:16]
