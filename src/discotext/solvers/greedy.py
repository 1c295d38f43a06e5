"""Greedy: make the single best swap, again and again (Algorithm 1).

Over (position, candidate) pairs, "one candidate per position, at most m in all" is a matroid; any other independence
system over the same pairs may be put in its place. Unlike in the printed algorithm, the feasible swaps are found anew
in every round, and a round without gain ends the search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discotext.core.arrays import Bools, Choices, Floats, Ints
from discotext.core.oracle import Oracle
from discotext.core.problem import Batch, Problem
from discotext.core.swaps import Swaps
from discotext.search.cost import greedy_passes
from discotext.search.rounds import greedy_rounds
from discotext.search.solver import Proposals, Search, Solver

IndependenceTest = Callable[[frozenset[tuple[int, int]]], bool]


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

    def expect_passes(self, batch: Batch, gradients: bool) -> Floats:
        return greedy_passes(batch)

    def propose(self, batch: Batch, oracle: Oracle, search: Search) -> Proposals:
        if self.system is None:
            return greedy_rounds(batch, oracle, keep=None)
        tests = [self.system(batch[index]) for index in range(len(batch))]

        def keep(problems: Ints, choices: Choices, swaps: Swaps) -> Bools:
            changed = [
                frozenset((int(position), int(row[position])) for position in np.flatnonzero(row)) for row in choices
            ]
            pairs = zip(swaps.rows.tolist(), swaps.positions.tolist(), swaps.candidates.tolist(), strict=True)
            return np.array(
                [tests[problems[row]](changed[row] | {(position, candidate)}) for row, position, candidate in pairs],
                dtype=bool,
            )

        return greedy_rounds(batch, oracle, keep)
