"""Random choices and mixtures."""

from __future__ import annotations

import numpy as np

from discotext.core.arrays import Choices, Floats, segment_sum
from discotext.core.problem import Batch


def draw(layout: Batch, alpha: Floats, rng: np.random.Generator) -> Choices:
    """(R, n_max) one candidate per position, drawn with the probabilities alpha."""
    cumulative = np.cumsum(alpha)
    before = cumulative[layout.starts] - alpha[layout.starts]
    total = segment_sum(alpha, layout.starts)
    # Strictly inside the segment: neither end may be hit, or a candidate of weight 0 could be drawn.
    target = before + total * rng.uniform(1e-9, 1 - 1e-9, size=len(before))
    picked = np.searchsorted(cumulative, target, side="right") - layout.starts
    picked = np.clip(picked, 0, layout.counts - 1)
    return layout.dense(picked, 0).astype(np.int32)


def interior_point(layout: Batch, rng: np.random.Generator) -> Floats:
    """A random mixture with every weight positive."""
    weights = rng.uniform(0.2, 1.0, size=layout.candidates)
    return np.asarray(weights / segment_sum(weights, layout.starts)[layout.position_of])


def random_choices(layout: Batch, rng: np.random.Generator) -> Choices:
    """(B, n_max) feasible choices: a random number of random positions changed, each to a random candidate."""
    keys = np.where(layout.dense_counts > 1, rng.random((len(layout), layout.n_max)), np.inf)
    changes = np.floor(rng.random(len(layout)) * (layout.budgets + 1))
    rank = np.argsort(np.argsort(keys, axis=1), axis=1)
    changed = (rank < changes[:, None]) & np.isfinite(keys)
    candidate = 1 + np.floor(rng.random(keys.shape) * np.maximum(layout.dense_counts - 1, 0))
    return np.where(changed, candidate, 0).astype(np.int32)
