"""Searches that decide one position at a time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discotext import Batch, Problem, solve
from discotext.solvers import (
    LeftToRight,
    RankedGreedy,
)
from tests.conftest import Table, problems


def left_to_right_by_hand(table: Table, index: int) -> tuple[int, ...]:
    problem = table.batch[index]
    choice = [0] * len(problem)
    for position, count in enumerate(problem.counts):
        if sum(candidate != 0 for candidate in choice) == problem.budget:
            break
        options = [(*choice[:position], candidate, *choice[position + 1 :]) for candidate in range(count)]
        choice = list(max(options, key=table.scores[index].get))
    return tuple(choice)


@given(problems(), st.integers(0, 1000))
def test_left_to_right_is_the_sweep_of_the_paper(problem, seed):
    batch = Batch.of([problem])
    table = Table(batch, seed)
    (solution,) = solve(batch, table, LeftToRight())
    swept = left_to_right_by_hand(table, 0)
    assert solution.score >= table.scores[0][swept] - 1e-12
    if sum(candidate != 0 for candidate in swept) <= 1:
        assert tuple(solution.choice) == swept


def test_ranked_greedy_ranks_by_deletion_where_the_oracle_can():
    batch = Batch.of([Problem((2, 2, 2), 1)])

    class Deleting(Table):
        deleted = 0

        def without(self, rows, positions):
            Deleting.deleted += len(rows)
            return np.array([0.0, 5.0, 1.0])[positions]

    oracle = Deleting(batch)
    oracle.scores[0] = {choice: float(choice[0] * 3 + choice[1] * 2 + choice[2]) for choice in oracle.scores[0]}
    (solution,) = solve(batch, oracle, RankedGreedy())
    assert solution.choice.tolist() == [0, 1, 0]  # deletion says the second word matters most
    assert Deleting.deleted == 3
    (solution,) = solve(batch, oracle, RankedGreedy(rank="swap"))
    assert solution.choice.tolist() == [1, 0, 0]
