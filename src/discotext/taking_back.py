"""Taking back: no change stays that is not needed.

The same for every solver. A choice that reached its goal must go on reaching it; one that did not must go on scoring as
high. First many changes are tried at once: put back in order of harmlessness, and the longest run that still holds is
found by bisection. Then single ones, until none can go: what is returned is minimal, in the sense that putting any one
word back would lose the goal.
"""

from __future__ import annotations

import numpy as np

from discotext.oracle import Oracle, RelaxedOracle, can
from discotext.problem import Batch, count_changes
from discotext.segments import Choices, Floats, Ints
from discotext.solvers.climbing import Climbers, Purse, climb
from discotext.solvers.swaps import Swaps, best_of_each, score_swaps
from discotext.wrappers import Renumbered

EXCHANGES, EXCHANGE_ROUNDS = 8, 2


def take_back(
    batch: Batch, oracle: Oracle, problems: Ints, choices: Choices, scores: Floats, floors: Floats
) -> tuple[Choices, Floats]:
    """Put originals back while scores stay at or above their floors. One row per problem; returns new arrays.

    Costs, a row: one gradient (or as many forwards as changes), log₂ forwards to bisect, and the single tries.
    """
    choices, scores = choices.copy(), scores.copy()
    # A single change cannot go: without it the row is the original, which is worse or this would not be its best.
    rows = np.flatnonzero(count_changes(choices) > 1)
    if len(rows):
        choices[rows], scores[rows] = bisect(batch, oracle, problems[rows], choices[rows], scores[rows], floors[rows])
        choices[rows], scores[rows] = one_by_one(
            batch, oracle, problems[rows], choices[rows], scores[rows], floors[rows]
        )
    reached = np.flatnonzero(scores > floors)
    if len(reached) and can(oracle, RelaxedOracle):
        choices[reached], scores[reached] = exchange_down(
            batch, oracle, problems[reached], choices[reached], scores[reached], floors[reached]
        )
    return choices, scores


def bisect(
    batch: Batch, oracle: Oracle, problems: Ints, choices: Choices, scores: Floats, floors: Floats
) -> tuple[Choices, Floats]:
    """Put back the longest run of changes, the most harmless first, that keeps the floor."""
    order = harmless_first(batch, oracle, problems, choices)
    turn = np.empty_like(order)
    np.put_along_axis(turn, order, np.arange(order.shape[1])[None], axis=1)
    good, bad = np.zeros(len(choices), dtype=np.int64), count_changes(choices)
    best, best_scores = choices.copy(), scores.copy()
    while (open_rows := np.flatnonzero(bad - good > 1)).size:
        middle = (good + bad)[open_rows] // 2
        tried = np.where(turn[open_rows] < middle[:, None], 0, choices[open_rows])
        found = oracle.score(problems[open_rows], tried)
        holds = found >= floors[open_rows]
        held = open_rows[holds]
        best[held], best_scores[held] = tried[holds], found[holds]
        good[held] = middle[holds]
        bad[open_rows[~holds]] = middle[~holds]
    return best, best_scores


def harmless_first(batch: Batch, oracle: Oracle, problems: Ints, choices: Choices) -> Ints:
    """(R, n_max) positions, changed ones first, those whose change is least worth at the front."""
    worth = np.full(choices.shape, -np.inf)
    changed = choices != 0
    if can(oracle, RelaxedOracle):
        relaxed: RelaxedOracle = oracle  # type: ignore[assignment]
        layout = batch.take(problems)
        _, gradient = relaxed.relaxed(problems, layout.one_hot(choices))
        slope = layout.dense(gradient[layout.starts] - gradient[layout.chosen(choices)], 0.0)
        worth[:, : layout.n_max] = np.where(changed[:, : layout.n_max], slope, -np.inf)
    else:
        swaps = put_backs(choices)
        worth[swaps.rows, swaps.positions] = score_swaps(oracle, problems, choices, swaps)
    return np.argsort(-worth, axis=1, kind="stable")


def one_by_one(
    batch: Batch, oracle: Oracle, problems: Ints, choices: Choices, scores: Floats, floors: Floats
) -> tuple[Choices, Floats]:
    """Put back single changes, the one that leaves most first, until none can go."""
    rows = np.flatnonzero(count_changes(choices) > 1)
    while len(rows):
        swaps = put_backs(choices[rows])
        found = score_swaps(oracle, problems[rows], choices[rows], swaps)
        best = best_of_each(swaps.rows, found)
        best = best[found[best] >= floors[rows[swaps.rows[best]]]]
        picked = swaps.take(best)
        rows = rows[picked.rows]
        choices[rows, picked.positions] = 0
        scores[rows] = found[best]
        rows = rows[count_changes(choices[rows]) > 1]
    return choices, scores


def put_backs(choices: Choices) -> Swaps:
    """Every way to put one changed position of a row back."""
    rows, positions = np.nonzero(choices)
    return Swaps(rows, positions, np.zeros_like(rows))


def exchange_down(
    batch: Batch, oracle: Oracle, problems: Ints, choices: Choices, scores: Floats, floors: Floats
) -> tuple[Choices, Floats]:
    """Look for choices with one change fewer that keep the floor, as long as there are any; needs gradients.

    From what is left when the most harmless change is put back, climb a little with the smaller budget: an exchange of
    words may make up for the one that went.
    """
    rows = np.flatnonzero(count_changes(choices) > 1)
    while len(rows):
        fewer = batch.take(problems[rows]).with_budgets(count_changes(choices[rows]) - 1)
        inner = Renumbered(oracle, fewer, problems[rows])
        swaps = put_backs(choices[rows])
        # These were asked for just before, one by one, and come from memory.
        found = score_swaps(inner, np.arange(len(rows)), choices[rows], swaps)
        best = best_of_each(swaps.rows, found)
        start = Climbers(np.arange(len(rows)), swaps.take(best).apply(choices[rows]), found[best])
        purse = Purse(fewer, inner, np.full(len(rows), float(EXCHANGE_ROUNDS * (2 + EXCHANGES))))
        climbing = climb(fewer, inner, start, EXCHANGES, purse)
        held: list[int] = []
        try:
            proposal = next(climbing)
            while True:
                holds = proposal.scores >= floors[rows[proposal.problems]]
                there = rows[proposal.problems[holds]]
                choices[there], scores[there] = proposal.choices[holds], proposal.scores[holds]
                held += proposal.problems[holds].tolist()
                proposal = climbing.send(np.setdiff1d(np.arange(len(rows)), held))
        except StopIteration:
            pass
        rows = rows[sorted(held)]
        if len(rows):
            choices[rows], scores[rows] = one_by_one(
                batch, oracle, problems[rows], choices[rows], scores[rows], floors[rows]
            )
            rows = rows[count_changes(choices[rows]) > 1]
    return choices, scores
