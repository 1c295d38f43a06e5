"""Frank–Wolfe alone: the budget belongs in the polytope.

{α in the simplices, Σ_i (1 − α_i^0) ≤ m} has integral vertices, and the best vertex for a gradient is found in one pass
(`rounding.best_vertex`). So every step moves towards a feasible choice, which is scored at once: no λ, no γ, no κ, and
no rounding. The path is the same for score and a · score + b (a > 0), and for a cost that is convex and L-smooth in α
it is within 2L · min(4m, 2n) / (T + 2) of the optimum after T steps.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.core.oracle import RelaxedOracle
from discotext.core.problem import Batch
from discotext.core.rounding import best_vertex
from discotext.search.climbing import Allowance, Climbers, climb
from discotext.search.solver import Proposal, Proposals, Search, Solver, is_active
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


def spread_start(layout: Batch) -> Floats:
    """The mixture that spends each row's budget evenly: the same share of change on every word that may change."""
    changeable = layout.counts > 1
    words = np.bincount(layout.problem_of_position, weights=changeable, minlength=len(layout))
    share = np.minimum(1.0, layout.budgets / np.maximum(words, 1))
    share = np.where(changeable, share[layout.problem_of_position], 0.0)
    alpha = (share / np.maximum(layout.counts - 1, 1))[layout.position_of]
    alpha[layout.starts] = 1.0 - share
    return alpha


def frank_wolfe(
    batch: Batch, oracle: RelaxedOracle, problems: Ints, alpha: Floats, steps: int
) -> Generator[Proposal, Ints, Climbers]:
    """Take steps from the mixtures alpha, one row per problem; returns every vertex met."""
    met, layout = Climbers.none(batch), batch.take(problems)
    for step in range(steps):
        if not len(problems):
            break
        _, gradient = oracle.relaxed(problems, alpha)
        vertex = best_vertex(gradient, layout)
        found = Climbers.at(batch, oracle, problems, vertex)
        met = met + found
        active = yield found.proposal()
        alpha = alpha + 2 / (step + 2) * (layout.one_hot(vertex) - alpha)
        going = np.flatnonzero(is_active(problems, active))
        if len(going) < len(problems):
            alpha, problems, layout = alpha[layout.flat_rows(going)], problems[going], layout.take(going)
            met = met.take(is_active(met.problems, active))
    return met
