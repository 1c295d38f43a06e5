"""Local search: climbing alone, without any relaxation before it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from discotext.core.oracle import Oracle, RelaxedOracle, can
from discotext.core.problem import Batch
from discotext.core.swaps import best_of_each
from discotext.search.climbing import Allowance, Climbers, best_moves, climb
from discotext.search.solver import DEFAULT, Proposals, Search, Solver, is_active


@dataclass(frozen=True)
class LocalSearch(Solver):
    """From the original, make the best of a few proposed moves, again and again.

    proposals: moves scored in each round.
    guide: what proposes them: the "gradient" (one more pass pair a round) or "random"; "auto" takes the gradient where
        there is one.
    patience: rounds without improvement before a random search gives up. (The gradient would propose the same again.)
    """

    proposals: int = 16
    guide: Literal["auto", "gradient", "random"] = "auto"
    patience: int = 5

    def __post_init__(self) -> None:
        if self.proposals < 1 or self.patience < 1:
            raise ValueError(
                f"proposals is {self.proposals} and patience is {self.patience}; choose 1 or more for both"
            )
        if self.guide not in ("auto", "gradient", "random"):
            raise ValueError(f"guide is {self.guide!r}; choose 'auto', 'gradient' or 'random'")

    @property
    def needs(self) -> type:
        return RelaxedOracle if self.guide == "gradient" else Oracle

    def propose(self, batch: Batch, oracle: Oracle, search: Search) -> Proposals:
        start = Climbers.at(batch, oracle, np.arange(len(batch)), batch.originals())
        if self.guide == "random" or not can(oracle, RelaxedOracle):
            yield from self._wander(batch, oracle, start, search)
        else:
            tuning = replace(DEFAULT, proposals=self.proposals)
            yield from climb(batch, oracle, start, Allowance(batch, search), tuning)  # type: ignore[arg-type]

    def _wander(self, batch: Batch, oracle: Oracle, climbers: Climbers, search: Search) -> Proposals:
        failed = np.zeros(len(batch), dtype=np.int64)
        while len(climbers):
            layout = batch.take(climbers.problems)
            # The best moves for a gradient of pure noise are random moves of all kinds, each within budget.
            noise = search.rng.normal(size=layout.candidates)
            moves = best_moves(layout, climbers.choices, noise, self.proposals, DEFAULT.partners)
            moved = moves.apply(climbers.choices)
            found = oracle.score(climbers.problems[moves.rows], moved)
            best = best_of_each(moves.rows, found)
            best = best[found[best] > climbers.scores[moves.rows[best]]]
            rows = moves.rows[best]
            climbers.choices[rows], climbers.scores[rows] = moved[best], found[best]
            failed[climbers.problems] += 1
            failed[climbers.problems[rows]] = 0
            active = yield climbers.take(rows).proposal()
            going = is_active(climbers.problems, active) & (failed[climbers.problems] < self.patience)
            climbers = climbers.take(going)
