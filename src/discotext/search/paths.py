"""Partial choices that grow from left to right, for many problems at once.

A row is a prefix: a problem, how many changes it has used, and its score so far. At each position every row is
continued by every candidate that its budget allows; of the new rows some are kept. What is kept decides what the search
is: the best of each state is dynamic programming, the best few of each problem a beam. Which row continued which is
written down at each position, and read back from the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from discotext.core.arrays import Bools, Choices, Floats, Ints, ranges, rank_in_group
from discotext.core.problem import Batch


@dataclass(frozen=True)
class Rows:
    """Prefixes. problems, used (changes so far), scores: (R,)."""

    problems: Ints
    used: Ints
    scores: Floats

    @classmethod
    def empty(cls, problems: Ints) -> Rows:
        """One empty prefix for each of some problems."""
        return cls(problems, np.zeros(len(problems), dtype=np.int64), np.zeros(len(problems)))

    def __len__(self) -> int:
        return len(self.problems)

    def take(self, which: Ints | Bools) -> Rows:
        return Rows(self.problems[which], self.used[which], self.scores[which])


@dataclass
class History:
    """Which row continued which, and by what: at each position (R,) parents and candidates."""

    batch: Batch
    parents: list[Ints] = field(default_factory=list)
    candidates: list[Ints] = field(default_factory=list)

    def add(self, parents: Ints, candidates: Ints) -> None:
        self.parents.append(parents)
        self.candidates.append(candidates)

    def read(self, rows: Ints) -> Choices:
        """(R, n_max) the choices of some of the last rows."""
        choices = np.zeros((len(rows), self.batch.n_max), dtype=np.int32)
        for position in range(len(self.parents) - 1, -1, -1):
            choices[:, position] = self.candidates[position][rows]
            rows = self.parents[position][rows]
        return choices


def continue_rows(batch: Batch, rows: Rows, position: int) -> tuple[Ints, Ints, Ints]:
    """All rows continued by all candidates that the budget allows: (S,) parents, candidates and changes used.

    A problem that ends before the position is continued by candidate 0, which stands for nothing.
    """
    counts = np.maximum(batch.dense_counts[rows.problems, position], 1)
    # Where the budget is spent, the original alone goes on.
    counts = np.where(rows.used < batch.budgets[rows.problems], counts, 1)
    parents = np.repeat(np.arange(len(rows)), counts)
    candidates = ranges(np.zeros(len(rows), dtype=np.int64), counts)
    return parents, candidates, rows.used[parents] + (candidates > 0)


def best_of_groups(groups: Ints, scores: Floats, used: Ints, count: int) -> Ints:
    """Indices of the best `count` rows of each group, ties to fewer changes; −inf is never among them.

    >>> best_of_groups(np.array([1, 0, 1, 1]), np.array([2.0, -np.inf, 3.0, 3.0]), np.array([0, 0, 2, 1]), 1)
    array([3])
    """
    finite = np.flatnonzero(scores > -np.inf)
    order = finite[np.lexsort((used[finite], -scores[finite], groups[finite]))]
    return np.asarray(order[rank_in_group(groups[order]) < count])


def is_counting_needed(batch: Batch, goal: float | None) -> Bools:
    """(B,) whether the number of changes so far matters: the budget can run out, or a goal asks for the fewest."""
    changeable = np.bincount(batch.problem_of_position, weights=batch.counts > 1, minlength=len(batch))
    return np.asarray((batch.budgets < changeable) | (goal is not None))
