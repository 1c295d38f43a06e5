"""Problems and batches: shapes, slicing, counting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext import Batch, Problem
from discotext.core.problem import count_changes, random_choices
from tests.conftest import SHAPES, feasible, problems


@given(problems())
def test_feasible_choices_counts_what_enumeration_finds(problem):
    assert problem.feasible_choices == len(feasible(problem))


@pytest.mark.parametrize(
    ("counts", "budget"), [((3.7, 2), 1), ((3, 2), 1.5), ("32", 1), ((["a", "b"], ["c"]), 1), ((2,), None)]
)
def test_only_whole_numbers_make_a_problem(counts, budget):
    with pytest.raises(TypeError, match="give whole numbers"):
        Problem(counts, budget)


@pytest.mark.parametrize(
    ("counts", "budget", "words"),
    [((2, 0), 1, "position 1 has 0 candidates"), ((2, 2), 3, "choose 0 to 2"), ((2,), -1, "budget is -1")],
)
def test_a_wrong_problem_names_the_value_and_the_way_out(counts, budget, words):
    with pytest.raises(ValueError, match=words):
        Problem(counts, budget)


def test_a_batch_gives_its_problems_back(batch):
    assert [batch[index] for index in range(len(batch))] == SHAPES
    assert batch[-1] == SHAPES[-1]
    with pytest.raises(IndexError):
        batch[len(SHAPES)]


@given(st.lists(problems(), max_size=5), st.data())
def test_taking_rows_is_the_batch_of_those_problems(listed, data):
    batch = Batch.of(listed)
    rows = data.draw(st.lists(st.integers(0, len(listed) - 1), max_size=6)) if listed else []
    taken = batch.take(rows)
    again = Batch.of([listed[row] for row in rows])
    for name in ("counts", "sizes", "budgets", "starts", "first_candidate", "widths", "mask", "dense_counts"):
        np.testing.assert_array_equal(getattr(taken, name), getattr(again, name), err_msg=name)


def test_a_one_hot_mixture_has_one_unit_per_position_at_the_choice(batch):
    choices = random_choices(batch, np.random.default_rng(3))
    alpha = batch.one_hot(choices)
    assert alpha.sum() == len(batch.counts)
    for index in range(len(batch)):
        own = alpha[batch.first_candidate[index] : batch.first_candidate[index + 1]]
        expected = np.concatenate(
            [np.eye(count)[choices[index, position]] for position, count in enumerate(batch[index].counts)] or [[]]
        )
        np.testing.assert_array_equal(own, expected)


@given(st.lists(problems(), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_random_choices_are_feasible(listed, seed):
    batch = Batch.of(listed)
    assert not batch.infeasible(random_choices(batch, np.random.default_rng(seed))).any()


def test_infeasible_choices_are_found():
    batch = Batch.of([Problem((2, 3), 1)] * 4)
    choices = np.array([[1, 2], [0, 3], [-1, 0], [0, 2]], dtype=np.int32)
    assert batch.infeasible(choices).tolist() == [True, True, True, False]
    beyond = np.zeros((4, 5), dtype=np.int32)
    beyond[1, 4] = 1
    assert batch.infeasible(beyond).tolist() == [False, True, False, False]


def test_memory_grows_with_the_candidates_and_not_with_the_longest_list():
    ragged = Batch.of([Problem((1000,) + (2,) * 999, 5)] * 50)
    flat = ragged.one_hot(ragged.originals())
    assert flat.size == 50 * (1000 + 2 * 999)  # padded over candidates it would be 50 · 1000 · 1000
    assert count_changes(ragged.originals()).sum() == 0
