"""Laws of every solver, in one table."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.random_networks import RandomNetworks
from hypothesis import given
from hypothesis import strategies as st

from discotext import Batch, solve
from discotext.core import FunctionOracle, Status
from discotext.search.solver import DEFAULT
from discotext.solvers import (
    SOLVERS,
    Beam,
    Disco,
    DiscoAdam,
    DiscoFrankWolfe,
    DiscoProximal,
    Exact,
    GradientGreedy,
    LocalSearch,
    Random,
    RankedGreedy,
    make_solver,
)
from tests.conftest import Quadratic, feasible, problems

ALL = {
    **{name: make() for name, make in SOLVERS.items()},
    "disco without enumeration": Disco(enumerate=False),
    "disco-high without enumeration": Disco(effort="high", enumerate=False, tuning=replace(DEFAULT, least_passes=100)),
    "disco-proximal p=3, constant step": DiscoProximal(p=3, step=0.05, steps=20),
    "disco-proximal, schedule": DiscoProximal(step=lambda k: 1 / k, steps=20),
    "disco-adam, confidence": DiscoAdam(reading="confidence", steps=20),
    "disco-frank-wolfe without climbing": DiscoFrankWolfe(proposals=0),
    "local-search, random": LocalSearch(guide="random"),
    "ranked-greedy, swap": RankedGreedy(rank="swap"),
    "exact without bounds": Exact(bounds=False),
}


DETERMINISTIC = [name for name, solver in ALL.items() if "random" not in repr(solver).lower()]


every_solver = pytest.mark.parametrize("solver", ALL.values(), ids=ALL)


@every_solver
@pytest.mark.parametrize("goal", [None, 0.5])
def test_what_is_returned_is_feasible_scored_and_no_worse_than_the_original(batch, solver, goal):
    oracle = Quadratic(batch, seed=1)
    for index, solution in enumerate(solve(batch, oracle, solver, goal=goal, seed=5)):
        assert tuple(solution.choice) in feasible(batch[index])
        expected = oracle.score(np.array([index]), solution.choice[None])[0] if len(batch[index]) else solution.score
        assert solution.score == pytest.approx(expected)
        assert solution.score >= solution.original_score
        assert solution.changes == np.count_nonzero(solution.choice)
        assert solution.reached == (goal is not None and solution.score >= goal)
        assert solution.forwards >= 1


@every_solver
@given(listed=st.lists(problems(), min_size=1, max_size=3), seed=st.integers(0, 1000))
def test_no_shape_of_problem_breaks_a_solver(solver, listed, seed):
    batch = Batch.of(listed)
    solutions = solve(batch, Quadratic(batch, seed), solver, seed=seed)
    assert [len(solution.choice) for solution in solutions] == [len(problem) for problem in listed]
    for problem, solution in zip(listed, solutions, strict=True):
        if problem.feasible_choices == 1:
            assert solution.status is Status.OPTIMAL


@every_solver
@pytest.mark.parametrize("goal", [None, 0.5])
def test_a_model_is_never_asked_about_nothing(batch, solver, goal):
    class Present(Quadratic):
        def relaxed(self, rows, alpha):
            assert len(rows)
            return super().relaxed(rows, alpha)

    assert all(solution.error is None for solution in solve(batch, Present(batch, seed=6), solver, goal=goal))


@every_solver
def test_the_seed_decides_everything(batch, solver):
    oracle = Quadratic(batch, seed=2)
    first, second = (solve(batch, oracle, solver, seed=7) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.choice, other.choice)
        assert (one.forwards, one.backwards, one.status) == (other.forwards, other.backwards, other.status)


@pytest.mark.parametrize("name", [name for name in DETERMINISTIC if "high" not in name])
def test_company_in_the_batch_changes_nothing(batch, name):
    oracle = Quadratic(batch, seed=3)
    together = solve(batch, oracle, ALL[name])
    for index, solution in enumerate(together):
        twice = batch.take([index])
        inner = FunctionOracle(twice, lambda *_: 0.0)
        inner.score = lambda rows, choices, index=index: oracle.score(np.full(len(rows), index), choices)
        inner.relaxed = lambda rows, alpha, index=index: oracle.relaxed(np.full(len(rows), index), alpha)
        (alone,) = solve(twice, inner, ALL[name])
        assert alone.score == pytest.approx(solution.score)
        assert (alone.forwards, alone.backwards) == (solution.forwards, solution.backwards)


@every_solver
def test_a_goal_is_reached_with_changes_none_of_which_can_be_taken_back(solver):
    networks = RandomNetworks(range(20), positions=8, candidates=3, budget=4)
    goal = 0.4
    solutions = solve(networks.batch, networks, solver, goal=goal, seed=1)
    if solver == ALL["random"] or "left" in repr(solver).lower():
        assert any(solution.reached for solution in solutions)
    for index, solution in enumerate(solutions):
        if solution.reached and solution.changes:
            assert solution.original_score < goal <= solution.score
            for position in np.flatnonzero(solution.choice):
                fewer = solution.choice.copy()
                fewer[position] = 0
                assert networks.score(np.array([index]), fewer[None])[0] < goal


@every_solver
def test_an_oracle_that_fails_for_one_problem_leaves_the_others_their_answers(batch, solver):
    good = Quadratic(batch, seed=4)

    class Failing(Quadratic):
        def relaxed(self, rows, alpha):
            if (rows == 4).any() and alpha.max() < 2:
                layout = batch.take(rows)
                owner = np.repeat(rows, layout.widths)
                mine = alpha[(owner == 4)]
                if mine.size and not np.array_equal(
                    mine, np.tile(batch.take([4]).one_hot(np.zeros((1, 5), int)), (rows == 4).sum())
                ):
                    raise ValueError("cannot score this text")
            return super().relaxed(rows, alpha)

    expected = solve(batch, good, solver, seed=3)
    found = solve(batch, Failing(batch, seed=4), solver, seed=3)
    assert found[4].status is Status.FAILED
    assert "problem 4" in found[4].error
    assert "cannot score this text" in found[4].error
    for index in (0, 1, 2, 3, 5, 6):
        assert found[index].error is None
        if "high" not in repr(solver) and "Random" not in repr(solver) and "random" not in repr(solver):
            assert found[index].score == pytest.approx(expected[index].score)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: DiscoProximal(p=0), "p is 0"),
        (lambda: DiscoProximal(step=-1.0), "step is -1.0"),
        (lambda: DiscoProximal(step="tiny"), "'backtracking'"),
        (lambda: Disco(effort="huge"), "'default', 'high' or a number"),
        (lambda: DiscoAdam(reading="third"), "'budget' or 'confidence'"),
        (lambda: Beam(width=0), "width is 0"),
        (lambda: Random(draws=0), "draws is 0"),
        (lambda: LocalSearch(proposals=0), "proposals is 0"),
        (lambda: LocalSearch(guide="stars"), "'auto', 'gradient' or 'random'"),
        (lambda: RankedGreedy(rank="length"), "'auto', 'deletion' or 'swap'"),
        (lambda: GradientGreedy(patience=0), "patience is 0"),
        (lambda: make_solver("grady"), "there is no solver 'grady'"),
        (lambda: make_solver("lazy_greedy"), "the solver lazy-greedy is gone: use greedy"),
    ],
)
def test_wrong_settings_say_what_would_be_right(make, words):
    with pytest.raises((ValueError, TypeError)) as caught:
        make()
    assert words in str(caught.value)


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_have_names_with_hyphens_or_underscores(name):
    assert type(make_solver(name.replace("-", "_"))) is type(SOLVERS[name]())
