"""Beam search: greedy that keeps several partial answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discotext.oracle import Oracle
from discotext.problem import Batch
from discotext.segments import Floats, Ints, rank_in_group
from discotext.solvers.proposal import Proposal, Proposals, among
from discotext.solvers.swaps import additions, score_swaps


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
        multipliers = rng.integers(1, 2**63, size=batch.n_max, dtype=np.uint64)
        problems, choices = np.arange(len(batch)), batch.originals()
        while len(problems):
            swaps = additions(batch.take(problems), choices)
            if not len(swaps):
                return
            scores = score_swaps(oracle, problems, choices, swaps)
            # A set of changes is known by the sum of its parts, whatever the order they came in.
            hashes = choices.astype(np.uint64) @ multipliers
            hashes = hashes[swaps.rows] + swaps.candidates.astype(np.uint64) * multipliers[swaps.positions]
            kept = best_distinct(problems[swaps.rows], hashes, scores, self.width)
            problems, choices = problems[swaps.rows[kept]], swaps.take(kept).apply(choices)
            active = yield Proposal(problems, choices, scores[kept])
            going = among(problems, active)
            problems, choices = problems[going], choices[going]


def best_distinct(groups: Ints, hashes: NDArray[np.uint64], scores: Floats, width: int) -> Ints:
    """Indices of the best `width` entries of each group, entries of one hash counted once, groups in order."""
    order = np.lexsort((-scores, hashes, groups))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (groups[order][1:] != groups[order][:-1]) | (hashes[order][1:] != hashes[order][:-1])
    distinct = order[new]
    distinct = distinct[np.lexsort((-scores[distinct], groups[distinct]))]
    return np.asarray(distinct[rank_in_group(groups[distinct]) < width])
