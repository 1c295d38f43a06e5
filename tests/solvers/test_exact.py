"""Exact search: enumeration, and branch and bound, against each other and by hand."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext import Batch, Problem, solve
from discotext.core import FunctionOracle, Status
from discotext.core.problem import count_changes
from discotext.core.reach import Reach
from discotext.search import Stop
from discotext.solvers import (
    Disco,
    Exact,
)
from discotext.solvers.exact import enumerate_levels
from discotext.theory import LinearBag, subset_sum
from tests.conftest import Table, problems


@given(st.lists(problems(), min_size=1, max_size=3), st.integers(0, 1000))
def test_exact_finds_the_best_of_all_with_the_fewest_changes_and_asks_each_once(listed, seed):
    batch = Batch.of(listed)
    table = Table(batch, seed)
    for scores in table.scores:
        for choice in scores:
            scores[choice] = round(scores[choice])  # ties
    solutions = solve(batch, table, Exact())
    for index, solution in enumerate(solutions):
        assert solution.status is Status.OPTIMAL
        assert solution.proved
        assert solution.score == table.best(index)
        fewest = min(np.count_nonzero(c) for c, score in table.scores[index].items() if score == table.best(index))
        assert solution.changes == fewest
        assert solution.forwards == batch[index].feasible_choices + 1  # and the check


def test_spaces_beyond_counting_are_no_trouble():
    batch = Batch.of([Problem((4,) * 1000, 200)])
    rng = np.random.default_rng(0)
    bag = LinearBag(batch, rng.normal(size=(batch.candidates, 1)), np.zeros((1, 1)))
    (solution,) = solve(batch, bag, Disco(effort="high"), stop=Stop(forwards=200))
    assert solution.score > solution.original_score
    with pytest.raises(ValueError, match="10,000,000"):
        solve(batch, FunctionOracle(batch, lambda problem, choice: 0.0), Exact())


@given(problems(), st.integers(0, 1000), st.floats(-1, 2))
def test_exact_with_a_goal_proves_fewest_changes_or_impossibility(problem, seed, goal):
    batch = Batch.of([problem])
    table = Table(batch, seed)
    (solution,) = solve(batch, table, Exact(), goal=goal)
    reaching = [np.count_nonzero(choice) for choice, score in table.scores[0].items() if score >= goal]
    if reaching:
        assert solution.status is Status.FEWEST
        assert solution.changes == min(reaching)
    else:
        assert solution.status is Status.IMPOSSIBLE
        assert solution.score == table.best(0)


def test_exact_refuses_what_has_more_choices_than_it_enumerates():
    batch = Batch.of([Problem((2,), 1), Problem((5,) * 12, 6)])
    asked = []
    oracle = FunctionOracle(batch, lambda problem, choice: asked.append(problem) or 0.0)
    with pytest.raises(ValueError, match=r"problem 1 .* 1,000,000"):
        solve(batch, oracle, Exact(limit=1_000_000))
    assert not asked


@pytest.mark.parametrize("seed", range(5))
def test_branch_and_bound_finds_what_enumeration_finds_and_asks_less(seed):
    rng = np.random.default_rng(seed)
    integers = rng.integers(1, 300, size=12).tolist()
    batch, oracle = subset_sum(integers, int(rng.integers(300, 1200)))
    (bounded,) = solve(batch, oracle, Exact())
    (plain,) = solve(batch, oracle, Exact(bounds=False))
    assert bounded.status is plain.status is Status.OPTIMAL
    assert bounded.score == plain.score
    assert bounded.forwards < plain.forwards


class Guessing(Table):
    """Bounds that say nothing, so that branch and bound must open everything."""

    def reach(self, rows, allowed, goals):
        layout = self.batch.take(rows)
        return Reach(np.zeros(len(rows)), np.zeros(layout.candidates), np.zeros(layout.candidates))


@pytest.mark.parametrize("limit", [5, 20, 100, 1000])
def test_a_problem_that_runs_out_of_nodes_is_not_proved_by_its_neighbours(limit):
    batch = Batch.of([Problem((4,) * 5, 5), Problem((2,) * 12, 1), Problem((3, 3), 2)])
    table = Guessing(batch, 1)
    for index, solution in enumerate(solve(batch, table, Exact(passes=limit))):
        if solution.proved:
            assert solution.score == table.best(index)


@given(st.lists(problems(4, 4), min_size=1, max_size=3), st.integers(0, 1000), st.sampled_from([None, -0.5, 0.5, 1.5]))
def test_branch_and_bound_is_exact_with_the_fewest_changes_too(listed, seed, goal):
    batch = Batch.of(listed)
    table = Guessing(batch, seed)
    for scores in table.scores:
        for choice in scores:
            scores[choice] = round(2 * scores[choice]) / 2  # ties
    for index, solution in enumerate(solve(batch, table, Exact(), goal=goal)):
        assert solution.proved
        if goal is not None and table.best(index) < goal:
            assert solution.status is Status.IMPOSSIBLE
            continue
        wanted = table.best(index) if goal is None else goal
        fewest = min(np.count_nonzero(c) for c, score in table.scores[index].items() if score >= wanted)
        assert solution.changes == fewest
        assert solution.score >= wanted


def test_branch_and_bound_out_of_nodes_makes_no_claim():
    batch, oracle = subset_sum(list(range(101, 161, 3)), 7)
    (solution,) = solve(batch, oracle, Exact(passes=70))
    assert not solution.proved


def test_every_choice_of_a_level_has_as_many_changes_and_all_come():
    batch = Batch.of([Problem((3, 1, 2, 4), 3)])
    table = Table(batch)
    proposals = enumerate_levels(batch, table, np.arange(len(batch)))
    active = np.array([0])
    next(proposals)
    try:
        while True:
            proposals.send(active)
    except StopIteration:
        pass
    asked = [choice for _, choice in table.asked]
    assert len(asked) == len(set(asked))
    assert set(asked) == {c for c in product(range(3), range(1), range(2), range(4)) if any(c)}
    levels = count_changes(np.array(asked))
    assert (np.diff(levels) >= 0).all()
