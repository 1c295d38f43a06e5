"""Beam search: greedy that keeps several partial answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discotext.core.arrays import Floats
from discotext.core.oracle import Oracle
from discotext.core.problem import Batch
from discotext.search.beam import search_beam
from discotext.search.cost import beam_passes
from discotext.search.solver import Proposals, Search, Solver


@dataclass(frozen=True)
class Beam(Solver):
    """Keep the `width` best sets of changes of each size, and extend every one by every swap.

    Costs about width times greedy's forwards. The same set reached in two orders is one answer.
    """

    width: int = 8

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ValueError(f"width is {self.width}; a beam keeps at least 1 answer, so choose 1 or more")

    def expect_passes(self, batch: Batch, gradients: bool) -> Floats:
        return beam_passes(batch, self.width)

    def propose(self, batch: Batch, oracle: Oracle, search: Search) -> Proposals:
        return search_beam(batch, oracle, np.arange(len(batch)), self.width)
