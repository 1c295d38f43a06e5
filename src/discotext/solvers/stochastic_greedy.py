"""Stochastic greedy: each round looks at a random sample of the swaps."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discotext.core.arrays import Bools, Choices, Floats, Ints, rank_in_group
from discotext.core.oracle import Oracle
from discotext.core.problem import Batch
from discotext.core.swaps import Swaps
from discotext.search.cost import count_pairs
from discotext.search.rounds import greedy_rounds
from discotext.search.solver import Proposals, Search, Solver


@dataclass(frozen=True)
class StochasticGreedy(Solver):
    """Greedy that looks, in each round, at a random sample of the swaps.

    epsilon: a sample of (pairs / m) · ln(1 / epsilon) swaps costs, in expectation, at most epsilon of the guarantee
        (Mirzasoleiman et al. 2015), and all rounds together cost pairs · ln(1 / epsilon) forwards, whatever m is.
    """

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < 1:
            raise ValueError(f"epsilon is {self.epsilon}; choose a number between 0 and 1, for instance 0.1")

    def expect_passes(self, batch: Batch, gradients: bool) -> Floats:
        return np.asarray(count_pairs(batch) * -np.log(self.epsilon))

    def propose(self, batch: Batch, oracle: Oracle, search: Search) -> Proposals:
        pairs = batch.widths - batch.sizes
        sample = np.ceil(pairs / np.maximum(batch.budgets, 1) * math.log(1 / self.epsilon))

        def keep(problems: Ints, choices: Choices, swaps: Swaps) -> Bools:
            key = search.rng.random(len(swaps))
            order = np.lexsort((key, swaps.rows))
            kept = np.zeros(len(swaps), dtype=bool)
            kept[order] = rank_in_group(swaps.rows[order]) < sample[problems[swaps.rows[order]]]
            return kept

        return greedy_rounds(batch, oracle, keep, patient=True)
