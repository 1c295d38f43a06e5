"""Relaxations of other papers as solvers: their gradients, and that they find what there is to find."""

import numpy as np
import pytest
from benchmarks.relaxations import Ascc, Ascent, Gbda, softmax
from hypothesis import given
from hypothesis import strategies as st

from discotext import Batch, Problem, solve
from discotext.core import Counted
from discotext.search import Search
from discotext.theory import LinearBag
from tests.conftest import Quadratic, feasible, problems

ALL = [Gbda(), Gbda(steps=4, samples=5, temperature=0.5, draws=25), Ascc(), Ascc(steps=3, sparsity=0.0)]
every_relaxation = pytest.mark.parametrize("solver", ALL, ids=repr)


def differences(function, theta, step=1e-6):
    """The gradient of a function of θ, by central differences."""
    moves = step * np.eye(len(theta))
    return np.array([(function(theta + move) - function(theta - move)) / (2 * step) for move in moves])


@pytest.mark.parametrize(("samples", "temperature"), [(1, 1.0), (4, 0.7)])
def test_gbda_climbs_the_mean_score_of_its_samples(batch, samples, temperature):
    oracle, at = Quadratic(batch, seed=3), Ascent.start(batch)
    at.theta = np.random.default_rng(1).normal(size=len(at.theta))
    again = np.repeat(np.arange(len(at.rows)), samples)
    layout, flat = at.layout.take(again), at.layout.flat_rows(again)
    noise = np.random.default_rng(8).gumbel(size=len(flat))

    def score(theta):
        mixtures = softmax((theta[flat] + noise) / temperature, layout)
        return oracle.relaxed(at.rows[again], mixtures)[0].sum() / samples

    solver = Gbda(samples=samples, temperature=temperature)
    gradient, _ = solver.find_gradients(oracle, at, Search.of(Counted(oracle, batch), seed=8))
    np.testing.assert_allclose(gradient, differences(score, at.theta), atol=1e-6)


def test_ascc_climbs_the_score_less_the_entropy(batch):
    oracle, at = Quadratic(batch, seed=3), Ascent.start(batch)
    at.theta = np.random.default_rng(1).normal(size=len(at.theta))
    weight = np.random.default_rng(2).uniform(size=len(batch))

    def objective(theta):
        mixtures = softmax(theta, at.layout)
        entropies = np.bincount(at.layout.row_of, weights=-mixtures * np.log(mixtures))
        return (oracle.relaxed(at.rows, mixtures)[0] - weight[at.rows] * entropies).sum()

    gradient, _ = Ascc().find_gradients(oracle, at, weight)
    np.testing.assert_allclose(gradient, differences(objective, at.theta), atol=1e-6)


@every_relaxation
@given(listed=st.lists(problems(), min_size=1, max_size=3), seed=st.integers(0, 1000))
def test_what_is_returned_is_feasible_scored_and_no_worse_than_the_original(solver, listed, seed):
    batch = Batch.of(listed)
    oracle = Quadratic(batch, seed)
    for index, solution in enumerate(solve(batch, oracle, solver, goal=0.5, seed=seed)):
        assert tuple(solution.choice) in feasible(batch[index])
        assert solution.score == pytest.approx(oracle.score(np.array([index]), solution.choice[None])[0])
        assert solution.score >= solution.original_score


@every_relaxation
@pytest.mark.parametrize("seed", range(3))
def test_for_an_affine_score_they_agree_with_exhaustive_search(solver, seed):
    rng = np.random.default_rng(seed)
    batch = Batch.of([Problem(tuple(rng.integers(1, 5, size=5)), 2) for _ in range(5)])
    bag = LinearBag(batch, rng.normal(size=(batch.candidates, 1)), rng.normal(size=(5, 1)))
    for index, solution in enumerate(solve(batch, bag, solver, seed=seed)):
        best = max(bag.score(np.array([index]), np.array([choice]))[0] for choice in feasible(batch[index]))
        assert solution.score == pytest.approx(best)
