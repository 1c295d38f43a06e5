"""What is learnt of gains while a model is asked: against the textbook, and in searches whose slopes are free."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext.core import gain_model
from discotext.core.gain_model import (
    DISTRUST,
    INTERACTION,
    MOST,
    NOISE,
    OPTIMISM,
    SHARED,
    WEIGHT,
    GainModel,
    LearningOracle,
)
from discotext.core.oracle import find_free_gradients
from discotext.core.problem import Batch, Problem
from discotext.core.wrappers import Counted
from discotext.search import Stop, solve
from discotext.solvers import Disco, Exact, Greedy

COUNTS = np.array([3, 1, 4, 2])


def overlap(left, right):
    """κ, written out."""
    both = [(a, b) for a, b in zip(left, right, strict=True) if a and b]
    return sum(SHARED + (1 - SHARED) * (a == b) for a, b in both)


def vary(model, left, right):
    """The covariance of two choices, written out."""
    said = [sum(model.prior[model.first[i] + c] for i, c in enumerate(choice)) for choice in (left, right)]
    shared = overlap(left, right)
    return model.size**2 * (shared + INTERACTION * shared**2) + DISTRUST * said[0] * said[1]


def random_model(seed, answers):
    rng = np.random.default_rng(seed)
    prior = rng.normal(size=COUNTS.sum())
    prior[np.cumsum(COUNTS) - COUNTS] = 0
    model = GainModel(prior, COUNTS, float(rng.uniform(0.1, 2)))
    choices = rng.integers(0, COUNTS, size=(answers, len(COUNTS))).astype(np.int32)
    choices[:, 0] = np.maximum(choices[:, 0], 1)  # the original is not asked about
    model.learn(choices, rng.normal(size=answers))
    return model, rng.integers(0, COUNTS).astype(np.int32)


def textbook(model, points):
    """Mean and covariance of a Gaussian process at some points, given the answers."""
    asked = model.choices.tolist()
    said = np.array([sum(model.prior[model.first + point]) for point in points])
    base = np.array([sum(model.prior[model.first + np.array(one)]) for one in asked])
    among = np.array([[vary(model, a, b) for b in asked] for a in asked])
    among += np.diag([NOISE * model.size**2 * max(np.count_nonzero(one), 1) for one in asked])
    across = np.array([[vary(model, point, one) for one in asked] for point in points])
    prior = np.array([[vary(model, a, b) for b in points] for a in points])
    mean = said + across @ np.linalg.solve(among, model.answers - base)
    scale = (WEIGHT + (model.answers - base) @ np.linalg.solve(among, model.answers - base)) / (WEIGHT + len(asked))
    return mean, (prior - across @ np.linalg.solve(among, across.T)) * scale


@given(st.integers(0, 500), st.integers(1, 7))
def test_gains_are_those_of_a_gaussian_process(seed, answers):
    model, choice = random_model(seed, answers)
    found = model.find_gains(choice)
    for position, count in enumerate(COUNTS):
        for candidate in range(count):
            moved = choice.copy()
            moved[position] = candidate
            mean, covariance = textbook(model, [choice, moved])
            variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
            wanted = mean[1] - mean[0] + OPTIMISM * np.sqrt(max(variance, 0))
            assert found[model.first[position] + candidate] == pytest.approx(wanted, abs=1e-5)
    assert model.expect(choice) == pytest.approx(textbook(model, [choice])[0][0], abs=1e-6)


def test_without_answers_it_believes_the_prior_and_doubts_it():
    model, choice = random_model(1, 0)
    assert model.expect(choice) == pytest.approx(model.prior[model.first + choice].sum())
    gains, first = model.find_gains(np.zeros(4, dtype=np.int32)), np.cumsum(COUNTS) - COUNTS
    assert (gains[first] == 0).all()
    assert (np.delete(gains, first) > np.delete(model.prior, first)).all()


def test_what_was_asked_is_known(monkeypatch):
    monkeypatch.setattr(gain_model, "NOISE", 1e-9)
    model, _ = random_model(2, 0)
    choice = np.array([1, 0, 2, 0], dtype=np.int32)
    model.learn(choice[None], np.array([0.7]))
    assert model.expect(choice) == pytest.approx(0.7, abs=1e-4)
    back = model.find_gains(choice)
    assert back[model.first + choice].tolist() == [0, 0, 0, 0]


def test_old_answers_are_forgotten():
    model, _ = random_model(3, MOST + 50)
    assert MOST // 2 <= len(model.answers) == len(model.choices) <= MOST


def make_oracle(seed, n=12, k=4, budget=4, problems=6, curved=0.0):
    """A sum of gains, bent by their product, and the oracle that learns them without any prior.

    Candidates of a position gain alike, as synonyms do: they all lose the same word.
    """
    rng = np.random.default_rng(seed)
    worth = (rng.normal(size=(problems, n, 1)) + 0.5 * rng.normal(size=(problems, n, k))) * (
        rng.random((problems, n, 1)) < 0.4
    )
    worth[:, :, 0] = 0
    batch = Batch.of([Problem((k,) * n, budget)] * problems)

    class Sums:
        def score(self, numbers, choices):
            gains = worth[numbers[:, None], np.arange(n), choices]
            return gains.sum(axis=1) + curved * gains[:, 0] * gains[:, 1] - 3

    inner = Sums()
    originals = inner.score(np.arange(problems), batch.originals())
    return batch, LearningOracle(inner, batch, np.zeros(batch.candidates), np.ones(problems), originals), inner


def test_slopes_that_are_learnt_cost_nothing_and_are_declared():
    batch, oracle, inner = make_oracle(0)
    assert find_free_gradients(oracle) is oracle
    assert find_free_gradients(Counted(oracle, batch)) is oracle
    assert find_free_gradients(inner) is None
    solution, *_ = solve(batch, oracle, Disco(enumerate=False))
    assert solution.backwards == 0


def test_answers_teach_about_their_own_problem_alone():
    batch, oracle, _ = make_oracle(1)
    alpha = batch.take([0, 1]).one_hot(batch.take([0, 1]).originals())
    before = oracle.relaxed(np.array([0, 1]), alpha)[1]
    oracle.score(np.array([0]), np.array([[1, 2] + [0] * 10], dtype=np.int32))
    after = oracle.relaxed(np.array([0, 1]), alpha)[1]
    assert not np.allclose(before[:48], after[:48])
    assert np.array_equal(before[48:], after[48:])


@pytest.mark.parametrize("curved", [0.0, 0.5])
def test_a_frugal_search_without_any_prior_comes_near_the_optimum_for_less_than_greedy_asks(curved):
    missing, possible, asked, greedy = 0.0, 0.0, 0, 0
    for seed in range(5):
        batch, oracle, inner = make_oracle(seed, curved=curved)
        for top, mine, theirs in zip(
            solve(batch, inner, Exact()),
            solve(batch, oracle, Disco(enumerate=False), seed=seed),
            solve(batch, inner, Greedy()),
            strict=True,
        ):
            missing += top.score - mine.score
            possible += top.score - top.original_score
            asked += mine.forwards
            greedy += theirs.forwards
    assert missing < 0.1 * possible
    assert asked < 0.75 * greedy


def test_a_hopeless_problem_is_given_up_early_and_a_high_effort_does_not_give_up():
    batch, oracle, _ = make_oracle(4)
    near = solve(batch, oracle, Disco(enumerate=False), goal=1000.0)
    batch, oracle, _ = make_oracle(4)
    stubborn = solve(batch, oracle, Disco(effort="high", enumerate=False), goal=1000.0)
    assert max(one.forwards for one in near) < 40
    assert min(one.forwards for one in stubborn) > max(one.forwards for one in near)


def test_the_moment_of_success_is_kept_and_what_follows_makes_changes_fewer():
    batch, oracle, _ = make_oracle(5, budget=6)
    for solution in solve(batch, oracle, Disco(enumerate=False), goal=0.0):
        if solution.reached:
            assert 1 <= solution.reached_after <= solution.forwards
        else:
            assert solution.reached_after is None


def test_a_limit_on_forwards_holds_for_a_frugal_search():
    batch, oracle, _ = make_oracle(6)
    for solution in solve(batch, oracle, Disco(enumerate=False), stop=Stop(forwards=9)):
        assert solution.forwards <= 9
