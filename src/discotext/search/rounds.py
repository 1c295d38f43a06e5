"""Rounds of greedy search: in each, the single best swap of every problem."""

from __future__ import annotations

from collections.abc import Callable, Generator
from itertools import count

import numpy as np

from discotext.core.arrays import Bools, Choices, Ints
from discotext.core.oracle import Oracle
from discotext.core.problem import Batch, count_changes
from discotext.core.swaps import Swaps, additions, improve
from discotext.search.climbing import Climbers
from discotext.search.solver import Proposal, Proposals, is_active

Filter = Callable[[Ints, Choices, Swaps], Bools]


def climb_greedily(batch: Batch, oracle: Oracle, problems: Ints) -> Generator[Proposal, Ints, Climbers]:
    """Greedy search of some problems from their originals; returns where those that still go on ended."""
    climbers = Climbers.at(batch, oracle, problems, np.zeros((len(problems), 0), dtype=np.int32))
    ended = climbers.take(np.empty(0, dtype=np.int64))
    while len(climbers):
        swaps = additions(batch.take(climbers.problems), climbers.choices)
        rows = improve(oracle, climbers.problems, climbers.choices, climbers.scores, swaps)
        active = yield climbers.take(rows).proposal()
        room = count_changes(climbers.choices) < batch.budgets[climbers.problems]
        going = np.isin(np.arange(len(climbers)), rows) & room
        ended, climbers = ended + climbers.take(~going), climbers.take(going)
        climbers = climbers.take(is_active(climbers.problems, active))
        ended = ended.take(is_active(ended.problems, active))
    return ended


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
