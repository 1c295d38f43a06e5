"""Pruning: no change stays that is not needed.

The same for every solver. A choice that reached its goal must still reach it; one that did not must not score less
than the best seen, which pruning may raise. First many changes are undone at once: in order of harmlessness, and the
longest run that still holds is found by bisection. Then single ones, until none can go: what is returned is minimal, in
the sense that undoing any one change would lose the goal. Last, where there are gradients, words are exchanged to find
a choice that needs one change fewer; among very many changes, one fewer is not worth what that takes. A solver that is
`thorough` pays for one thing more: swaps are measured one by one on the original text, and the choice is rebuilt from
those that gain most.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discotext.core.arrays import Bools, Choices, Floats, Ints
from discotext.core.oracle import Oracle, RelaxedOracle
from discotext.core.problem import Batch, count_changes
from discotext.core.rounding import best_replacements
from discotext.core.swaps import Swaps, best_of_each, score_swaps
from discotext.search.climbing import Allowance, Climbers, climb, measure_swaps
from discotext.search.solver import Proposal, Search, Tuning, drive

# Changes of a text beyond which they are undone in runs, not one in each round. Every round asks about all of them, so
# in a text of thousands of words that would be the whole cost of an attack.
MANY = 32


@dataclass
class Kept:
    """One row per problem: the choice kept so far, its score, and the floor that no other may fall below.

    rising: rows that have not reached a goal; their floor is the best score seen.
    """

    problems: Ints
    choices: Choices
    scores: Floats
    floors: Floats
    rising: Bools

    def take(self, rows: Ints, choices: Choices, scores: Floats) -> None:
        """Keep other choices for some rows."""
        self.choices[rows], self.scores[rows] = choices, scores
        self.floors[rows] = np.where(self.rising[rows], scores, self.floors[rows])

    def several(self) -> Ints:
        """Rows with more than one change. A single one cannot go: the row would be the original, which is worse."""
        return np.flatnonzero(count_changes(self.choices) > 1)


def prune(
    batch: Batch,
    oracle: Oracle,
    kept: Kept,
    search: Search,
    tuning: Tuning,
    *,
    gradients: bool,
    exchange: bool = True,
    thorough: bool = False,
) -> tuple[Choices, Floats]:
    """Put originals back while scores stay at or above their floors; returns the choices and scores kept.

    gradients: whether the oracle may be asked for them. exchange: whether words may be exchanged for others.
    Costs, a row: one gradient (or as many forwards as changes), log₂ forwards to bisect, and the single tries.
    thorough: `rebuild` as well, for a gradient and about `tuning.pruning_swaps` forwards.
    """
    rows = kept.several()
    if len(rows):
        # The longest run of changes, the most harmless first, that can go.
        undo_run(oracle, kept, rows, rank_by_harm(batch, oracle, kept.problems[rows], kept.choices[rows], gradients))
    if gradients and exchange and thorough:
        rebuild(batch, oracle, kept, tuning)
    undo_singly(oracle, kept, kept.several())
    if gradients and exchange:
        exchange_down(batch, oracle, kept, search, tuning)
    return kept.choices, kept.scores


def undo_run(oracle: Oracle, kept: Kept, rows: Ints, order: Ints) -> None:
    """Put back as many changes in this order as keep the floor. order: (R, n_max) positions, changed ones first."""
    problems, choices = kept.problems[rows], kept.choices[rows].copy()
    turn = np.empty_like(order)
    np.put_along_axis(turn, order, np.arange(order.shape[1])[None], axis=1)
    good, bad = np.zeros(len(rows), dtype=np.int64), count_changes(choices)
    while (rest := np.flatnonzero(bad - good > 1)).size:
        middle = (good + bad)[rest] // 2
        tried = np.where(turn[rest] < middle[:, None], 0, choices[rest])
        found = oracle.score(problems[rest], tried)
        holds = found >= kept.floors[rows[rest]]
        kept.take(rows[rest[holds]], tried[holds], found[holds])
        good[rest[holds]] = middle[holds]
        bad[rest[~holds]] = middle[~holds]


def rank_by_harm(batch: Batch, oracle: Oracle, problems: Ints, choices: Choices, gradients: bool) -> Ints:
    """(R, n_max) positions, changed ones first, those whose change is least worth at the front."""
    worth = np.full(choices.shape, -np.inf)
    if gradients:
        relaxed: RelaxedOracle = oracle  # type: ignore[assignment]
        layout = batch.take(problems)
        _, gradient = relaxed.relaxed(problems, layout.one_hot(choices))
        gain = layout.dense(gradient[layout.starts] - gradient[layout.chosen(choices)], 0.0)
        changed = choices[:, : layout.n_max] != 0
        worth[:, : layout.n_max] = np.where(changed, gain, -np.inf)
    else:
        swaps = all_undos(choices)
        worth[swaps.rows, swaps.positions] = score_swaps(oracle, problems, choices, swaps)
    return np.argsort(-worth, axis=1, kind="stable")


def rebuild(batch: Batch, oracle: Oracle, kept: Kept, tuning: Tuning) -> None:
    """Of the changes that gain most when each is measured alone, take as few as reach the goal, if that is fewer.

    Where what single changes gain nearly adds up, as in long texts, these are the changes that greedy would find.
    """
    rows = np.intersect1d(kept.several(), np.flatnonzero(~kept.rising))
    if not len(rows):
        return
    relaxed: RelaxedOracle = oracle  # type: ignore[assignment]
    problems, layout = kept.problems[rows], batch.take(kept.problems[rows])
    chosen = layout.chosen(kept.choices[rows])
    originals = Climbers.at(batch, oracle, problems, np.zeros((len(rows), 0), dtype=np.int32))
    also = chosen[chosen != layout.starts]
    gains = measure_swaps(layout, relaxed, originals, tuning.smoothing, tuning.pruning_swaps, also)
    best, worth = best_replacements(gains, layout)
    fewer = count_changes(kept.choices[rows]) - 1
    rank = np.argsort(np.argsort(-worth, axis=1, kind="stable"), axis=1)
    built = originals.choices.copy()
    built[:, : layout.n_max] = np.where((rank < fewer[:, None]) & (worth > 0), best, 0)
    found = oracle.score(problems, built)
    holds = np.flatnonzero(found >= kept.floors[rows])
    kept.take(rows[holds], built[holds], found[holds])
    order = np.full(built.shape, np.inf)
    order[:, : layout.n_max] = worth
    undo_run(oracle, kept, rows[holds], np.argsort(np.where(built != 0, order, np.inf)[holds], axis=1, kind="stable"))


def undo_singly(oracle: Oracle, kept: Kept, rows: Ints) -> None:
    """Put back single changes of these rows, the one that leaves most first, until none can go.

    Where there are many, the longest run of them that can go together, in the same order.
    """
    while len(rows):
        swaps = all_undos(kept.choices[rows])
        found = score_swaps(oracle, kept.problems[rows], kept.choices[rows], swaps)
        best = best_of_each(swaps.rows, found)
        best = best[found[best] >= kept.floors[rows[swaps.rows[best]]]]
        picked = swaps.take(best)
        many = np.intersect1d(picked.rows, np.flatnonzero(count_changes(kept.choices[rows]) > MANY))
        if len(many):
            worth = np.full(kept.choices[rows].shape, -np.inf)
            worth[swaps.rows, swaps.positions] = found
            undo_run(oracle, kept, rows[many], np.argsort(-worth[many], axis=1, kind="stable"))
        single = ~np.isin(picked.rows, many)
        few = picked.take(np.flatnonzero(single))
        kept.take(rows[few.rows], few.apply(kept.choices[rows]), found[best[single]])
        rows = rows[picked.rows]
        rows = rows[count_changes(kept.choices[rows]) > 1]


def all_undos(choices: Choices) -> Swaps:
    """Every way to put one changed position of a row back."""
    rows, positions = np.nonzero(choices)
    return Swaps(rows, positions, np.zeros_like(rows))


def exchange_down(batch: Batch, oracle: Oracle, kept: Kept, search: Search, tuning: Tuning) -> None:
    """Look for choices with one change fewer that reach the goal, as long as there are any; needs gradients.

    From what is left when the most harmless change is undone, climb a little with the smaller budget: an exchange of
    words may make up for the one that went.
    """
    row_of = np.zeros(len(batch), dtype=np.int64)
    row_of[kept.problems] = np.arange(len(kept.problems))
    rows = np.intersect1d(kept.several(), np.flatnonzero(~kept.rising & (count_changes(kept.choices) <= MANY)))
    while len(rows):
        problems = kept.problems[rows]
        budgets = batch.budgets.copy()
        budgets[problems] = count_changes(kept.choices[rows]) - 1
        swaps = all_undos(kept.choices[rows])
        # These were asked for just before, one by one, and come from memory.
        found = score_swaps(oracle, problems, kept.choices[rows], swaps)
        best = best_of_each(swaps.rows, found)
        start = Climbers(problems, swaps.take(best).apply(kept.choices[rows]), found[best])
        held = climb_to(batch.with_budgets(budgets), oracle, start, kept.floors[row_of], search, tuning)
        rows = row_of[held.problems]
        kept.take(rows, held.choices, held.scores)
        undo_singly(oracle, kept, rows[count_changes(kept.choices[rows]) > 1])
        rows = rows[count_changes(kept.choices[rows]) > 1]


def climb_to(batch: Batch, oracle: Oracle, start: Climbers, floors: Floats, search: Search, tuning: Tuning) -> Climbers:
    """Climb for a few rounds; returns, in order of their problems, the climbers that came to their floors (B,)."""
    relaxed: RelaxedOracle = oracle  # type: ignore[assignment]
    tuning = replace(tuning, proposals=tuning.pruning_proposals)
    allowance = Allowance(batch, search, float(tuning.pruning_rounds * (2 + tuning.proposals)))
    held = start.take(np.empty(0, dtype=np.int64))

    def keep_those_that_hold(proposal: Proposal) -> Ints:
        nonlocal held
        holds = proposal.scores >= floors[proposal.problems]
        held = held + Climbers(proposal.problems[holds], proposal.choices[holds], proposal.scores[holds])
        return np.setdiff1d(start.problems, held.problems)

    drive(climb(batch, relaxed, start, allowance, tuning, smoothing=tuning.smoothing), keep_those_that_hold)
    return held.take(np.argsort(held.problems))
