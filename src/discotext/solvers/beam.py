"""Beam search: greedy that keeps several partial answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Choices, Ints
from discotext.core.oracle import Oracle
from discotext.core.problem import Batch, best_distinct, fingerprints
from discotext.core.swaps import Swaps, additions, score_swaps
from discotext.search.solver import Proposal, Proposals, Search, Solver, is_active


@dataclass(frozen=True)
class Beam(Solver):
    """Keep the `width` best sets of changes of each size, and extend every one by every swap.

    Costs about width times greedy's forwards. The same set reached in two orders is one answer.
    """

    width: int = 8

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ValueError(f"width is {self.width}; a beam keeps at least 1 answer, so choose 1 or more")

    def propose(self, batch: Batch, oracle: Oracle, search: Search) -> Proposals:
        return search_beam(batch, oracle, np.arange(len(batch)), self.width)


def search_beam(batch: Batch, oracle: Oracle, problems: Ints, width: int) -> Proposals:
    """Beam search of some problems from their originals, all in step."""
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
