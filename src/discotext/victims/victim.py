"""The one interface of all victims: texts go in, a score for each class comes out.

Only `scores` is required of a victim, with a `name` and the names of its classes. What more it can do it says by
having:

    vocabulary          the words it knows (None: it can read anything); candidates outside are refused
    oracle(space, goal) an oracle of its own, with gradients; without it, texts are written out and scored
    cut(texts)          for each text, whether it is longer than the victim reads
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from discotext.goals import Goal
from discotext.oracle import Oracle, RelaxedOracle
from discotext.problem import Batch
from discotext.segments import Choices, Floats, Ints
from discotext.text.space import Space


@runtime_checkable
class Victim(Protocol):
    """Anything that scores texts. A larger score means a likelier class; logits are better than probabilities."""

    @property
    def name(self) -> str:
        """As it is called on the command line, for records."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the classes, in the order of the scores."""
        ...

    def scores(self, texts: Sequence[str]) -> Floats:
        """(N, C) for N texts. A text's scores may not depend on the others."""
        ...


@runtime_checkable
class GradientVictim(Victim, Protocol):
    """A victim that can also say how its scores change with mixtures of words."""

    def oracle(self, space: Space, goal: Goal) -> RelaxedOracle:
        """An oracle for the texts of a space."""
        ...


def oracle_for(victim: Victim, space: Space, goal: Goal) -> Oracle:
    """The victim's own oracle where it has one, else one that writes every text out."""
    # Looked at and not asked: isinstance would read `labels`, for which a remote victim has to be called.
    own: Callable[[Space, Goal], Oracle] | None = getattr(victim, "oracle", None)
    return TextOracle(victim, space, goal) if own is None else own(space, goal)


class TextOracle:
    """Scores choices by writing each text out and asking the victim: works for anything, without gradients."""

    def __init__(self, victim: Victim, space: Space, goal: Goal) -> None:
        self.victim, self.space, self.goal = victim, space, goal

    @property
    def batch(self) -> Batch:
        return self.space.batch

    def score(self, problems: Ints, choices: Choices) -> Floats:
        texts = [self.space.text(problem, choice) for problem, choice in zip(problems.tolist(), choices, strict=True)]
        return self.goal.value(checked(self.victim, texts), problems)

    def without(self, problems: Ints, positions: Ints) -> Floats:
        texts = [self.space.shortened(*pair) for pair in zip(problems.tolist(), positions.tolist(), strict=True)]
        return self.goal.value(checked(self.victim, texts), problems)


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
