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
from discotext.segments import Choices, Floats, Ints, segment_argmax

RIVALS = 2  # candidates of each position that may be proposed in one round
PARTNERS = 8  # positions put back and positions changed that are paired with each other in exchanges


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

    Of each position only its best `RIVALS` candidates are looked at, so this is that many passes over the candidates
    and one over the positions. choices: (R, ≥ n_max); gradient: flat.
    """
    width = layout.n_max
    if not width:
        nothing = np.empty(0, dtype=np.int64)
        return Moves(nothing, nothing, nothing, nothing)
    choices = choices[:, :width]
    changed = choices != 0
    room = changed.sum(axis=1) < layout.budgets
    chosen = layout.chosen(choices)
    here = gradient[chosen]
    back = np.where(changed, layout.dense(gradient[layout.starts] - here, -np.inf), -np.inf)
    candidates, gains = rivals(layout, gradient, chosen)
    # A position that is changed already, or a row with budget left, needs nothing in return.
    free = np.tile(changed | room[:, None], RIVALS)
    into, gain_into = largest(np.where(free, -np.inf, gains), min(PARTNERS, gains.shape[1]))
    outof, gain_outof = largest(back, min(PARTNERS, width))
    pair = (gain_into[:, :, None] + gain_outof[:, None, :]).reshape(len(choices), -1)
    values = np.concatenate([np.where(free, gains, -np.inf), back, pair], axis=1)
    picked, gains = largest(values, min(count, values.shape[1]))
    rows, column = np.nonzero(np.isfinite(gains))
    move = picked[rows, column]
    # Columns of `values`: RIVALS swaps of each position, its way back, then the pairs.
    is_pair = move >= (RIVALS + 1) * width
    is_back = ~is_pair & (move >= RIVALS * width)
    first, second = np.divmod(np.where(is_pair, move - (RIVALS + 1) * width, 0), outof.shape[1])
    swap = np.where(is_pair, into[rows, first], move)
    return Moves(
        rows,
        positions=swap % width,
        candidates=np.where(is_back, 0, candidates[rows, np.where(is_back, 0, swap)]),
        returned=np.where(is_pair, outof[rows, second], -1),
    )


def rivals(layout: Batch, gradient: Floats, chosen: Ints) -> tuple[Ints, Floats]:
    """Of each position the best candidates that are neither chosen nor the original, and their gains over the chosen.

    Both (R, RIVALS · n_max): all best ones, then all second best; −inf where there is none.
    """
    slopes = gradient.copy()
    slopes[chosen] = -np.inf
    slopes[layout.starts] = -np.inf
    candidates, gains = [], []
    for _ in range(RIVALS):
        candidate, slope = segment_argmax(slopes, layout.starts, layout.position_of)
        candidates.append(layout.dense(candidate, 0))
        gains.append(layout.dense(slope - gradient[chosen], -np.inf))
        slopes[layout.starts + candidate] = -np.inf
    return np.concatenate(candidates, axis=1), np.concatenate(gains, axis=1)
