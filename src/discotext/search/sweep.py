"""Sweeps: fix an order of positions, and take the best candidate of each in turn."""

from __future__ import annotations

import numpy as np

from discotext.core.arrays import Ints, ranges
from discotext.core.oracle import Oracle
from discotext.core.problem import Batch
from discotext.core.swaps import Swaps, affordable, improve
from discotext.search.solver import Proposal, Proposals, is_active


def sweep(batch: Batch, oracle: Oracle, order: Ints) -> Proposals:
    """Visit positions in the given order, all problems in step; keep a position's best candidate if it helps."""
    problems, choices = np.arange(len(batch)), batch.originals()
    scores = oracle.score(problems, choices)
    for turn in range(batch.n_max):
        swaps = affordable(batch.take(problems), choices, swaps_at(batch, problems, order[problems, turn]))
        if len(swaps):
            rows = improve(oracle, problems, choices, scores, swaps)
            active = yield Proposal(problems[rows], choices[rows], scores[rows])
        else:
            active = problems
        # A problem whose budget is spent has nothing left to try.
        going = is_active(problems, active) & ((choices != 0).sum(axis=1) < batch.budgets[problems])
        problems, choices, scores = problems[going], choices[going], scores[going]
        if not len(problems):
            return


def swaps_at(batch: Batch, problems: Ints, positions: Ints) -> Swaps:
    """Every replacement at one position of each row."""
    replacements = np.maximum(batch.dense_counts[problems, positions] - 1, 0)
    rows = np.repeat(np.arange(len(problems)), replacements)
    return Swaps(rows, positions[rows], ranges(np.ones_like(replacements), replacements))
