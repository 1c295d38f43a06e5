"""The convergence theorem: where it holds, where it fails, what is true; and Frank–Wolfe with the budget inside."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext.core.arrays import segment_sum
from discotext.core.problem import Batch, Problem
from discotext.core.relaxation import proximal_map, pull_back, soft_threshold, theorem_start, to_alpha
from discotext.core.rounding import best_vertex
from discotext.theory import frank_wolfe_bound, proximal_bound


def layout_of(*counts):
    return Batch.of([Problem(counts, len(counts))])


def random_layout(rng, positions=4, candidates=5):
    return layout_of(*rng.integers(1, candidates + 1, size=rng.integers(1, positions + 1)).tolist())


def test_the_bound_is_the_formula_of_the_theorem():
    layout = Batch.of([Problem((4, 1), 1), Problem((), 0), Problem((9,), 1)])
    by_hand = [(4 * 1.5**2 + 1 * 2**2) / (2 * 0.5 * 10), 0.0, 9 * (4 / 3) ** 2 / (2 * 0.5 * 10)]
    np.testing.assert_allclose(proximal_bound(layout, step=0.5, iterations=10), by_hand)
    # p = 2: k^{-1/4}.
    np.testing.assert_allclose(proximal_bound(layout_of(16), 1.0, 1, p=2), [16 * 1.5**2 / 2])
    # ‖β − β*‖² ≤ Σ k_i (1 + k_i^{−1/2p})²: the theorem's constant bounds the squared distance to any point of S.
    rng = np.random.default_rng(0)
    for p in (1, 2):
        layout = random_layout(rng)
        points = rng.normal(size=(200, layout.candidates))
        sizes = [segment_sum(np.abs(point) ** (2 * p), layout.starts) ** (1 / (2 * p)) for point in points]
        distances = (theorem_start(layout, p) - points / np.repeat(sizes, layout.counts, axis=1)) ** 2
        assert distances.sum(axis=1).max() <= 2 * proximal_bound(layout, 1.0, 1, p)[0]


def test_the_theorem_holds_for_a_linear_cost_steeper_than_the_penalty():
    moved = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        layout = random_layout(rng)
        penalty = rng.random()
        b = penalty + rng.uniform(0.01, 2, size=layout.candidates)
        step = rng.uniform(0.05, 3)

        def phi(beta, b=b, penalty=penalty):
            return -b @ beta + penalty * np.abs(beta).sum()

        best = -np.sqrt(segment_sum((b - penalty) ** 2, layout.starts)).sum()
        beta = theorem_start(layout)
        moved += phi(beta) - best > 1e-3
        for iteration in range(1, 101):
            beta = proximal_map(beta + step * b, step * penalty, layout)
            gap = phi(beta) - best
            assert -1e-9 <= gap <= proximal_bound(layout, step, iteration)[0]
        assert gap < 1e-3 or step < 0.2
    assert moved > 80


def test_the_theorem_fails_for_no_cost_at_all():
    layout, step, penalty = layout_of(2), 0.1, 1.0
    beta = theorem_start(layout)
    for _ in range(200):
        beta = proximal_map(beta, step * penalty, layout)
    gap = penalty * np.abs(beta).sum() - penalty  # the optimum is one-hot
    assert gap == pytest.approx(2**0.5 - 1, abs=1e-9) == pytest.approx(0.414, abs=3e-4)
    bound = proximal_bound(layout, step, 200)[0]
    assert bound == pytest.approx(0.146, abs=5e-4)
    assert gap > bound


def test_descent_fails_for_p_2():
    layout, b = layout_of(2), np.array([2.0, 1.0])
    beta = theorem_start(layout, p=2)
    values = [-b @ beta]
    for _ in range(200):
        beta = proximal_map(beta + 0.1 * b, 0.0, layout, p=2)
        values.append(-b @ beta)
    lowest = int(np.argmin(values))
    assert values[0] == pytest.approx(-2.523, abs=5e-4)
    assert values[lowest] == pytest.approx(-2.569, abs=5e-4)
    assert lowest == 3
    assert values[-1] == pytest.approx(-2.462, abs=5e-4)
    # The optimum on the sphere of the 4-norm, by Hölder: −‖b‖_{4/3}.
    assert -((b ** (4 / 3)).sum() ** (3 / 4)) == pytest.approx(-2.570, abs=5e-4)


@pytest.mark.parametrize("seed", range(40))
def test_for_p_1_every_step_descends_on_any_smooth_cost_convex_or_not(seed):
    rng = np.random.default_rng(seed)
    layout = random_layout(rng)
    size = layout.candidates
    amplitude, frequency, shift = rng.normal(size=5), rng.normal(size=(5, size)), rng.normal(size=5)
    penalty = rng.choice([0.0, 0.1, 1.0, 5.0])
    smoothness = float(np.abs(amplitude) @ (frequency**2).sum(axis=1))

    def cost(beta):
        return amplitude @ np.cos(frequency @ beta + shift)

    def slope(beta):
        return -(amplitude * np.sin(frequency @ beta + shift)) @ frequency

    step = rng.uniform(0.2, 0.99) / smoothness
    beta = rng.normal(size=size)
    beta = proximal_map(beta, 0.0, layout)
    for _ in range(100):
        after = proximal_map(beta - step * slope(beta), step * penalty, layout)
        before_value, after_value = (cost(x) + penalty * np.abs(x).sum() for x in (beta, after))
        room = 0.5 * (1 / step - smoothness) * ((after - beta) ** 2).sum()
        assert after_value <= before_value - room + 1e-9
        beta = after


@pytest.mark.parametrize("seed", range(12))
def test_the_theorem_holds_with_balls_in_place_of_spheres(seed):
    rng = np.random.default_rng(seed)
    layout = random_layout(rng, positions=3, candidates=3)
    size = layout.candidates
    root = rng.normal(size=(size, size))
    matrix, linear, penalty = root @ root.T + 0.2 * np.eye(size), 3 * rng.normal(size=size), rng.random()
    smoothness = float(np.linalg.eigvalsh(matrix)[-1])
    step = 0.9 / smoothness

    def phi(beta):
        return 0.5 * beta @ matrix @ beta + linear @ beta + penalty * np.abs(beta).sum()

    def update(beta):
        moved = soft_threshold(beta - step * (matrix @ beta + linear), step * penalty)
        norm = np.sqrt(segment_sum(moved**2, layout.starts))
        return moved / np.repeat(np.maximum(1.0, norm), layout.counts)

    beta, values = theorem_start(layout), []
    for _ in range(1500):
        beta = update(beta)
        values.append(phi(beta))
    best = min(values)
    assert values[-1] - values[-2] == pytest.approx(0, abs=1e-9)  # it has converged, so best is the optimum
    for iteration in (1, 2, 5, 10, 50, 200):
        assert values[iteration - 1] - best <= proximal_bound(layout, step, iteration)[0]


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_for_eq_8_the_gradient_in_beta_vanishes_at_every_one_hot_beta(seed, p):
    rng = np.random.default_rng(seed)
    layout = random_layout(rng)
    choices = np.array([[int(rng.integers(k)) for k in layout.counts]], dtype=np.int32)
    beta = layout.one_hot(choices) * rng.choice([-1, 1], layout.candidates) * rng.uniform(0.1, 3, layout.candidates)
    assert (pull_back(beta, to_alpha(beta, layout, p), rng.normal(size=layout.candidates), layout, p) == 0).all()
    # A second road: differences of C(α(β)) for a smooth C, of second order in the step.
    matrix = rng.normal(size=(3, layout.candidates))

    def cost(point):
        return 0.5 * ((matrix @ to_alpha(point, layout, p) - 1.0) ** 2).sum()

    direction = rng.normal(size=layout.candidates)
    assert abs(cost(beta + 1e-6 * direction) - cost(beta - 1e-6 * direction)) / 2e-6 < 1e-6


def quadratic(rng, size):
    matrix = rng.normal(size=(int(rng.integers(2, size + 2)), size))
    target = 2 * rng.normal(size=len(matrix))
    return (
        lambda alpha: 0.5 * float(((matrix @ alpha - target) ** 2).sum()),
        lambda alpha: (matrix @ alpha - target) @ matrix,
        float(np.linalg.norm(matrix, 2) ** 2),
    )


def frank_wolfe(layout, slope, steps):
    """Iterates α_0, α_1, …, each with its gap ⟨∇C, α − vertex⟩, from the original text."""
    alpha = layout.one_hot(layout.originals())
    for step in range(steps + 1):
        gradient = slope(alpha)
        vertex = layout.one_hot(best_vertex(-gradient, layout))
        yield alpha, float(gradient @ (alpha - vertex))
        alpha = alpha + 2 / (step + 2) * (vertex - alpha)


@pytest.mark.parametrize("seed", range(30))
def test_frank_wolfe_keeps_its_bound_with_the_budget_inside(seed):
    rng = np.random.default_rng(seed)
    counts = tuple(rng.integers(1, 5, size=int(rng.integers(2, 8))).tolist())
    budget = int(rng.integers(1, len(counts) + 1))
    layout = Batch.of([Problem(counts, budget)])
    cost, slope, smoothness = quadratic(rng, layout.candidates)
    values, floor = [], -np.inf
    for alpha, gap in frank_wolfe(layout, slope, 400):
        values.append(cost(alpha))
        floor = max(floor, values[-1] - gap)  # by convexity no point of the polytope costs less than this
        assert np.allclose(segment_sum(alpha, layout.starts), 1)
        assert (1 - alpha[layout.starts]).sum() <= budget + 1e-9
        assert (alpha >= -1e-12).all()
    for iterations in range(1, 401):
        # `floor` is below the optimum, so this is more than the theorem asks.
        assert values[iterations] - floor <= frank_wolfe_bound(smoothness, budget, len(counts), iterations)
    rows = np.array(list(product(*map(range, counts))), dtype=np.int32)
    feasible = [layout.one_hot(row[None]) for row in rows if (row != 0).sum() <= budget]
    assert min(cost(alpha) for alpha in feasible) >= floor - 1e-9


@pytest.mark.parametrize("counts", [(2, 2, 2, 2), (3, 2, 2), (2,), (3, 3, 3)], ids=str)
def test_the_squared_diameter_of_the_polytope_is_the_number_in_the_bound(counts):
    for budget in range(len(counts) + 1):
        layout = Batch.of([Problem(counts, budget)])
        rows = np.array(list(product(*map(range, counts))), dtype=np.int32)
        vertices = [layout.one_hot(row[None]) for row in rows if (row != 0).sum() <= budget]
        diameter = max(((a - b) ** 2).sum() for a in vertices for b in vertices)
        assert diameter == min(4 * budget, 2 * len(counts))
        assert frank_wolfe_bound(3.0, budget, len(counts), 4) == pytest.approx(2 * 3.0 * diameter / 6)
