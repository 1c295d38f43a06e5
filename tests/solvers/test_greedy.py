"""Greedy search is Algorithm 1, over any independence system."""

import numpy as np
import pytest
from benchmarks.random_networks import RandomNetworks
from hypothesis import given
from hypothesis import strategies as st

from discotext import Batch, Problem, solve
from discotext.core import FunctionOracle
from discotext.search import Stop
from discotext.search.solver import drive
from discotext.solvers import (
    Beam,
    Greedy,
    LeftToRight,
    RankedGreedy,
)
from discotext.solvers.greedy import climb_greedily, greedy_passes
from discotext.theory import Changes, best_among, greedy
from tests.conftest import Quadratic, Table, problems


def greedy_by_hand(table: Table, index: int) -> float:
    problem = table.batch[index]
    choice = (0,) * len(problem)
    while True:
        options = [
            (*choice[:position], candidate, *choice[position + 1 :])
            for position, count in enumerate(problem.counts)
            if choice[position] == 0
            for candidate in range(1, count)
        ]
        options = [option for option in options if option in table.scores[index]]
        best = max(options, key=table.scores[index].get, default=choice)
        if table.scores[index][best] <= table.scores[index][choice]:
            return table.scores[index][choice]
        choice = best


@given(st.lists(problems(), min_size=1, max_size=3), st.integers(0, 1000))
def test_greedy_is_algorithm_1(listed, seed):
    batch = Batch.of(listed)
    table = Table(batch, seed)
    # Taking back may only help what greedy found, so compare before it: nothing is taken back from one change.
    for index, solution in enumerate(solve(batch, table, Greedy())):
        assert solution.score >= greedy_by_hand(table, index) - 1e-12
        if solution.changes <= 1:
            assert solution.score == pytest.approx(greedy_by_hand(table, index))


@pytest.mark.parametrize("seed", range(10))
def test_greedy_agrees_with_greedy_over_its_matroid(seed):
    batch = Batch.of([Problem((3, 2, 4, 2), 3)])
    bag = Quadratic(batch, seed)
    chain = greedy(best_among(batch, 0, bag), Changes(batch[0]))
    (solution,) = solve(batch, bag, Greedy())
    assert solution.score >= chain.values[-1] - 1e-9


def test_greedy_runs_on_any_independence_system():
    batch = Batch.of([Problem((2, 2, 2, 2), 4)])
    oracle = FunctionOracle(batch, lambda problem, choice: float(np.dot(choice, [4, 3, 2, 1])))

    def not_neighbours(problem):
        return lambda pairs: all(abs(a - b) != 1 for a, _ in pairs for b, _ in pairs)

    (solution,) = solve(batch, oracle, Greedy(system=not_neighbours))
    assert solution.choice.tolist() == [1, 0, 1, 0]


def test_greedy_passes_are_what_greedy_spends():
    networks = RandomNetworks(range(5), positions=10, candidates=4, budget=4)
    table = [solution.forwards for solution in solve(networks.batch, networks, Greedy(), stop=Stop(backwards=0))]
    # Greedy asks besides for the original and the check, and pruning asks for single changes.
    assert all(
        0 <= spent - expected <= 2 + 4 + 3 for spent, expected in zip(table, greedy_passes(networks.batch), strict=True)
    )


def test_climbing_greedily_ends_where_greedy_ends():
    networks = RandomNetworks(range(10), positions=8, candidates=3, budget=3)
    batch = networks.batch
    some = np.array([1, 4, 7])
    ended = drive(climb_greedily(batch, networks, some), lambda proposal: np.arange(len(batch)))
    wanted = solve(batch, networks, Greedy())
    for problem, choice, score in zip(ended.problems, ended.choices, ended.scores, strict=True):
        assert score >= wanted[problem].score - 1e-12
        assert np.count_nonzero(choice) <= 3
    assert sorted(ended.problems.tolist()) == some.tolist()


@given(problems(4, 3), st.integers(0, 1000))
def test_a_beam_wide_enough_is_exact(problem, seed):
    batch = Batch.of([problem])
    table = Table(batch, seed)
    (solution,) = solve(batch, table, Beam(width=100))
    assert solution.score == pytest.approx(table.best(0))


def test_a_wider_beam_is_no_worse_on_average():
    networks = RandomNetworks(range(30), budget=3)
    means = [
        np.mean([solution.score for solution in solve(networks.batch, networks, Beam(width))]) for width in (1, 3, 9)
    ]
    assert means == sorted(means)


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
