"""What a solver is: frozen settings, declared needs, and a generator of proposals.

A solver keeps no score board. It yields proposals and receives the active problems; `solve` keeps the best, watches the
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

Result = TypeVar("Result")


@dataclass(frozen=True)
class Proposal:
    """Choices that were tried, with their scores.

    problems: (R,) numbers in the batch, in any order; a problem may occur many times.
    choices: (R, n_max), within budget. scores: (R,).
    proved: problems for which everything else has been ruled out: the best seen so far is the best there is.
    proved_below: everything with fewer changes than this has been tried or ruled out, for all problems named here; or
        such a number for each problem of the batch.
    """

    problems: Ints
    choices: Choices
    scores: Floats
    proved: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    proved_below: int | Ints = 0


Proposals = Generator[Proposal, Ints, None]


def is_active(problems: Ints, active: Ints) -> Bools:
    """(R,) True for rows whose problem is active."""
    return np.isin(problems, active)


def drive(search: Generator[Proposal, Ints, Result], answer: Callable[[Proposal], Ints]) -> Result | None:
    """Run a search to its end, or until no problem is active; returns what the search returns.

    answer: called with each proposal; returns the numbers of the active problems, in increasing order.
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
        """Yield proposals; each yield returns the numbers of the active problems, in increasing order.

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


@dataclass(frozen=True)
class Tuning:
    """Constants of `Disco` and of pruning. No user needs to set one; an experiment may.

    What halving and doubling each of them does is in docs/benchmarks/solvers.md (`python -m benchmarks.tuning`); on
    film reviews none of them changes how many labels flip.

    frank_wolfe_steps: vertices that the relaxation visits before climbing begins.
    proposals: moves scored in each round of climbing.
    partners: undos, and swaps, that are paired with each other to form exchanges.
    smoothing: weight of the uniform mixture when gradients are taken near a choice instead of at it. Those of text
        classifiers then predict better what a whole swap gains; used only with a goal.
    patience: a climber is given up when this many more rounds like its last would not bring it to the goal.
    surveyed_swaps, surveyed_moves: swaps that a survey scores one by one, and combinations of them afterwards.
    idle_waves: restarts in a row that ask nothing new before a problem is given up. It only ends loops in tiny spaces.
    exchanged_words: words exchanged at random to leave a local optimum.
    beam_width: width of the beam that a high effort without a goal begins with where it can afford one.
    near_passes: passes for a problem that has almost reached its goal, at the default effort.
    near_share, high_share: share of the way to the goal that may be missing for a problem to get any of them, at the
        default effort and at a high one. Half of `high_share` reaches the same goals in 229 passes instead of 382; it
        is kept at 0.7, with which the published figures were measured.
    least_passes: passes that `effort="high"` spends at least when there is no goal; short texts cost little.
    pruning_proposals, pruning_rounds: moves per round, and rounds, spent looking for a choice with one change fewer.
    pruning_swaps: swaps that thorough pruning measures one by one.
    greedy_passes: where greedy search would spend no more than this, the search begins with it: a gradient costs as
        much as four forwards, and the first steps take several.
    last_share: share of the way to the goal that may be missing for a high effort to end with greedy search.
    frugal_questions, frugal_queries, frugal_patience, frugal_pruning: where gradients are free (`search_frugally`), the
        choices asked for in each round, the queries of a problem at the default effort, the rounds without gain before
        it may be given up, and the moves per round, and rounds, of pruning.
    labels_queries: queries where the model answers labels; most of what is found is found in the first ten.
    """

    frank_wolfe_steps: int = 5
    proposals: int = 12
    partners: int = 8
    smoothing: float = 0.3
    patience: int = 4
    surveyed_swaps: int = 24
    surveyed_moves: int = 8
    idle_waves: int = 10
    exchanged_words: int = 2
    beam_width: int = 8
    near_passes: float = 300.0
    near_share: float = 0.3
    high_share: float = 0.7
    least_passes: float = 1000.0
    pruning_proposals: int = 16
    pruning_rounds: int = 4
    pruning_swaps: int = 48
    greedy_passes: float = 100.0
    last_share: float = 0.1
    frugal_questions: int = 3
    frugal_queries: float = 200.0
    labels_queries: float = 60.0
    frugal_patience: int = 2
    frugal_pruning: tuple[int, int] = (3, 2)


DEFAULT = Tuning()
