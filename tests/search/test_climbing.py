"""Climbing with a goal in sight, and surveys: what is measured is true, and passes go where a goal is near."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.random_networks import RandomNetworks
from hypothesis import given
from hypothesis import strategies as st

from discotext import Batch, solve
from discotext.core.problem import random_choices
from discotext.core.wrappers import Chunked, Counted
from discotext.search.climbing import (
    Allowance,
    Climbers,
    Places,
    best_moves,
    climb,
    gradients_at,
    measure_swaps,
    survey,
)
from discotext.search.solver import DEFAULT, Search, drive
from discotext.solvers import Disco, Exact, Greedy
from tests.conftest import problems


@pytest.fixture(scope="module")
def networks():
    return RandomNetworks(range(20), positions=10, candidates=5, budget=3)


def climbers(networks, seed, changes=3):
    rng = np.random.default_rng(seed)
    choices = networks.batch.originals()
    for row in choices:
        row[rng.choice(networks.batch.n_max, changes, replace=False)] = rng.integers(1, 5, size=changes)
    problems = np.arange(len(networks.batch))
    return Climbers(problems, choices, networks.score(problems, choices))


@pytest.mark.parametrize("changes", [0, 1, 3])
def test_a_survey_measures_what_swaps_and_ways_back_really_gain(networks, changes):
    at, batch = climbers(networks, 1, changes), networks.batch
    gains = measure_swaps(batch, networks, at, DEFAULT.smoothing, DEFAULT.surveyed_swaps)
    chosen = batch.chosen(at.choices)
    assert (gains[chosen] == 0).all()
    known = np.flatnonzero(np.isfinite(gains))
    known = known[~np.isin(known, chosen)]
    per_row = np.bincount(batch.row_of[known], minlength=len(batch))
    assert (per_row == DEFAULT.surveyed_swaps + changes).all()
    for flat in known:
        row, position = batch.row_of[flat], batch.position_of[flat]
        choice = at.choices[row].copy()
        choice[position - batch.first_position[row]] = flat - batch.starts[position]
        score = networks.score(np.array([row]), choice[None])[0]
        assert gains[flat] == pytest.approx(score - at.scores[row], abs=1e-9)
    # Every changed position knows its way back.
    assert np.isfinite(gains[batch.starts[chosen != batch.starts]]).all()


def test_a_survey_finds_only_what_is_better_and_within_budget(networks):
    at = climbers(networks, 2)
    found = survey(networks.batch, networks, at, DEFAULT)
    assert len(found)
    assert (found.scores > at.scores[found.problems]).all()
    np.testing.assert_allclose(found.scores, networks.score(found.problems, found.choices))
    assert not networks.batch.take(found.problems).infeasible(found.choices).any()
    nobody = at.take(np.empty(0, dtype=np.int64))
    assert len(survey(networks.batch, Chunked(networks, networks.batch), nobody, DEFAULT)) == 0


def test_a_survey_costs_no_more_than_it_says(networks):
    counted = Counted(networks, networks.batch)
    at = climbers(networks, 3)
    survey(networks.batch, counted, at, DEFAULT)
    most = 2 + DEFAULT.surveyed_swaps + networks.batch.budgets + DEFAULT.surveyed_moves
    assert (counted.forwards + counted.backwards <= most).all()


def test_a_survey_of_all_swaps_leaves_no_better_single_swap(networks):
    """With as many measured as there are, the best swap that needs nothing in return is among what is scored."""
    at, batch = climbers(networks, 4, changes=2), networks.batch  # one change is left
    best = at.scores.copy()
    for row in range(len(batch)):
        for position in range(batch.n_max):
            for candidate in range(5):
                choice = at.choices[row].copy()
                choice[position] = candidate
                best[row] = max(best[row], networks.score(np.array([row]), choice[None])[0])
    found = survey(batch, networks, at, replace(DEFAULT, surveyed_swaps=1000))
    reached = at.scores.copy()
    reached[found.problems] = found.scores
    assert (reached >= best - 1e-9).all()


def test_slopes_are_taken_at_the_choice_or_a_little_off_it(networks):
    at = climbers(networks, 5)
    layout = networks.batch
    one_hot = layout.one_hot(at.choices)
    _, plain = networks.relaxed(at.problems, one_hot)
    np.testing.assert_allclose(gradients_at(networks, at, layout, 0.0), plain)
    mixture = (1 - DEFAULT.smoothing) * one_hot + DEFAULT.smoothing / layout.counts[layout.position_of]
    np.testing.assert_allclose(np.add.reduceat(mixture, layout.starts), 1.0)
    _, off = networks.relaxed(at.problems, mixture)
    np.testing.assert_allclose(gradients_at(networks, at, layout, DEFAULT.smoothing), off)
    assert not np.allclose(plain, off)


def test_a_climber_without_hope_is_given_up_and_its_place_is_kept(networks):
    at, everyone = climbers(networks, 6, changes=1), np.arange(len(networks.batch))
    passes = {}
    for goal in (None, 1e9):
        counted = Counted(networks, networks.batch)
        allowance = Allowance(networks.batch, Search.of(counted))
        tuning = replace(DEFAULT, proposals=4)
        ended = drive(climb(networks.batch, counted, at, allowance, tuning, goal=goal), lambda proposal: everyone)
        assert sorted(set(ended.problems.tolist())) == everyone.tolist()
        np.testing.assert_allclose(ended.scores, networks.score(ended.problems, ended.choices))
        assert (ended.scores >= at.scores[ended.problems]).all()
        passes[goal] = counted.forwards.sum()
    assert passes[1e9] < passes[None]


def test_a_place_is_new_once(networks):
    at, places = climbers(networks, 7), Places()
    assert places.visit(at).all()
    assert not places.visit(at).any()


def test_passes_go_to_problems_that_are_near_their_goal():
    networks = RandomNetworks(range(100), positions=10, candidates=5, budget=3)
    best = solve(networks.batch, networks, Exact())
    originals = np.array([one.original_score for one in best])
    optima = np.array([one.score for one in best])
    # One goal for all: some reach it at once, some never, some nearly.
    goal = float(np.quantile(optima, 0.5))
    found = solve(networks.batch, networks, Disco(enumerate=False), goal=goal)
    passes = np.array([one.forwards + one.backwards for one in found])
    closed = (optima - originals) / (goal - originals)
    hopeless, close = (goal > originals) & (closed < 0.6), (goal > originals) & (closed > 0.95) & (closed < 1)
    assert min(hopeless.sum(), close.sum()) >= 3
    assert passes[hopeless].mean() < 0.6 * passes[close].mean()
    greedy = solve(networks.batch, networks, Greedy(), goal=goal)
    assert sum(one.reached for one in found) >= sum(one.reached for one in greedy)


def moves_by_hand(problem, choice, slopes):
    """Every move within budget with its first-order gain: swaps, ways back, and exchanges."""
    starts = np.cumsum([0, *problem.counts])
    changed = [i for i, c in enumerate(choice) if c]
    room = len(changed) < problem.budget
    gain = {
        (i, j): slopes[starts[i] + j] - slopes[starts[i] + choice[i]]
        for i, k in enumerate(problem.counts)
        for j in range(k)
    }
    found = {}
    for (i, j), value in gain.items():
        moved = list(choice)
        moved[i] = j
        if j == choice[i]:
            continue
        if choice[i] or (room and j):
            found[tuple(moved)] = value
        elif j:
            for out in changed:
                exchanged = list(moved)
                exchanged[out] = 0
                found[tuple(exchanged)] = value + gain[out, 0]
    return found


@given(st.lists(problems(5, 3), min_size=1, max_size=4), st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_the_moves_proposed_are_the_best_there_are(listed, seed, count):
    # With three candidates at most, the two best of each position that are no original are all there are.
    rng = np.random.default_rng(seed)
    batch = Batch.of(listed)
    choices = random_choices(batch, rng)
    slopes = rng.normal(size=batch.candidates)
    moves = best_moves(batch, choices, slopes, count, 8)
    moved = moves.apply(choices)
    assert not batch.take(moves.rows).infeasible(moved).any()
    assert (np.diff(moves.rows) >= 0).all()
    for row, problem in enumerate(listed):
        own = slopes[batch.first_candidate[row] : batch.first_candidate[row + 1]]
        every = moves_by_hand(problem, choices[row, : len(problem)].tolist(), own)
        proposed = [tuple(m[: len(problem)]) for m in moved[moves.rows == row].tolist()]
        assert len(set(proposed)) == len(proposed) == min(count, len(every))
        values = [every[move] for move in proposed]
        np.testing.assert_allclose(values, sorted(every.values(), reverse=True)[:count])


def test_a_row_without_positions_has_no_moves():
    batch = Batch.of([])
    assert len(best_moves(batch, batch.originals(), np.empty(0), 5, 8)) == 0
