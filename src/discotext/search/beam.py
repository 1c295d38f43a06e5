"""Beam search over sets of changes, for all problems in step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Choices, Ints
from discotext.core.oracle import Oracle
from discotext.core.problem import Batch, best_distinct, fingerprints
from discotext.core.swaps import Swaps, additions, score_swaps
from discotext.search.solver import Proposal, Proposals, is_active


def search_beam(batch: Batch, oracle: Oracle, problems: Ints, width: int) -> Proposals:
    """Keep the `width` best sets of changes of each size, and extend every one by every swap."""
    choices = batch.originals()[problems]
    while len(problems):
        swaps = additions(batch.take(problems), choices)
        if not len(swaps):
            return
        scores = score_swaps(oracle, problems, choices, swaps)
        kept = best_distinct(problems[swaps.rows], fingerprint_swaps(choices, swaps), scores, width)
        problems, choices = problems[swaps.rows[kept]], swaps.take(kept).apply(choices)
        active = yield Proposal(problems, choices, scores[kept])
        going = is_active(problems, active)
        problems, choices = problems[going], choices[going]


def fingerprint_swaps(choices: Choices, swaps: Swaps) -> NDArray[np.uint64]:
    """(S,) one half of the fingerprint of each row after its swap, without making the rows.

    A fingerprint is a sum, so a set of changes has the same one whatever order they came in.
    """
    units = fingerprints(np.eye(choices.shape[1], dtype=np.int32))[:, 0]
    return np.asarray(
        fingerprints(choices)[swaps.rows, 0] + swaps.candidates.astype(np.uint64) * units[swaps.positions]
    )
