"""Relaxations of other papers' kind: their slopes, their rounding, and the laws that every solver keeps."""

import doctest

import numpy as np
import pytest
from benchmarks import relaxations
from benchmarks.peers import cells
from benchmarks.peers.ours import attack
from benchmarks.peers.texts import Chunk
from benchmarks.relaxations import (
    RELAXATIONS,
    Ascc,
    Ascent,
    Gbda,
    best_other,
    entropy_slope,
    likeliest,
    make_search,
    softmax,
    softmax_slope,
)
from hypothesis import given
from hypothesis import strategies as st

from discotext import Batch, Problem, solve
from discotext.core import Counted, FunctionOracle, Status
from discotext.core.arrays import segment_sum
from discotext.core.problem import count_changes
from discotext.search import Search
from discotext.solvers import Exact, Greedy, Random
from discotext.theory import LinearBag
from discotext.theory.random_networks import RandomNetworks
from tests.conftest import Quadratic, feasible, problems

ALL = {
    "gbda": Gbda(),
    "gbda, many samples": Gbda(steps=4, samples=5, temperature=0.5, draws=25),
    "gbda, no draws": Gbda(draws=0),
    "ascc": Ascc(),
    "ascc, not sparse": Ascc(steps=3, sparsity=0.0),
}
every_relaxation = pytest.mark.parametrize("solver", ALL.values(), ids=ALL)
batches = st.lists(problems(), min_size=1, max_size=3).map(Batch.of)


def differences(function, theta, step=1e-6):
    """The gradient of a function of θ, by central differences."""
    out = np.empty(len(theta))
    for place in range(len(theta)):
        moved = np.zeros(len(theta))
        moved[place] = step
        out[place] = (function(theta + moved) - function(theta - moved)) / (2 * step)
    return out


def test_the_examples_hold():
    assert doctest.testmod(relaxations).failed == 0


# Slopes


@given(batches, st.integers(0, 1000))
def test_softmax_lies_on_simplices_and_does_not_see_a_shift(batch, seed):
    theta = np.random.default_rng(seed).normal(size=batch.candidates) * 300
    alpha = softmax(theta, batch)
    assert (alpha >= 0).all()
    np.testing.assert_allclose(segment_sum(alpha, batch.starts), 1.0)
    np.testing.assert_allclose(softmax(theta + 1000.0, batch), alpha, atol=1e-10)


@given(batches, st.integers(0, 1000))
def test_the_slopes_of_score_and_entropy_are_their_differences(batch, seed):
    rng = np.random.default_rng(seed)
    theta, oracle, rows = rng.normal(size=batch.candidates), Quadratic(batch, seed), np.arange(len(batch))
    alpha = softmax(theta, batch)
    slope = softmax_slope(alpha, oracle.relaxed(rows, alpha)[1], batch)
    expected = differences(lambda t: oracle.relaxed(rows, softmax(t, batch))[0].sum(), theta)
    np.testing.assert_allclose(slope, expected, atol=1e-6)

    def entropy(t):
        weights = softmax(t, batch)
        return -(weights * np.log(weights)).sum()

    np.testing.assert_allclose(entropy_slope(alpha, batch), differences(entropy, theta), atol=1e-6)


def test_the_entropy_of_a_single_word_is_flat_also_where_a_weight_is_no_more_than_zero():
    batch = Batch.of([Problem((2, 3), 1)])
    theta = np.array([0.0, 5000.0, 0.0, -9000.0, -9000.0])
    np.testing.assert_array_equal(entropy_slope(softmax(theta, batch), batch), 0.0)


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
    slope, _ = solver._slopes(oracle, at, Search.of(Counted(oracle, batch), seed=8))
    np.testing.assert_allclose(slope, differences(score, at.theta), atol=1e-6)


def test_ascc_climbs_the_score_less_the_entropy(batch):
    oracle, at = Quadratic(batch, seed=3), Ascent.start(batch)
    at.theta = np.random.default_rng(1).normal(size=len(at.theta))
    weight = np.random.default_rng(2).uniform(size=len(batch))

    def objective(theta):
        mixtures = softmax(theta, at.layout)
        entropies = np.bincount(at.layout.row_of, weights=-mixtures * np.log(mixtures))
        return (oracle.relaxed(at.rows, mixtures)[0] - weight[at.rows] * entropies).sum()

    slope, _ = Ascc()._slopes(oracle, at, weight)
    np.testing.assert_allclose(slope, differences(objective, at.theta), atol=1e-6)


def test_samples_beyond_goal_and_margin_are_not_pushed_on():
    batch = Batch.of([Problem((3, 3), 1)] * 2)
    bag = LinearBag(batch, np.random.default_rng(0).normal(size=(12, 1)), np.array([[0.0], [100.0]]))
    counted = Counted(bag, batch)
    search = Search.of(counted, goal=10.0)
    slope, gradient = Gbda(samples=3)._slopes(counted, Ascent.start(batch), search)
    assert slope[:6].any()
    assert gradient[:6].any()
    assert not slope[6:].any()
    assert not gradient[6:].any()
    slope, _ = Gbda(samples=3, margin=200.0)._slopes(counted, Ascent.start(batch), search)
    assert slope[6:].any()


def test_steps_are_as_long_for_any_scale_and_those_who_stay_go_on_as_if_alone():
    batch = Batch.of([Problem((3, 2), 1), Problem((4,), 1)])
    rng = np.random.default_rng(0)
    slopes = rng.normal(size=(3, batch.candidates))
    one, other, alone = Ascent.start(batch), Ascent.start(batch), Ascent.start(batch.take([1]))
    for slope in slopes:
        one.climb(slope, 0.3)
        other.climb(slope * np.where(batch.row_of == 0, 1e-9, 1e9), 0.3)
        alone.climb(slope[5:], 0.3)
    np.testing.assert_allclose(one.theta, other.theta)
    one.keep(np.array([1]))
    np.testing.assert_array_equal(one.theta, alone.theta)
    for at in (one, alone):
        at.climb(slopes[0, 5:], 0.3)
    np.testing.assert_array_equal(one.theta, alone.theta)
    one.climb(np.zeros(4), 0.3)
    assert np.isfinite(one.theta).all()


def test_the_first_step_is_longer_where_the_slope_is():
    at = Ascent.start(Batch.of([Problem((3, 3), 1)]))
    slope = np.array([0.0, 1.0, -2.0, 0.5, 4.0, 0.0])
    at.climb(slope, 0.3)
    np.testing.assert_allclose(at.theta, 0.3 * slope / np.sqrt((slope**2).mean()))


# Rounding


@given(batches, st.integers(0, 1000))
def test_the_likeliest_changes_fill_the_budget_and_none_left_out_is_likelier(batch, seed):
    theta = np.random.default_rng(seed).normal(size=batch.candidates) * 50
    choices = likeliest(best_other(theta, batch), theta, batch)
    assert not batch.infeasible(choices).any()
    for index, choice in enumerate(choices):
        problem, first = batch[index], batch.first_position[index]
        odds = {}
        for position, count in enumerate(problem.counts):
            here = theta[batch.starts[first + position] :][:count]
            if count > 1:
                odds[position] = here[1:].max() - here[0]
                assert choice[position] in (0, 1 + here[1:].argmax())
        assert count_changes(choice[None])[0] == min(problem.budget, len(odds))
        kept = [odds[position] for position in np.flatnonzero(choice)]
        left = [value for position, value in odds.items() if not choice[position]]
        assert max(left, default=-np.inf) <= min(kept, default=np.inf) or problem.budget == 0


def test_what_was_drawn_as_the_original_stays():
    batch = Batch.of([Problem((2, 2, 2), 2)])
    picked = np.array([0, 3, 4])
    assert likeliest(picked, np.array([0.0, 9.0, 0.0, -9.0, 0.0, 9.0]), batch).tolist() == [[0, 1, 0]]


# Solvers like the others


@every_relaxation
@pytest.mark.parametrize("goal", [None, 0.5])
def test_what_is_returned_is_feasible_scored_and_no_worse_than_the_original(batch, solver, goal):
    oracle = Quadratic(batch, seed=1)
    for index, solution in enumerate(solve(batch, oracle, solver, goal=goal, seed=5)):
        assert tuple(solution.choice) in feasible(batch[index])
        if len(batch[index]):
            assert solution.score == pytest.approx(oracle.score(np.array([index]), solution.choice[None])[0])
        assert solution.score >= solution.original_score
        assert solution.reached == (goal is not None and solution.score >= goal)


@every_relaxation
@given(listed=st.lists(problems(), min_size=1, max_size=3), seed=st.integers(0, 1000))
def test_every_proposal_is_within_budget_and_scored(solver, listed, seed):
    batch = Batch.of(listed)
    oracle, active = Quadratic(batch, seed), np.arange(len(batch))
    proposals = solver.propose(batch, oracle, Search.of(Counted(oracle, batch), seed=seed))
    try:
        proposal = next(proposals)
        while True:
            assert not batch.take(proposal.problems).infeasible(proposal.choices).any()
            assert np.isin(proposal.problems, active).all()
            np.testing.assert_allclose(proposal.scores, oracle.score(proposal.problems, proposal.choices))
            active = active[np.random.default_rng(seed).random(len(active)) < 0.8]
            proposal = proposals.send(active)
    except StopIteration:
        pass


@every_relaxation
def test_a_step_costs_a_gradient_for_each_sample_and_nobody_is_asked_about_nothing(solver):
    batch, asked = Batch.of([Problem((3, 2, 4), 2), Problem((5,) * 6, 2)]), []

    class Counting(Quadratic):
        def score(self, rows, choices):
            return Quadratic(batch, seed=6).relaxed(rows, batch.take(rows).one_hot(choices))[0]

        def relaxed(self, rows, alpha):
            asked.extend(rows.tolist())
            assert len(rows)
            return super().relaxed(rows, alpha)

    oracle = Counting(batch, seed=6)
    proposals = solver.propose(batch, oracle, Search.of(Counted(oracle, batch)))
    next(proposals)
    try:
        while True:
            proposals.send(np.arange(2))
    except StopIteration:
        pass
    each = solver.steps * getattr(solver, "samples", 1)
    assert np.bincount(asked).tolist() == [each, each]


@every_relaxation
def test_the_seed_decides_everything(batch, solver):
    oracle = Quadratic(batch, seed=2)
    first, second = (solve(batch, oracle, solver, seed=7) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.choice, other.choice)
        assert (one.forwards, one.backwards, one.status) == (other.forwards, other.backwards, other.status)


@pytest.mark.parametrize("name", ["ascc", "ascc, not sparse"])
def test_company_in_the_batch_changes_nothing_where_nothing_is_drawn(batch, name):
    oracle = Quadratic(batch, seed=3)
    for index, solution in enumerate(solve(batch, oracle, ALL[name])):
        single = batch.take([index])
        inner = FunctionOracle(single, lambda *_: 0.0)
        inner.score = lambda rows, choices, index=index: oracle.score(np.full(len(rows), index), choices)
        inner.relaxed = lambda rows, alpha, index=index: oracle.relaxed(np.full(len(rows), index), alpha)
        (alone,) = solve(single, inner, ALL[name])
        assert alone.score == pytest.approx(solution.score)
        assert (alone.forwards, alone.backwards) == (solution.forwards, solution.backwards)


@every_relaxation
def test_the_path_does_not_change_with_the_scale_of_the_score(solver):
    networks = RandomNetworks(range(10))

    class Scaled:
        def score(self, rows, choices):
            return 37.0 * networks.score(rows, choices)

        def relaxed(self, rows, alpha):
            scores, gradient = networks.relaxed(rows, alpha)
            return 37.0 * scores, 37.0 * gradient

    for one, other in zip(
        solve(networks.batch, networks, solver), solve(networks.batch, Scaled(), solver), strict=True
    ):
        np.testing.assert_array_equal(one.choice, other.choice)


@every_relaxation
def test_an_oracle_that_fails_for_one_problem_leaves_the_others_their_answers(batch, solver):
    class Failing(Quadratic):
        def relaxed(self, rows, alpha):
            if (rows == 4).any() and ((alpha > 0) & (alpha < 1)).any():
                raise ValueError("cannot score this text")
            return super().relaxed(rows, alpha)

    found = solve(batch, Failing(batch, seed=4), solver, seed=3)
    assert found[4].status is Status.FAILED
    assert all(found[index].error is None for index in (0, 1, 2, 3, 5, 6))


# How good they are


@every_relaxation
@pytest.mark.parametrize("seed", range(5))
def test_for_an_affine_score_they_agree_with_exhaustive_search(solver, seed):
    rng = np.random.default_rng(seed)
    batch = Batch.of([Problem(tuple(rng.integers(1, 5, size=5)), 2) for _ in range(5)])
    bag = LinearBag(batch, rng.normal(size=(batch.candidates, 1)), rng.normal(size=(5, 1)))
    for index, solution in enumerate(solve(batch, bag, solver, seed=seed)):
        best = max(bag.score(np.array([index]), np.array([choice]))[0] for choice in feasible(batch[index]))
        assert solution.score == pytest.approx(best)


def test_the_optimum_is_found_more_often_than_by_chance_for_no_more_passes():
    networks = RandomNetworks(range(100), positions=10, candidates=4)
    optima = solve(networks.batch, networks, Exact())
    found = {name: solve(networks.batch, networks, solver) for name, solver in {**ALL, "chance": Random(120)}.items()}
    passes, hits, gains = {}, {}, {}
    for name, some in found.items():
        passes[name] = np.mean([one.forwards + one.backwards for one in some])
        hits[name] = np.mean([one.score >= best.score - 1e-9 for one, best in zip(some, optima, strict=True)])
        gains[name] = np.mean([one.score - one.original_score for one in some])
    for name in ALL:
        assert passes[name] <= passes["chance"]
        assert hits[name] >= hits["chance"]
        assert gains[name] > gains["chance"]


@pytest.mark.parametrize("solver", [Gbda(samples=4), Ascc(sparsity=0.0)], ids=repr)
def test_without_a_budget_the_mixtures_of_an_affine_score_go_to_its_maximum(solver):
    batch = Batch.of([Problem((3, 2, 4), 1), Problem((2, 5), 1)])
    weights = np.random.default_rng(0).normal(size=(batch.candidates, 1))
    bag, at = LinearBag(batch, weights, np.zeros((2, 1))), Ascent.start(batch)
    search = Search.of(Counted(bag, batch), seed=1)
    best = np.bincount(batch.problem_of_position, np.maximum.reduceat(weights[:, 0], batch.starts))
    missing = [best - bag.relaxed(at.rows, softmax(at.theta, batch))[0]]
    for _ in range(4):
        for _ in range(25):
            slope, _ = solver._slopes(bag, at, search if isinstance(solver, Gbda) else np.zeros(2))
            at.climb(slope, solver.rate)
        missing.append(best - bag.relaxed(at.rows, softmax(at.theta, batch))[0])
    assert (np.diff(missing, axis=0) < 0).all()
    assert (missing[-1] < 0.2 * missing[0]).all()
    assert (missing[-1] >= 0).all()


# Names and the harness


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Gbda(steps=0), "steps is 0; choose 1 or more"),
        (lambda: Gbda(samples=0), "samples is 0"),
        (lambda: Gbda(draws=-1), "draws is -1; choose 0 or more"),
        (lambda: Gbda(temperature=0.0), "temperature is 0.0; choose a number above 0"),
        (lambda: Ascc(rate=float("nan")), "rate is nan"),
        (lambda: Ascc(sparsity=-1.0), "sparsity is -1.0; choose 0 or more"),
        (lambda: make_search("gdba"), "there is no solver 'gdba'"),
    ],
)
def test_wrong_settings_say_what_would_be_right(make, says):
    with pytest.raises(ValueError) as caught:
        make()
    assert says in str(caught.value)


def test_the_harness_runs_them_beside_our_own():
    assert isinstance(make_search("gbda"), Gbda)
    assert isinstance(make_search("ascc"), Ascc)
    assert make_search("greedy") == Greedy()
    for cell in cells.CELLS.values():
        searches = {search.name: search for search in cell.searches}
        for name in ("gbda", "ascc"):
            assert searches[name].texts == cell.texts
            assert not searches[name].peer
            assert searches[name].solver in RELAXATIONS


@pytest.mark.parametrize("name", RELAXATIONS)
def test_the_harness_attacks_a_network_by_them(name):
    pytest.importorskip("torch")
    from tests.test_neural import TEXTS, space, tiny

    victim, texts = tiny(seed=3), TEXTS[:3]
    labels = victim.scores(texts).argmax(1).tolist()
    labels[2] = (labels[2] + 1) % 3
    made = space(texts)
    records = attack(victim, Chunk([7, 3, 5], labels, texts, made), name, seed=0)
    assert [record["id"] for record in records] == [7, 3, 5]
    for record, label, m in zip(records, labels, made.budgets, strict=True):
        assert record["changes"] <= m
        assert record["broken"] == (record["predicted"] == label and victim.scores([record["text"]]).argmax() != label)
    # A text that was misclassified before is not attacked.
    assert (records[2]["text"], records[2]["backwards"]) == (texts[2], 0)
    assert records[0]["backwards"] > 0
