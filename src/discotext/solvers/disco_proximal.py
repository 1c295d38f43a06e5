"""Algorithm 2 of the paper: gradient step, soft-threshold, retract.

The cost is C = −score. The paper gives neither the step size nor p; here p = 1 and the step is found by backtracking on
eq. 15, which needs no Lipschitz constant and whose accepted trials are the next iterations' gradients, so that it costs
nothing while it succeeds. Every iterate is rounded within budget and scored; `solve` keeps the best.

`DiscoAdam` is the paper's experimental set-up: Adam on cost + penalties, from β = 10 for the original and 0.05 for the
rest. λ is printed with its use; γ = 6C(s)/√n and κ = 0.2 are printed without. Two readings of them are offered, and
they are readings, not the paper's word:

    "budget"      adds γ · max(0, ‖1 − α⁰‖_2 − √(κn)). At a one-hot α this is the budget that eq. 6 leaves out: it
                  vanishes exactly when at most κn words change.
    "confidence"  takes κ as Carlini and Wagner's confidence, C = max(−score, −κ), and adds γ · ‖1 − α⁰‖_2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.core.oracle import RelaxedOracle
from discotext.core.problem import Batch
from discotext.core.relaxation import (
    changed_mass,
    experiment_start,
    proximal_map,
    pull_back,
    row_sum,
    theorem_start,
    to_alpha,
)
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
        check_power(self.p)
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
        moved = at.beta - sizes[layout.row_of] * at.gradient
        beta = proximal_map(moved, (sizes * weight)[layout.row_of], layout, self.p)
        return Iterate.of(oracle, rows, beta, layout, self.p)

    def _backtrack(
        self, oracle: RelaxedOracle, rows: Ints, at: Iterate, weight: Floats, sizes: Floats, layout: Batch
    ) -> tuple[Iterate, Floats]:
        """Halve each row's step until eq. 15 holds with 1/step for L."""
        new = self._step(oracle, rows, at, weight, sizes, layout)
        for _ in range(HALVINGS):
            difference = new.beta - at.beta
            allowed = at.cost + row_sum(at.gradient * difference, layout) + row_sum(difference**2, layout) / (2 * sizes)
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
    """Parameters with what they stand for: mixtures, costs (R,) and the gradient of the cost in β."""

    beta: Floats
    alpha: Floats
    cost: Floats
    gradient: Floats

    @classmethod
    def of(cls, oracle: RelaxedOracle, rows: Ints, beta: Floats, layout: Batch, p: int) -> Iterate:
        alpha = to_alpha(beta, layout, p)
        scores, gradient = oracle.relaxed(rows, alpha)
        return cls(beta, alpha, -scores, -pull_back(beta, alpha, gradient, layout, p))

    def take(self, which: Ints, layout: Batch) -> Iterate:
        flat = layout.flat_rows(which)
        return Iterate(self.beta[flat], self.alpha[flat], self.cost[which], self.gradient[flat])

    def put(self, which: Ints, other: Iterate, layout: Batch) -> Iterate:
        """This iterate with some rows replaced."""
        flat = layout.flat_rows(which)
        out = Iterate(self.beta.copy(), self.alpha.copy(), self.cost.copy(), self.gradient.copy())
        out.beta[flat], out.alpha[flat], out.gradient[flat] = other.beta, other.alpha, other.gradient
        out.cost[which] = other.cost
        return out


def check_power(p: object) -> None:
    """Raise ValueError if p is not a natural number."""
    if not isinstance(p, int | np.integer) or p < 1:
        raise ValueError(f"p is {p!r}; choose a natural number, 1 or more")


def penalty_weight(factor: float, original_scores: Floats, beta: Floats, layout: Batch) -> Floats:
    """(R,) λ with λ‖β‖_1 = factor · |C(s)|."""
    return np.asarray(factor * original_cost(original_scores) / np.maximum(row_sum(np.abs(beta), layout), 1e-300))


def original_cost(scores: Floats) -> Floats:
    """(R,) |C(s)|, by which penalties are scaled: not smaller than a floor, and 1 where the original is forbidden."""
    finite = np.where(np.isfinite(scores), scores, 1.0)
    return np.asarray(np.maximum(np.abs(finite), SMALLEST_COST))


def row_max(values: Floats, layout: Batch) -> Floats:
    """(R,) the largest value of each row; rows have positions."""
    return np.asarray(np.maximum.reduceat(values, layout.first_candidate[:-1])) if len(values) else np.empty(0)


@dataclass(frozen=True)
class DiscoAdam(Solver):
    """Adam with learning rate 1 for at most 100 steps; every iterate is rounded within budget and scored.

    reading: of γ and κ, see above.
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
        check_power(self.p)
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
            gradient = self._gradient(oracle, rows, beta, alpha, weight, gamma, layout)
            beta = beta - self.rate * adam.direction(gradient, step)
            alpha = to_alpha(beta, layout, self.p)
            active = yield Climbers.at(batch, oracle, rows, best_vertex(alpha, layout)).proposal()
            kept = np.flatnonzero(is_active(rows, active))
            if not len(kept):
                return
            if len(kept) < len(rows):
                flat = layout.flat_rows(kept)
                beta, alpha, adam = beta[flat], alpha[flat], Adam(adam.first[flat], adam.second[flat])
                rows, weight, gamma, layout = rows[kept], weight[kept], gamma[kept], layout.take(kept)

    def _gradient(
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
            in_alpha *= (scores < self.kappa)[layout.row_of]
        in_alpha[layout.starts] += gamma[layout.problem_of_position] * mass_gradient
        return pull_back(beta, alpha, in_alpha, layout, self.p) + weight[layout.row_of] * np.sign(beta)


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
