"""The Lovász and the multilinear extension of a set function, from the vertices of the cube to its interior.

A set is a vertex of [0, 1]^n. Both extensions are expectations of f over a random set:

    Lovász        one uniform threshold θ for all: {i : x_i > θ}   piecewise linear; convex exactly if f is submodular
    multilinear   each element independently, probability x_i      a polynomial; then concave along x + t·d, d ≥ 0

The Lovász extension takes n + 1 values of f, the multilinear 2^n.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discotext.core.arrays import Floats
from discotext.theory.set_functions import SetFunction, tabulate


def lovasz(f: SetFunction, x: Sequence[float] | Floats) -> float:
    """Return the Lovász extension: f(∅) + Σ_i x_{(i)} Δ((i) | {(1), …, (i − 1)}), the coordinates in descending order.

    x: (n,) in the cube. n + 1 values of f.

    >>> f = SetFunction(2, lambda members: float(len(members) > 0))
    >>> lovasz(f, [0.25, 0.5])
    0.5
    """
    point = check_point(f, x)
    order = np.argsort(-point, kind="stable")
    values = f.values(order[:size].tolist() for size in range(f.n + 1))
    return float(values[0] + point[order] @ np.diff(values))


def multilinear(f: SetFunction, x: Sequence[float] | Floats) -> float:
    """Return the multilinear extension: Σ_S f(S) Π_{i ∈ S} x_i Π_{i ∉ S} (1 − x_i), from all 2^n values.

    x: (n,) in the cube, of at most 20 elements.

    >>> f = SetFunction(2, lambda members: float(len(members) > 0))
    >>> multilinear(f, [0.25, 0.5])
    0.625
    """
    values = tabulate(f)
    # The last element owns the highest bit, so it splits the table into halves: without it and with it.
    for weight in check_point(f, x)[::-1]:
        without, with_it = values.reshape(2, -1)
        values = (1 - weight) * without + weight * with_it
    return float(values[0])


def check_point(f: SetFunction, x: Sequence[float] | Floats) -> Floats:
    """Return x as an array; raise ValueError unless it is a point of the cube."""
    point = np.asarray(x, dtype=np.float64)
    if point.shape != (f.n,) or not ((point >= 0) & (point <= 1)).all():
        raise ValueError(f"x is {point.tolist()}; expected {f.n} numbers from 0 to 1, one for each element of f")
    return point
