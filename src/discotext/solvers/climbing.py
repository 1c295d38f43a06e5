"""Climbing: from each of many feasible choices to a better one nearby, led by the gradient, until none is found.

A row is a climber; a problem may have many. Each round costs a climber one gradient and as many forwards as it is
proposed moves. Climbers of one problem share what it may spend.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from discotext.oracle import Oracle, RelaxedOracle
from discotext.problem import Batch, fingerprints
from discotext.segments import Bools, Choices, Floats, Ints, rank_in_group
from discotext.solvers.beam import best_distinct
from discotext.solvers.moves import best_moves
from discotext.solvers.proposal import Proposal, among
from discotext.swaps import best_of_each
from discotext.wrappers import passes_spent

# Where a goal is to be reached, slopes are taken a little off the choice. Of text classifiers they tell better there
# what whole swaps gain, and fewer changes reach the goal; small random networks prefer the choice itself.
AROUND = 0.3
HOPE = 4  # rounds like the last one within which a climber must be able to come to the goal


@dataclass(frozen=True)
class Climbers:
    """Rows of (problem, choice, score)."""

    problems: Ints
    choices: Choices
    scores: Floats

    def __len__(self) -> int:
        return len(self.problems)

    def take(self, which: Ints | Bools) -> Climbers:
        return Climbers(self.problems[which], self.choices[which], self.scores[which])

    @staticmethod
    def nobody(batch: Batch) -> Climbers:
        return Climbers(np.empty(0, dtype=np.int64), np.zeros((0, batch.n_max), dtype=np.int32), np.empty(0))

    @staticmethod
    def at(batch: Batch, oracle: Oracle, problems: Ints, choices: Choices) -> Climbers:
        """Climbers at choices that are scored now. choices: (R, n), as wide as the rows need."""
        wide = np.zeros((len(problems), batch.n_max), dtype=np.int32)
        wide[:, : choices.shape[1]] = choices
        return Climbers(problems, wide, oracle.score(problems, wide))

    def proposal(self) -> Proposal:
        return Proposal(self.problems, self.choices, self.scores)

    def best(self, count: int) -> Climbers:
        """The best `count` climbers of each problem, at most one of those at the same place; problems in order."""
        return self.take(best_distinct(self.problems, fingerprints(self.choices)[:, 0], self.scores, count))

    def __add__(self, other: Climbers) -> Climbers:
        return Climbers(
            np.concatenate([self.problems, other.problems]),
            np.concatenate([self.choices, other.choices]),
            np.concatenate([self.scores, other.scores]),
        )


class Purse:
    """What each problem may still spend, in passes (forwards + backwards) that really reach the model.

    It also remembers where climbers have been: one that comes to a place already visited would only repeat a path.
    """

    def __init__(self, batch: Batch, oracle: Oracle, passes: Floats | float = np.inf) -> None:
        self.oracle = oracle
        self.limit = np.asarray(passes + passes_spent(oracle, np.arange(len(batch))), dtype=np.float64)
        self.visited = Places()

    def affords(self, problems: Ints, passes: float) -> Bools:
        """(R,) True for rows that can be paid for if all rows before them are."""
        order = np.argsort(problems, kind="stable")
        turn = np.empty(len(problems))
        turn[order] = rank_in_group(problems[order]) + 1
        return np.asarray(passes_spent(self.oracle, problems) + turn * passes <= self.limit[problems])


class Places:
    """Where climbers have been."""

    def __init__(self) -> None:
        self._known: set[tuple[int, int, int]] = set()

    def new(self, climbers: Climbers) -> Bools:
        """(R,) True for climbers at a place where none has been before; they have been there now."""
        new = np.zeros(len(climbers), dtype=bool)
        marks = fingerprints(climbers.choices).tolist()
        for row, (problem, mark) in enumerate(zip(climbers.problems.tolist(), marks, strict=True)):
            place = (problem, mark[0], mark[1])
            new[row] = place not in self._known
            self._known.add(place)
        return new


def slopes_at(oracle: RelaxedOracle, climbers: Climbers, layout: Batch, around: float) -> Floats:
    """What the score gains, to first order, by every swap of every climber; flat.

    around: weight of all candidates alike in the mixture at which the slope is taken; 0 takes it at the choice itself.
    """
    mixture = layout.one_hot(climbers.choices)
    if around:
        mixture = (1 - around) * mixture + around / layout.counts[layout.position_of]
    _, slopes = oracle.relaxed(climbers.problems, mixture)
    return slopes


def climb(
    batch: Batch,
    oracle: RelaxedOracle,
    climbers: Climbers,
    proposals: int,
    purse: Purse,
    around: float = 0.0,
    goal: float | None = None,
) -> Generator[Proposal, Ints, Climbers]:
    """Move every climber uphill until no proposed move is better; returns where they ended.

    around: see `slopes_at`. goal: give a climber up that would not come so high in `HOPE` more rounds like its last.
    """
    ended = climbers.take(np.empty(0, dtype=np.int64))
    while len(climbers):
        going = purse.visited.new(climbers) & purse.affords(climbers.problems, 2 + proposals)
        ended, climbers = ended + climbers.take(~going), climbers.take(going)
        if not len(climbers):
            break
        layout = batch.take(climbers.problems)
        moves = best_moves(layout, climbers.choices, slopes_at(oracle, climbers, layout, around), proposals)
        moved = moves.apply(climbers.choices)
        found = oracle.score(climbers.problems[moves.rows], moved)
        best = best_of_each(moves.rows, found)
        better = best[found[best] > climbers.scores[moves.rows[best]]]
        stuck = np.ones(len(climbers), dtype=bool)
        stuck[moves.rows[better]] = False
        ended = ended + climbers.take(stuck)
        gains = found[better] - climbers.scores[moves.rows[better]]
        climbers = Climbers(climbers.problems[moves.rows[better]], moved[better], found[better])
        active = yield climbers.proposal()
        if goal is not None:
            hopeful = goal - climbers.scores <= HOPE * gains
            ended, climbers = ended + climbers.take(~hopeful), climbers.take(hopeful)
        climbers = climbers.take(among(climbers.problems, active))
        ended = ended.take(among(ended.problems, active))
    return ended
