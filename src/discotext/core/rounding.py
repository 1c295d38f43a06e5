"""From weights to choices within budget.

The polytope {α in the simplices, Σ_i (1 − α_i^0) ≤ m} has integral vertices, and the best vertex for a linear function
is found directly: the best candidate of each position, then the m positions that gain most over their originals. The
same step rounds a mixture (weights = α) and takes a Frank–Wolfe step (weights = the gradient of the score).
"""

from __future__ import annotations

import numpy as np

from discotext.core.arrays import Choices, Floats, Ints, segment_argmax
from discotext.core.problem import Batch


def best_replacements(weights: Floats, layout: Batch) -> tuple[Choices, Floats]:
    """Per position, the candidate of largest weight and its gain over the original.

    Returns candidates (R, n_max) and gains (R, n_max); 0 and 0 where the original is best or there is no position.
    """
    candidate, largest = segment_argmax(weights, layout.starts, layout.position_of)
    gain = largest - weights[layout.starts] if len(largest) else largest
    return layout.dense(candidate, 0).astype(np.int32), layout.dense(gain, 0.0)


def best_vertex(weights: Floats, layout: Batch) -> Choices:
    """(R, n_max) the feasible choice of largest total weight: argmax Σ_i weights_i^{choice_i}.

    Ties go to the original and to the earlier position.

    >>> from discotext.core.problem import Problem
    >>> best_vertex(np.array([0.0, 2.0, 0.0, 3.0, 0.0, 1.0]), Batch.of([Problem((2, 2, 2), 2)]))
    array([[1, 1, 0]], dtype=int32)
    """
    candidates, gains = best_replacements(weights, layout)
    return keep_largest(candidates, gains, layout)


def keep_largest(candidates: Choices, gains: Floats, layout: Batch) -> Choices:
    """Keep, in each row, the changes of largest positive gain, as many as the budget allows."""
    order, found = largest(gains, min(int(layout.budgets.max(initial=0)), gains.shape[1]))
    kept = (found > 0) & (np.arange(order.shape[1]) < layout.budgets[:, None])
    out = np.zeros_like(candidates)
    np.put_along_axis(out, order, np.where(kept, np.take_along_axis(candidates, order, axis=1), 0), axis=1)
    return out


def largest(values: Floats, count: int) -> tuple[Ints, Floats]:
    """Per row, where the `count` largest values are and what they are, largest first, ties to the first.

    Linear in the width of a row: only the `count` that a partition finds are sorted.

    >>> largest(np.array([[1.0, 5.0, 3.0]]), 2)
    (array([[1, 2]]), array([[5., 3.]]))
    """
    if not 0 < count < values.shape[1]:
        part = np.broadcast_to(np.arange(min(count, values.shape[1])), (len(values), min(count, values.shape[1])))
    else:
        last = -np.partition(-values, count - 1, axis=1)[:, count - 1 : count]
        above, equal = values > last, values == last
        equal &= np.cumsum(equal, axis=1) <= count - above.sum(axis=1, keepdims=True)
        part = np.nonzero(above | equal)[1].reshape(len(values), count)
    found = np.take_along_axis(values, part, axis=1)
    order = np.argsort(-found, axis=1, kind="stable")
    return np.take_along_axis(part, order, axis=1), np.take_along_axis(found, order, axis=1)
