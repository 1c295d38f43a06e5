"""Disco: what it finds, what it spends, and what it starts from."""

import numpy as np
import pytest
from benchmarks.random_networks import RandomNetworks

from discotext import Batch, Problem, solve
from discotext.core import Status
from discotext.search import Stop
from discotext.search.solver import DEFAULT
from discotext.solvers import (
    Disco,
    DiscoFrankWolfe,
    Exact,
    Greedy,
)
from discotext.theory import LinearBag
from tests.conftest import Quadratic, feasible


@pytest.mark.parametrize("solver", [Disco(enumerate=False), Greedy(), DiscoFrankWolfe()], ids=repr)
@pytest.mark.parametrize("seed", range(10))
def test_for_an_affine_margin_the_top_gains_are_found(solver, seed):
    rng = np.random.default_rng(seed)
    batch = Batch.of([Problem(tuple(rng.integers(1, 6, size=15)), 4) for _ in range(5)])
    bag = LinearBag(batch, rng.normal(size=(batch.candidates, 1)), rng.normal(size=(5, 1)))
    for index, solution in enumerate(solve(batch, bag, solver)):
        assert solution.score == pytest.approx(bag.optimum(index)[1])


@pytest.mark.parametrize("solver", [Disco(), DiscoFrankWolfe()], ids=repr)
def test_the_path_does_not_change_with_the_scale_of_the_score(solver):
    networks = RandomNetworks(range(15))

    class Scaled:
        def score(self, rows, choices):
            return 37.0 * networks.score(rows, choices) - 11.0

        def relaxed(self, rows, alpha):
            scores, gradient = networks.relaxed(rows, alpha)
            return 37.0 * scores - 11.0, 37.0 * gradient

    plain = solve(networks.batch, networks, solver)
    scaled = solve(networks.batch, Scaled(), solver)
    for one, other in zip(plain, scaled, strict=True):
        np.testing.assert_array_equal(one.choice, other.choice)
        assert (one.forwards, one.backwards) == (other.forwards, other.backwards)


def test_small_spaces_are_enumerated_and_proved():
    batch = Batch.of([Problem((3, 2, 2), 2), Problem((5,) * 30, 10)])
    oracle = Quadratic(batch, seed=0)
    small, large = solve(batch, oracle, Disco())
    assert small.status is Status.OPTIMAL
    assert small.score == pytest.approx(
        max(oracle.score(np.array([0]), np.array([choice]))[0] for choice in feasible(batch[0]))
    )
    assert small.forwards <= batch[0].feasible_choices + 1
    assert large.status is Status.IMPROVED
    assert solve(batch, oracle, Disco(enumerate=False))[0].status is Status.IMPROVED


def test_effort_one_spends_no_more_than_greedy_and_finds_more():
    networks = RandomNetworks(range(60))
    results = {
        name: solve(networks.batch, networks, solver)
        for name, solver in {
            "greedy": Greedy(),
            "disco": Disco(enumerate=False),
            "once": Disco(effort=1, enumerate=False),
            "triple": Disco(effort=3, enumerate=False),
            "high": Disco(effort="high", enumerate=False),
            "best": Exact(),
        }.items()
    }
    passes = {name: np.mean([s.forwards + s.backwards for s in found]) for name, found in results.items()}
    hits = {
        name: np.mean([s.score >= best.score - 1e-9 for s, best in zip(found, results["best"], strict=True)])
        for name, found in results.items()
    }
    assert passes["disco"] < 0.5 * passes["greedy"]
    assert passes["once"] <= passes["greedy"]
    assert passes["triple"] <= 3 * passes["greedy"]
    assert passes["high"] <= 1.2 * DEFAULT.least_passes
    assert hits["greedy"] < hits["disco"] < hits["once"] <= hits["triple"] <= hits["high"]
    assert hits["once"] > 0.8
    assert hits["triple"] > 0.93
    assert hits["high"] > 0.97


def test_high_effort_with_a_goal_spends_no_more_than_greedy():
    networks = RandomNetworks(range(60), positions=20, candidates=6, budget=5)
    scores = [solution.score for solution in solve(networks.batch, networks, Greedy())]
    goal = float(np.median(scores))
    greedy, high = (solve(networks.batch, networks, solver, goal=goal) for solver in (Greedy(), Disco(effort="high")))
    assert np.mean([s.forwards + s.backwards for s in high]) <= np.mean([s.forwards + s.backwards for s in greedy])
    assert sum(s.reached for s in high) >= sum(s.reached for s in greedy)


@pytest.mark.parametrize("stop", [Stop(forwards=60), Stop(backwards=8), Stop(seconds=1e-4)])
def test_with_limits_nothing_is_spent_on_rebuilding(stop):
    networks = RandomNetworks(range(20), positions=30, candidates=6, budget=10)
    goal = float(np.median([solution.score for solution in solve(networks.batch, networks, Disco())])) / 2
    high = solve(networks.batch, networks, Disco(effort="high"), goal=goal, stop=stop)
    for one in high:
        assert one.forwards <= (stop.forwards or np.inf)
        assert one.backwards <= (stop.backwards or np.inf)
        assert not one.reached or one.score >= goal


@pytest.mark.parametrize("effort", ["default", "high"])
def test_where_greedy_is_cheap_disco_reaches_every_goal_that_greedy_reaches(effort):
    networks = RandomNetworks(range(40), positions=9, candidates=4, budget=3)
    batch = networks.batch
    ends = np.array([solution.score for solution in solve(batch, networks, Greedy())])
    before = networks.score(np.arange(len(batch)), batch.originals())
    for share in (0.6, 1.0):
        goals = before + share * (ends - before)
        for number in range(0, len(batch), 8):
            goal = float(goals[number])
            greedy, ours = (
                solve(batch, networks, solver, goal=goal)
                for solver in (Greedy(), Disco(effort=effort, enumerate=False))
            )
            reached = [one.reached for one in greedy]
            assert all(mine.reached for mine, theirs in zip(ours, reached, strict=True) if theirs)
