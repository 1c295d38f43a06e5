"""The paper's set function, subset sum (hard) and the linear bag (easy): their laws, their optima, their bounds."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext.core.oracle import BoundingOracle, FunctionOracle, Oracle, RelaxedOracle
from discotext.core.oracle_check import check_oracle
from discotext.core.problem import Batch, Problem
from discotext.theory import (
    Changes,
    LinearBag,
    SubsetSum,
    UniformMatroid,
    best_among,
    best_inside,
    greedy,
    is_monotone,
    propositions,
    read_subset,
    subset_sum,
    subsets,
    tabulate,
)
from tests.conftest import Table, feasible


class Recording(Table):
    """Notes the size of every call, and is asked for each choice once."""

    def __init__(self, batch: Batch, seed: int) -> None:
        super().__init__(Batch.of([Problem(problem.counts, len(problem)) for problem in batch]), seed)
        self.calls = []

    def score(self, problems, choices):
        self.calls.append(len(problems))
        found = super().score(problems, choices)
        assert len(set(self.asked)) == len(self.asked), "a choice was asked for twice"
        return found


COUNTS = [(2, 3, 1, 2), (3, 3), (1, 1), (1,), ()]


@pytest.mark.parametrize("counts", COUNTS, ids=str)
def test_best_inside_is_the_maximum_over_choices_whose_changes_lie_inside(counts):
    batch = Batch.of([Problem((2,), 1), Problem(counts, 0)])
    oracle = Recording(batch, seed=3)
    f = best_inside(batch, 1, oracle)
    found = {members: f(members) for members in subsets(range(len(counts)))}
    assert {choice for _, choice in oracle.asked} == set(oracle.scores[1])
    for members, value in found.items():
        inside = [c for c in product(*map(range, counts)) if all(i in members for i, j in enumerate(c) if j)]
        assert value == max(oracle.scores[1][choice] for choice in inside)
    assert is_monotone(f)


def test_best_inside_asks_in_large_calls_and_never_twice(monkeypatch):
    batch = Batch.of([Problem((3,) * 5, 5)])
    oracle = Recording(batch, seed=0)
    tabulate(best_inside(batch, 0, oracle))
    assert oracle.calls == [3**5]
    monkeypatch.setattr(propositions, "ROWS_PER_CALL", 100)
    oracle = Recording(batch, seed=0)
    tabulate(best_inside(batch, 0, oracle))
    assert oracle.calls == [100, 100, 43]
    oracle = Recording(batch, seed=0)
    greedy(best_inside(batch, 0, oracle), UniformMatroid(5, 2))
    assert len(oracle.calls) <= 3  # the original, all first changes, all second changes


def test_best_inside_refuses_a_search_that_is_too_large(monkeypatch):
    monkeypatch.setattr(propositions, "CHOICES_LIMIT", 1000)
    batch = Batch.of([Problem((4,) * 12, 12)])
    oracle = FunctionOracle(batch, lambda problem, choice: 0.0)
    assert best_inside(batch, 0, oracle)([0, 1, 2]) == 0.0
    for too_large in (range(7), range(12)):  # too many choices; too many subsets to begin with
        with pytest.raises(ValueError, match="itself a search"):
            best_inside(batch, 0, oracle)(too_large)


@pytest.mark.parametrize("counts", [(2, 3, 1), (3, 2), (4,), (1,)], ids=str)
def test_best_among_is_the_maximum_over_choices_made_of_the_changes(counts):
    batch = Batch.of([Problem(counts, len(counts))])
    oracle = Recording(batch, seed=5)
    f, system = best_among(batch, 0, oracle), Changes(batch[0])
    for members in subsets(system.ground):
        value = f(members)
        allowed = [c for c in product(*map(range, counts)) if system.members(c) <= members]
        assert value == max(oracle.scores[0][choice] for choice in allowed)


INTEGERS = st.lists(st.integers(-20, 20), max_size=7)


def random_bag(seed, problems=None, classes=3):
    rng = np.random.default_rng(seed)
    if problems is None:
        problems = [Problem(tuple(rng.integers(1, 4, size=n).tolist()), int(rng.integers(n + 1))) for n in (4, 0, 5, 3)]
    batch = Batch.of(problems)
    return batch, LinearBag(batch, rng.normal(size=(batch.candidates, classes)), rng.normal(size=(len(batch), classes)))


def all_scores(batch, oracle, problem):
    """All choices of a problem within its budget, padded, and their scores."""
    rows = np.array(feasible(batch[problem]), dtype=np.int32)
    rows = np.pad(rows, ((0, 0), (0, batch.n_max - rows.shape[1])))
    return rows, oracle.score(np.full(len(rows), problem), rows)


ORACLES = [
    *(("bag", *random_bag(seed)) for seed in range(3)),
    ("bag of one class", *random_bag(7, classes=1)),
    ("subset sum", *subset_sum([3, -5, 8, 0, 2], 6)),
    ("subset sum of one", *subset_sum([4], 4)),
]


@pytest.mark.parametrize(("name", "batch", "oracle"), ORACLES, ids=[name for name, *_ in ORACLES])
def test_the_oracles_keep_the_laws_of_oracles(name, batch, oracle):
    for ability in (Oracle, RelaxedOracle, BoundingOracle):
        assert isinstance(oracle, ability)
    report = check_oracle(batch, oracle, seed=1, rows=40, tolerance=1e-9)
    assert report.passed, report.failures
    assert report.vertex_gap is not None
    assert report.gradient_gap is not None


@pytest.mark.parametrize(("name", "batch", "oracle"), ORACLES, ids=[name for name, *_ in ORACLES])
def test_no_allowed_choice_reaches_the_goal_with_fewer_changes_than_the_reach(name, batch, oracle):
    rng = np.random.default_rng(5)
    exact, informative = isinstance(oracle, LinearBag), 0
    for _ in range(60):
        problem = int(rng.integers(len(batch)))
        counts, budget = batch[problem].counts, batch[problem].budget
        allowed = [np.flatnonzero(rng.random(k) < 0.7).tolist() or [int(rng.integers(k))] for k in counts]
        rows = np.array([c for c in product(*allowed) if np.count_nonzero(c) <= budget], dtype=np.int32)
        if not len(rows) or not counts:
            continue
        scores = oracle.score(np.full(len(rows), problem), rows)
        goal = float(rng.choice(scores)) + float(rng.normal()) * (0.1 + scores.std())
        flat = np.concatenate([np.isin(np.arange(k), some) for k, some in zip(counts, allowed, strict=True)])
        found = oracle.reach(np.array([problem]), flat, np.array([goal]))
        changes = np.count_nonzero(rows, axis=1).astype(float)
        fewest = changes[scores >= goal].min(initial=np.inf)
        assert found.levels[0] <= fewest
        starts = np.cumsum([0, *counts[:-1]])
        for position, k in enumerate(counts):
            for candidate in range(k):
                mine = changes[(scores >= goal) & (rows[:, position] == candidate)].min(initial=np.inf)
                level = found.by_candidate[starts[position] + candidate]
                assert found.levels[0] <= level <= mine
                if exact:
                    assert level == mine
        if exact:
            assert found.levels[0] == fewest
        informative += np.isinf(found.levels[0]) or found.levels[0] > 0
    assert informative


def test_the_reach_of_many_rows_is_that_of_each_row():
    batch, bag = random_bag(1)
    rng = np.random.default_rng(0)
    problems = rng.integers(len(batch), size=30)
    layout = batch.take(problems)
    allowed = (rng.random(layout.candidates) < 0.6) | (np.isin(np.arange(layout.candidates), layout.starts))
    goals = rng.normal(size=30)
    together = bag.reach(problems, allowed, goals)
    for row in range(30):
        mine = layout.flat_rows(np.array([row]))
        alone = bag.reach(problems[[row]], allowed[mine], goals[[row]])
        assert alone.levels[0] == together.levels[row]
        np.testing.assert_array_equal(alone.by_candidate, together.by_candidate[mine])
    assert len(set(together.levels)) > 2


@given(INTEGERS, st.integers(-30, 30))
def test_subset_sum_is_solvable_exactly_if_the_optimum_is_0_and_the_words_kept_are_the_subset(integers, target):
    batch, oracle = subset_sum(integers, target)
    rows, scores = all_scores(batch, oracle, 0)
    assert len(rows) == 2 ** len(integers)  # every word may change: m = n
    solvable = any(sum(part) == target for size in range(len(integers) + 1) for part in combinations(integers, size))
    assert (scores.max() == 0) == solvable
    best = rows[scores.argmax()]
    assert -((sum(read_subset(integers, best)) - target) ** 2) == scores.max()


def test_subset_sum_by_hand():
    batch, oracle = subset_sum([3, 5, 8], 11)
    rows, scores = all_scores(batch, oracle, 0)
    assert (scores.max(), read_subset([3, 5, 8], rows[scores.argmax()])) == (0, (3, 8))
    assert oracle.score(np.array([0]), batch.originals()).tolist() == [-25.0]  # all kept: 16
    # Nothing sums to 12: the nearest sums are 11 and 13.
    assert all_scores(*subset_sum([3, 5, 8], 12), 0)[1].max() == -1
    _, oracle = subset_sum([3, 5, 8], 0)
    everything = np.ones(6, dtype=bool)
    # 16 kept; one word dropped reaches 8 at best, two reach 3, three reach the target.
    goals = [-256.0, -64.0, -9.0, 0.0, 1.0]
    found = [float(oracle.reach(np.array([0]), everything, np.array([goal])).levels[0]) for goal in goals]
    assert found == [0, 1, 2, 3, np.inf]


def test_subset_sum_refuses_what_float64_cannot_add():
    with pytest.raises(ValueError, match="2\\^53"):
        subset_sum([2**53], 0)
    with pytest.raises(ValueError, match=r"\[0\.5\]"):
        subset_sum([0.5], 0)
    big = 2**51
    assert subset_sum([big, 1], big)[1].score(
        np.array([0, 0]), np.array([[0, 0], [0, 1]], dtype=np.int32)
    ).tolist() == [-1, 0]
    assert isinstance(subset_sum([], 0)[1], SubsetSum)


@pytest.mark.parametrize("seed", range(25))
def test_the_optimum_of_a_linear_bag_equals_enumeration(seed):
    batch, bag = random_bag(seed)
    for problem in range(len(batch)):
        _, scores = all_scores(batch, bag, problem)
        choice, best = bag.optimum(problem)
        assert best == pytest.approx(scores.max())
        padded = np.pad(choice, (0, batch.n_max - len(choice)))[None]
        assert bag.score(np.array([problem]), padded) == pytest.approx(best)
        assert not batch.take([problem]).infeasible(padded).any()
        assert len(choice) == len(batch[problem])


def test_the_best_class_need_not_be_the_one_that_is_ahead():
    # One change: class 0 leads by 1 and gains 1, class 1 gains 5.
    batch = Batch.of([Problem((3, 2), 1)])
    weights = np.array([[0, 0], [1, 0], [0, 5], [0, 0], [0.5, 4]], dtype=float)
    choice, best = LinearBag(batch, weights, np.array([[1.0, 0.0]])).optimum(0)
    assert (choice.tolist(), best) == ([2, 0], 5.0)
