"""Random choices: the floor that every search must beat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discotext.core.oracle import Oracle
from discotext.core.problem import Batch, random_choices
from discotext.search.solver import Proposal, Proposals, Search, Solver

ROUND = 16  # draws per call, so that a problem that reaches its goal leaves before all are spent


@dataclass(frozen=True)
class Random(Solver):
    """Draw feasible choices: a random number of random positions, each with a random candidate."""

    draws: int = 100

    def __post_init__(self) -> None:
        if self.draws < 1:
            raise ValueError(f"draws is {self.draws}; choose 1 or more")

    def propose(self, batch: Batch, oracle: Oracle, search: Search) -> Proposals:
        active, left = np.arange(len(batch)), self.draws
        while left and len(active):
            problems = np.repeat(active, min(left, ROUND))
            left -= min(left, ROUND)
            layout = batch.take(problems)
            choices = np.zeros((len(problems), batch.n_max), dtype=np.int32)
            choices[:, : layout.n_max] = random_choices(layout, search.rng)
            active = yield Proposal(problems, choices, oracle.score(problems, choices))
