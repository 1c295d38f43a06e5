"""The one interface of all victims: texts go in, a score for each class comes out.

What a victim can do, it declares here and nowhere else; everything that needs to know asks these attributes:

    name, labels    what it is called, and the names of its classes in the order of the scores
    gradients       whether its oracle has gradients (`relaxed`); solvers that need them are refused otherwise
    vocabulary      the words it can tell apart, as anything that supports `in`; None: it reads anything
    uses_gpu        whether it is a network that runs faster on a GPU
    has_memory      whether it answers some texts without asking the model (`remembers` tells which)

A victim of your own inherits from `Victim`, sets `name` and `labels`, and writes `scores`. With gradients, it also sets
`gradients = True` and writes `oracle`.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discotext.goals import Goal
from discotext.oracle import Oracle, Request
from discotext.problem import Batch
from discotext.segments import Bools, Choices, Floats, Ints
from discotext.text.space import Space


class Victim:
    """Anything that scores texts. A larger score means a likelier class; logits are better than probabilities."""

    name: str
    labels: tuple[str, ...]
    gradients: bool = False
    vocabulary: Container[str] | None = None
    uses_gpu: bool = False
    has_memory: bool = False

    def scores(self, texts: Sequence[str]) -> Floats:
        """(N, C) for N texts. A text's scores may not depend on the others."""
        raise TypeError(f"{type(self).__name__} does not say how it scores texts; write its `scores` method")

    def oracle(self, space: Space, goal: Goal) -> Oracle:
        """An oracle for the texts of a space: with `relaxed` if `gradients` is true."""
        return TextOracle(self, space, goal)

    def truncates(self, texts: Sequence[str]) -> list[bool]:
        """For each text, whether it is longer than the victim reads."""
        return [False] * len(texts)

    def remembers(self, texts: Sequence[str]) -> Bools:
        """(N,) which texts would be answered now without asking the model."""
        return np.zeros(len(texts), dtype=bool)


@dataclass(frozen=True, eq=False)
class KnownWords:
    """A vocabulary from a plain collection of words, whatever the case in which a word is written.

    >>> "Good" in KnownWords({"good", "film"}), "gnu" in KnownWords({"good", "film"})
    (True, False)
    """

    words: Container[str]

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and (word in self.words or word.lower() in self.words)


DECLARED = ("gradients", "vocabulary", "uses_gpu")


class AdaptedVictim(Victim):
    """An object that has what a victim needs without inheriting from `Victim`."""

    def __init__(self, model: Any) -> None:
        if hasattr(model, "oracle") and not hasattr(model, "gradients"):
            raise TypeError(
                f"{model.name} has an oracle and does not say whether that has gradients; set its attribute "
                "`gradients` to True or False"
            )
        self.model, self.name = model, model.name
        for attribute in DECLARED:
            setattr(self, attribute, getattr(model, attribute, getattr(Victim, attribute)))
        if self.vocabulary is not None:
            self.vocabulary = KnownWords(self.vocabulary)

    @property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(self.model.labels)

    def scores(self, texts: Sequence[str]) -> Floats:
        return np.asarray(self.model.scores(texts))

    def oracle(self, space: Space, goal: Goal) -> Oracle:
        own: Oracle = self.model.oracle(space, goal) if self.gradients else TextOracle(self, space, goal)
        return own


class TextOracle:
    """Scores choices by writing each text out and asking the victim: works for anything, without gradients."""

    def __init__(self, victim: Victim, space: Space, goal: Goal) -> None:
        self.victim, self.space, self.goal = victim, space, goal

    @property
    def batch(self) -> Batch:
        return self.space.batch

    def score(self, problems: Ints, choices: Choices) -> Floats:
        return self.goal.value(checked(self.victim, self._texts(problems, choices)), problems)

    def without(self, problems: Ints, positions: Ints) -> Floats:
        return self.goal.value(checked(self.victim, self._shortened(problems, positions)), problems)

    def cost(self, request: Request) -> tuple[Ints, Ints]:
        """A pass for each row, but none for a row that the victim answers from memory."""
        forwards, backwards = np.ones(len(request), dtype=np.int64), np.zeros(len(request), dtype=np.int64)
        if self.victim.has_memory:
            if request.choices is not None:
                texts = self._texts(request.problems, request.choices)
            else:
                texts = self._shortened(request.problems, np.asarray(request.integers))
            forwards[self.victim.remembers(texts)] = 0
        return forwards, backwards

    def _texts(self, problems: Ints, choices: Choices) -> list[str]:
        return [self.space.text(problem, choice) for problem, choice in zip(problems.tolist(), choices, strict=True)]

    def _shortened(self, problems: Ints, positions: Ints) -> list[str]:
        return [self.space.shortened(*pair) for pair in zip(problems.tolist(), positions.tolist(), strict=True)]


def checked(victim: Victim, texts: Sequence[str]) -> Floats:
    """The victim's scores, and a sentence if they are not one finite number for each text and class."""
    found = np.asarray(victim.scores(texts), dtype=np.float64)
    if found.shape != (len(texts), len(victim.labels)):
        raise ValueError(
            f"{victim.name} returned scores of shape {found.shape} for {len(texts)} texts; "
            f"expected ({len(texts)}, {len(victim.labels)}), a score for each class"
        )
    bad = np.flatnonzero(~np.isfinite(found).all(axis=1))
    if len(bad):
        raise ValueError(f"{victim.name} returned {found[bad[0]].tolist()} for the text {texts[bad[0]][:60]!r}")
    return found
