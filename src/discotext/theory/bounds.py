"""The largest increase of a sum that a budget allows.

Both oracles here whose score depends on a sum over positions bound a partial choice the same way: keep what is fixed
and the originals elsewhere, and add the largest gains of the open positions, as many as may still change.
"""

from __future__ import annotations

import numpy as np

from discotext.core.arrays import Floats, Ints


def sum_largest(gains: Floats, allowed: Ints) -> Floats:
    """Return the sum along axis 1 of each row's largest positive gains, at most `allowed` of them.

    gains: (R, n) or (R, n, C). allowed: (R,). Returns (R,) or (R, C).

    >>> sum_largest(np.array([[3.0, -1.0, 2.0, 5.0]]), np.array([2]))
    array([8.])
    """
    descending = -np.sort(-np.maximum(gains, 0.0), axis=1)
    kept = np.arange(gains.shape[1]) < allowed[:, None]
    return np.asarray(np.einsum("rn...,rn->r...", descending, kept.astype(np.float64)))
