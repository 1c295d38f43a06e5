"""Beam search: greedy that keeps several partial answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discotext.oracle import Oracle
from discotext.problem import Batch, fingerprints
from discotext.segments import Choices, Floats, Ints, rank_in_group
from discotext.solvers.proposal import Proposal, Proposals, among
from discotext.swaps import Swaps, additions, score_swaps


@dataclass(frozen=True)
class Beam:
    """Keep the `width` best sets of changes of each size, and extend every one by every swap.

    Costs about width times greedy's forwards. The same set reached in two orders is one answer.
    """

    needs: ClassVar[type] = Oracle
    width: int = 8

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ValueError(f"width is {self.width}, but a beam keeps at least 1 answer; choose 1 or more")

    def propose(self, batch: Batch, oracle: Oracle, rng: np.random.Generator) -> Proposals:
        problems, choices = np.arange(len(batch)), batch.originals()
        while len(problems):
            swaps = additions(batch.take(problems), choices)
            if not len(swaps):
                return
            scores = score_swaps(oracle, problems, choices, swaps)
            kept = best_distinct(problems[swaps.rows], swapped_fingerprints(choices, swaps), scores, self.width)
            problems, choices = problems[swaps.rows[kept]], swaps.take(kept).apply(choices)
            active = yield Proposal(problems, choices, scores[kept])
            going = among(problems, active)
            problems, choices = problems[going], choices[going]


def swapped_fingerprints(choices: Choices, swaps: Swaps) -> NDArray[np.uint64]:
    """(S,) one half of the fingerprint of each row after its swap, without making the rows.

    A fingerprint is a sum, so that a set of changes has the same whatever order they came in.
    """
    units = fingerprints(np.eye(choices.shape[1], dtype=np.int32))[:, 0]
    return np.asarray(
        fingerprints(choices)[swaps.rows, 0] + swaps.candidates.astype(np.uint64) * units[swaps.positions]
    )


def best_distinct(groups: Ints, hashes: NDArray[np.uint64], scores: Floats, width: int) -> Ints:
    """Indices of the best `width` entries of each group, entries of one hash counted once, groups in order."""
    order = np.lexsort((-scores, hashes, groups))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (groups[order][1:] != groups[order][:-1]) | (hashes[order][1:] != hashes[order][:-1])
    distinct = order[new]
    distinct = distinct[np.lexsort((-scores[distinct], groups[distinct]))]
    return np.asarray(distinct[rank_in_group(groups[distinct]) < width])
