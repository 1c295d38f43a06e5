"""Oracles along a text, seen through the wrappers of `solve`."""

import numpy as np
import pytest
from hypothesis import given

from discotext import Batch, Problem
from discotext.core import Cached, Chunked, Counted, Guarded, MarkovOracle, SequentialOracle, check_oracle
from discotext.core.oracle import can, name_ability
from discotext.core.wrappers import Renumbered
from tests.chains import Chain, chains
from tests.conftest import Quadratic

BATCH = Batch.of([Problem((2, 3, 2), 3), Problem((3, 1), 2), Problem((2, 2, 2, 2), 4)])


def wrap(oracle, batch, numbers, cells=7):
    """All wrappers of `solve`, seen by a solver that knows only some of the problems."""
    counted = Counted(oracle, batch)
    guarded = Guarded(counted, batch)
    return Renumbered(Cached(Chunked(guarded, batch, cells), batch), batch.take(numbers), numbers), counted, guarded


def walk(oracle, problem, choice):
    """Put a choice together candidate by candidate; returns the states at its end and the sum of the gains."""
    states, total = oracle.start(np.array([problem])), 0.0
    for position, candidate in enumerate(choice):
        states, gains = oracle.extend(states, np.array([0]), np.array([position]), np.array([candidate]))
        total += gains[0]
    return states, total


@given(chains())
def test_terms_and_gains_add_up_to_the_score_through_all_wrappers(chain):
    batch = chain.batch
    numbers = np.arange(len(batch))[::-1].copy()
    outer, _, _ = wrap(chain, batch, numbers)
    for index, number in enumerate(numbers.tolist()):
        for choice, score in list(chain.all_scores(number).items())[:5]:
            assert walk(outer, index, choice)[1] == pytest.approx(score)
            padded = np.array([0] * (outer.order - 1) + list(choice), dtype=np.int32)
            windows = np.array([padded[at : at + outer.order] for at in range(len(choice))], dtype=np.int32)
            if len(choice):
                terms = outer.terms(np.full(len(choice), index), np.arange(len(choice)), windows)
                assert terms.sum() == pytest.approx(score)


def test_what_an_oracle_along_a_text_can_do_is_declared():
    chain = Chain(BATCH, 2)
    assert can(Counted(chain, BATCH), MarkovOracle)
    assert can(Counted(chain, BATCH), SequentialOracle)
    assert not can(Quadratic(BATCH), MarkovOracle)
    assert "`terms`" in name_ability(MarkovOracle)
    assert "`extend`" in name_ability(SequentialOracle)


@given(chains())
def test_a_chain_keeps_the_laws_that_check_oracle_checks(chain):
    chain.tables = [[np.maximum(table, -9.0) for table in tables] for tables in chain.tables]
    assert check_oracle(chain.batch, chain).failures == ()


@pytest.mark.parametrize("method", ["terms", "gains"])
def test_check_oracle_finds_sums_that_are_wrong(method):
    class Wrong(Chain):
        def terms(self, problems, positions, windows):
            return super().terms(problems, positions, windows) + (method == "terms") * (positions == 1)

        def extend(self, states, parents, positions, candidates):
            states, gains = super().extend(states, parents, positions, candidates)
            return states, gains + (method == "gains") * (positions == 1)

    (failure,) = check_oracle(BATCH, Wrong(BATCH, 2)).failures
    assert f"the {method} of the choice" in failure
    assert "but its score is" in failure


def test_reading_n_words_of_a_text_is_one_forward():
    chain = Chain(BATCH, 2)
    outer, counted, _ = wrap(chain, BATCH, np.arange(3))
    states = outer.start(np.array([0, 2]))
    assert counted.forwards.tolist() == [0, 0, 0]
    # One prefix of each problem is read, and two candidates are put behind it: one word, a third of a forward.
    states, _ = outer.extend(states, np.array([0, 0, 1]), np.zeros(3, dtype=int), np.array([0, 1, 0]))
    assert counted.steps.tolist() == [1, 0, 1]
    assert counted.forwards.tolist() == [1, 0, 1]  # one has begun
    for position, parents in ((1, [0, 2]), (2, [0, 1])):
        states, _ = outer.extend(states, np.array(parents), np.full(2, position), np.array([0, 0]))
    assert counted.forwards.tolist() == [1, 0, 1]
    outer.terms(np.array([0]), np.array([0]), np.array([[0, 0]], dtype=np.int32))
    assert counted.forwards.tolist() == [2, 0, 1]


def test_a_limit_leaves_rows_without_a_state():
    chain = Chain(BATCH, 2)
    counted = Counted(chain, BATCH, max_forwards=0)
    states, gains = counted.extend(counted.start(np.array([0])), np.array([0]), np.array([0]), np.array([1]))
    assert gains.tolist() == [-np.inf]
    assert states.rows.tolist() == [-1]
    assert counted.exhausted.tolist() == [True, False, False]
    assert counted.recombine(states) is None


@pytest.mark.parametrize("method", ["start", "extend"])
def test_one_problem_that_fails_leaves_the_others_their_states(method):
    class Failing(Chain):
        def start(self, problems):
            if method == "start" and (problems == 1).any():
                raise ValueError("no text")
            return super().start(problems)

        def extend(self, states, parents, positions, candidates):
            if method == "extend" and any(states[parent][0] == 1 for parent in parents):
                raise ValueError("no text")
            return super().extend(states, parents, positions, candidates)

    outer, _, guarded = wrap(Failing(BATCH, 2), BATCH, np.arange(3))
    plain = Chain(BATCH, 2)
    states = outer.start(np.array([2, 1, 0]))
    states, gains = outer.extend(states, np.array([0, 1, 2]), np.zeros(3, dtype=int), np.array([1, 1, 1]))
    assert gains[1] == -np.inf
    assert "no text" in guarded.failures[1]
    more = outer.extend(states, np.array([0, 2]), np.ones(2, dtype=int), np.array([1, 2]))[1]
    assert gains[0] + more[0] == pytest.approx(walk(plain, 2, (1, 1))[1])
    assert gains[2] + more[1] == pytest.approx(walk(plain, 0, (1, 2))[1])
    assert len(outer.recombine(states)) == 3
