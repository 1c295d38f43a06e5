"""Frugal search: where slopes cost nothing and only scores are counted, few choices are asked for at a time.

Slopes that come from a stand-in, or from the weights of a linear model, are as good before a question as after it, and
better with every answer. So each round takes the slopes at the best choice so far, and asks for the choice that they
point to and for the moves that they value most: three questions, and then the slopes again. A problem is given up when
it no longer gets better and what the slopes promise, with some slack, would not bring it to its goal.
"""

from __future__ import annotations

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.core.oracle import RelaxedOracle
from discotext.core.problem import Batch
from discotext.core.rounding import best_vertex
from discotext.core.swaps import best_of_each
from discotext.search.climbing import Climbers, Places, best_moves, slopes_at
from discotext.search.solver import Proposal, Proposals, Search, is_active
from discotext.search.tuning import Tuning


def search_frugally(
    batch: Batch,
    oracle: RelaxedOracle,
    labels_only: bool,
    search: Search,
    problems: Ints,
    queries: Floats,
    slack: float,
    tuning: Tuning,
) -> Proposals:
    """Follow free slopes from the originals of these problems.

    labels_only: whether no answer short of the goal says what is nearer to it; then only whole choices are worth a
        question.
    queries: (B,) what each problem may spend.
    slack: how many times the gain that slopes promise may be true; a problem that would not reach its goal even then is
        given up.
    """
    best = Climbers.at(batch, oracle, problems, np.zeros((len(problems), 0), dtype=np.int32))
    limit = search.spent(np.arange(len(batch))) + queries
    asked, idle = Places(), np.zeros(len(batch), dtype=np.int64)
    asked.visit(best)
    questions = 1 if labels_only else tuning.frugal_questions
    while len(best):
        layout = batch.take(best.problems)
        slopes = slopes_at(oracle, best, layout, 0.0)
        vertex = best_vertex(slopes, layout)
        gains = slopes[layout.chosen(vertex)] - slopes[layout.chosen(best.choices)]
        promise = np.bincount(layout.problem_of_position, weights=gains, minlength=len(best))
        moves = best_moves(layout, best.choices, slopes, 4 * tuning.frugal_questions, tuning.partners)
        rows = np.concatenate([np.arange(len(best)), moves.rows])
        pointed = np.zeros_like(best.choices)
        pointed[:, : vertex.shape[1]] = vertex
        choices = np.concatenate([pointed, moves.apply(best.choices)])
        order = np.argsort(rows, kind="stable")
        if search.goal is not None and np.isfinite(slack):
            hopeful = best.scores + slack * promise >= search.goal
            # As long as it gets better, more may come than the slopes know of.
            hopeful |= idle[best.problems] < tuning.frugal_patience
            order = order[hopeful[rows[order]]]
        wanted = Climbers(best.problems[rows], choices, np.zeros(len(rows))).take(order)
        picked = order[asked.visit_some(wanted, questions)]
        rows, choices = rows[picked], choices[picked]
        scores = oracle.score(best.problems[rows], choices)
        active = yield Proposal(best.problems[rows], choices, scores)
        going = np.isin(np.arange(len(best)), rows) & is_active(best.problems, active)
        top = best_of_each(rows, scores)
        top = top[scores[top] > best.scores[rows[top]]]
        idle[best.problems] += 1
        idle[best.problems[rows[top]]] = 0
        best.choices[rows[top]], best.scores[rows[top]] = choices[top], scores[top]
        going &= search.spent(best.problems) < limit[best.problems]
        if search.goal is None:
            going &= idle[best.problems] < tuning.idle_waves
        best = best.take(going)
