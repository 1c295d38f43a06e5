"""Greedy by gradient: the slope chooses the word, forwards choose its replacement (Lei et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discotext.core.arrays import Floats
from discotext.core.oracle import RelaxedOracle
from discotext.core.problem import Batch
from discotext.core.rounding import best_replacements
from discotext.core.swaps import affordable, improve
from discotext.search.cost import count_pairs
from discotext.search.solver import Proposal, Proposals, Search, Solver, is_active
from discotext.search.sweep import swaps_at


@dataclass(frozen=True)
class GradientGreedy(Solver):
    """In each round take the unchanged word whose slope promises most, and try all its candidates.

    A round costs one gradient and k_i − 1 forwards; a word that does not help is not tried again. After `patience`
    words in a row that did not help, the search ends.
    """

    needs: ClassVar[type] = RelaxedOracle
    patience: int = 3

    def __post_init__(self) -> None:
        if self.patience < 1:
            raise ValueError(f"patience is {self.patience}; choose 1 or more")

    def expect_passes(self, batch: Batch, gradients: bool) -> Floats:
        return count_pairs(batch) + 2 * batch.budgets

    def propose(self, batch: Batch, oracle: RelaxedOracle, search: Search) -> Proposals:
        problems, choices = np.arange(len(batch)), batch.originals()
        scores = oracle.score(problems, choices)
        tried = batch.dense_counts <= 1
        failed = np.zeros(len(batch), dtype=np.int64)
        while True:
            going = ((choices != 0).sum(axis=1) < batch.budgets[problems]) & ~tried.all(axis=1)
            going &= failed < self.patience
            problems, choices, scores = problems[going], choices[going], scores[going]
            tried, failed = tried[going], failed[going]
            if not len(problems):
                return
            layout = batch.take(problems)
            _, gradient = oracle.relaxed(problems, layout.one_hot(choices))
            promised = np.full(tried.shape, -np.inf)
            promised[:, : layout.n_max] = best_replacements(gradient, layout)[1]
            positions = np.where(tried, -np.inf, promised).argmax(axis=1)
            tried[np.arange(len(problems)), positions] = True
            swaps = affordable(layout, choices, swaps_at(batch, problems, positions))
            rows = improve(oracle, problems, choices, scores, swaps)
            failed += 1
            failed[rows] = 0
            active = yield Proposal(problems[rows], choices[rows], scores[rows])
            going = is_active(problems, active)
            problems, choices, scores = problems[going], choices[going], scores[going]
            tried, failed = tried[going], failed[going]
