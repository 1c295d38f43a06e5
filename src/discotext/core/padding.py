"""Grouping rows into calls, where each call is padded to its longest row.

Rows are sorted by length. Each additional call saves padding but costs the overhead of the call, and in a recurrent
model a step for every word, however few texts there are. Measured on LSTMs of 200 units, that cost equals about a
hundred more cells and eight more rows in the call; a transformer processes all words at once and has no cost per
word. The grouping with the smallest total cost is found exactly, by dynamic programming.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from discotext.core.arrays import Ints

SPARE_ROWS, SPARE_CELLS = 8, 100  # the cost of one more call, in rows and cells of padding


def group_by_length(
    lengths: Ints | Sequence[int], cells: int | None = None, spare_rows: int = SPARE_ROWS
) -> list[Ints]:
    """Row numbers grouped into calls of like length, short ones first, each of at most `cells` cells (or a single row).

    Of all ways to cut the sorted rows, the one with the smallest sum of (rows + spare_rows) × longest + 100.

    >>> [call.tolist() for call in group_by_length([50, 10, 10, 50, 11])]
    [[1, 2, 4, 0, 3]]
    >>> [len(call) for call in group_by_length([10] * 20 + [11] * 20 + [50] * 20)]
    [40, 20]
    """
    lengths = np.maximum(np.asarray(lengths, dtype=np.int64), 1)
    order = np.argsort(lengths, kind="stable")
    bounds = best_cuts(*np.unique(lengths, return_counts=True), spare_rows)
    calls: list[Ints] = []
    for begin, end in pairwise([0, *bounds]):
        calls += split_evenly(order[begin:end], int(lengths[order[end - 1]]), cells)
    return calls


def best_cuts(values: Ints, counts: Ints, spare_rows: int) -> list[int]:
    """Where calls end among the sorted rows. values: the differing lengths, rising; counts: rows of each."""
    before = np.concatenate([[0], np.cumsum(counts)])
    costs = np.zeros(len(before))
    came_from = np.zeros(len(before), dtype=np.int64)
    for last in range(1, len(before)):
        reached = costs[:last] + (before[last] - before[:last] + spare_rows) * values[last - 1] + SPARE_CELLS
        came_from[last] = np.argmin(reached)
        costs[last] = reached[came_from[last]]
    bounds, last = [], len(values)
    while last:
        bounds.append(int(before[last]))
        last = int(came_from[last])
    return bounds[::-1]


def split_evenly(rows: Ints, longest: int, cells: int | None) -> list[Ints]:
    """Cut rows into as few calls, of nearly the same size, as the cells of one call allow."""
    most = len(rows) if cells is None else max(1, cells // longest)
    return np.array_split(rows, -(-len(rows) // most))


def largest_first(calls: list[Ints], lengths: Ints) -> list[Ints]:
    """Calls by the cells they have once padded, the most first."""
    return sorted(calls, key=lambda call: -len(call) * int(lengths[call].max()))
