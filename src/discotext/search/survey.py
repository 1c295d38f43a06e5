"""A survey: where climbing ends, measure what the slope only guesses, one change at a time, then combine.

The most promising swaps and every way back are scored singly, also those that are a change too many for the budget:
what they gain is put in place of their slopes, and from there on it is as if the gradient had said so. Pairs of a swap
and a way back, and the vertex of all that gains most, are scored in turn.
"""

from __future__ import annotations

import numpy as np

from discotext.core.arrays import Floats, Ints, rank_in_group
from discotext.core.oracle import RelaxedOracle
from discotext.core.problem import Batch
from discotext.core.rounding import best_vertex
from discotext.core.swaps import best_of_each
from discotext.search.climbing import Climbers, best_moves, slopes_at
from discotext.search.tuning import Tuning


def survey(batch: Batch, oracle: RelaxedOracle, at: Climbers, tuning: Tuning) -> Climbers:
    """The best that a survey finds for each climber, of those it finds better."""
    layout = batch.take(at.problems)
    gains = measure_swaps(layout, oracle, at, tuning.smoothing, tuning.surveyed_swaps)
    moves = best_moves(layout, at.choices, gains, tuning.surveyed_moves - 1, tuning.partners)
    vertex = np.zeros_like(at.choices)
    vertex[:, : layout.n_max] = best_vertex(gains, layout)
    rows = np.concatenate([moves.rows, np.arange(len(at))])
    order = np.argsort(rows, kind="stable")
    rows, choices = rows[order], np.concatenate([moves.apply(at.choices), vertex])[order]
    scores = oracle.score(at.problems[rows], choices)
    best = best_of_each(rows, scores)
    best = best[scores[best] > at.scores[rows[best]]]
    return Climbers(at.problems[rows[best]], choices[best], scores[best])


def measure_swaps(
    layout: Batch, oracle: RelaxedOracle, at: Climbers, smoothing: float, count: int, also: Ints | None = None
) -> Floats:
    """Flat like a gradient: what each measured swap gains over what is chosen, 0 for that, −inf for the rest.

    count: swaps of each climber that are measured, those of the highest slopes. also: further candidates, flat.
    """
    choices = at.choices[:, : layout.n_max]
    chosen = layout.chosen(choices)
    slopes = slopes_at(oracle, at, layout, smoothing)
    promise = slopes - slopes[chosen][layout.position_of]
    promise[layout.starts] = -np.inf
    promise[chosen] = -np.inf
    order = np.lexsort((-promise, layout.row_of))
    picked = order[(rank_in_group(layout.row_of[order]) < count) & np.isfinite(promise[order])]
    ways_back = layout.starts[chosen != layout.starts]
    tried = np.unique(np.concatenate([picked, ways_back] if also is None else [picked, ways_back, also]))
    rows, positions = layout.row_of[tried], layout.position_of[tried]
    swapped = at.choices[rows]
    swapped[np.arange(len(tried)), positions - layout.first_position[rows]] = tried - layout.starts[positions]
    gains = np.full(len(slopes), -np.inf)
    # From a forbidden choice a swap gains what it scores.
    base = np.where(np.isfinite(at.scores), at.scores, 0.0)
    gains[tried] = oracle.score(at.problems[rows], swapped) - base[rows]
    gains[chosen] = 0.0
    return gains
