"""How a run is divided into units of work, whoever does them.

Texts are divided into chunks that depend on data, order and settings only. A unit is one chunk under one budget and one
solver; its seed comes from the run's seed and the unit alone. So a run gives the same records whether it was
interrupted, spread over machines, or run in one go. A unit that was not finished is done again as a whole.

A worker gets a unit as a task, with its texts: it holds the texts of one unit, however long the run.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

Notify = Callable[[str], None]
WINDOW = 16  # chunks whose texts are sorted by length together, so that those of a chunk are of like length


def ignore(*message: object) -> None:
    """A callback that does nothing."""


@dataclass(frozen=True)
class Unit:
    """One chunk, one budget, one solver, each by number. number: its place in the whole work, shards or not."""

    number: int
    chunk: int
    budget: int
    solver: int


@dataclass(frozen=True)
class Schedule:
    """The units of a run, in their order: chunk after chunk, so that all budgets and solvers advance together.

    lengths: of the texts. chunk: texts in a unit. budgets, solvers: how many there are. part: i of n, every n-th chunk
    from the i-th, so that long and short texts fall to all alike.
    """

    lengths: tuple[int, ...]
    chunk: int
    budgets: int
    solvers: int
    seed: int
    part: tuple[int, int] = (1, 1)

    @cached_property
    def chunks(self) -> list[tuple[int, ...]]:
        """Which texts make each chunk: within a window of many chunks, the longest texts make the first, and so on.

        Texts of like length waste less of a call, and with long ones first no worker waits for them in the end.
        """
        found = []
        for start in range(0, len(self.lengths), self.chunk * WINDOW):
            window = range(start, min(start + self.chunk * WINDOW, len(self.lengths)))
            order = sorted(window, key=lambda number: -self.lengths[number])
            found += [tuple(sorted(order[at : at + self.chunk])) for at in range(0, len(order), self.chunk)]
        return found

    @cached_property
    def units(self) -> list[Unit]:
        """The units of this part."""
        part, parts = self.part
        every = itertools.product(range(len(self.chunks)), range(self.budgets), range(self.solvers))
        units = (Unit(number, *which) for number, which in enumerate(every))
        return [unit for unit in units if unit.chunk % parts == part - 1]

    def seed_of(self, unit: Unit) -> int:
        """A seed for a unit: the same for every solver, so that solvers that draw alike draw the same."""
        return int(np.random.SeedSequence([self.seed, unit.chunk, unit.budget]).generate_state(1)[0])


@dataclass(frozen=True, eq=False)
class Question:
    """Texts for a worker to score, by their numbers in the question."""

    numbers: tuple[int, ...]
    texts: tuple[str, ...]

    def take(self, places: Sequence[int]) -> Question:
        """The same for some of the texts."""
        return Question(tuple(self.numbers[at] for at in places), tuple(self.texts[at] for at in places))


@dataclass(frozen=True, eq=False)
class Task:
    """Texts of a unit for a worker to attack: their numbers, the texts, and their classes."""

    unit: Unit
    numbers: tuple[int, ...]
    texts: tuple[str, ...]
    labels: tuple[int, ...]

    def take(self, places: Sequence[int]) -> Task:
        """The same for some of the texts."""
        numbers, texts = (tuple(self.numbers[at] for at in places), tuple(self.texts[at] for at in places))
        return Task(self.unit, numbers, texts, tuple(self.labels[at] for at in places))


@dataclass(frozen=True)
class WorkerReply:
    """What a worker says of one text of a question: its scores, or why there are none.

    id: the text's number. forwards: calls of the model. seconds: that they took. classes_only: what the victim now
    declares.
    """

    id: int
    scores: tuple[float, ...] = ()
    error: str | None = None
    forwards: int = 1
    seconds: float = 0.0
    classes_only: bool = False
