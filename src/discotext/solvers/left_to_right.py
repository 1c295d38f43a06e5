"""Left to right: the search that the paper's table calls greedy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discotext.core.arrays import Floats
from discotext.core.oracle import Oracle
from discotext.core.problem import Batch
from discotext.search.cost import count_pairs
from discotext.search.solver import Proposals, Search, Solver
from discotext.search.sweep import sweep


@dataclass(frozen=True)
class LeftToRight(Solver):
    """One sweep from the first word to the last: best candidate, if it helps, then the next word.

    This is what the paper's section "Greedy Baseline" describes and its table calls greedy. It is not Algorithm 1, and
    much weaker: it spends its budget on the words that come first.
    """

    def expect_passes(self, batch: Batch, gradients: bool) -> Floats:
        return count_pairs(batch)

    def propose(self, batch: Batch, oracle: Oracle, search: Search) -> Proposals:
        order = np.broadcast_to(np.arange(batch.n_max), (len(batch), batch.n_max))
        return sweep(batch, oracle, order)
