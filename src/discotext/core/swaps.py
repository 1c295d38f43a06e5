"""All single swaps of many rows, and their scores, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discotext.core.arrays import Bools, Choices, Floats, Ints, ranges, segment_argmax
from discotext.core.oracle import Oracle
from discotext.core.problem import Batch

BLOCK = 2_000_000  # choices made at once; every swap is a whole row, so this bounds memory and not the search


@dataclass(frozen=True)
class Swaps:
    """Ways to change one position of a row: in `rows[s]`, put `candidates[s]` at `positions[s]`. Rows in order."""

    rows: Ints
    positions: Ints
    candidates: Ints

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, which: Ints | Bools) -> Swaps:
        return Swaps(self.rows[which], self.positions[which], self.candidates[which])

    def apply(self, choices: Choices) -> Choices:
        """(S, n_max) the rows after their swaps."""
        out = choices[self.rows]
        out[np.arange(len(self)), self.positions] = self.candidates
        return out


def all_swaps(layout: Batch) -> Swaps:
    """Every candidate of every position of every row, the originals included."""
    positions = ranges(np.zeros(len(layout), dtype=np.int64), layout.sizes)[layout.position_of]
    candidates = ranges(np.zeros(len(layout.counts), dtype=np.int64), layout.counts)
    return Swaps(layout.row_of, positions, candidates)


def additions(layout: Batch, choices: Choices) -> Swaps:
    """The swaps that change one more position, in rows that have budget left."""
    swaps = all_swaps(layout)
    room = (choices != 0).sum(axis=1) < layout.budgets
    unchanged = choices[swaps.rows, swaps.positions] == 0
    return swaps.take(room[swaps.rows] & unchanged & (swaps.candidates > 0))


def score_swaps(oracle: Oracle, problems: Ints, choices: Choices, swaps: Swaps) -> Floats:
    """(S,) the score of each row after its swap."""
    scores = np.empty(len(swaps))
    for block in blocks(len(swaps), choices.shape[1]):
        part = swaps.take(block)
        scores[block] = oracle.score(problems[part.rows], part.apply(choices))
    return scores


def blocks(rows: int, width: int) -> Iterator[Ints]:
    """Cut 0 … rows − 1 into runs of at most BLOCK positions."""
    size = max(1, BLOCK // max(width, 1))
    for begin in range(0, rows, size):
        yield np.arange(begin, min(begin + size, rows))


def best_of_each(rows: Ints, scores: Floats) -> Ints:
    """Indices of the best entry of each row that occurs, ties to the first. `rows` must be in order.

    >>> best_of_each(np.array([0, 0, 2]), np.array([1.0, 3.0, 2.0]))
    array([1, 2])
    """
    if not len(rows):
        return np.empty(0, dtype=np.int64)
    first = np.diff(rows, prepend=rows[0] - 1) != 0
    starts = np.flatnonzero(first)
    return starts + segment_argmax(scores, starts, np.cumsum(first) - 1)[0]


def improve(oracle: Oracle, problems: Ints, choices: Choices, scores: Floats, swaps: Swaps) -> Ints:
    """Make the best swap of each row where it raises the score, in place; returns the rows that changed, in order."""
    swapped = score_swaps(oracle, problems, choices, swaps)
    best = best_of_each(swaps.rows, swapped)
    better = best[swapped[best] > scores[swaps.rows[best]]]
    picked = swaps.take(better)
    choices[picked.rows, picked.positions] = picked.candidates
    scores[picked.rows] = swapped[better]
    return picked.rows
