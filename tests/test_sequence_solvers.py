"""Laws of the solvers that go along a text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext import Batch, Problem, solve
from discotext.core import Status
from discotext.search import Stop
from discotext.solvers import SEQUENCE_SOLVERS, Exact, Greedy, PrefixBeam, Viterbi, make_solver
from discotext.solvers.prefix_beam import prefix_beam_nbest
from discotext.solvers.viterbi import count_prefixes, viterbi_nbest
from tests.chains import Chain, chains
from tests.conftest import SHAPES, Quadratic

EXACT = {
    "viterbi": (Viterbi(), True),
    "a wide beam with recombination": (PrefixBeam(width=1000), True),
    "a wide beam, every prefix on its own": (PrefixBeam(width=1000), False),
    "a wide beam of all changes together": (PrefixBeam(width=10_000, per_change=False), True),
}
every_exact = pytest.mark.parametrize(("solver", "keys"), EXACT.values(), ids=EXACT)


@every_exact
@given(chain=chains())
def test_dynamic_programming_and_wide_beams_are_exact(solver, keys, chain):
    chain.keys = keys
    found, exact = (solve(chain.batch, chain, one) for one in (solver, Exact()))
    for one, other in zip(found, exact, strict=True):
        assert one.score == pytest.approx(other.score)
        assert one.status is Status.OPTIMAL
        assert one.changes == other.changes  # scores are all different, so the choices are the same


@every_exact
@given(chain=chains(), goal=st.floats(-2, 3))
def test_with_a_goal_they_prove_fewest_changes_or_impossibility(solver, keys, chain, goal):
    chain.keys = keys
    found, exact = (solve(chain.batch, chain, one, goal=goal) for one in (solver, Exact()))
    for one, other in zip(found, exact, strict=True):
        assert one.status is other.status
        assert one.changes == other.changes or not one.reached
        assert one.below == other.below


def wide_nbest(batch, oracle, count):
    return prefix_beam_nbest(batch, oracle, count, PrefixBeam(width=1000))


@pytest.mark.parametrize("find", [viterbi_nbest, wide_nbest])
@given(chain=chains(), count=st.integers(1, 6))
def test_the_n_best_are_the_first_of_all_choices_in_order(find, chain, count):
    for index, found in enumerate(find(chain.batch, chain, count)):
        scores = sorted((score for score in chain.all_scores(index).values() if score > -np.inf), reverse=True)
        assert found.scores == pytest.approx(scores[:count])
        assert found.complete
        assert len({tuple(choice) for choice in found.choices.tolist()}) == len(found)
        for choice, score in zip(found.choices.tolist(), found.scores, strict=True):
            assert chain.all_scores(index)[tuple(choice)] == pytest.approx(score)


def test_ties_go_to_fewer_changes():
    batch = Batch.of([Problem((2, 2, 2), 3), Problem((2, 2, 2), 2)])
    chain = Chain(batch, 2)
    chain.tables = [[np.zeros_like(table) for table in tables] for tables in chain.tables]
    for tables in chain.tables:
        tables[1][1, 1] = tables[2][0, 1] = 1.0  # either two changes, or one
    assert [solution.choice.tolist() for solution in solve(batch, chain, Viterbi())] == [[0, 0, 1], [0, 0, 1]]


@pytest.mark.parametrize("solver", [Viterbi(), PrefixBeam(width=2), PrefixBeam(width=2, per_change=False)], ids=repr)
def test_company_in_the_batch_changes_nothing(solver):
    batch = Batch.of(SHAPES)
    chain = Chain(batch, 3, seed=1)
    for index, solution in enumerate(solve(batch, chain, solver)):
        alone = Chain(batch.take([index]), 3)
        alone.tables = [[table.copy() for table in chain.tables[index]]]
        alone.start = lambda problems, chain=chain, index=index: Chain.start(chain, np.full(len(problems), index))
        alone.extend = chain.extend
        (single,) = solve(alone.batch, alone, solver)
        assert single.choice.tolist() == solution.choice.tolist()
        assert single.forwards == solution.forwards


def test_more_problems_than_fit_into_memory_go_one_part_after_the_other(monkeypatch):
    batch = Batch.of(SHAPES)
    chain = Chain(batch, 3, seed=2)
    whole = [solution.score for solution in solve(batch, chain, Viterbi())]
    monkeypatch.setattr("discotext.solvers.viterbi.BLOCK", 30)
    assert [solution.score for solution in solve(batch, chain, Viterbi())] == whole


def test_viterbi_needs_terms_and_refuses_what_is_too_large_or_has_costs():
    batch = Batch.of([Problem((2,), 1), Problem((20,) * 10, 4)])
    with pytest.raises(TypeError, match="Viterbi needs terms of a few neighbouring positions"):
        solve(batch, Quadratic(batch), Viterbi())
    chain = Chain(batch, 3)
    # 1, 57, 3 · 19² and 19³ windows have 0 to 3 changes, and go with 5, 4, 3 and 2 numbers of changes used.
    assert count_prefixes(batch, 3, np.array([False, True])).tolist() == [2, 5 + 4 * 57 + 3 * 1083 + 2 * 6859]
    with pytest.raises(ValueError, match=r"problem 1 has up to 17,200 prefixes .*order 3, budget 4.* PrefixBeam"):
        solve(batch, chain, Viterbi(limit=17_000))
    costly = Batch.of([Problem((2,), 1, ((0.0, 1.0),), 0.5)])
    with pytest.raises(ValueError, match="does not keep a limit on costs"):
        solve(costly, Chain(costly, 2), Viterbi())
    with pytest.raises(ValueError, match="limit is 0"):
        Viterbi(limit=0)


def test_a_limit_on_passes_takes_the_proof_away():
    batch = Batch.of([Problem((3,) * 6, 6)])
    (solution,) = solve(batch, Chain(batch, 2), Viterbi(), stop=Stop(forwards=2))
    assert solution.status is Status.STOPPED
    assert solution.forwards <= 2


def test_budgets_leave_out_windows_that_no_choice_within_them_has():
    tight, loose = (Batch.of([Problem((6,) * 12, budget)]) for budget in (1, 12))
    one, other = (solve(batch, Chain(batch, 3), Viterbi())[0] for batch in (tight, loose))
    # A window of three with at most one change: 16 instead of 216.
    assert one.forwards <= 18
    assert other.forwards > 100
    assert one.score > solve(tight, Chain(tight, 3), Greedy())[0].original_score


@given(chains())
def test_a_narrow_beam_is_feasible_and_proves_only_what_is_true(chain):
    exact = solve(chain.batch, chain, Exact())
    for solver in (PrefixBeam(width=1), PrefixBeam(width=2, per_change=False), PrefixBeam(margin=0.5)):
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


def test_what_is_left_out_behind_the_last_word_takes_no_proof_away():
    batch = Batch.of([Problem((9,), 1)])
    assert solve(batch, Chain(batch, 1), PrefixBeam(width=1))[0].status is Status.OPTIMAL


def test_wider_beams_are_no_worse_on_average():
    batch = Batch.of([Problem((5,) * 12, 12)] * 40)
    chain = Chain(batch, 3, seed=4)
    means = [np.mean([s.score for s in solve(batch, chain, PrefixBeam(width))]) for width in (1, 3, 9)]
    assert means == sorted(means)


def test_a_beam_asks_once_for_each_position():
    batch = Batch.of([Problem((3,) * 5, 2), Problem((2,) * 3, 3)])
    calls = []

    class Counting(Chain):
        def extend(self, states, parents, positions, candidates):
            calls.append(set(positions.tolist()))
            return super().extend(states, parents, positions, candidates)

    solve(batch, Counting(batch, 2), PrefixBeam())
    assert calls == [{0}, {1}, {2}, {3}, {4}]


def test_problems_that_fail_or_hit_a_limit_leave_the_others_their_answers():
    batch = Batch.of([Problem((3,) * 4, 4)] * 3)
    plain = [solution.score for solution in solve(batch, Chain(batch, 2), PrefixBeam())]

    class Failing(Chain):
        def extend(self, states, parents, positions, candidates):
            if any(states[parent][0] == 1 for parent in parents) and positions[0] == 2:
                raise ValueError("cannot read this")
            return super().extend(states, parents, positions, candidates)

    found = solve(batch, Failing(batch, 2), PrefixBeam())
    assert found[1].status is Status.FAILED
    assert [found[0].score, found[2].score] == [plain[0], plain[2]]
    stopped = solve(batch, Chain(batch, 2), PrefixBeam(), stop=Stop(forwards=3))
    assert all(solution.status is Status.STOPPED and solution.forwards <= 3 for solution in stopped)


def test_terms_that_fail_for_one_problem_leave_the_others_their_proofs():
    class Failing(Chain):
        def terms(self, problems, positions, windows):
            if (problems == 1).any():
                raise ValueError("cannot look at this")
            return super().terms(problems, positions, windows)

    batch = Batch.of([Problem((3,) * 4, 2)] * 3)
    found, plain = (solve(batch, kind(batch, 2), Viterbi()) for kind in (Failing, Chain))
    assert found[1].status is Status.FAILED
    assert "cannot look at this" in found[1].error
    assert [found[at].choice.tolist() for at in (0, 2)] == [plain[at].choice.tolist() for at in (0, 2)]
    assert found[0].proved
    assert found[2].proved


def test_wrong_settings_and_wrong_oracles_are_refused():
    batch = Batch.of([Problem((2, 2), 1)])
    with pytest.raises(TypeError, match="PrefixBeam needs states of prefixes"):
        solve(batch, Quadratic(batch), PrefixBeam())
    with pytest.raises(ValueError, match="width is 0"):
        PrefixBeam(width=0)
    with pytest.raises(ValueError, match="margin is -1"):
        PrefixBeam(margin=-1)
    for nbest in (viterbi_nbest, prefix_beam_nbest):
        with pytest.raises(ValueError, match="count is 0"):
            nbest(batch, Chain(batch, 2), 0)
    costly = Batch.of([Problem((2,), 1, ((0.0, 1.0),), 0.5)])
    with pytest.raises(ValueError, match="does not keep a limit on costs"):
        solve(costly, Chain(costly, 2), PrefixBeam())


def test_solvers_along_a_text_have_names():
    assert {name: make_solver(name.replace("-", "_")) for name in SEQUENCE_SOLVERS} == {
        "viterbi": Viterbi(),
        "prefix-beam": PrefixBeam(),
    }
