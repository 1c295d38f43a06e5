"""Arithmetic on segments: runs of one long array, one run per position or problem.

A batch of problems is a concatenation. Everything a solver does to "each position" is then one pass over one flat
array, and nothing is ever padded to the longest list of candidates. NumPy's `reduceat` does the work; it is only
right for segments that are not empty, which every position guarantees (a word can always be kept).
"""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Choices = NDArray[np.int32]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """Concatenate the runs start, start + 1, …, start + length − 1. Empty runs are allowed.

    >>> ranges(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total, dtype=np.int64) + np.repeat(starts - (ends - lengths), lengths))


def segment_max(values: Floats, starts: Ints) -> Floats:
    """The largest value of each segment. No segment may be empty.

    >>> segment_max(np.array([1.0, 4.0, 3.0]), np.array([0, 2]))
    array([4., 3.])
    """
    if not len(starts):
        return np.empty(0)
    return np.asarray(np.maximum.reduceat(values, starts))


def segment_sum(values: Floats, starts: Ints) -> Floats:
    """The sum of each segment. No segment may be empty.

    >>> segment_sum(np.array([1.0, 4.0, 3.0]), np.array([0, 2]))
    array([5., 3.])
    """
    if not len(starts):
        return np.empty(0)
    return np.asarray(np.add.reduceat(values, starts))


def segment_argmax(values: Floats, starts: Ints, segment_of: Ints) -> tuple[Ints, Floats]:
    """Where each segment is largest (as an index inside the segment, ties to the first) and how large.

    segment_of: the segment that each value belongs to.

    >>> segment_argmax(np.array([1.0, 4.0, 4.0, 3.0]), np.array([0, 3]), np.array([0, 0, 0, 1]))
    (array([1, 0]), array([4., 3.]))
    """
    largest = segment_max(values, starts)
    hits = np.flatnonzero(values == largest[segment_of])
    if len(hits) == len(starts):  # no ties: one hit in each segment, and they are in order
        return hits - starts, largest
    first = np.empty(len(starts), dtype=np.int64)
    # Written back to front, so that the first of several equal entries is the one that stays.
    first[segment_of[hits][::-1]] = hits[::-1]
    return first - starts, largest


def rank_in_group(groups: Ints) -> Ints:
    """How many entries before each one belong to the same group. `groups` must be in order.

    >>> rank_in_group(np.array([2, 2, 5, 5, 5]))
    array([0, 1, 0, 1, 2])
    """
    return np.asarray(np.arange(len(groups)) - np.searchsorted(groups, groups, side="left"))
