"""The best few choices of a problem."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from discotext.core.arrays import Choices, Floats, Ints, rank_in_group
from discotext.core.problem import Batch


@dataclass(frozen=True, eq=False)
class NBest:
    """Different choices of one problem, best first. choices: (N, n); scores: (N,).

    complete: whether it is proved that no other choice scores higher than the last of them.
    """

    choices: Choices
    scores: Floats
    complete: bool

    def __len__(self) -> int:
        return len(self.scores)


def collect_nbest(
    batch: Batch, problems: Ints, choices: Choices, scores: Floats, count: int, complete: Ints
) -> list[NBest]:
    """One list for each problem of a batch. problems, scores: (R,), choices: (R, n_max). complete: problems."""
    order = np.lexsort((-scores, problems))
    order = order[rank_in_group(problems[order]) < count]
    cuts = np.searchsorted(problems[order], np.arange(len(batch) + 1))
    found = []
    for index, (first, last) in enumerate(pairwise(cuts.tolist())):
        rows = order[first:last]
        found.append(NBest(choices[rows, : batch.sizes[index]], scores[rows], bool(np.isin(index, complete))))
    return found
