"""From parameters to mixtures, and back with the chain rule; the proximal map and the penalties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext import Batch, Problem
from discotext.core.arrays import segment_sum
from discotext.core.problem import interior_point, random_choices
from discotext.core.relaxation import (
    changed_mass,
    experiment_start,
    proximal_map,
    pull_back,
    retract,
    row_sum,
    soft_threshold,
    theorem_start,
    to_alpha,
)
from tests.conftest import SHAPES

BATCH = Batch.of(SHAPES)
rng_of = np.random.default_rng


@pytest.mark.parametrize("p", [1, 2, 3, 20])
def test_mixtures_lie_on_simplices_and_follow_the_formula(p):
    beta = rng_of(p).normal(size=BATCH.candidates) * 10
    alpha = to_alpha(beta, BATCH, p)
    np.testing.assert_allclose(segment_sum(alpha, BATCH.starts), 1.0)
    if p < 20:  # the printed formula itself overflows single precision at 20, and loses digits in double
        powers = beta ** (2 * p)
        expected = powers / np.repeat(segment_sum(powers, BATCH.starts), BATCH.counts)
        np.testing.assert_allclose(alpha, expected, rtol=1e-10)


@pytest.mark.parametrize("p", [1, 2, 5])
def test_the_pullback_agrees_with_differences(p):
    rng = rng_of(p)
    beta, weights = rng.normal(size=BATCH.candidates), rng.normal(size=BATCH.candidates)

    def value(at):
        return float(np.sum(weights * np.sin(to_alpha(at, BATCH, p))))

    alpha = to_alpha(beta, BATCH, p)
    gradient = pull_back(beta, alpha, weights * np.cos(alpha), BATCH, p)
    for index in range(BATCH.candidates):
        nudge = np.zeros_like(beta)
        nudge[index] = 1e-6
        assert gradient[index] == pytest.approx((value(beta + nudge) - value(beta - nudge)) / 2e-6, abs=1e-7)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_sizes_at_the_ends_of_floating_point_are_no_trouble(size):
    beta = rng_of(0).normal(size=BATCH.candidates)
    np.testing.assert_allclose(to_alpha(beta * size, BATCH), to_alpha(beta, BATCH))
    np.testing.assert_allclose(retract(beta * size, BATCH), retract(beta, BATCH))
    assert to_alpha(np.zeros(2), Batch.of([Problem((2,), 1)])).tolist() == [1, 0]


@pytest.mark.parametrize("p", [1, 2, 7])
def test_retracting_keeps_directions_and_gives_unit_norm(p):
    beta = rng_of(p).normal(size=BATCH.candidates) * 50
    there = retract(beta, BATCH, p)
    np.testing.assert_allclose(segment_sum(there ** (2 * p), BATCH.starts), 1.0)
    ratio = there / beta
    assert np.ptp(ratio[BATCH.starts[0] : BATCH.starts[1]]) == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(retract(there, BATCH, p), there)


@pytest.mark.parametrize("p", [1, 4])
def test_starts_are_where_the_paper_puts_them(p):
    np.testing.assert_allclose(segment_sum(theorem_start(BATCH, p) ** (2 * p), BATCH.starts), 1.0)
    start = experiment_start(Batch.of([Problem((3, 1), 1)]))
    np.testing.assert_array_equal(start, [10, 0.05, 0.05, 10])


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=6), st.floats(0, 3))
def test_soft_threshold_solves_its_minimisation(values, threshold):
    beta = np.array(values)
    found = soft_threshold(beta, threshold)
    grid = np.linspace(-6, 6, 2401)
    for value, answer in zip(beta, found, strict=True):
        best = (threshold * np.abs(grid) + (grid - value) ** 2 / 2).min()
        assert threshold * abs(answer) + (answer - value) ** 2 / 2 <= best + 1e-9


@given(st.lists(st.floats(-2, 2), min_size=2, max_size=3), st.floats(0.01, 3))
def test_for_p_1_the_proximal_map_is_exact_on_the_sphere(values, threshold):
    """Against a fine grid of the sphere: nothing there has a smaller threshold·‖b‖₁ + ½‖b − x‖²."""
    beta = np.array(values)
    layout = Batch.of([Problem((len(values),), 1)])
    angles = np.linspace(0, 2 * np.pi, 721)
    if len(values) == 2:
        sphere = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    else:
        polar = np.linspace(0, np.pi, 181)
        sphere = np.stack(
            [
                np.outer(np.sin(polar), np.cos(angles)).ravel(),
                np.outer(np.sin(polar), np.sin(angles)).ravel(),
                np.repeat(np.cos(polar), len(angles)),
            ],
            axis=1,
        )

    def value(points):
        return threshold * np.abs(points).sum(-1) + ((points - beta) ** 2).sum(-1) / 2

    found = proximal_map(beta, threshold, layout)
    assert np.linalg.norm(found) == pytest.approx(1.0)
    assert value(found) <= value(sphere).min() + 1e-9


def test_an_emptied_position_falls_to_its_largest_parameter_ties_to_the_original():
    layout = Batch.of([Problem((3, 2), 2)])
    found = proximal_map(np.array([0.1, -0.3, 0.2, 0.2, 0.2]), 1.0, layout)
    np.testing.assert_array_equal(found, [0, -1, 0, 1, 0])


def test_the_changed_mass_is_the_root_of_the_changes_at_a_choice():
    choices = random_choices(BATCH, rng_of(0))
    mass, _ = changed_mass(BATCH.one_hot(choices), BATCH)
    np.testing.assert_allclose(mass**2, (choices != 0).sum(axis=1))
    alpha = interior_point(BATCH, rng_of(1))
    mass, gradient = changed_mass(alpha, BATCH)
    nudged = alpha.copy()
    nudged[0] += 1e-6
    assert gradient[0] == pytest.approx((changed_mass(nudged, BATCH)[0][0] - mass[0]) / 1e-6, rel=1e-4)


def test_l1_adds_up_per_problem():
    beta = rng_of(2).normal(size=BATCH.candidates)
    np.testing.assert_allclose(row_sum(np.abs(beta), BATCH).sum(), np.abs(beta).sum())
    np.testing.assert_allclose(row_sum(np.abs(beta), BATCH)[0], np.abs(beta[:9]).sum())
