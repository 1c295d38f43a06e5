"""The search space: the texts that may replace each original, as problems that solvers understand."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from discotext.core.arrays import Choices
from discotext.core.problem import Batch, Problem
from discotext.text.candidates import Candidates
from discotext.text.words import Words, compute_budget, to_words

DEFAULT_SHARE = 0.2


def count_allowed_changes(text: Words, share: float | str | None, words: int | None) -> int:
    """How many words of a text may change: a share of them [default: 0.2], or a number of words, not both."""
    if share is not None and words is not None:
        raise ValueError(f"share is {share} and words is {words}; give one of them")
    if words is not None and words < 0:
        raise ValueError(f"words is {words}; choose 0 or more")
    if words is not None:
        return min(words, len(text))
    return compute_budget(len(text), DEFAULT_SHARE if share is None else share)


@dataclass(frozen=True, eq=False)
class Space:
    """Texts, the options for each of their words (itself first), and the number of words of each text that may change.

    refused: for each text, how many candidates each filter refused; empty if that is not known.
    accept: the probability that most people accept each option, 1 for the word itself, None where nothing estimates it;
        empty if that is not known of any.

    >>> space = Space.of(["They purchased it"], Candidates(), words=1)
    >>> sorted(space.options[0][1]), str(space.texts[0]) == space.text(0, [0, 0, 0])
    (['bought', 'purchased'], True)
    """

    texts: tuple[Words, ...]
    options: tuple[tuple[tuple[str, ...], ...], ...]
    budgets: tuple[int, ...]
    refused: tuple[dict[str, int], ...] = ()
    accept: tuple[tuple[tuple[float | None, ...], ...], ...] = ()

    @classmethod
    def of(
        cls,
        texts: Iterable[str | Words],
        candidates: Candidates,
        share: float | str | None = None,
        words: int | None = None,
    ) -> Space:
        """Build the space of some texts: strings, or texts that have already been split into words.

        share: the share of words that may change [default: 0.2]. words: the number of words instead.
        """
        if isinstance(texts, str):
            raise TypeError(f"the texts are one string, {texts[:40]!r}; give a list of texts")
        split_texts = tuple(map(to_words, texts))
        budgets = tuple(count_allowed_changes(text, share, words) for text in split_texts)
        found = candidates.find(split_texts)
        return cls(
            split_texts,
            tuple(tuple((one.word, *one.candidates) for one in text) for text in found),
            budgets,
            tuple(dict(Counter(name for one in text for _, name in one.refused)) for text in found),
            tuple(tuple((1.0, *one.accept) for one in text) for text in found),
        )

    def restrict(self, accept: float) -> Space:
        """The same texts without the options whose probability is lower than this.

        >>> space = Space.of(["They purchased it"], Candidates(), words=1)
        >>> space.restrict(1.0).options[0][1]
        ('purchased',)
        """
        if not self.accept:
            return self
        options, chances = [], []
        for words, accepts in zip(self.options, self.accept, strict=True):
            pairs = [[*zip(*pair, strict=True)] for pair in zip(words, accepts, strict=True)]
            kept = [[one[0], *(pair for pair in one[1:] if (pair[1] or 0.0) >= accept)] for one in pairs]
            options.append(tuple(tuple(word for word, _ in one) for one in kept))
            chances.append(tuple(tuple(chance for _, chance in one) for one in kept))
        return replace(self, options=tuple(options), accept=tuple(chances))

    def with_budgets(self, share: float | str | None = None, words: int | None = None) -> Space:
        """The same texts and options with other budgets, given as in `Space.of`.

        >>> space = Space.of(["They purchased it"], Candidates(), words=1)
        >>> space.with_budgets(share=1).budgets
        (3,)
        """
        return replace(self, budgets=tuple(count_allowed_changes(text, share, words) for text in self.texts))

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, texts: Sequence[int]) -> Space:
        """The space of some of the texts, by number."""

        def pick(values: Sequence[Any]) -> tuple[Any, ...]:
            return tuple(values[number] for number in texts) if values else ()

        return Space(pick(self.texts), pick(self.options), pick(self.budgets), pick(self.refused), pick(self.accept))

    def count_changeable(self, problem: int) -> int:
        """How many words of a text have candidates."""
        return sum(len(words) > 1 for words in self.options[problem])

    def can_change(self, problem: int) -> bool:
        """Whether the space contains any text but the original."""
        return self.budgets[problem] > 0 and any(len(words) > 1 for words in self.options[problem])

    @cached_property
    def batch(self) -> Batch:
        """One problem per text: the number of options of each word, and the budget."""
        pairs = zip(self.options, self.budgets, strict=True)
        return Batch.of([Problem(tuple(map(len, options)), budget) for options, budget in pairs])

    def words(self, problem: int, choice: Sequence[int] | Choices) -> tuple[str, ...]:
        """The words of a choice; entries beyond the end of the text are ignored."""
        options = self.options[problem]
        return tuple(words[candidate] for words, candidate in zip(options, choice[: len(options)], strict=True))

    def text(self, problem: int, choice: Sequence[int] | Choices) -> str:
        """The text of a choice: the original gaps with the chosen words."""
        return str(Words(self.words(problem, choice), self.texts[problem].gaps))

    def delete_word(self, problem: int, position: int) -> str:
        """The original text without one word, and without a doubled space in its place."""
        text = self.texts[problem]
        before, after = text.gaps[position], text.gaps[position + 1]
        gap = before if after.isspace() and (not before or before[-1:].isspace()) else before + after
        words = text.words[:position] + text.words[position + 1 :]
        return str(Words(words, (*text.gaps[:position], gap, *text.gaps[position + 2 :])))

    def changes(self, problem: int, choice: Sequence[int] | Choices) -> list[dict[str, Any]]:
        """What a choice changes: position, start and end offset in the original text, old and new word, probability."""
        spans, words = self.texts[problem].spans(), self.words(problem, choice)
        known = self.accept[problem] if self.accept else None
        return [
            {
                "position": number,
                "start": spans[number][0],
                "end": spans[number][1],
                "old": old,
                "new": new,
                "accept": None if known is None else known[number][choice[number]],
            }
            for number, (old, new) in enumerate(zip(self.texts[problem].words, words, strict=True))
            if old != new
        ]

    @cached_property
    def hash(self) -> str:
        """Identifies exactly this space: any other text, candidate, probability, order or budget gives another hash."""
        # 0.0 was a limit on all changes together; without it, the spaces of earlier runs would not be recognised.
        content = [[str(text) for text in self.texts], self.options, self.budgets, self.accept, 0.0]
        return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()[:16]
