"""Laws of the solvers that go along a text."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext import Batch, Problem, solve
from discotext.core import Status
from discotext.decoding.paths import (
    PrefixBeam,
    Recording,
    Viterbi,
    continue_rows,
    count_prefixes,
    is_counting_needed,
)
from discotext.solvers import Exact
from tests.conftest import SHAPES, Quadratic
from tests.decoding.chains import Chain, chains

EXACT = {
    "viterbi": (Viterbi(), True),
    "viterbi, every prefix on its own": (Viterbi(), False),
    "a wide beam with recombination": (PrefixBeam(width=1000), True),
    "a wide beam, every prefix on its own": (PrefixBeam(width=1000), False),
    "a wide beam of all changes together": (PrefixBeam(width=10_000, per_change=False), True),
}
every_exact = pytest.mark.parametrize(("solver", "keys"), EXACT.values(), ids=EXACT)


@every_exact
@given(chain=chains(), goal=st.one_of(st.none(), st.floats(-2, 3)))
def test_dynamic_programming_and_wide_beams_are_exact(solver, keys, chain, goal):
    """With a goal they prove the fewest changes, or that it cannot be reached."""
    chain.keys = keys
    found, exact = (solve(chain.batch, chain, one, goal=goal) for one in (solver, Exact()))
    for one, other in zip(found, exact, strict=True):
        assert one.status is other.status
        if goal is None:
            assert one.status is Status.OPTIMAL
            assert one.score == pytest.approx(other.score)
        # Scores are all different, so the choices are the same.
        assert one.changes == other.changes or not (goal is None or one.reached)
        assert one.proved_below == other.proved_below


@pytest.mark.parametrize("solver", [Viterbi(), PrefixBeam(width=1000)])
@given(chain=chains(), count=st.integers(1, 6))
def test_the_n_best_are_the_first_of_all_choices_in_order(solver, chain, count):
    for index, found in enumerate(solver.find_nbest(chain.batch, chain, count)):
        scores = sorted((score for score in chain.all_scores(index).values() if score > -np.inf), reverse=True)
        assert [score for _, score in found] == pytest.approx(scores[:count])
        assert len(dict(found)) == len(found)
        assert all(chain.all_scores(index)[choice] == pytest.approx(score) for choice, score in found)


@given(chains(), st.integers(1, 6))
def test_a_recorded_search_lists_the_best_that_it_came_across(chain, count):
    recording = Recording(chain, chain.batch, count)
    solve(chain.batch, recording, Exact(), seed=0)
    for index, found in enumerate(recording.nbest()):
        scores = sorted((score for score in chain.all_scores(index).values() if score > -np.inf), reverse=True)
        assert len(found) <= count
        assert found == sorted(found, key=lambda one: -one[1])
        assert found[0][1] == pytest.approx(scores[0])


def test_ties_go_to_fewer_changes():
    batch = Batch.of([Problem((2, 2, 2), 3), Problem((2, 2, 2), 2)])
    chain = Chain(batch, 2)
    chain.tables = [[np.zeros_like(table) for table in tables] for tables in chain.tables]
    for tables in chain.tables:
        tables[1][1, 1] = tables[2][0, 1] = 1.0  # either two changes, or one
    assert [solution.choice.tolist() for solution in solve(batch, chain, Viterbi())] == [[0, 0, 1], [0, 0, 1]]


@pytest.mark.parametrize("solver", [Viterbi(), PrefixBeam(width=2), PrefixBeam(width=2, per_change=False)], ids=repr)
def test_company_in_the_batch_changes_nothing(solver, monkeypatch):
    batch = Batch.of(SHAPES)
    chain = Chain(batch, 3, seed=1)
    whole = solve(batch, chain, solver)
    for index, solution in enumerate(whole):
        alone = Chain(batch.take([index]), 3)
        alone.tables = [chain.tables[index]]
        assert solve(alone.batch, alone, solver)[0].choice.tolist() == solution.choice.tolist()
    # More problems than fit into memory go one part after the other.
    monkeypatch.setattr("discotext.decoding.paths.BLOCK", 30)
    assert [one.score for one in solve(batch, chain, solver)] == [one.score for one in whole]


def test_what_is_too_large_or_does_not_read_from_left_to_right_is_refused():
    batch = Batch.of([Problem((2,), 1), Problem((20,) * 10, 4)])
    for solver in (Viterbi(), PrefixBeam()):
        with pytest.raises(TypeError, match="PathOracle"):
            solve(batch, Quadratic(batch), solver)
        chain = Chain(batch, 3)
        chain.sequential = False
        with pytest.raises(ValueError, match=type(solver).__name__):
            solve(batch, chain, solver)
    chain = Chain(batch, 3)
    with pytest.raises(ValueError, match="40,000"):  # 20³ windows, with 0 to 4 changes
        solve(batch, chain, Viterbi(limit=39_999))
    chain.order = None
    with pytest.raises(ValueError, match="prefix-beam"):
        solve(batch, chain, Viterbi())


@given(chains())
def test_no_problem_needs_more_prefixes_than_its_bound_says(chain):
    made = [np.zeros(len(chain.batch), dtype=int)]

    def watch(batch, rows, position):
        found = continue_rows(batch, rows, position)
        made.append(np.bincount(rows.problems[found[0]], minlength=len(batch)))
        return found

    with patch("discotext.decoding.paths.continue_rows", watch):
        Viterbi().find_nbest(chain.batch, chain, 1)
    bound = count_prefixes(chain.batch, chain.order, is_counting_needed(chain.batch, None))
    assert (np.max(made, axis=0) <= bound).all()


@pytest.mark.parametrize(
    ("make", "value"),
    [
        (lambda: Viterbi(limit=0), "limit is 0"),
        (lambda: PrefixBeam(width=0), "width is 0"),
        (lambda: Viterbi().find_nbest(Batch.of([]), Chain(Batch.of([]), 2), 0), "count is 0"),
    ],
)
def test_wrong_settings_are_refused(make, value):
    with pytest.raises(ValueError, match=value):
        make()


@given(chains())
def test_a_narrow_beam_is_feasible_and_proves_only_what_is_true(chain):
    exact = solve(chain.batch, chain, Exact())
    for solver in (PrefixBeam(width=1), PrefixBeam(width=2, per_change=False)):
        for one, best in zip(solve(chain.batch, chain, solver), exact, strict=True):
            assert one.original_score <= one.score <= best.score + 1e-9
            assert one.score == pytest.approx(best.score) or not one.proved


def test_a_beam_per_number_of_changes_is_better_than_a_wider_one_of_all_under_budgets():
    batch = Batch.of([Problem((4,) * 12, 2)] * 40)
    chain = Chain(batch, 3, seed=3)
    best = np.array([solution.score for solution in solve(batch, chain, Viterbi())])
    apart, together = (
        np.array([solution.score for solution in solve(batch, chain, solver)])
        for solver in (PrefixBeam(width=3), PrefixBeam(width=9, per_change=False))
    )
    assert (best - apart).mean() < 0.6 * (best - together).mean()


def test_wider_beams_are_no_worse_on_average_and_what_is_left_out_at_the_end_takes_no_proof_away():
    batch = Batch.of([Problem((9,), 1)])
    assert solve(batch, Chain(batch, 1), PrefixBeam(width=1))[0].status is Status.OPTIMAL
    batch = Batch.of([Problem((5,) * 12, 12)] * 40)
    chain = Chain(batch, 3, seed=4)
    means = [np.mean([s.score for s in solve(batch, chain, PrefixBeam(width))]) for width in (1, 3, 9)]
    assert means == sorted(means)


def test_every_state_is_extended_once_by_each_candidate_and_all_in_one_call():
    batch = Batch.of([Problem((3,) * 5, 2), Problem((2,) * 3, 3)])
    calls = []

    class Counting(Chain):
        def extend(self, states, parents, position, candidates):
            calls.append((position, len({(states[p][0], states[p][1][-1]) for p in parents}), len(parents)))
            return super().extend(states, parents, position, candidates)

    solve(batch, Counting(batch, 2), Viterbi())
    # A state is the last candidate, whatever the number of changes: 3 of the first problem, 2 of the second.
    assert calls == [(0, 2, 5), (1, 5, 13), (2, 5, 13), (3, 3, 9), (4, 3, 9)]
