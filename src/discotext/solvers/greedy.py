"""Greedy: make the single best swap, again and again (Algorithm 1 of the paper).

Over (position, candidate) pairs, "one candidate per position, at most m in all" is a matroid; any other independence
system over the same pairs may be put in its place. Unlike in the printed algorithm, the feasible swaps are found anew
in every round, and a round without gain ends the search.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

from discotext.core.arrays import Bools, Choices, Floats, Ints
from discotext.core.oracle import Oracle
from discotext.core.problem import Batch, Problem, count_changes
from discotext.core.swaps import Swaps, additions, improve
from discotext.search.climbing import Climbers
from discotext.search.solver import Proposal, Proposals, Search, Solver, is_active

IndependenceTest = Callable[[frozenset[tuple[int, int]]], bool]
Filter = Callable[[Ints, Choices, Swaps], Bools]


@dataclass(frozen=True)
class Greedy(Solver):
    """Make the single best swap until the budget is spent or no swap helps.

    system: for a problem, a test of independence over its (position, candidate) pairs, candidate ≥ 1: which sets of
        changes are allowed together. It narrows the default (one candidate per position, at most m changes).
    """

    system: Callable[[Problem], IndependenceTest] | None = None

    @property
    def restricts(self) -> bool:
        return self.system is not None

    def propose(self, batch: Batch, oracle: Oracle, search: Search) -> Proposals:
        keep = (
            None
            if self.system is None
            else keep_independent([self.system(batch[index]) for index in range(len(batch))])
        )
        yield from climb_greedily(batch, oracle, np.arange(len(batch)), keep)


def climb_greedily(
    batch: Batch, oracle: Oracle, problems: Ints, keep: Filter | None = None
) -> Generator[Proposal, Ints, Climbers]:
    """Greedy search of some problems from their originals; returns where those that are still active ended.

    keep: says which of the swaps of (problems, choices) are allowed; by default all are.
    """
    climbers = Climbers.at(batch, oracle, problems, np.zeros((len(problems), 0), dtype=np.int32))
    ended = Climbers.none(batch)
    while len(climbers):
        swaps = additions(batch.take(climbers.problems), climbers.choices)
        if keep is not None:
            swaps = swaps.take(keep(climbers.problems, climbers.choices, swaps))
        improved = improve(oracle, climbers.problems, climbers.choices, climbers.scores, swaps)
        active = yield climbers.take(improved).proposal()
        left = count_changes(climbers.choices) < batch.budgets[climbers.problems]
        going = np.isin(np.arange(len(climbers)), improved) & left
        ended, climbers = ended + climbers.take(~going), climbers.take(going)
        climbers = climbers.take(is_active(climbers.problems, active))
        ended = ended.take(is_active(ended.problems, active))
    return ended


def keep_independent(tests: list[IndependenceTest]) -> Filter:
    """The swaps after which the changes of a row are independent. tests: one for each problem."""

    def keep(problems: Ints, choices: Choices, swaps: Swaps) -> Bools:
        changed = [
            frozenset((position, int(row[position])) for position in np.flatnonzero(row).tolist()) for row in choices
        ]
        pairs = zip(swaps.rows.tolist(), swaps.positions.tolist(), swaps.candidates.tolist(), strict=True)
        return np.array(
            [tests[problems[row]](changed[row] | {(position, candidate)}) for row, position, candidate in pairs],
            dtype=bool,
        )

    return keep


def greedy_passes(batch: Batch) -> Floats:
    """(B,) what `Greedy` spends if it uses its whole budget: a pass for each swap of each round."""
    words = np.bincount(batch.problem_of_position, weights=batch.counts > 1, minlength=len(batch))
    pairs = (batch.widths - batch.sizes).astype(np.float64)
    rounds = np.minimum(batch.budgets, words)
    # Each round takes one word, of average width, out of the next ones.
    return np.asarray(rounds * pairs - pairs / np.maximum(words, 1) * rounds * (rounds - 1) / 2)
