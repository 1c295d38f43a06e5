"""From weights to choices within budget.

The polytope {α in the simplices, Σ_i (1 − α_i^0) ≤ m} has integral vertices, and the best vertex for a linear function
is found directly: the best candidate of each position, then the m positions that gain most over their originals. The
same step rounds a mixture (weights = α) and takes a Frank–Wolfe step (weights = the gradient of the score).

A limit on costs makes this a knapsack. Its price λ is found by bisection: a candidate is worth its weight less λ times
its cost, and the smallest λ at which the best vertex keeps the limit gives a feasible choice that misses the best by
less than one candidate; changes that still fit are added afterwards, the largest gain first.
"""

from __future__ import annotations

import numpy as np

from discotext.core.arrays import Choices, Floats, Ints, segment_argmax
from discotext.core.problem import Batch

PRICE_STEPS = 30  # of bisection; each halves the interval in which the price of a unit of cost lies


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
    if layout.costs is not None:
        return best_affordable_vertex(weights, layout)
    candidates, gains = best_replacements(weights, layout)
    return keep_largest(candidates, gains, layout)


def best_affordable_vertex(weights: Floats, layout: Batch) -> Choices:
    """`best_vertex` where costs are limited: the best choice at the lowest price that keeps the limit, filled up."""
    assert layout.costs is not None
    # What is over its limit alone can never be chosen.
    limits = layout.room(layout.originals())
    usable = np.where(layout.costs <= limits[layout.row_of], weights, -np.inf)

    costs = layout.costs

    def choose(price: Floats) -> Choices:
        return keep_largest(*best_replacements(usable - price[layout.row_of] * costs, layout), layout)

    choices = choose(np.zeros(len(layout)))
    over = layout.room(choices) < 0
    if over.any():
        gain = np.where(np.isfinite(usable), usable - usable[layout.starts][layout.position_of], 0.0)
        # Above this price, no change is worth its cost.
        worth = np.divide(gain, layout.costs, out=np.zeros_like(gain), where=layout.costs > 0)
        low, high = np.zeros(len(layout)), np.zeros(len(layout))
        np.maximum.at(high, layout.row_of, worth)
        for _ in range(PRICE_STEPS):
            middle = (low + high) / 2
            tried = choose(middle)
            fits = layout.room(tried) >= 0
            high, low = np.where(fits, middle, high), np.where(fits, low, middle)
        choices = np.where(over[:, None], choose(high), choices)
    return fill_up(choices, usable, layout)


def fill_up(choices: Choices, weights: Floats, layout: Batch) -> Choices:
    """Add the change of largest positive gain that still fits, as long as there is one."""
    assert layout.costs is not None
    choices = choices.copy()
    while True:
        room = layout.room(choices)
        free = (choices != 0).sum(axis=1) < layout.budgets
        able = (layout.costs <= room[layout.row_of]) & free[layout.row_of]
        able &= (choices[layout.mask] == 0)[layout.position_of]
        able[layout.starts] = True
        candidates, gains = best_replacements(np.where(able, weights, -np.inf), layout)
        if not gains.size or not (gains > 0).any():
            return choices
        best = gains.argmax(axis=1)
        rows = np.flatnonzero(gains.max(axis=1) > 0)
        choices[rows, best[rows]] = candidates[rows, best[rows]]


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
