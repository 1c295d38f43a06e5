"""From free parameters to mixtures: α_i^j = (β_i^j)^{2p} / Z_i, Z_i = Σ_j (β_i^j)^{2p} (eq. 5 of the paper).

Every function takes flat arrays, the candidates of all positions of all rows stacked, and the layout (a `Batch`) that
says where positions begin. Powers are taken of |β| / max|β|, because 10^{2p} would overflow for large p.

The constraint Z_i = 1 is a sphere of the 2p-norm and not convex; dividing by the norm gives its nearest point only for
p = 1. Hence `retract` and never "projection".
"""

from __future__ import annotations

import numpy as np

from discotext.problem import Batch
from discotext.segments import Floats, segment_argmax, segment_max, segment_sum


def to_alpha(beta: Floats, layout: Batch, p: int = 1) -> Floats:
    """The mixture that free parameters stand for; a position whose parameters are all zero keeps its original.

    >>> from discotext.problem import Problem
    >>> to_alpha(np.array([3.0, 1.0]), Batch.of([Problem((2,), 1)]))
    array([0.9, 0.1])
    """
    powers = relative(beta, layout) ** (2 * p)
    total = np.repeat(segment_sum(powers, layout.starts), layout.counts)
    alpha = np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)
    empty = total[layout.starts] == 0
    alpha[layout.starts[empty]] = 1.0
    return alpha


def pull_back(beta: Floats, gradient: Floats, layout: Batch, p: int = 1) -> Floats:
    """The gradient in β of a function whose gradient in α is given: 2p β^{2p−1} / Z · (g − ⟨α, g⟩), per position.

    It vanishes wherever β does, and so at every one-hot β: at a discrete point ask for the gradient in α instead.
    """
    scaled = relative(beta, layout)
    powers = scaled ** (2 * p)
    norm = segment_sum(powers, layout.starts)
    mean = segment_sum(powers * gradient, layout.starts) / np.maximum(norm, 1e-300)
    largest = np.repeat(segment_max(np.abs(beta), layout.starts) * norm, layout.counts)
    slope = 2 * p * np.sign(beta) * scaled ** (2 * p - 1) * (gradient - np.repeat(mean, layout.counts))
    return np.divide(slope, largest, out=np.zeros_like(slope), where=largest > 0)


def retract(beta: Floats, layout: Batch, p: int = 1) -> Floats:
    """Scale every position's parameters onto the unit sphere of the 2p-norm. This is P_S of the paper.

    A position that is all zero has no direction to keep and stays zero; see `penalty.proximal_map` for what to do
    about it before it happens.

    >>> from discotext.problem import Problem
    >>> retract(np.array([3.0, 4.0]), Batch.of([Problem((2,), 1)]))
    array([0.6, 0.8])
    """
    scaled = relative(beta, layout)
    norm = segment_sum(scaled ** (2 * p), layout.starts) ** (1 / (2 * p))
    norm = np.repeat(norm, layout.counts)
    return np.sign(beta) * np.divide(scaled, norm, out=np.zeros_like(beta), where=norm > 0)


def relative(beta: Floats, layout: Batch) -> Floats:
    """|β| divided by the largest |β| of its position (zero where that is zero)."""
    size = np.abs(beta)
    largest = np.repeat(segment_max(size, layout.starts), layout.counts)
    return np.divide(size, largest, out=np.zeros_like(size), where=largest > 0)


def theorem_start(layout: Batch, p: int = 1) -> Floats:
    """β_1 of the convergence theorem: k_i^{−1/2p} everywhere, the uniform mixture on the sphere."""
    return np.asarray(np.repeat(layout.counts.astype(np.float64) ** (-1 / (2 * p)), layout.counts))


def experiment_start(layout: Batch) -> Floats:
    """β of the paper's experiments: 10 for the original, 0.05 for every other candidate."""
    beta = np.full(layout.candidates, 0.05)
    beta[layout.starts] = 10.0
    return beta


def one_hot_fallback(beta: Floats, before: Floats, layout: Batch) -> Floats:
    """Make positions of beta that are all zero one-hot where |before| was largest (ties to the original).

    For p = 1 this is the exact minimiser of the proximal problem on the sphere, so it keeps descent; putting the
    original word there instead would not.
    """
    empty = segment_max(np.abs(beta), layout.starts) == 0
    if not empty.any():
        return beta
    first, _ = segment_argmax(np.abs(before), layout.starts, layout.counts)
    where = (layout.starts + first)[empty]
    beta = beta.copy()
    beta[where] = np.where(before[where] < 0, -1.0, 1.0)
    return beta
