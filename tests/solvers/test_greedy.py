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
    Greedy,
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
