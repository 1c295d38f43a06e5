"""From weights to the best choice within budget; and the segments that this is made of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext import Batch, Problem
from discotext.core.arrays import segment_argmax
from discotext.core.rounding import best_vertex, largest
from tests.conftest import feasible, problems

rng_of = np.random.default_rng


@given(problems(), st.integers(0, 2**32 - 1))
def test_the_best_vertex_is_the_best_of_all_feasible_choices(problem, seed):
    batch = Batch.of([problem])
    weights = rng_of(seed).normal(size=batch.candidates).round(1)  # rounded, so that ties occur
    choice = best_vertex(weights, batch)
    assert not batch.infeasible(choice).any()
    best = max(weights[batch.chosen(np.array([row], dtype=np.int32))].sum() for row in feasible(problem))
    assert weights[batch.chosen(choice)].sum() == pytest.approx(best)


@given(st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), min_size=1, max_size=4), st.integers(0, 7))
def test_the_largest_of_a_row_are_those_of_a_stable_sort(rows, count):
    values = np.array(rows, dtype=float)
    where, found = largest(values, count)
    expected = np.argsort(-values, axis=1, kind="stable")[:, :count]
    np.testing.assert_array_equal(where, expected)
    np.testing.assert_array_equal(found, np.take_along_axis(values, expected, axis=1))


def test_rounding_ties_keep_the_original():
    batch = Batch.of([Problem((3, 3), 2)])
    assert not best_vertex(np.ones(6), batch).any()


@given(st.lists(st.lists(st.integers(-3, 3), min_size=1, max_size=4), min_size=1, max_size=5))
def test_segment_argmax_finds_the_first_largest(segments):
    counts = np.array([len(segment) for segment in segments])
    flat = np.array([float(value) for segment in segments for value in segment])
    where, largest = segment_argmax(flat, np.cumsum(counts) - counts, np.repeat(np.arange(len(counts)), counts))
    assert where.tolist() == [segment.index(max(segment)) for segment in segments]
    assert largest.tolist() == [max(segment) for segment in segments]
