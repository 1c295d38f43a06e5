"""Random choices and mixtures."""

from __future__ import annotations

import numpy as np

from discotext.core.arrays import Choices, Floats, Ints, segment_sum
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
    return trim(layout, np.where(changed, candidate, 0).astype(np.int32), rng)


def trim(layout: Batch, choices: Choices, rng: np.random.Generator) -> Choices:
    """Undo changes at random until each row keeps its limit on costs."""
    if layout.costs is None:
        return choices
    return keep_first(layout, choices, rng.random(choices.shape))


def keep_first(layout: Batch, choices: Choices, keys: Floats) -> Choices:
    """Undo changes, those with the largest keys first, until each row keeps its budget and its limit on costs.

    choices, keys: (R, n_max or more), a key for each position.

    >>> from discotext.core.problem import Problem
    >>> layout = Batch.of([Problem((3, 2, 2), budget=2)])
    >>> keep_first(layout, np.array([[2, 1, 1]], dtype=np.int32), np.array([[0.5, 0.9, 0.1]]))
    array([[2, 0, 1]], dtype=int32)
    """
    width = layout.n_max
    changed, costs = choices[:, :width] != 0, layout.dense_costs(choices)
    limits = np.full(len(layout), np.inf) if layout.cost_limits is None else layout.cost_limits
    # What costs too much by itself takes nothing from the others.
    changed &= costs <= limits[:, None]
    order = np.argsort(np.where(changed, keys[:, :width], np.inf), axis=1, kind="stable")
    spent = np.cumsum(np.take_along_axis(np.where(changed, costs, 0.0), order, axis=1), axis=1)
    kept = np.zeros(changed.shape, dtype=bool)
    np.put_along_axis(kept, order, (np.arange(width) < layout.budgets[:, None]) & (spent <= limits[:, None]), axis=1)
    out = np.zeros_like(choices)
    out[:, :width] = np.where(kept & changed, choices[:, :width], 0)
    return out


class Streams:
    """A stream of random numbers for each problem: what one draws does not depend on the others in its batch.

    All come from one seed, drawn from rng; a problem's own shape, and not its number in the batch, tells them apart.
    """

    def __init__(self, batch: Batch, rng: np.random.Generator) -> None:
        seed = int(rng.integers(2**62))
        self.sizes, self.width = batch.sizes.tolist(), batch.n_max
        counts = np.split(batch.counts, batch.first_position[1:-1])
        self._generators = [
            np.random.default_rng([seed, budget, *own.tolist()])
            for budget, own in zip(batch.budgets.tolist(), counts, strict=False)
        ]

    def draw(self, problems: Ints, members: int) -> Floats:
        """(R, members) uniform numbers."""
        return np.stack([self._generators[problem].random(members) for problem in problems.tolist()])

    def draw_positions(self, problems: Ints, members: int) -> Floats:
        """(R, members, n_max) uniform numbers, one for each position; 0 beyond a problem's end."""
        out = np.zeros((len(problems), members, self.width))
        for row, problem in enumerate(problems.tolist()):
            size = self.sizes[problem]
            out[row, :, :size] = self._generators[problem].random((members, size))
        return out
