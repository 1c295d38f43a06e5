"""What is added to the cost: λ‖β‖_1 with its proximal map, and the budget term of the experiments."""

from __future__ import annotations

import numpy as np

from discotext.core.arrays import Floats, segment_argmax
from discotext.core.problem import Batch
from discotext.core.relaxation import onto_sphere


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


def per_candidate(values: Floats, layout: Batch) -> Floats:
    """Spread one value per row over the row's candidates."""
    return np.asarray(values[layout.row_of])


def row_sum(values: Floats, layout: Batch) -> Floats:
    """(R,) the sum of each row's entries of a flat array."""
    return np.asarray(np.bincount(layout.row_of, weights=values, minlength=len(layout)), dtype=np.float64)


def l1(beta: Floats, layout: Batch) -> Floats:
    """(R,) ‖β‖_1 of each row."""
    return row_sum(np.abs(beta), layout)


def changed_mass(alpha: Floats, layout: Batch) -> tuple[Floats, Floats]:
    """‖1 − α^0‖_2 of each row, and its gradient in each position's α^0 (N,); in all other weights it is zero.

    At a one-hot α this is the square root of the number of changes.
    """
    missing = 1.0 - alpha[layout.starts]
    norm = np.sqrt(np.bincount(layout.problem_of_position, weights=missing**2, minlength=len(layout)))
    spread = norm[layout.problem_of_position]
    return norm, -np.divide(missing, spread, out=np.zeros_like(missing), where=spread > 0)
