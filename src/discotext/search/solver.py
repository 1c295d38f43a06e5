"""What a solver is: frozen settings, declared needs, and a generator of proposals.

A solver keeps no score board. It yields proposals and is told which problems go on; `solve` keeps the best, watches the
clock and the limits, prunes changes that are not needed, and checks every answer, once, for every solver.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from discotext.core.arrays import Bools, Choices, Floats, Ints
from discotext.core.oracle import Oracle, Wrapper
from discotext.core.problem import Batch
from discotext.core.wrappers import Counted
from discotext.search.tuning import DEFAULT, Tuning

Result = TypeVar("Result")


@dataclass(frozen=True)
class Proposal:
    """Choices that were tried, with their scores.

    problems: (R,) numbers in the batch, in any order; a problem may occur many times.
    choices: (R, n_max), within budget. scores: (R,).
    proved: problems for which everything else has been ruled out: the best seen so far is the best there is.
    below: everything with fewer changes than this has been tried or ruled out, for all problems named here; or such a
        number for each problem of the batch.
    """

    problems: Ints
    choices: Choices
    scores: Floats
    proved: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    below: int | Ints = 0


Proposals = Generator[Proposal, Ints, None]


def is_active(problems: Ints, active: Ints) -> Bools:
    """(R,) True for rows whose problem goes on."""
    return np.isin(problems, active)


def drive(search: Generator[Proposal, Ints, Result], answer: Callable[[Proposal], Ints]) -> Result | None:
    """Run a search to its end, or until no problem goes on; returns what the search returns.

    answer: called with each proposal; returns the numbers of the problems that go on, in increasing order.
    """
    try:
        active = answer(next(search))
        while len(active):
            active = answer(search.send(active))
    except StopIteration as end:
        returned: Result = end.value
        return returned
    search.close()
    return None


@dataclass(frozen=True)
class Search:
    """What a solver may know about the search it takes part in.

    goal: the score at which a problem is done, or None where scores are maximised.
    rng: the source of everything random.
    limited: whether passes or time are limited from outside, so that any call may be the last.
    count_passes: for (R,) problems, the forwards + backwards that have reached the model so far. A memory's answers
        are free and not counted.
    """

    goal: float | None
    rng: np.random.Generator
    count_passes: Callable[[Ints], Ints]
    limited: bool = False

    @classmethod
    def of(cls, counted: Counted, goal: float | None = None, seed: int = 0) -> Search:
        """A search whose passes are counted by this wrapper."""
        return cls(goal, np.random.default_rng(seed), counted.passes, not counted.unlimited)

    def spent(self, problems: Ints) -> Floats:
        """(R,) passes spent on each of these problems so far."""
        return np.asarray(self.count_passes(problems), dtype=np.float64)


class Solver(ABC):
    """Settings of a search, and how it proposes. Subclass it as a frozen dataclass and write `propose`.

    The properties declare how the solver behaves; the defaults suit most solvers.
    """

    @property
    def needs(self) -> type:
        """What the oracle must be able to do: `Oracle`, `RelaxedOracle`, …; `solve` checks it before any work."""
        return Oracle

    @property
    def restricts(self) -> bool:
        """Whether more is forbidden than the problems say; then pruning may not exchange words for others."""
        return False

    @property
    def thorough(self) -> bool:
        """Whether pruning may spend about fifty more passes to keep fewer words changed."""
        return False

    @property
    def tuning(self) -> Tuning:
        """The tuned constants that pruning uses."""
        return DEFAULT

    def refuse(self, batch: Batch, oracle: Oracle) -> None:  # noqa: B027 (most solvers refuse nothing)
        """Raise ValueError for problems that the solver cannot take on; called before any work."""

    @abstractmethod
    def propose(self, batch: Batch, oracle: Wrapper, search: Search) -> Proposals:
        """Yield proposals; each yield returns the numbers of the problems that go on, in increasing order.

        The oracle can do all that `needs` asks for, remembers scores and counts passes. Start from
        `batch.originals()`, whose scores are known already and cost nothing to ask for.
        """


def check_solver(given: object) -> None:
    """Raise TypeError if this is not a solver."""
    if isinstance(given, type) and issubclass(given, Solver):
        raise TypeError(f"{given.__name__} is a class of solvers; pass an instance: {given.__name__}()")
    if not isinstance(given, Solver):
        raise TypeError(
            f"{given!r} is not a solver; pass one such as Greedy(), make_solver('greedy'), or your own subclass of "
            "discotext.search.Solver"
        )
