"""What searches with a population share: each problem has as many members, each of which is a choice.

Arrays are (R, M, n_max): problems, members, positions. Random numbers come from a stream of each problem's own, so that
a problem finds the same in any company.
"""

from __future__ import annotations

import numpy as np

from discotext.core.arrays import Choices, Floats, Ints
from discotext.core.problem import Batch
from discotext.core.sampling import Streams, keep_first


def pick(weights: Floats, uniform: Floats) -> Ints:
    """(R, M) numbers drawn with probabilities proportional to weights (R, W); all alike where no weight is positive.

    >>> pick(np.array([[1.0, 0.0, 3.0]]), np.array([[0.1, 0.3, 0.9]]))
    array([[0, 2, 2]])
    """
    total = weights.sum(axis=1, keepdims=True)
    shares = np.where(total > 0, weights, 1.0)
    ends = np.cumsum(shares, axis=1)
    targets = uniform * ends[:, -1:]
    found = [np.searchsorted(row, wanted, side="right") for row, wanted in zip(ends, targets, strict=True)]
    return np.asarray(np.minimum(np.stack(found), weights.shape[1] - 1))


def repair(batch: Batch, problems: Ints, members: Choices, keys: Floats) -> Choices:
    """(R, M, n_max) the members with changes undone, of the largest keys first, until all are within budget."""
    rows = np.repeat(problems, members.shape[1])
    flat = keep_first(batch.take(rows), members.reshape(len(rows), -1), keys.reshape(len(rows), -1))
    return flat.reshape(members.shape)


def mutate(batch: Batch, streams: Streams, problems: Ints, members: Choices, tries: int) -> tuple[Ints, Choices]:
    """Put another candidate at one random position of each member, `tries` candidates in turn where there are so many.

    A position is drawn with a probability proportional to its candidates. Other changes are undone at random where the
    budget asks for it. Returns (S,) which member, counted through all problems, each result comes from, in order, and
    (S, n_max) the results.
    """
    count = members.shape[1]
    options = np.maximum(batch.dense_counts[problems] - 1, 0)
    positions = pick(options.astype(np.float64), streams.draw(problems, count)).ravel()
    there = np.take_along_axis(options, positions.reshape(len(problems), count), axis=1).ravel()
    first = np.floor(streams.draw(problems, count).ravel() * there).astype(np.int64)
    keys = streams.draw_positions(problems, count).reshape(len(positions), -1)
    # The new change is the last to be undone.
    keys[np.arange(len(positions)), positions] = -1.0
    copies = np.clip(there, 1, tries)
    which = np.repeat(np.arange(len(positions)), copies)
    turn = np.arange(len(which)) - np.repeat(np.cumsum(copies) - copies, copies)
    mutants = members.reshape(len(positions), -1)[which]
    candidates = np.where(there[which] > 0, 1 + (first[which] + turn) % np.maximum(there[which], 1), 0)
    mutants[np.arange(len(which)), positions[which]] = candidates
    return which, keep_first(batch.take(problems[which // count]), mutants, keys[which])
