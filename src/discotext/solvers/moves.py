"""Moves that a gradient proposes, from one feasible choice to another.

At a choice, the slope of the score in α says to first order what every swap would gain. Four kinds of move keep within
the budget: change one more position (while there is room), change a changed position to another candidate, put a
position back, and exchange, which does the last and the first together when the budget is spent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discotext.problem import Batch
from discotext.rounding import largest
from discotext.segments import Choices, Floats, Ints, ranges, segment_argmax

PARTNERS = 8  # positions put back and swaps made that are paired with each other in exchanges


@dataclass(frozen=True)
class Moves:
    """In `rows[s]`, put `candidates[s]` at `positions[s]` and, unless it is −1, the original at `returned[s]`."""

    rows: Ints
    positions: Ints
    candidates: Ints
    returned: Ints

    def __len__(self) -> int:
        return len(self.rows)

    def apply(self, choices: Choices) -> Choices:
        out = choices[self.rows]
        index = np.arange(len(self))
        out[index, self.positions] = self.candidates
        paired = self.returned >= 0
        out[index[paired], self.returned[paired]] = 0
        return out


def best_moves(layout: Batch, choices: Choices, gradient: Floats, count: int) -> Moves:
    """The `count` moves of each row that the gradient values most; rows in order.

    Of each position the two best candidates are looked at. One pass over the candidates finds the best of each; the
    second best can only matter where the best is among the first, so it is looked for there alone.
    choices: (R, ≥ n_max); gradient: flat.
    """
    width = layout.n_max
    if not width:
        nothing = np.empty(0, dtype=np.int64)
        return Moves(nothing, nothing, nothing, nothing)
    choices = choices[:, :width]
    changed = choices != 0
    chosen = layout.chosen(choices)
    here = gradient[chosen]
    slopes = gradient.copy()
    slopes[chosen] = -np.inf
    slopes[layout.starts] = -np.inf
    candidate, slope = segment_argmax(slopes, layout.starts, layout.position_of)
    candidates, gains = layout.dense(candidate, 0), layout.dense(slope - here, -np.inf)
    # A position that is changed already, or a row with budget left, needs nothing in return.
    free = changed | (changed.sum(axis=1) < layout.budgets)[:, None]
    some = min(max(count, PARTNERS), width)
    alone = Ranked.of(layout, slopes, here, candidates, np.where(free, gains, -np.inf), some)
    into = Ranked.of(layout, slopes, here, candidates, np.where(free, -np.inf, gains), some).first(PARTNERS)
    slope_back = layout.dense(gradient[layout.starts] - here, -np.inf)
    outof, gain_outof = largest(np.where(changed, slope_back, -np.inf), min(PARTNERS, width))
    pairs = into.gains[:, :, None] + gain_outof[:, None, :]
    # All kinds side by side: swaps that need nothing, ways back, and pairs of both.
    kinds = [alone.gains, gain_outof, pairs.reshape(len(choices), -1)]
    nowhere = np.full_like(outof, -1)
    positions = [alone.positions, outof, np.repeat(into.positions, outof.shape[1], axis=1)]
    new = [alone.candidates, np.zeros_like(outof), np.repeat(into.candidates, outof.shape[1], axis=1)]
    returned = [np.full_like(alone.positions, -1), nowhere, np.tile(outof, into.gains.shape[1])]
    values = np.concatenate(kinds, axis=1)
    picked, found = largest(values, min(count, values.shape[1]))
    rows, column = np.nonzero(np.isfinite(found))
    move = picked[rows, column]
    return Moves(rows, *(np.concatenate(parts, axis=1)[rows, move] for parts in (positions, new, returned)))


@dataclass(frozen=True)
class Ranked:
    """Swaps of each row with their gains, (R, S) each; −inf where there are fewer."""

    positions: Ints
    candidates: Ints
    gains: Floats

    @classmethod
    def of(cls, layout: Batch, slopes: Floats, here: Floats, candidates: Ints, gains: Floats, count: int) -> Ranked:
        """The best and the second best candidate of the `count` positions that gain most.

        slopes: flat, −inf for candidates that are no swap. here: (N,) the slope of what is chosen.
        """
        positions, best = largest(gains, count)
        chosen = np.take_along_axis(candidates, positions, axis=1)
        numbers = np.minimum(layout.first_position[:-1, None] + positions, len(layout.counts) - 1)
        starts, counts = layout.starts[numbers].ravel(), layout.counts[numbers].ravel()
        places = ranges(starts, counts)
        first = np.cumsum(counts) - counts
        rest = slopes[places]
        rest[first + np.minimum(chosen.ravel(), counts - 1)] = -np.inf
        second, slope = segment_argmax(rest, first, np.repeat(np.arange(len(counts)), counts))
        next_best = np.where(np.isfinite(best), slope.reshape(best.shape) - here[numbers], -np.inf)
        return cls(
            np.concatenate([positions, positions], axis=1),
            np.concatenate([chosen, second.reshape(best.shape)], axis=1),
            np.concatenate([best, next_best], axis=1),
        )

    def first(self, count: int) -> Ranked:
        """The best `count` of each row."""
        where, gains = largest(self.gains, min(count, self.gains.shape[1]))
        take = np.take_along_axis
        return Ranked(take(self.positions, where, axis=1), take(self.candidates, where, axis=1), gains)
