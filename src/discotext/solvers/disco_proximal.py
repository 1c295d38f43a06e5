"""Algorithm 2 of the paper: gradient step, soft-threshold, retract.

The cost is C = −score. The paper gives neither the step size nor p; here p = 1 and the step is found by backtracking on
eq. 15, which needs no Lipschitz constant and whose accepted trials are the next iterations' gradients, so that it costs
nothing while it succeeds. Every iterate is rounded within budget and scored; `solve` keeps the best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.core.oracle import RelaxedOracle
from discotext.core.penalty import l1, per_candidate, proximal_map, row_sum
from discotext.core.problem import Batch
from discotext.core.relaxation import pull_back, theorem_start, to_alpha
from discotext.core.rounding import best_vertex
from discotext.search.climbing import Climbers
from discotext.search.solver import Proposals, Search, Solver, is_active

SMALLEST_COST = 1e-3  # |C(s)| from which λ is scaled is not taken smaller than this
STILL = 1e-7  # an iterate that moves less than this has converged
HALVINGS = 30  # of a backtracking step, in one iteration


@dataclass(frozen=True)
class DiscoProximal(Solver):
    """Algorithm 2 as printed, per position, from β_1 = k_i^{−1/2p}.

    p: the power 2p of the relaxation, any natural number.
    steps: iterations at most.
    step: a number (constant), a function of the iteration 1, 2, … (schedule), or "backtracking".
    penalty: λ is such that λ‖β_1‖_1 = penalty · |C(s)|, the paper's scaling with its factor 3.
    """

    needs: ClassVar[type] = RelaxedOracle
    p: int = 1
    steps: int = 100
    step: float | Callable[[int], float] | Literal["backtracking"] = "backtracking"
    penalty: float = 3.0

    def __post_init__(self) -> None:
        if not isinstance(self.p, int | np.integer) or self.p < 1:
            raise ValueError(f"p is {self.p!r}; choose a natural number, 1 or more")
        if self.steps < 1 or not self.penalty >= 0:
            raise ValueError(f"steps is {self.steps} and penalty is {self.penalty}; choose steps ≥ 1 and penalty ≥ 0")
        if isinstance(self.step, int | float) and not self.step > 0:
            raise ValueError(f"step is {self.step}; choose a number above 0, a schedule, or 'backtracking'")
        if isinstance(self.step, str) and self.step != "backtracking":
            raise ValueError(f"step is {self.step!r}; choose a number, a schedule, or 'backtracking'")

    def propose(self, batch: Batch, oracle: RelaxedOracle, search: Search) -> Proposals:
        rows = np.flatnonzero(batch.sizes > 0)
        layout = batch.take(rows)
        beta = theorem_start(layout, self.p)
        weight = penalty_weight(self.penalty, oracle.score(rows, batch.originals()[rows]), beta, layout)
        at = Iterate.of(oracle, rows, beta, layout, self.p)
        sizes = np.ones(len(rows))
        for iteration in range(1, self.steps + 1):
            if self.step == "backtracking":
                new, sizes = self._backtrack(oracle, rows, at, weight, np.minimum(2 * sizes, 1e6), layout)
            else:
                sizes = np.full(len(rows), self.step(iteration) if callable(self.step) else float(self.step))
                new = self._step(oracle, rows, at, weight, sizes, layout)
            active = yield Climbers.at(batch, oracle, rows, best_vertex(new.alpha, layout)).proposal()
            going = is_active(rows, active)
            if iteration % 5 == 0:  # a look at every parameter costs as much as a third of the step
                going &= row_max(np.abs(new.beta - at.beta), layout) > STILL
            kept = np.flatnonzero(going)
            at = new
            if not len(kept):
                return
            if len(kept) < len(rows):
                at = new.take(kept, layout)
                rows, weight, sizes, layout = rows[kept], weight[kept], sizes[kept], layout.take(kept)

    def _step(
        self, oracle: RelaxedOracle, rows: Ints, at: Iterate, weight: Floats, sizes: Floats, layout: Batch
    ) -> Iterate:
        length = per_candidate(sizes, layout)
        beta = proximal_map(at.beta - length * at.slope, per_candidate(sizes * weight, layout), layout, self.p)
        return Iterate.of(oracle, rows, beta, layout, self.p)

    def _backtrack(
        self, oracle: RelaxedOracle, rows: Ints, at: Iterate, weight: Floats, sizes: Floats, layout: Batch
    ) -> tuple[Iterate, Floats]:
        """Halve each row's step until eq. 15 holds with 1/step for L."""
        new = self._step(oracle, rows, at, weight, sizes, layout)
        for _ in range(HALVINGS):
            difference = new.beta - at.beta
            allowed = at.cost + row_sum(at.slope * difference, layout) + row_sum(difference**2, layout) / (2 * sizes)
            again = np.flatnonzero(new.cost > allowed + 1e-12 * (1 + np.abs(at.cost)))
            if not len(again):
                break
            sizes = sizes.copy()
            sizes[again] /= 2
            part = layout.take(again)
            retried = self._step(oracle, rows[again], at.take(again, layout), weight[again], sizes[again], part)
            new = new.put(again, retried, layout)
        return new, sizes


@dataclass(frozen=True)
class Iterate:
    """Parameters with what they stand for: mixtures, costs (R,) and the slope of the cost in β."""

    beta: Floats
    alpha: Floats
    cost: Floats
    slope: Floats

    @classmethod
    def of(cls, oracle: RelaxedOracle, rows: Ints, beta: Floats, layout: Batch, p: int) -> Iterate:
        alpha = to_alpha(beta, layout, p)
        scores, gradient = oracle.relaxed(rows, alpha)
        return cls(beta, alpha, -scores, -pull_back(beta, alpha, gradient, layout, p))

    def take(self, which: Ints, layout: Batch) -> Iterate:
        flat = layout.flat_rows(which)
        return Iterate(self.beta[flat], self.alpha[flat], self.cost[which], self.slope[flat])

    def put(self, which: Ints, other: Iterate, layout: Batch) -> Iterate:
        """This iterate with some rows replaced."""
        flat = layout.flat_rows(which)
        out = Iterate(self.beta.copy(), self.alpha.copy(), self.cost.copy(), self.slope.copy())
        out.beta[flat], out.alpha[flat], out.slope[flat] = other.beta, other.alpha, other.slope
        out.cost[which] = other.cost
        return out


def penalty_weight(factor: float, original_scores: Floats, beta: Floats, layout: Batch) -> Floats:
    """(R,) λ with λ‖β‖_1 = factor · |C(s)|."""
    return np.asarray(factor * original_cost(original_scores) / np.maximum(l1(beta, layout), 1e-300))


def original_cost(scores: Floats) -> Floats:
    """(R,) |C(s)|, by which penalties are scaled: not smaller than a floor, and 1 where the original is forbidden."""
    finite = np.where(np.isfinite(scores), scores, 1.0)
    return np.asarray(np.maximum(np.abs(finite), SMALLEST_COST))


def row_max(values: Floats, layout: Batch) -> Floats:
    """(R,) the largest value of each row; rows have positions."""
    return np.asarray(np.maximum.reduceat(values, layout.first_candidate[:-1])) if len(values) else np.empty(0)
