"""Ranked greedy: rank the words by importance, then sweep over them once (the search behind TextFooler and PWWS)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from discotext.core.arrays import Floats
from discotext.core.oracle import DeletingOracle, Oracle, can
from discotext.core.problem import Batch
from discotext.core.swaps import additions, score_swaps
from discotext.search.cost import count_pairs
from discotext.search.solver import Proposals, Search, Solver
from discotext.search.sweep import sweep


@dataclass(frozen=True)
class RankedGreedy(Solver):
    """One sweep over the words in order of importance.

    rank: "deletion" measures how much the score rises when the word is left out (TextFooler's way, n forwards; the
        oracle must be able to delete), "swap" how much its best swap gains (PWWS's way, Σ(k_i − 1) forwards);
        "auto" deletes where it can.
    """

    rank: Literal["auto", "deletion", "swap"] = "auto"

    def __post_init__(self) -> None:
        if self.rank not in ("auto", "deletion", "swap"):
            raise ValueError(f"rank is {self.rank!r}; choose 'auto', 'deletion' or 'swap'")

    @property
    def needs(self) -> type:
        return DeletingOracle if self.rank == "deletion" else Oracle

    def expect_passes(self, batch: Batch, gradients: bool) -> Floats:
        return count_pairs(batch) + batch.sizes

    def propose(self, batch: Batch, oracle: Oracle, search: Search) -> Proposals:
        problems = np.arange(len(batch))
        importance = np.full((len(batch), batch.n_max), -np.inf)
        changeable = additions(batch, batch.originals())
        if self.rank == "deletion" or (self.rank == "auto" and can(oracle, DeletingOracle)):
            rows, positions = np.nonzero(batch.dense_counts > 1)
            deleting: DeletingOracle = oracle  # type: ignore[assignment]
            importance[rows, positions] = deleting.without(problems[rows], positions)
        else:
            scores = score_swaps(oracle, problems, batch.originals(), changeable)
            np.maximum.at(importance, (changeable.rows, changeable.positions), scores)
        # From the most important position to the least, ties in reading order.
        order = np.argsort(-importance, axis=1, kind="stable")
        yield from sweep(batch, oracle, order)
