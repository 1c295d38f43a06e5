"""A job: everything that decides what a run finds, and how it is cut into units of work.

Texts are cut into chunks that depend on data, order and settings only. A unit is one chunk under one budget and one
solver; its seed comes from the job's seed and the unit alone. So a run gives the same records whether it was
interrupted, spread over machines, or run in one go. A unit that was not finished is done again as a whole.

Who does a unit gets it as a task, with its texts. So a worker holds the texts of one unit, whatever there is to do.
"""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from discotext.data.examples import Examples
from discotext.experiment.lines import CHECKSUM
from discotext.goals import Goal, Targeted, Untargeted
from discotext.oracle import RelaxedOracle, UnavailableError
from discotext.solvers.proposal import Solver
from discotext.text.candidates import Candidates
from discotext.version import __version__
from discotext.victims.asking import measure_tolerance
from discotext.victims.named import victim_from
from discotext.victims.victim import Victim, checked

CHUNK = 64  # texts of a unit: enough for full calls, and little to lose
FIRST = 2  # texts that tell one victim from another
WINDOW = 16  # chunks whose texts are dealt out by length, so that those of a chunk are of like length


@dataclass(frozen=True)
class Budget:
    """How many words of a text may change: a share of them, or a number."""

    share: str | None = None
    words: int | None = None

    def __str__(self) -> str:
        return f"{self.words} words" if self.words is not None else str(self.share)

    @property
    def value(self) -> float | int:
        """As a number for reports."""
        return self.words if self.words is not None else float(self.share or "nan")


@dataclass(frozen=True)
class Unit:
    """One chunk, one budget, one solver, by number; its own number is that in the whole work, whoever does it."""

    number: int
    chunk: int
    budget: int
    solver: int


@dataclass(frozen=True, eq=False)
class Task:
    """What is asked of a worker: texts of a unit, by number and in full, and their classes."""

    unit: Unit
    numbers: tuple[int, ...]
    texts: tuple[str, ...]
    labels: tuple[int, ...]

    def halves(self) -> tuple[Task, Task]:
        """The same in two: how what goes wrong is brought down to one text."""
        half = len(self.numbers) // 2
        return tuple(  # type: ignore[return-value]
            Task(self.unit, self.numbers[part], self.texts[part], self.labels[part])
            for part in (slice(half), slice(half, None))
        )


@dataclass(frozen=True, eq=False)
class Job:
    """A victim, examples, candidates, budgets and solvers, with one seed for all chance.

    solvers: by the names under which they appear in records. target: a class number for targeted attacks.
    only: part i of n of the chunks, for work that is spread.
    named: how the victim was named, and whether it is trusted; where the job is sent, it is loaded anew (`loaded`).
    to_the_end: whether a search goes on, and makes the score as high as it can, after the label has turned.
    measured: the tolerance that was measured where the job comes from.
    """

    victim: Victim
    examples: Examples
    candidates: Candidates
    solvers: dict[str, Solver]
    budgets: tuple[Budget, ...]
    seed: int = 0
    target: int | None = None
    chunk: int = CHUNK
    only: tuple[int, int] = (1, 1)
    to_the_end: bool = False
    named: tuple[str, bool] | None = None
    measured: float | None = None

    def __post_init__(self) -> None:
        if not self.solvers or not self.budgets:
            raise ValueError("there is nothing to do; give at least one solver and one budget")
        for name, solver in self.solvers.items():
            if getattr(solver, "needs", None) is RelaxedOracle and not self.victim.gradients:
                raise ValueError(
                    f"the solver {name} needs gradients, and {self.victim.name} has none; choose one that only asks "
                    "for scores, such as greedy, beam, local-search or exact"
                )
        if self.target is not None and not 0 <= self.target < len(self.victim.labels):
            raise ValueError(f"the target is class {self.target}; choose 0 to {len(self.victim.labels) - 1}")

    def __getstate__(self) -> dict[str, Any]:
        """What another process gets: settings, the first texts only, and of a victim that was named only the name."""
        state = {one.name: getattr(self, one.name) for one in fields(self)}
        few = self.examples.take(range(min(FIRST, len(self.examples))))
        victim = None if self.named else self.victim
        return state | {"examples": few, "victim": victim, "measured": self.tolerance}

    def loaded(self) -> Job:
        """The job with a victim of its own, where it has been sent.

        A victim may be settled by what it is asked first, as a function is whose single numbers may be chances or not:
        so it is asked here what it was asked there.
        """
        # What was sent as it is may be shared with others, and not to be written to.
        victim = copy.deepcopy(self.victim) if self.named is None else victim_from(*self.named)
        found = replace(self, victim=victim)
        found.settle()
        return found

    def settle(self) -> None:
        """Ask the victim about the first texts, as every process that uses it does before anything else."""
        _ = self._first_scores

    @cached_property
    def tolerance(self) -> float:
        """The margin that a flipped label must have to be more than a rounding error; the same for every worker."""
        if self.measured is not None:
            return self.measured
        self.settle()
        return measure_tolerance(self.victim, self.examples.texts)

    @cached_property
    def finder(self) -> Candidates:
        """Candidates of words that the victim knows."""
        return self.candidates.known_to(self.victim.vocabulary)

    @cached_property
    def chunks(self) -> list[tuple[int, ...]]:
        """Which examples make each chunk: of a window of them the longest the first, and so on.

        Texts of like length waste less of a call, and long ones first leave nobody waiting for them in the end.
        """
        lengths = list(map(len, self.examples.texts))
        found = []
        for start in range(0, len(lengths), self.chunk * WINDOW):
            window = range(start, min(start + self.chunk * WINDOW, len(lengths)))
            order = sorted(window, key=lambda number: -lengths[number])
            found += [tuple(sorted(order[at : at + self.chunk])) for at in range(0, len(order), self.chunk)]
        return found

    def task(self, unit: Unit) -> Task:
        """A unit with its texts."""
        numbers = self.chunks[unit.chunk]
        texts = tuple(self.examples.texts[number] for number in numbers)
        return Task(unit, numbers, texts, tuple(self.examples.labels[list(numbers)].tolist()))

    def shard(self, part: int, parts: int) -> Job:
        """Part i of n: every n-th chunk from the i-th, so that long and short texts fall to all alike."""
        return replace(self, only=(part, parts))

    @cached_property
    def units(self) -> list[Unit]:
        """The whole work, in its order: chunk after chunk, so that all budgets and solvers advance together."""
        part, parts = self.only
        every = itertools.product(range(len(self.chunks)), range(len(self.budgets)), range(len(self.solvers)))
        units = (Unit(number, *which) for number, which in enumerate(every))
        return [unit for unit in units if unit.chunk % parts == part - 1]

    def seed_of(self, unit: Unit) -> int:
        """A seed for a unit: the same for every solver, so that those that draw alike meet the same luck."""
        state = np.random.SeedSequence([self.seed, unit.chunk, unit.budget]).generate_state(1)
        return int(state[0])

    def goal(self, labels: Sequence[int]) -> Goal:
        """What the attack wants of texts with these labels."""
        return Untargeted(labels) if self.target is None else Targeted([self.target] * len(labels))

    def done_already(self, label: int, predicted: int) -> bool:
        """Whether there is nothing to attack: misclassified, or already what is wanted."""
        return predicted != label or (self.target is not None and label == self.target)

    @cached_property
    def _texts_hash(self) -> str:
        """Names do not tell data apart: a file may have changed since."""
        content = [self.examples.texts, self.examples.labels.tolist(), self.examples.names]
        digest = hashlib.sha256()
        for part in json.JSONEncoder().iterencode(content):  # and never all of it as one string
            digest.update(part.encode())
        return digest.hexdigest()[:16]

    @cached_property
    def _first_scores(self) -> list[list[float]] | str:
        """What the victim says of the first texts: so a run is not continued with another victim of the same name."""
        try:
            return [
                [float(f"{value:.3g}") for value in row] for row in checked(self.victim, self.examples.texts[:FIRST])
            ]
        except UnavailableError:
            raise
        except Exception as error:
            return type(error).__name__

    @property
    def _classes(self) -> dict[str, list[str]]:
        """What the data calls the classes, where the victim calls them something else."""
        own = self.examples.own or self.examples.names
        return {} if own == self.victim.labels else {"classes": list(own)}

    @property
    def settings(self) -> dict[str, Any]:
        """What the records depend on, as JSON: a run goes on only with the same."""
        return {
            "version": __version__,
            "victim": self.victim.name,
            "labels": list(self.victim.labels),
            **self._classes,
            "data": self.examples.source,
            "n": len(self.examples),
            "solvers": {name: repr(solver) for name, solver in self.solvers.items()},
            "budgets": [str(budget) for budget in self.budgets],
            "seed": self.seed,
            "target": self.target,
            "candidates": self.candidates.settings,
            "chunk": self.chunk,
            "window": WINDOW,
            "texts": self._texts_hash,
            "first_scores": self._first_scores,
            "to_the_end": self.to_the_end,
            "shard": "/".join(map(str, self.only)),
            "checksum": CHECKSUM,
        }
