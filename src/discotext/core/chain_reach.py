"""The fewest changes that may reach a goal where neighbours matter: a dynamic programme along the positions.

    value = constant + Σ over positions of gain(candidate) + Σ over neighbours of gain(candidate, next candidate)

For each position, candidate and number of changes: the best that the positions before it can give, and those after it.
Both together are the best value of all choices with so many changes that hold the candidate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discotext.core.arrays import Bools, Floats, Ints
from discotext.core.reach import NEVER


@dataclass(frozen=True, eq=False)
class Chain:
    """A sum over positions and neighbours.

    counts: (n,) candidates of each position. changes: (K,) whether a candidate is a change. gains: (K,).
    pairs: by position, (k, l) what its candidates gain together with those of the next; positions without have none.
    """

    counts: Ints
    changes: Bools
    gains: Floats
    pairs: Mapping[int, Floats]

    def best(self, budget: int) -> Floats:
        """(K, budget + 1) the best value of choices that hold each candidate, by their number of changes."""
        starts = np.cumsum(self.counts) - self.counts
        parts = [
            slice(start, start + count) for start, count in zip(starts.tolist(), self.counts.tolist(), strict=True)
        ]
        forward = [np.empty(0)] * len(parts)
        nothing = np.full(budget + 1, -np.inf)
        nothing[0] = 0.0
        before: Floats = np.zeros((1, budget + 1)) + nothing
        for number, part in enumerate(parts):
            reached = _step(before, self.pairs.get(number - 1), len(self.gains[part]))
            forward[number] = before = self._hold(part, reached)
        found = np.full((len(self.gains), budget + 1), -np.inf)
        after: Floats = np.zeros((1, budget + 1)) + nothing
        for number in reversed(range(len(parts))):
            part = parts[number]
            pair = self.pairs.get(number)
            reached = _step(after, None if pair is None else pair.T, len(self.gains[part]))
            for more in range(budget + 1):
                # `more` changes after this position.
                joined = forward[number][:, : budget + 1 - more] + reached[:, more : more + 1]
                np.maximum(found[part, more:], joined, out=found[part, more:])
            after = self._hold(part, reached)
        return found

    def _hold(self, part: slice, reached: Floats) -> Floats:
        """(k, budget + 1) the same after each candidate of a position is held."""
        moved = np.concatenate([np.full((len(reached), 1), -np.inf), reached[:, :-1]], axis=1)
        return np.where(self.changes[part, None], moved, reached) + self.gains[part, None]


def _step(values: Floats, pair: Floats | None, candidates: int) -> Floats:
    """(l, budget + 1) the best over the candidates (k, budget + 1) of a neighbour, for each of ours."""
    if pair is None:
        return np.broadcast_to(values.max(axis=0), (candidates, values.shape[1]))
    return np.asarray((values[:, None] + pair[:, :, None]).max(axis=0))


def find_first(values: Floats, goal: float) -> Floats:
    """(K,) the first number of changes at which values (K, budget + 1) come up to the goal; `NEVER` if none does."""
    reached = values >= goal
    return np.where(reached.any(axis=1), reached.argmax(axis=1), NEVER).astype(np.float64)
