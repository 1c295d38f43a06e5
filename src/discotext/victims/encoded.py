"""A victim that reads synonyms as one word: any victim with `MergedWords` in front of it."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from discotext.core.arrays import Bools, Floats, Ints
from discotext.core.objectives import Objective, Untargeted
from discotext.core.oracle import Oracle, RelaxedOracle
from discotext.core.rounding import best_vertex
from discotext.text.merging import MergedWords
from discotext.text.space import Space
from discotext.victims.victim import Capabilities, Victim, WrappedVictim

MERGED = "merged_words.json"  # the file of a saved victim
TOGETHER = 256  # texts whose words are exchanged at once


@dataclass(frozen=True, eq=False)
class EncodedVocabulary:
    """The words whose code a victim knows."""

    words: Container[str]
    merged: MergedWords

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.merged.read_word(word) in self.words


class Encoded(WrappedVictim):
    """A victim that gets every text with its words replaced by those that stand for their groups.

    The attack sees through it: options of a search space are encoded, too, so that what the inner victim has
    (gradients, bounds, deletions) holds for the whole. victim: best one that was trained on encoded texts.

    >>> from discotext.victims.function import FunctionVictim
    >>> inner = FunctionVictim(lambda texts: [[text.count("film"), 0.5] for text in texts])
    >>> Encoded(inner, MergedWords({"film": "film", "movie": "film"})).scores(["a movie"])
    array([[1. , 0.5]])
    """

    def __init__(self, victim: Victim, merged: MergedWords, name: str | None = None) -> None:
        super().__init__(victim, name)
        if not isinstance(merged, MergedWords):
            raise TypeError(f"the merged words are a {type(merged).__name__}; expected MergedWords")
        self.merged = merged

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        can = self.victim.capabilities
        words = can.vocabulary
        return can if words is None else replace(can, vocabulary=EncodedVocabulary(words, self.merged))

    def scores(self, texts: Sequence[str]) -> Floats:
        return self.victim.scores(self._read(texts))

    def oracle(self, space: Space, objective: Objective) -> Oracle:
        return self.victim.oracle(encode_space(space, self.merged), objective)

    def save(
        self, folder: str | Path, settings: Mapping[str, Any] | None = None, more: Mapping[str, bytes] | None = None
    ) -> None:
        if MERGED in (more or {}):
            raise ValueError(
                "a victim with merged words inside another cannot be saved; merge the words of both in one"
            )
        self.victim.save(folder, settings, {MERGED: self.merged.to_json(), **(more or {})})

    def truncates(self, texts: Sequence[str]) -> list[bool]:
        return self.victim.truncates(self._read(texts))

    def remembers(self, texts: Sequence[str]) -> Bools:
        return self.victim.remembers(self._read(texts))

    def _read(self, texts: Sequence[str]) -> list[str]:
        return [self.merged(text) for text in texts]


def encode_space(space: Space, merged: MergedWords) -> Space:
    """The space as a victim behind merged words reads it."""
    options = tuple(
        tuple(tuple(merged.read_at(text, at, word) for word in words) for at, words in enumerate(mine))
        for text, mine in zip(space.texts, space.options, strict=True)
    )
    return replace(space, texts=tuple(map(merged.read, space.texts)), options=options)


def exchange_words(victim: Victim, space: Space, labels: Ints) -> list[str]:
    """The texts with the words exchanged that bring another class nearest, to first order: for adversarial training.

    They are found as an attack finds them: one gradient by the mixtures at the original text, and for it the best
    vertex of the budget polytope.
    """
    found: list[str] = []
    for begin in range(0, len(space), TOGETHER):
        some = space.take(range(begin, min(begin + TOGETHER, len(space))))
        oracle = victim.oracle(some, Untargeted(labels[begin : begin + TOGETHER]))
        assert isinstance(oracle, RelaxedOracle)
        gradient = oracle.relaxed(np.arange(len(some)), some.batch.one_hot(some.batch.originals()))[1]
        found += [some.text(number, choice) for number, choice in enumerate(best_vertex(gradient, some.batch))]
    return found
