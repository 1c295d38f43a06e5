"""From free parameters to mixtures: α_i^j = (β_i^j)^{2p} / Z_i, Z_i = Σ_j (β_i^j)^{2p} (eq. 5 of the paper).

Every function takes flat arrays, the candidates of all positions of all rows stacked, and the layout (a `Batch`) that
says where positions begin. Powers are taken of |β| / max|β|, because 10^{2p} would overflow for large p.

The constraint Z_i = 1 is a sphere of the 2p-norm and not convex; dividing by the norm gives its nearest point only for
p = 1. Hence `retract` and never "projection". What is added to the cost is here too: λ‖β‖_1 with its proximal map, and
the budget term of the experiments.
"""

from __future__ import annotations

import numpy as np

from discotext.core.arrays import Bools, Floats, segment_argmax, segment_max, segment_sum
from discotext.core.problem import Batch


def to_alpha(beta: Floats, layout: Batch, p: int = 1) -> Floats:
    """The mixture that free parameters stand for; a position whose parameters are all zero keeps its original.

    >>> from discotext.core.problem import Problem
    >>> to_alpha(np.array([3.0, 1.0]), Batch.of([Problem((2,), 1)]))
    array([0.9, 0.1])
    """
    powers, norms = powers_and_norms(beta, layout, p)
    empty = norms == 0
    alpha = powers / np.where(empty, 1.0, norms)[layout.position_of]
    alpha[layout.starts[empty]] = 1.0
    return np.asarray(alpha)


def pull_back(beta: Floats, alpha: Floats, gradient: Floats, layout: Batch, p: int = 1) -> Floats:
    """The gradient in β of a function whose gradient in α is given: 2p β^{2p−1} / Z · (g − ⟨α, g⟩), per position.

    alpha: `to_alpha(beta)`. Since β^{2p−1} / Z = α / β, the result vanishes wherever β does, and so at every one-hot β:
    at a discrete point ask for the gradient in α instead.
    """
    mean = segment_sum(alpha * gradient, layout.starts)
    in_beta = gradient - mean[layout.position_of]
    in_beta *= alpha
    in_beta *= 2 * p
    return np.divide(in_beta, beta, out=np.zeros_like(in_beta), where=beta != 0)


def retract(beta: Floats, layout: Batch, p: int = 1) -> Floats:
    """Scale every position's parameters onto the unit sphere of the 2p-norm. This is P_S of the paper.

    A position that is all zero has no direction to keep and stays zero; see `proximal_map` for what to do
    about it before it happens.

    >>> from discotext.core.problem import Problem
    >>> retract(np.array([3.0, 4.0]), Batch.of([Problem((2,), 1)]))
    array([0.6, 0.8])
    """
    return onto_sphere(beta, layout, p)[0]


def onto_sphere(beta: Floats, layout: Batch, p: int) -> tuple[Floats, Bools]:
    """`retract`, and which positions (N,) were all zero."""
    powers, norms = powers_and_norms(beta, layout, p)
    empty = norms == 0
    powers /= np.where(empty, 1.0, norms)[layout.position_of]
    sizes = np.sqrt(powers, out=powers) if p == 1 else powers ** (1 / (2 * p))
    return np.copysign(sizes, beta, out=sizes), empty


def powers_and_norms(beta: Floats, layout: Batch, p: int) -> tuple[Floats, Floats]:
    """β^{2p} (K,) and its sum over each position (N,), both up to one factor for each position.

    The factor is 1 unless the powers would leave the range of floating point; then it is max|β|^{−2p}.
    """
    with np.errstate(over="ignore", under="ignore"):
        powers = beta ** (2 * p)
        norms = segment_sum(powers, layout.starts)
    if not len(norms) or (norms.min() > 1e-250 and norms.max() < 1e250):
        return powers, norms
    size = np.abs(beta)
    largest = segment_max(size, layout.starts)
    powers = (size / np.where(largest == 0, 1.0, largest)[layout.position_of]) ** (2 * p)
    return powers, segment_sum(powers, layout.starts)


def theorem_start(layout: Batch, p: int = 1) -> Floats:
    """β_1 of the convergence theorem: k_i^{−1/2p} everywhere, the uniform mixture on the sphere."""
    return np.asarray((layout.counts.astype(np.float64) ** (-1 / (2 * p)))[layout.position_of])


def experiment_start(layout: Batch) -> Floats:
    """β of the paper's experiments: 10 for the original, 0.05 for every other candidate."""
    beta = np.full(layout.candidates, 0.05)
    beta[layout.starts] = 10.0
    return beta


def soft_threshold(beta: Floats, threshold: Floats | float) -> Floats:
    """The proximal map of threshold · ‖·‖_1 (eq. 14): shrink towards zero, and stop there.

    >>> soft_threshold(np.array([3.0, -0.5, -2.0]), 1.0)
    array([ 2., -0., -1.])
    """
    size = np.abs(beta)
    size -= threshold
    np.maximum(size, 0.0, out=size)
    return np.asarray(np.copysign(size, beta, out=size))


def proximal_map(beta: Floats, threshold: Floats | float, layout: Batch, p: int = 1) -> Floats:
    """Soft-threshold, then retract: one update of Algorithm 2, after its gradient step.

    A position that the threshold empties becomes one-hot at its largest parameter, ties to the original. For p = 1 the
    whole map is then the exact proximal map of the penalty on the sphere, and a step shorter than 1/L never raises cost
    plus penalty; falling back to the original word instead would break that.
    """
    there, emptied = onto_sphere(soft_threshold(beta, threshold), layout, p)
    if not emptied.any():
        return there
    first, _ = segment_argmax(np.abs(beta), layout.starts, layout.position_of)
    where = (layout.starts + first)[emptied]
    there[where] = np.where(beta[where] < 0, -1.0, 1.0)
    return there


def row_sum(values: Floats, layout: Batch) -> Floats:
    """(R,) the sum of each row's entries of a flat array."""
    return np.asarray(np.bincount(layout.row_of, weights=values, minlength=len(layout)), dtype=np.float64)


def changed_mass(alpha: Floats, layout: Batch) -> tuple[Floats, Floats]:
    """‖1 − α^0‖_2 of each row, and its gradient in each position's α^0 (N,); in all other weights it is zero.

    At a one-hot α this is the square root of the number of changes.
    """
    missing = 1.0 - alpha[layout.starts]
    norm = np.sqrt(np.bincount(layout.problem_of_position, weights=missing**2, minlength=len(layout)))
    spread = norm[layout.problem_of_position]
    return norm, -np.divide(missing, spread, out=np.zeros_like(missing), where=spread > 0)
