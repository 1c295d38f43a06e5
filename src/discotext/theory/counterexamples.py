"""Why each condition is necessary: for every one, a network that meets all the others and is not submodular.

The first two window networks and the first three recurrent units show that the paper's statements are false as printed,
or needed in the sharper form used here. Each has two or three words that can change, few enough to check by hand: f
takes the same value for the empty set and for each change alone, and a larger one for both (or, where stated, gains
that grow later). `best_inside` and `is_submodular` find the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from discotext.theory import networks
from discotext.theory.networks import (
    CAPPED,
    IDENTITY,
    RELU,
    SIGMOID,
    TANH,
    TENT,
    Activation,
    RecurrentUnit,
    WindowNetwork,
)


def two_words_in_a_window() -> WindowNetwork:
    """Two words that add 1 each to one window, beside a window fixed at 1.5: f = 1.5, 1.5, 1.5, 2."""
    vectors = np.array([[0.0], [1.0], [0.0], [1.0], [1.5], [0.0]])
    return WindowNetwork((2, 2, 1, 1), vectors, filters=np.ones((1, 2, 1)), output=np.ones(1))


def replacements_not_nested() -> WindowNetwork:
    """Filters x, y, z of weight 1, 1.5, 1; word 0 → {x}, word 1 → {x, z} or {y}, word 2 → {z}.

    The gain of word 0 is 0.5 after word 1 and 1 after words 1 and 2: with word 2 at z, word 1 is free to take y.
    """
    none, x, y, z, xz = [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1]
    return make_word_network((2, 3, 2), [none, x, none, xz, y, none, z], [1.0, 1.5, 1.0])


def negative_output_weight() -> WindowNetwork:
    """Two words raise filters of weight 1 each, and both also one of weight −1.5: f = 0, 0, 0, 0.5."""
    return make_word_network((2, 2), [[0, 0, 0], [1, 0, 1], [0, 0, 0], [0, 1, 1]], [1.0, 1.0, -1.5])


def lowered_response() -> WindowNetwork:
    """Word 0 trades filter y for filter x, and only word 1 makes that worthwhile: f = 1.5, 1.5, 1.5, 2.5."""
    return make_word_network((2, 2), [[0, 1.5], [1, 0], [0, 0], [0, 1.5]], [1.0, 1.0])


def activation_that_falls() -> WindowNetwork:
    """Every replacement raises the input of −|x|, and so lowers a filter past its peak: f = −1, −1, −1, 0."""
    return make_word_network((2, 2), [[-1, 0], [0, 1.5], [-1, -1.5], [-1, 0]], [1.0, 1.0], TENT)


def make_word_network(
    counts: tuple[int, ...], vectors: Sequence[Sequence[float]], output: list[float], activation: Activation = IDENTITY
) -> WindowNetwork:
    """Return a network with windows of one word, and a filter for each coordinate."""
    filters = np.eye(len(output))[:, None, :]
    return WindowNetwork(counts, np.array(vectors, dtype=np.float64), filters, np.array(output), activation=activation)


def tanh_around_zero() -> RecurrentUnit:
    """tanh is convex below 0: f = −0.964, −0.845, −0.762, −0.234, the gain of word 0 growing from 0.119 to 0.528."""
    return RecurrentUnit((2, 2), np.array([0.0, 1.0, -2.0, -1.0]), recurrence=1.0, activation=TANH)


def sigmoid_below_zero() -> RecurrentUnit:
    """The sigmoid is convex below 0: f = 0.018, 0.047, 0.048, 0.117."""
    return RecurrentUnit((2, 2), np.array([-4.0, 4.0, -4.0, -3.0]), recurrence=1.0, activation=SIGMOID)


def relu_across_zero() -> RecurrentUnit:
    """The kink of ReLU is convex: f = 0, 0, 0, 1."""
    return RecurrentUnit((2, 2), np.array([0.0, 1.0, -1.0, 0.0]), recurrence=1.0, activation=RELU)


def negative_recurrence() -> RecurrentUnit:
    """w = −1 turns the concave min(x, 1) of the second step convex for the third: f = −1, −1, −1, 0."""
    return RecurrentUnit((2, 2, 1), np.array([0.0, 1.0, 2.0, 1.0, 0.0]), recurrence=-1.0, activation=CAPPED)


def negative_output() -> RecurrentUnit:
    """y = −1 favours a small state, and both inputs must fall before min(x, 1) does: f = −1, −1, −1, 0."""
    return RecurrentUnit((2, 2), np.array([1.0, 0.0, 1.0, 0.0]), recurrence=1.0, output=-1.0, activation=CAPPED)


def recurrent_tent() -> RecurrentUnit:
    """−|x| is concave and falls after 0, so that two changes can cancel: f = −1, −1, −1, 0."""
    return RecurrentUnit((2, 2), np.array([0.0, -2.0, 1.0, 2.0]), recurrence=1.0, activation=TENT)


# The one condition that each of them violates.
WINDOW_WITNESSES: dict[Callable[[], WindowNetwork], str] = {
    two_words_in_a_window: networks.ONE_PER_WINDOW,
    replacements_not_nested: networks.NESTED,
    negative_output_weight: networks.WEIGHTS_NOT_NEGATIVE,
    lowered_response: networks.NOT_LOWERED,
    activation_that_falls: networks.ACTIVATION_RISES,
}
RECURRENT_WITNESSES: dict[Callable[[], RecurrentUnit], str] = {
    tanh_around_zero: networks.CONCAVE_WHERE_REACHED,
    sigmoid_below_zero: networks.CONCAVE_WHERE_REACHED,
    relu_across_zero: networks.CONCAVE_WHERE_REACHED,
    negative_recurrence: networks.RECURRENCE_NOT_NEGATIVE,
    negative_output: networks.OUTPUT_NOT_NEGATIVE,
    recurrent_tent: networks.ACTIVATION_RISES,
}
