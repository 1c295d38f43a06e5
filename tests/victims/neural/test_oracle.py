"""Bounds: no choice that they rule out reaches the goal, whatever the network and the words that are allowed."""

import numpy as np
import pytest

from discotext.core.objectives import Targeted, Untargeted
from discotext.core.oracle import BoundingOracle, can
from discotext.core.oracle_check import check_oracle
from discotext.core.problem import Batch, Problem, random_choices
from discotext.search import solve
from discotext.solvers import Exact
from tests.conftest import needs_torch

pytestmark = needs_torch
CLASSES, WIDTH, WORDS = 3, 5, 60


def make_oracle(kind, seed, problems=4, positions=6, classes=CLASSES, goal="untargeted"):
    import torch

    from discotext.victims.neural.networks import Shape, WordNetwork
    from discotext.victims.neural.victim import BoundedWordOracle, NeuralVictim, Vocabulary

    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    network = WordNetwork(Shape(kind, classes, WIDTH, hidden=12))
    network.norm.running_mean.normal_()
    network.norm.running_var.uniform_(0.2, 2)
    network.norm.weight.data.normal_()
    batch = Batch.of(
        [
            Problem(tuple(rng.integers(1, 5, size=int(rng.integers(1, positions + 1))).tolist()), int(m))
            for m in rng.integers(0, 2, size=problems)
        ]
    ).with_budgets(rng.integers(1, 4, size=problems))
    table = torch.randn(WORDS, WIDTH)
    ids = rng.integers(WORDS, size=batch.candidates)
    objective = {"untargeted": Untargeted, "targeted": Targeted}[goal](rng.integers(classes, size=problems))
    victim = NeuralVictim(network, Vocabulary(list(map(str, range(WORDS - 1)))), table, range(classes))
    return batch, BoundedWordOracle(batch, ids, victim, objective)


@pytest.mark.parametrize("kind", ["dan", "wcnn"])
@pytest.mark.parametrize("goal", ["untargeted", "targeted"])
@pytest.mark.parametrize("seed", range(6))
def test_no_choice_that_is_ruled_out_reaches_the_goal(kind, goal, seed):
    batch, oracle = make_oracle(kind, seed, problems=30, goal=goal)
    assert can(oracle, BoundingOracle)
    rng = np.random.default_rng(seed)
    for _ in range(8):
        problems = np.arange(len(batch))
        choices = random_choices(batch, rng)
        scores = oracle.score(problems, choices)
        held = batch.one_hot(choices) > 0
        allowed = held | (rng.random(batch.candidates) < rng.random())
        found = oracle.reach(problems, allowed, scores - 1e-6)
        changes = np.count_nonzero(choices, axis=1)
        assert (found.levels <= changes).all()
        assert (found.by_candidate[held] <= changes[batch.row_of][held]).all()
    assert check_oracle(batch, oracle, seed=seed).failures == ()


@pytest.mark.parametrize("kind", ["dan", "wcnn"])
def test_bounds_rule_something_out(kind):
    batch, oracle = make_oracle(kind, 0, problems=40)
    everything = np.ones(batch.candidates, dtype=bool)
    best = np.array([one.score for one in solve(batch, oracle, Exact(bounds=False))])
    spread = np.abs(best).mean()
    found = oracle.reach(np.arange(len(batch)), everything, best + 0.5 * spread)
    assert np.isinf(found.levels).mean() > 0.3


@pytest.mark.parametrize("kind", ["dan", "wcnn"])
@pytest.mark.parametrize("seed", range(4))
def test_branch_and_bound_on_networks_agrees_with_enumeration(kind, seed):
    batch, oracle = make_oracle(kind, seed, problems=25)
    tops = np.array([one.score for one in solve(batch, oracle, Exact(bounds=False))])
    for goal in (np.quantile(tops, [0.2, 0.5, 0.8]) + 1e-4).tolist():
        plain = solve(batch, oracle, Exact(bounds=False), goal=goal)
        bounded = solve(batch, oracle, Exact(), goal=goal)
        for one, other in zip(plain, bounded, strict=True):
            assert other.status is one.status
            assert other.proved_below == one.proved_below
            assert other.changes == one.changes or not one.reached
        assert sum(one.forwards for one in bounded) < sum(one.forwards for one in plain)


@pytest.mark.parametrize("kind", ["dan", "wcnn"])
@pytest.mark.parametrize("passes", [1, 3, 10, 30])
def test_what_a_limit_of_passes_leaves_open_is_still_right_below(kind, passes):
    batch, oracle = make_oracle(kind, 3, problems=25)
    goal = float(np.median([one.score for one in solve(batch, oracle, Exact(bounds=False))])) - 1e-4
    truth = solve(batch, oracle, Exact(bounds=False), goal=goal)
    for bounds in (True, False):
        for one, true in zip(solve(batch, oracle, Exact(passes=passes, bounds=bounds), goal=goal), truth, strict=True):
            if one.proved:
                assert one.reached == true.reached
            if true.reached:
                assert one.proved_below <= true.changes
            if one.reached:
                assert one.changes >= true.changes
