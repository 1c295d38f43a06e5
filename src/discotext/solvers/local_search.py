"""Local search: climbing alone, without any relaxation before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from discotext.oracle import Oracle, RelaxedOracle, can
from discotext.problem import Batch
from discotext.solvers.climbing import Climbers, Purse, climb
from discotext.solvers.moves import best_moves
from discotext.solvers.proposal import Proposals, among
from discotext.swaps import best_of_each


@dataclass(frozen=True)
class LocalSearch:
    """From the original, make the best of a few proposed moves, again and again.

    proposals: moves scored in each round.
    guide: who proposes them: the "gradient" (a round costs one besides), or chance ("random"); "auto" takes the
        gradient where there is one.
    patience: rounds without success after which a random search gives up. (The gradient proposes the same again.)
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

    def propose(self, batch: Batch, oracle: Oracle, rng: np.random.Generator) -> Proposals:
        start = Climbers.at(batch, oracle, np.arange(len(batch)), batch.originals())
        if self.guide == "random" or not can(oracle, RelaxedOracle):
            yield from self._wander(batch, oracle, start, rng)
        else:
            yield from climb(batch, oracle, start, self.proposals, Purse(batch, oracle))  # type: ignore[arg-type]

    def _wander(self, batch: Batch, oracle: Oracle, climbers: Climbers, rng: np.random.Generator) -> Proposals:
        failed = np.zeros(len(batch), dtype=np.int64)
        while len(climbers):
            layout = batch.take(climbers.problems)
            # The best moves for a slope of pure noise are random moves of all kinds, each within budget.
            moves = best_moves(layout, climbers.choices, rng.normal(size=layout.candidates), self.proposals)
            moved = moves.apply(climbers.choices)
            found = oracle.score(climbers.problems[moves.rows], moved)
            best = best_of_each(moves.rows, found)
            best = best[found[best] > climbers.scores[moves.rows[best]]]
            rows = moves.rows[best]
            climbers.choices[rows], climbers.scores[rows] = moved[best], found[best]
            failed[climbers.problems] += 1
            failed[climbers.problems[rows]] = 0
            active = yield climbers.take(rows).proposal()
            going = among(climbers.problems, active) & (failed[climbers.problems] < self.patience)
            climbers = climbers.take(going)
