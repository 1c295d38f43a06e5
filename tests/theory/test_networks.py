"""The two facts about networks in the form in which they are true, and a counter-example for each condition."""

from itertools import product

import numpy as np
import pytest

from discotext.core.oracle_check import check_oracle
from discotext.theory import (
    ACTIVATIONS,
    RECURRENT_WITNESSES,
    WINDOW_WITNESSES,
    RecurrentUnit,
    WindowNetwork,
    best_inside,
    check_recurrent_hypotheses,
    check_window_hypotheses,
    is_submodular,
    tabulate,
)
from discotext.theory import networks as by_name
from discotext.theory.networks import CAPPED, IDENTITY, LOG_SIGMOID, ONE_PER_WINDOW, RELU, SIGMOID, TANH


def make_random_window_network(seed, *, windows=4, changeable=1, replacements=1, activation=RELU) -> WindowNetwork:
    """Make a random network whose windows do not overlap and whose changes only increase the output.

    changeable: words of each window of two that can change. With 1 every condition holds; with 2 only the printed ones.
    """
    rng = np.random.default_rng(seed)
    vectors = []
    for _ in range(windows):
        free = rng.permutation(2)[:changeable]
        for place in range(2):
            # Filters are not negative, so vectors that grow in every coordinate raise every response: nested.
            steps = np.abs(rng.normal(size=(replacements if place in free else 0, 3)))
            vectors.append(rng.normal(size=3) + np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)]))
    return WindowNetwork(
        counts=tuple(map(len, vectors)),
        vectors=np.concatenate(vectors),
        filters=np.abs(rng.normal(size=(3, 2, 3))),
        output=rng.random(3),
        bias=rng.normal(size=3),
        activation=activation,
    )


def make_random_recurrent_unit(seed, activation) -> RecurrentUnit:
    """Make a random unit with w, y ≥ 0 and any candidates; inputs stay where the activation is concave."""
    rng = np.random.default_rng(seed)
    counts = tuple(rng.integers(1, 4, size=6).tolist())
    inputs = rng.normal(size=sum(counts))
    if not activation.concave_on(-np.inf, np.inf):
        # All three map x ≥ 0 to h ≥ 0 and are concave there, so inputs ≥ 0 keep every state on that side.
        inputs = np.abs(inputs)
    return RecurrentUnit(counts, inputs, float(2 * rng.random()), float(rng.random()), activation)


def inside(network):
    return best_inside(network.batch, 0, network)


def refuted(hypotheses):
    return [hypothesis.claim for hypothesis in hypotheses if hypothesis.refuted]


def window_score_by_loops(network, choice):
    """The definition of the W-CNN, written out."""
    count, width, _ = network.filters.shape
    starts = np.cumsum([0, *network.counts])
    vectors = [network.vectors[starts[i] + j] for i, j in enumerate(choice)]
    pooled = []
    for f in range(count):
        responses = [
            sum(network.filters[f, place] @ vectors[first + place] for place in range(width)) + network.bias[f]
            for first in range(0, len(vectors) - width + 1, network.stride or width)
        ]
        pooled.append(max(float(network.activation(np.array([r]))[0]) for r in responses))
    return float(network.output @ pooled)


@pytest.mark.parametrize("stride", [None, 1, 3])
def test_the_window_network_is_its_definition(stride):
    rng = np.random.default_rng(4)
    network = WindowNetwork(
        (2, 1, 3, 2, 1),
        rng.normal(size=(9, 3)),
        rng.normal(size=(4, 2, 3)),
        rng.normal(size=4),
        bias=rng.normal(size=4),
        stride=stride,
        activation=TANH,
    )
    rows = np.array(list(product(*map(range, network.counts))), dtype=np.int32)
    expected = [window_score_by_loops(network, row) for row in rows]
    np.testing.assert_allclose(network.score(np.zeros(len(rows), dtype=int), rows), expected)
    assert check_oracle(network.batch, network).passed
    assert len(set(np.round(expected, 9))) > 3


def test_the_recurrent_unit_is_its_definition():
    unit = RecurrentUnit((2, 3), np.array([0.1, -0.4, 0.3, 1.0, -2.0]), recurrence=-0.5, output=2.0, activation=TANH)
    assert check_oracle(unit.batch, unit).passed
    for a, b in product(range(2), range(3)):
        expected = 2.0 * np.tanh(-0.5 * np.tanh([0.1, -0.4][a]) + [0.3, 1.0, -2.0][b])
        assert unit.score(np.array([0]), np.array([[a, b, 0]], dtype=np.int32)) == pytest.approx(expected)


@pytest.mark.parametrize("replacements", [1, 3])
@pytest.mark.parametrize("activation", [RELU, TANH], ids=lambda a: a.name)
def test_the_corrected_window_fact_has_no_violation(replacements, activation):
    for seed in range(75):
        network = make_random_window_network(seed, replacements=replacements, activation=activation)
        assert not refuted(check_window_hypotheses(network))
        f = inside(network)
        assert is_submodular(f), f"seed {seed}"
        assert len(set(tabulate(f).round(9))) > 1


def test_the_printed_window_fact_is_violated_by_most_networks_with_two_changeable_words_a_window():
    violations = 0
    for seed in range(100):
        network = make_random_window_network(seed, windows=3, changeable=2)
        values = tabulate(inside(network))
        # The conditions as printed: windows do not overlap, and changes only increase the output.
        assert network.stride is None
        assert (values >= values[0]).all()
        assert refuted(check_window_hypotheses(network)) == [ONE_PER_WINDOW]
        violations += not is_submodular(inside(network))
    assert violations > 50


def test_overlapping_windows_do_no_harm_while_each_holds_one_changeable_word():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        counts = (2, 1, 1, 2, 1, 1, 2, 1)  # windows of three words, one step apart
        vectors = rng.normal(size=(sum(counts), 2))
        for position in (0, 3, 6):
            first = sum(counts[:position])
            vectors[first + 1] = vectors[first] + np.abs(rng.normal(size=2))
        network = WindowNetwork(counts, vectors, np.abs(rng.normal(size=(3, 3, 2))), rng.random(3), stride=1)
        assert not refuted(check_window_hypotheses(network))
        assert len(network.windows) == 6
        assert is_submodular(inside(network))


@pytest.mark.parametrize("build", [*WINDOW_WITNESSES, *RECURRENT_WITNESSES], ids=lambda build: build.__name__)
def test_each_condition_is_needed(build):
    network = build()
    check = check_window_hypotheses if build in WINDOW_WITNESSES else check_recurrent_hypotheses
    assert refuted(check(network)) == [(WINDOW_WITNESSES | RECURRENT_WITNESSES)[build]]
    assert not is_submodular(inside(network))
    claims = {hypothesis.claim for hypothesis in check(network)}
    assert claims == set((WINDOW_WITNESSES if build in WINDOW_WITNESSES else RECURRENT_WITNESSES).values())


def test_replacements_not_nested_by_hand():
    f = inside(by_name.replacements_not_nested())
    assert f.gain(0, [1]) == 0.5
    assert f.gain(0, [1, 2]) == 1.0
    witness = is_submodular(f).witness
    assert (witness.smaller, witness.larger, witness.gains) == ({1}, {1, 2}, (0.5, 1.0))


@pytest.mark.parametrize(
    ("build", "values"),
    [
        (by_name.two_words_in_a_window, [1.5, 1.5, 1.5, 2.0]),
        (by_name.negative_output_weight, [0, 0, 0, 0.5]),
        (by_name.lowered_response, [1.5, 1.5, 1.5, 2.5]),
        (by_name.activation_that_falls, [-1, -1, -1, 0]),
        (by_name.tanh_around_zero, [-0.964, -0.845, -0.762, -0.234]),
        (by_name.sigmoid_below_zero, [0.018, 0.047, 0.048, 0.117]),
        (by_name.relu_across_zero, [0, 0, 0, 1]),
        (by_name.negative_recurrence, [-1, -1, -1, 0]),
        (by_name.negative_output, [-1, -1, -1, 0]),
        (by_name.recurrent_tent, [-1, -1, -1, 0]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_numbers_in_the_docstrings(build, values):
    assert tabulate(inside(build()))[:4] == pytest.approx(values, abs=6e-4)


@pytest.mark.parametrize("activation", [LOG_SIGMOID, CAPPED, TANH, SIGMOID, RELU, IDENTITY], ids=lambda a: a.name)
def test_the_recurrent_fact_has_no_violation_with_any_candidates(activation):
    bent = False
    for seed in range(50):
        unit = make_random_recurrent_unit(seed, activation)
        assert not refuted(check_recurrent_hypotheses(unit))
        f = inside(unit)
        assert is_submodular(f), f"seed {seed}"
        bent |= any(abs(f.gain(a, [b]) - f.gain(a, [])) > 1e-9 for a in f.ground for b in f.ground if a != b)
    # And the instances are not all modular, except where the activation is linear on what it meets.
    assert bent == (activation not in (RELU, IDENTITY))


def test_the_intervals_reached_hold_every_value_that_enters():
    for seed in range(20):
        for activation in ACTIVATIONS:
            rng = np.random.default_rng(seed)
            unit = RecurrentUnit((2, 3, 2), rng.normal(size=7), float(rng.normal()), activation=activation)
            intervals = unit.find_reached()
            for choice in product(*map(range, unit.counts)):
                state = 0.0
                for step, (low, high) in enumerate(intervals):
                    enters = unit.recurrence * state + unit.inputs[unit.batch.starts[step] + choice[step]]
                    assert low - 1e-12 <= enters <= high + 1e-12
                    state = float(activation(np.array([enters]))[0])


@pytest.mark.parametrize("activation", ACTIVATIONS, ids=lambda a: a.name)
def test_activations_are_shaped_as_they_say(activation):
    grid = np.linspace(-6, 6, 1201)
    values = activation(grid)
    assert (activation.peak is None) == bool((np.diff(values) >= -1e-12).all())
    bend = values[:-2] + values[2:] - 2 * values[1:-1]
    for low, high in ((-6, 6), (-6, 0), (0, 6), (-1, 1), (1, 3), (-3, -1)):
        within = (grid[:-2] >= low - 1e-9) & (grid[2:] <= high + 1e-9)
        assert activation.concave_on(low, high) == bool((bend[within] <= 1e-12).all())
        low_value, high_value = activation.image(low, high)
        between = values[(grid >= low - 1e-9) & (grid <= high + 1e-9)]
        assert (low_value, high_value) == pytest.approx((between.min(), between.max()))
