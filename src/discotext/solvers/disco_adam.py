"""The paper's experimental set-up: Adam on cost + penalties, from β = 10 for the original and 0.05 for the rest.

λ is printed with its use; γ = 6C(s)/√n and κ = 0.2 are printed without. Two readings of them are offered, and they are
readings, not the paper's word:

    "budget"      adds γ · max(0, ‖1 − α⁰‖_2 − √(κn)). At a one-hot α this is the budget that eq. 6 leaves out: it
                  vanishes exactly when at most κn words change.
    "confidence"  takes κ as Carlini and Wagner's confidence, C = max(−score, −κ), and adds γ · ‖1 − α⁰‖_2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.core.oracle import RelaxedOracle
from discotext.core.penalty import changed_mass, per_candidate
from discotext.core.problem import Batch
from discotext.core.relaxation import experiment_start, pull_back, to_alpha
from discotext.core.rounding import best_vertex
from discotext.search.climbing import Climbers
from discotext.search.solver import Proposals, Search, Solver, is_active
from discotext.solvers.disco_proximal import original_cost, penalty_weight


@dataclass(frozen=True)
class DiscoAdam(Solver):
    """Adam with learning rate 1 for at most 100 steps; every iterate is rounded within budget and scored.

    reading: "budget" adds γ · max(0, ‖1 − α⁰‖_2 − √(κn)); "confidence" takes C = max(−score, −κ) and adds γ‖1 − α⁰‖_2.
    """

    needs: ClassVar[type] = RelaxedOracle
    reading: Literal["budget", "confidence"] = "budget"
    p: int = 1
    steps: int = 100
    rate: float = 1.0
    penalty: float = 3.0
    gamma: float = 6.0
    kappa: float = 0.2

    def __post_init__(self) -> None:
        if self.reading not in ("budget", "confidence"):
            raise ValueError(f"reading is {self.reading!r}; choose 'budget' or 'confidence'")
        if not isinstance(self.p, int | np.integer) or self.p < 1:
            raise ValueError(f"p is {self.p!r}; choose a natural number, 1 or more")
        if self.steps < 1 or not self.rate > 0:
            raise ValueError(f"steps is {self.steps} and rate is {self.rate}; choose steps ≥ 1 and a rate above 0")

    def propose(self, batch: Batch, oracle: RelaxedOracle, search: Search) -> Proposals:
        rows = np.flatnonzero(batch.sizes > 0)
        layout = batch.take(rows)
        beta = experiment_start(layout)
        alpha = to_alpha(beta, layout, self.p)
        originals = oracle.score(rows, batch.originals()[rows])
        weight = penalty_weight(self.penalty, originals, beta, layout)
        gamma = self.gamma * original_cost(originals) / np.sqrt(layout.sizes)
        adam = Adam(np.zeros_like(beta), np.zeros_like(beta))
        for step in range(1, self.steps + 1):
            slope = self._slope(oracle, rows, beta, alpha, weight, gamma, layout)
            beta = beta - self.rate * adam.direction(slope, step)
            alpha = to_alpha(beta, layout, self.p)
            active = yield Climbers.at(batch, oracle, rows, best_vertex(alpha, layout)).proposal()
            kept = np.flatnonzero(is_active(rows, active))
            if not len(kept):
                return
            if len(kept) < len(rows):
                flat = layout.flat_rows(kept)
                beta, alpha, adam = beta[flat], alpha[flat], Adam(adam.first[flat], adam.second[flat])
                rows, weight, gamma, layout = rows[kept], weight[kept], gamma[kept], layout.take(kept)

    def _slope(
        self,
        oracle: RelaxedOracle,
        rows: Ints,
        beta: Floats,
        alpha: Floats,
        weight: Floats,
        gamma: Floats,
        layout: Batch,
    ) -> Floats:
        """The gradient in β of cost + λ‖β‖_1 + the term of the reading."""
        scores, gradient = oracle.relaxed(rows, alpha)
        mass, mass_gradient = changed_mass(alpha, layout)
        in_alpha = -gradient
        if self.reading == "budget":
            gamma = gamma * (mass > np.sqrt(self.kappa * layout.sizes))
        else:
            in_alpha *= per_candidate((scores < self.kappa).astype(np.float64), layout)
        in_alpha[layout.starts] += gamma[layout.problem_of_position] * mass_gradient
        return pull_back(beta, alpha, in_alpha, layout, self.p) + per_candidate(weight, layout) * np.sign(beta)


@dataclass
class Adam:
    """Running moments (Kingma and Ba 2014), per candidate, so that problems can leave by slicing."""

    first: Floats
    second: Floats

    def direction(self, gradient: Floats, step: int) -> Floats:
        """What to subtract, for a learning rate of 1. step: counted from 1."""
        self.first *= 0.9
        self.first += 0.1 * gradient
        self.second *= 0.999
        square = gradient**2
        square *= 0.001
        self.second += square
        scale = np.sqrt(self.second, out=square)
        # The corrections of both means, in one factor; the library's 1e-8 is added after them.
        scale *= (1 - 0.9**step) / np.sqrt(1 - 0.999**step)
        scale += 1e-8 * (1 - 0.9**step)
        return np.asarray(np.divide(self.first, scale, out=scale))
