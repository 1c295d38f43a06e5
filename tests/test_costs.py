"""A limit on what changes cost, beside the budget of changes: every solver keeps it, and exact search is exact."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotext.core.oracle import FunctionOracle
from discotext.core.problem import Batch, Problem
from discotext.core.rounding import best_vertex
from discotext.core.solution import Status
from discotext.search.loop import solve
from discotext.solvers import SOLVERS, make_solver


class TableOracle:
    """Scores of a random multilinear function: a weight for each candidate, and one for each pair of candidates."""

    exact_at_vertices = True

    def __init__(self, batch: Batch, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.batch = batch
        self.weights = [rng.normal(size=width) for width in batch.widths]
        self.pairs = [0.3 * rng.normal(size=(width, width)) for width in batch.widths]

    def value(self, problem: int, alpha: np.ndarray) -> tuple[float, np.ndarray]:
        weights, pairs = self.weights[problem], self.pairs[problem]
        return float(weights @ alpha + alpha @ pairs @ alpha), weights + (pairs + pairs.T) @ alpha

    def score(self, problems, choices):
        layout = self.batch.take(problems)
        flat = layout.one_hot(choices)
        parts = np.split(flat, layout.first_candidate[1:-1])
        return np.array([self.value(problem, part)[0] for problem, part in zip(problems, parts, strict=True)])

    def relaxed(self, problems, alpha):
        layout = self.batch.take(problems)
        parts = np.split(alpha, layout.first_candidate[1:-1])
        found = [self.value(problem, part) for problem, part in zip(problems, parts, strict=True)]
        return np.array([score for score, _ in found]), np.concatenate([slope for _, slope in found])


def random_problem(rng: np.random.Generator, positions: int, most: int) -> Problem:
    counts = tuple(int(count) for count in rng.integers(1, most + 1, size=positions))
    costs = tuple((0.0, *rng.uniform(0, 1, size=count - 1).round(2).tolist()) for count in counts)
    return Problem(counts, int(rng.integers(1, positions + 1)), costs, round(float(rng.uniform(0.1, 1.5)), 2))


def all_choices(problem: Problem) -> np.ndarray:
    every = np.array(list(itertools.product(*(range(count) for count in problem.counts))), dtype=np.int32)
    return every[~Batch.of([problem]).take(np.zeros(len(every), dtype=np.int64)).infeasible(every)]


def cost(problem: Problem, choice: np.ndarray) -> float:
    assert problem.costs is not None
    return sum(costs[candidate] for costs, candidate in zip(problem.costs, choice, strict=True))


def test_feasible_means_within_the_budget_and_the_limit():
    problem = Problem((2, 3), 2, ((0.0, 0.5), (0.0, 0.4, 0.6)), cost_limit=1.0)
    found = {tuple(row) for row in all_choices(problem).tolist()}
    assert found == {(0, 0), (1, 0), (0, 1), (0, 2), (1, 1)}


@pytest.mark.parametrize("name", [name for name in SOLVERS if name != "auto"])
def test_every_solver_keeps_the_limit(name):
    rng = np.random.default_rng(3)
    batch = Batch.of([random_problem(rng, 6, 4) for _ in range(12)])
    oracle = TableOracle(batch, 5)
    for goal in (None, 1.5):
        for number, solution in enumerate(solve(batch, oracle, make_solver(name), goal=goal, seed=1)):
            problem = batch[number]
            assert cost(problem, solution.choice) <= problem.cost_limit + 1e-9
            assert (solution.choice != 0).sum() <= problem.budget
            assert solution.score >= oracle.score(np.array([number]), batch.originals()[number : number + 1])[0]


def test_exact_search_agrees_with_brute_force():
    rng = np.random.default_rng(11)
    batch = Batch.of([random_problem(rng, 5, 4) for _ in range(30)])
    oracle = TableOracle(batch, 2)
    for number, solution in enumerate(solve(batch, oracle, make_solver("exact"))):
        every = all_choices(batch[number])
        wide = np.zeros((len(every), batch.n_max), dtype=np.int32)
        wide[:, : every.shape[1]] = every
        best = oracle.score(np.full(len(every), number), wide).max()
        assert solution.score == pytest.approx(best)
        assert solution.status is Status.OPTIMAL


def test_disco_is_near_the_optimum_under_a_limit():
    rng = np.random.default_rng(17)
    batch = Batch.of([random_problem(rng, 7, 4) for _ in range(40)])
    oracle = TableOracle(batch, 8)
    exact, disco = (solve(batch, oracle, make_solver(name)) for name in ("exact", "disco-high"))
    hits = sum(one.score >= other.score - 1e-9 for one, other in zip(disco, exact, strict=True))
    assert hits >= 36


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6))
def test_the_best_vertex_is_feasible_and_near_the_best_there_is(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, int(rng.integers(1, 6)), 4)
    batch = Batch.of([problem])
    weights = rng.normal(size=batch.candidates)
    choice = best_vertex(weights, batch)
    assert not batch.infeasible(choice).any()
    every = all_choices(problem)
    values = np.array([weights[batch.chosen(row[None])].sum() for row in every])
    original = weights[batch.starts].sum()
    singles = [row for row in every if (row != 0).sum() == 1]
    largest = max((weights[batch.chosen(row[None])].sum() - original for row in singles), default=0)
    # Rounding a knapsack down loses less than its largest item.
    assert weights[batch.chosen(choice)].sum() >= values.max() - max(largest, 0) - 1e-9


def test_without_a_limit_nothing_changes():
    rng = np.random.default_rng(5)
    limited = [random_problem(rng, 6, 4) for _ in range(10)]
    free = Batch.of([Problem(one.counts, one.budget) for one in limited])
    loose = Batch.of([Problem(one.counts, one.budget, one.costs, 1e6) for one in limited])
    for name in ("disco", "greedy", "beam"):
        first, second = (solve(batch, TableOracle(batch, 4), make_solver(name)) for batch in (free, loose))
        assert [one.choice.tolist() for one in first] == [one.choice.tolist() for one in second]


@pytest.mark.parametrize(
    ("costs", "limit", "said"),
    [
        (((0.0, 1.0),), 1.0, "costs are given"),
        (((0.0, 1.0), (0.5, 1.0)), 1.0, "the first must be 0"),
        (((0.0, 1.0), (0.0, -1.0)), 1.0, "0 or more"),
        (((0.0, 1.0), (0.0, 1.0)), -1.0, "cost_limit is -1.0"),
    ],
)
def test_wrong_costs_are_refused(costs, limit, said):
    with pytest.raises(ValueError, match=said):
        Problem((2, 2), 1, costs, limit)


def test_a_function_oracle_works_with_costs():
    batch = Batch.of([Problem((3, 3), 2, ((0.0, 0.2, 0.9), (0.0, 0.3, 0.3)), cost_limit=0.5)])
    oracle = FunctionOracle(batch, lambda problem, choice: float(sum(choice)))
    (solution,) = solve(batch, oracle, make_solver("greedy"))
    assert solution.choice.tolist() == [1, 2]
