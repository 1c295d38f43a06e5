"""How few changes may reach a goal: what a proof that none does is made of.

An oracle that bounds its score from above by a sum,

    score ≤ max over pieces p of ( constant_p + Σ over positions of gain_p(candidate chosen there) ),

knows for every number of changes how high the score can get: the constant and the largest gains. `find_reach` turns
that into the fewest changes with which a goal may be reached, as a whole and for every candidate on its own. A piece is
usually a wrong class. Where neighbours matter too, `ChainBound` finds the same by dynamic programming over positions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discotext.core.arrays import Bools, Floats, Ints
from discotext.core.problem import Batch

NEVER = np.inf
ROUNDING = 1e-9  # relative: bounds are lowered by so much more than float64 rounds


@dataclass(frozen=True)
class Reach:
    """The fewest changes with which goals may be reached; `NEVER` where they cannot.

    levels: (R,) of any allowed choice. by_candidate: flat, of those that hold a candidate. worth: flat, how much a
    candidate may add to the score, to choose where to look first.
    """

    levels: Floats
    by_candidate: Floats
    worth: Floats


@dataclass(frozen=True)
class AdditiveBound:
    """An upper bound of the score as a sum, for rows that are concatenated as in a layout.

    constants: (R, P). gains: (K, P) of every candidate. What is not allowed is ignored.
    """

    constants: Floats
    gains: Floats


def find_reach(layout: Batch, allowed: Bools, bound: AdditiveBound, goals: Floats) -> Reach:
    """The fewest changes with which the bound comes up to the goals. layout: of the rows. goals: (R,)."""
    rows, pieces = bound.constants.shape
    gains = np.where(allowed[:, None], bound.gains, -np.inf)
    original = np.zeros(layout.candidates, dtype=bool)
    original[layout.starts] = True
    stays, n = gains[layout.starts], layout.n_max
    changed = np.where(original[:, None], -np.inf, gains)
    best = np.maximum.reduceat(changed, layout.starts, axis=0) if len(layout.counts) else changed
    forced = ~allowed[layout.starts]
    # What each position gives without a change of our own choosing, and what one more change adds.
    given = np.where(forced[:, None], best, stays)
    adds = np.where(forced[:, None], 0.0, np.maximum(best - stays, 0.0))
    dense_adds = np.zeros((rows, n, pieces))
    dense_adds[layout.mask] = adds
    totals = bound.constants.copy()
    np.add.at(totals, layout.problem_of_position, given)
    must = np.zeros(rows)
    np.add.at(must, layout.problem_of_position, forced.astype(np.float64))
    order = np.argsort(-dense_adds, axis=1, kind="stable")
    ranked = np.take_along_axis(dense_adds, order, axis=1)
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(n)[None, :, None], axis=1)
    reachable = np.concatenate([np.zeros((rows, 1, pieces)), np.cumsum(ranked, axis=1)], axis=1)  # (R, n + 1, P)
    missing = goals[:, None] - totals
    levels = must + count_below(reachable, missing).min(axis=1, initial=NEVER)
    # A candidate on its own: its gain instead of what its position gives, and the other positions' changes.
    owner, row = layout.position_of, layout.row_of
    own = missing[row] - (gains - given[owner])
    rank, more = ranks[layout.mask][owner], adds[owner]
    before = count_below(reachable[row], own)
    after = count_below(reachable[row], own + more) - 1
    alone = np.where(before <= rank, before, np.maximum(after, rank))
    changes = must[row] - forced[owner] + ~original
    by_candidate = np.where(allowed, changes + alone.min(axis=1, initial=NEVER), NEVER)
    over = layout.budgets
    worth = np.where(allowed, (gains - given[owner]).max(axis=1, initial=-np.inf), -np.inf)
    return Reach(np.where(levels > over, NEVER, levels), np.where(by_candidate > over[row], NEVER, by_candidate), worth)


def find_reach_of(layout: Batch, allowed: Bools, bound: AdditiveBound, goals: Floats, any_piece: bool) -> Reach:
    """The same where the score is the largest of the pieces, or where it is the smallest (`any_piece` is False)."""
    if any_piece:
        return find_reach(layout, allowed, bound, goals)
    each = [
        find_reach(layout, allowed, AdditiveBound(bound.constants[:, [piece]], bound.gains[:, [piece]]), goals)
        for piece in range(bound.constants.shape[1])
    ]
    return Reach(
        np.maximum.reduce([one.levels for one in each]),
        np.maximum.reduce([one.by_candidate for one in each]),
        np.maximum.reduce([one.worth for one in each]),
    )


def count_below(reachable: Floats, missing: Floats) -> Floats:
    """The first entry along axis 1 that comes up to what is missing; `NEVER` where none does. (·, n, P) and (·, P)."""
    short = (reachable < missing[:, None]).sum(axis=1)
    return np.where(short < reachable.shape[1], short, NEVER).astype(np.float64)


@dataclass(frozen=True, eq=False)
class ChainBound:
    """A sum over positions and neighbours: Σ gain(candidate) + Σ gain(candidate, next candidate).

    counts: (n,) candidates of each position. changes: (K,) whether a candidate is a change. gains: (K,).
    pairs: by position, (k, l) what its candidates gain together with those of the next; positions without have none.
    """

    counts: Ints
    changes: Bools
    gains: Floats
    pairs: Mapping[int, Floats]

    def best(self, budget: int) -> Floats:
        """(K, budget + 1) the best value of choices that hold each candidate, by their number of changes.

        It is the best that the positions before a candidate can give, and the best that those after it can.
        """
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
