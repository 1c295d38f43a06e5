"""A set of choices of one text, as bounds of networks see it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discotext.core.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Row:
    """The allowed candidates of one text, position by position; the first of each is its base.

    counts: (n,) allowed candidates of each position, at least 1. forced: (n,) whether the original is not among them.
    budget: how many positions may hold something else than their original.
    """

    counts: Ints
    forced: Bools
    budget: int

    @property
    def length(self) -> int:
        return len(self.counts)

    @cached_property
    def base(self) -> Ints:
        """(n,) where each position's candidates start."""
        return np.asarray(np.cumsum(self.counts) - self.counts)

    @cached_property
    def position(self) -> Ints:
        """(K,) the position of each candidate."""
        return np.repeat(np.arange(self.length), self.counts)

    @cached_property
    def open(self) -> Bools:
        """(n,) whether there is a choice."""
        return np.asarray(self.counts > 1)

    @cached_property
    def left(self) -> int:
        """How many positions may change beside those that must."""
        return int(min(max(self.budget - self.forced.sum(), 0), (self.open & ~self.forced).sum()))

    def add_largest(self, gains: Floats) -> Floats:
        """(H,) the most that candidates within the budget can add. gains: (K, H) over what the base gives."""
        if not self.length:
            return np.zeros(gains.shape[1])
        best = np.maximum(np.maximum.reduceat(gains, self.base, axis=0), 0.0)
        free = best[self.open & ~self.forced]
        most = len(free) - self.left
        chosen = np.partition(free, most, axis=0)[most:] if 0 < most < len(free) else free[most:]
        return np.asarray(best[self.forced].sum(axis=0) + chosen.sum(axis=0))
