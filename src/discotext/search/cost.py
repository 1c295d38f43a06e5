"""What searches spend, as far as it is known from the shapes of the problems."""

from __future__ import annotations

import numpy as np

from discotext.core.arrays import Floats
from discotext.core.problem import Batch


def count_pairs(batch: Batch) -> Floats:
    """(B,) swaps of each problem: candidates beside the originals."""
    return np.asarray((batch.widths - batch.sizes).astype(np.float64))


def greedy_passes(batch: Batch) -> Floats:
    """(B,) what `Greedy` spends if it uses its whole budget: a pass for each swap of each round."""
    words = np.bincount(batch.problem_of_position, weights=batch.counts > 1, minlength=len(batch))
    pairs = count_pairs(batch)
    rounds = np.minimum(batch.budgets, words)
    # Each round takes one word, of average width, out of the next ones.
    return np.asarray(rounds * pairs - pairs / np.maximum(words, 1) * rounds * (rounds - 1) / 2)


def beam_passes(batch: Batch, width: int) -> Floats:
    """(B,) what a beam spends: its first round extends one answer, the others `width` of them."""
    pairs = count_pairs(batch)
    return np.asarray(width * greedy_passes(batch) - (width - 1) * pairs)
