"""Rounds of greedy search: in each, the single best swap of every problem."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import numpy as np

from discotext.core.arrays import Bools, Choices, Ints
from discotext.core.oracle import Oracle
from discotext.core.problem import Batch
from discotext.core.swaps import Swaps, additions, improve
from discotext.search.solver import Proposal, Proposals, is_active

Filter = Callable[[Ints, Choices, Swaps], Bools]


def greedy_rounds(batch: Batch, oracle: Oracle, keep: Filter | None, patient: bool = False) -> Proposals:
    """Rounds of best additions, over the swaps that `keep` leaves.

    patient: a round without gain does not end the search, because the next one looks at other swaps; there are at most
        as many rounds as the budget allows changes.
    """
    problems, choices = np.arange(len(batch)), batch.originals()
    scores = oracle.score(problems, choices)
    for turn in count(1):
        if not len(problems):
            return
        swaps = additions(batch.take(problems), choices)
        if keep is not None:
            swaps = swaps.take(keep(problems, choices, swaps))
        rows = improve(oracle, problems, choices, scores, swaps)
        active = yield Proposal(problems[rows], choices[rows], scores[rows])
        going = is_active(problems, active) & (turn < batch.budgets[problems])
        if not patient:
            going &= np.isin(np.arange(len(problems)), rows)
        problems, choices, scores = problems[going], choices[going], scores[going]
