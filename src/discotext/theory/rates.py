"""Bounds on the rate of convergence, to compare a run with.

`proximal_bound` is the paper's theorem for Algorithm 2. It states a 1/T rate (the abstract's "linearly" is not meant in
the usual sense), and does not hold as generally as stated: the sphere Z_i = 1 is not convex. It holds for p = 1 and
f(β) = −⟨b, β⟩ with every b above λ, and for every convex f if spheres become balls; it fails for f = 0. The paper's
own f, eq. 8 with a differentiable C, cannot be convex: the gradient in β vanishes at every one-hot β.

`frank_wolfe_bound` is a theorem with the budget inside, for a cost convex and L-smooth in α over the polytope
{one simplex per position, Σ_i (1 − α_i^0) ≤ m}: the usual 2 L D² / (T + 2), where two vertices differ in at most
min(2m, n) positions and each adds 2 to the squared distance, so D² = min(4m, 2n).
"""

from __future__ import annotations

import numpy as np

from discotext.core.arrays import Floats
from discotext.core.problem import Batch


def proximal_bound(layout: Batch, step: float, iterations: int, p: int = 1) -> Floats:
    """Return (R,) the theorem's bound on φ(β_{T+1}) − φ(β*) for each row: Σ_i k_i (1 + k_i^{−1/2p})² / (2ηT).

    step: η, below 1/L. iterations: T, the updates made from the theorem's start β_1.

    >>> from discotext.core.problem import Problem
    >>> proximal_bound(Batch.of([Problem((2,), 1)]), step=0.1, iterations=200).round(3)
    array([0.146])
    """
    if not step > 0:
        raise ValueError(f"step is {step}; choose a positive number below 1/L")
    if iterations < 1:
        raise ValueError(f"iterations is {iterations}; choose 1 or more updates")
    if p < 1:
        raise ValueError(f"p is {p}; choose an integer of 1 or more")
    counts = layout.counts.astype(np.float64)
    terms = counts * (1 + counts ** (-1 / (2 * p))) ** 2
    return np.bincount(layout.problem_of_position, weights=terms, minlength=len(layout)) / (2 * step * iterations)


def frank_wolfe_bound(smoothness: float, budget: int, positions: int, iterations: int) -> float:
    """Return the bound on C(α_T) − C* after T steps of 2/(t + 2), t = 0, …, T − 1: 2L · min(4m, 2n) / (T + 2).

    >>> frank_wolfe_bound(smoothness=1.0, budget=2, positions=10, iterations=14)
    1.0
    """
    if smoothness < 0:
        raise ValueError(f"smoothness is {smoothness}; L is a Lipschitz constant, 0 or more")
    if not 0 <= budget <= positions:
        raise ValueError(f"budget is {budget}, but there are {positions} positions; choose 0 to {positions}")
    if iterations < 1:
        raise ValueError(f"iterations is {iterations}; choose 1 or more steps")
    return 2 * smoothness * min(4 * budget, 2 * positions) / (iterations + 2)
