"""Greedy: make the single best swap, again and again (Algorithm 1).

Over (position, candidate) pairs, "one candidate per position, at most m in all" is a matroid; any other independence
system over the same pairs may be put in its place. Unlike the printed algorithm, the feasible swaps are found anew in
every round, and a round without gain ends the search.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np

from discotext.oracle import Oracle
from discotext.problem import Batch, Problem
from discotext.segments import Bools, Choices, Ints, rank_in_group
from discotext.solvers.proposal import Proposal, Proposals, among
from discotext.swaps import Swaps, additions, improve

Allowed = Callable[[frozenset[tuple[int, int]]], bool]
Filter = Callable[[Ints, Choices, Swaps], Bools]


@dataclass(frozen=True)
class Greedy:
    """Make the single best swap until the budget is spent or no swap helps.

    system: for a problem, a test of independence over its (position, candidate) pairs, candidate ≥ 1: which sets of
        changes are allowed together. It narrows the default (one candidate per position, at most m changes).
    """

    needs: ClassVar[type] = Oracle
    system: Callable[[Problem], Allowed] | None = None

    @property
    def restricts(self) -> bool:
        """Whether more is forbidden than the problems say, so that words may not be exchanged afterwards."""
        return self.system is not None

    def propose(self, batch: Batch, oracle: Oracle, rng: np.random.Generator) -> Proposals:
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


@dataclass(frozen=True)
class StochasticGreedy:
    """Greedy that looks, in each round, at a random sample of the swaps.

    epsilon: a sample of (pairs / m) · ln(1 / epsilon) swaps costs, in expectation, at most epsilon of the guarantee
        (Mirzasoleiman et al. 2015), and all rounds together cost pairs · ln(1 / epsilon) forwards, whatever m is.
    """

    needs: ClassVar[type] = Oracle
    epsilon: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < 1:
            raise ValueError(f"epsilon is {self.epsilon}; choose a number between 0 and 1, for instance 0.1")

    def propose(self, batch: Batch, oracle: Oracle, rng: np.random.Generator) -> Proposals:
        pairs = batch.widths - batch.sizes
        sample = np.ceil(pairs / np.maximum(batch.budgets, 1) * math.log(1 / self.epsilon))

        def keep(problems: Ints, choices: Choices, swaps: Swaps) -> Bools:
            key = rng.random(len(swaps))
            order = np.lexsort((key, swaps.rows))
            kept = np.zeros(len(swaps), dtype=bool)
            kept[order] = rank_in_group(swaps.rows[order]) < sample[problems[swaps.rows[order]]]
            return kept

        return greedy_rounds(batch, oracle, keep, patient=True)


def greedy_rounds(batch: Batch, oracle: Oracle, keep: Filter | None, patient: bool = False) -> Proposals:
    """Rounds of best additions, over the swaps that `keep` leaves.

    patient: a round without gain does not end the search, because the next one looks at other swaps; there are at most
        as many rounds as the budget allows changes.
    """
    problems, choices = np.arange(len(batch)), batch.originals()
    scores = oracle.score(problems, choices)
    for turn in count(1):
        if not len(problems):
            return
        swaps = additions(batch.take(problems), choices)
        if keep is not None:
            swaps = swaps.take(keep(problems, choices, swaps))
        rows = improve(oracle, problems, choices, scores, swaps)
        active = yield Proposal(problems[rows], choices[rows], scores[rows])
        going = among(problems, active) & (turn < batch.budgets[problems])
        if not patient:
            going &= np.isin(np.arange(len(problems)), rows)
        problems, choices, scores = problems[going], choices[going], scores[going]
