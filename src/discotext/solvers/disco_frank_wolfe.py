"""Frank–Wolfe alone: the budget inside the polytope, without restarts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from discotext.core.oracle import RelaxedOracle
from discotext.core.problem import Batch
from discotext.search.climbing import Allowance, climb
from discotext.search.frank_wolfe import frank_wolfe, spread_start
from discotext.search.solver import Proposals, Search, Solver
from discotext.search.tuning import DEFAULT


@dataclass(frozen=True)
class DiscoFrankWolfe(Solver):
    """Frank–Wolfe over mixtures within budget, then climbing from the best choice it met.

    steps: of size 2 / (t + 2), from the budget spread evenly over all words.
    proposals: moves a climber looks at in each round; 0 leaves the climbing out.
    """

    needs: ClassVar[type] = RelaxedOracle
    steps: int = 5
    proposals: int = 8

    def __post_init__(self) -> None:
        if self.steps < 1 or self.proposals < 0:
            raise ValueError(
                f"steps is {self.steps} and proposals is {self.proposals}; choose steps ≥ 1 and proposals ≥ 0"
            )

    def propose(self, batch: Batch, oracle: RelaxedOracle, search: Search) -> Proposals:
        met = yield from frank_wolfe(batch, oracle, np.arange(len(batch)), spread_start(batch), self.steps)
        if self.proposals:
            tuning = replace(DEFAULT, proposals=self.proposals)
            yield from climb(batch, oracle, met.best(1), Allowance(batch, search), tuning)
