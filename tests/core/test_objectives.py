"""What an attack wants, as a number and its slope."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from discotext.core.objectives import CustomObjective, Targeted, Untargeted, predictions

rows = st.integers(2, 5).flatmap(
    lambda classes: st.tuples(
        arrays(np.float64, (6, classes), elements=st.floats(-4, 4, width=16)),
        arrays(np.int64, (6,), elements=st.integers(0, classes - 1)),
    )
)
PROBLEMS = np.array([0, 1, 2, 3, 4, 5])


@given(rows)
def test_untargeted_is_reached_exactly_when_the_prediction_is_wrong(given_rows):
    scores, labels = given_rows
    assert ((Untargeted(labels).value(scores, PROBLEMS) >= 0) == (predictions(scores) != labels)).all()


@given(rows)
def test_targeted_is_reached_exactly_when_the_prediction_is_the_target(given_rows):
    scores, labels = given_rows
    assert ((Targeted(labels).value(scores, PROBLEMS) >= 0) == (predictions(scores) == labels)).all()


@given(rows)
def test_the_value_is_the_margin_but_for_ties(given_rows):
    scores, labels = given_rows
    for goal, sign in ((Untargeted(labels), 1), (Targeted(labels), -1)):
        found = goal.value(scores, PROBLEMS)
        for row, label, value in zip(scores, labels, found, strict=True):
            others = [score for number, score in enumerate(row) if number != label]
            assert value == pytest.approx(sign * (max(others) - row[label]), abs=1e-9)


@pytest.mark.parametrize("goal", [Untargeted([0, 1, 2, 1]), Targeted([0, 1, 2, 1])], ids=["untargeted", "targeted"])
def test_the_slope_is_the_derivative(goal):
    scores = np.random.default_rng(0).normal(size=(4, 3))
    problems = np.array([3, 1, 0, 2])
    as_function = CustomObjective(lambda given, numbers: goal.value(given, numbers))
    np.testing.assert_allclose(goal.gradient(scores, problems), as_function.gradient(scores, problems), atol=1e-6)


def test_labels_are_those_of_the_problems_asked_about():
    scores = np.array([[1.0, 0.0], [1.0, 0.0]])
    np.testing.assert_allclose(Untargeted([0, 1]).value(scores, np.array([1, 0])), [1, -1])


def test_a_goal_of_ones_own_returns_one_number_a_row():
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        CustomObjective(lambda scores, problems: scores).value(np.zeros((2, 3)), np.array([0, 1]))
