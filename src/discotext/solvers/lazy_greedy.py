"""Lazy greedy (CELF): gains of earlier rounds as bounds for later ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discotext.core.arrays import Bools, Choices, Floats, segment_argmax
from discotext.core.oracle import Oracle
from discotext.core.problem import Batch
from discotext.core.swaps import all_swaps, score_swaps
from discotext.search.cost import greedy_passes
from discotext.search.solver import Proposal, Proposals, Search, Solver, is_active


def fits(layout: Batch, choices: Choices) -> Bools:
    """(K,) True for candidates that a row can afford besides what it has changed already."""
    if layout.costs is None:
        return np.ones(layout.candidates, dtype=bool)
    return np.asarray(layout.costs <= layout.room(choices)[layout.row_of])


@dataclass(frozen=True)
class LazyGreedy(Solver):
    """Greedy that asks again only for the swap that looked best.

    When gains can only shrink as changes are added (a submodular score), a gain measured earlier is an upper bound, and
    the answer equals `Greedy`'s at a fraction of its forwards. On any other score it is a heuristic.
    """

    def expect_passes(self, batch: Batch, gradients: bool) -> Floats:
        return greedy_passes(batch)

    def propose(self, batch: Batch, oracle: Oracle, search: Search) -> Proposals:
        problems = np.flatnonzero((batch.budgets > 0) & (batch.widths > batch.sizes))
        layout = batch.take(problems)
        choices = batch.originals()[problems]
        scores = oracle.score(problems, choices)
        swaps = all_swaps(layout)
        usable = (swaps.candidates > 0) & fits(layout, choices)
        found = np.full(layout.candidates, -np.inf)
        found[usable] = score_swaps(oracle, problems, choices, swaps.take(usable))
        # From a forbidden original every allowed swap is a gain, the best one the largest.
        allowed = np.isfinite(found)
        worst = float(found[allowed].min(initial=0.0)) - 1.0
        gains = found - np.where(np.isfinite(scores), scores, worst)[swaps.rows]
        fresh = np.ones(layout.candidates, dtype=bool)
        while len(problems):
            where, largest = segment_argmax(gains, layout.first_candidate[:-1], layout.row_of)
            top = layout.first_candidate[:-1] + where
            taken = fresh[top] & (largest > 0)
            done = largest <= 0
            if taken.any():
                picked = swaps.take(top[taken])
                choices[picked.rows, picked.positions] = picked.candidates
                scores[taken] = found[top[taken]]
                # The position is spent: none of its candidates may be taken again; all other gains are stale.
                gains[taken[swaps.rows] & (choices[swaps.rows, swaps.positions] > 0)] = -np.inf
                fresh[taken[swaps.rows]] = False
                gains[~fits(layout, choices)] = -np.inf
                done |= (choices != 0).sum(axis=1) >= layout.budgets
                active = yield Proposal(problems[taken], choices[taken], scores[taken])
                done |= taken & ~is_active(problems, active)
            stale = ~taken & ~done
            if stale.any():
                asked = swaps.take(top[stale])
                found[top[stale]] = score_swaps(oracle, problems, choices, asked)
                gains[top[stale]] = found[top[stale]] - scores[stale]
                fresh[top[stale]] = True
            if done.any():
                kept = np.flatnonzero(~done)
                flat = layout.flat_rows(kept)
                found, gains, fresh = found[flat], gains[flat], fresh[flat]
                problems, choices, scores = problems[kept], choices[kept], scores[kept]
                layout = layout.take(kept)
                swaps = all_swaps(layout)
