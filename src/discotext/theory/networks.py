"""Two networks of the paper, and when f(X), the best score with changes inside X, is submodular for them.

**Windows**: words, filters, a maximum over windows, a weighted sum (the W-CNN),

    c_ij = φ(⟨w_j, window i⟩ + b_j),   ĉ_j = max_i c_ij,   score = ⟨w, ĉ⟩

The paper (after Lei et al. 2019) states that f(X) is submodular if windows do not overlap and changes only increase the
output. That is false: two words of one window can be worth nothing alone and something together, as in most random
networks with two changeable words per window. What is true:

    f(X) is submodular if at most one word of each window can change, output weights are ≥ 0, φ does not decrease, no
    replacement lowers a filter's response, and the replacements of a word are nested: of any two, one raises every
    response at least as far as the other.

Then each word has one best replacement whatever the others are, ĉ_j is a maximum over words of a number per word, and
such a maximum is submodular; so is a sum of them with weights ≥ 0. Windows may overlap, though overlap makes it harder
to have one changeable word in each.

**Recurrence**: one recurrent unit, h_t = φ(w h_{t−1} + u_t), score = y h_T, u_t = ⟨m, v_t⟩ + b, a number per candidate.
If w, y ≥ 0 and φ does not decrease, the best candidate of a word is the one of largest u whatever the others are, so
f(X) adds fixed amounts d_i ≥ 0 to the inputs of X. If φ is also concave *on the values reached*, an amount added later
meets a state raised by the earlier ones and adds less: f is submodular, for any candidates. Only the values reached
count: tanh qualifies as long as its inputs are ≥ 0, but not around 0.

Each condition is necessary: `WINDOW_WITNESSES` and `RECURRENT_WITNESSES` have, for every one, a network of two or three
changeable words that meets all the others and is not submodular. The first two window networks and the first three
recurrent units show that the paper's statements are false as printed, or needed in the sharper form used here. f takes
the same value for the empty set and for each change alone, and a larger one for both (or, where stated, gains that grow
later).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from discotext.core.arrays import Choices, Floats, Ints
from discotext.core.problem import Batch, Problem
from discotext.theory.guarantees import Hypothesis

ONE_PER_WINDOW = "at most one word of each window can change"
WEIGHTS_NOT_NEGATIVE = "output weights are not negative"
NOT_LOWERED = "no replacement lowers a filter's response"
NESTED = "the replacements of a word are nested"
RECURRENCE_NOT_NEGATIVE = "the recurrent weight is not negative"
OUTPUT_NOT_NEGATIVE = "the output weight is not negative"
ACTIVATION_RISES = "the activation does not decrease"
CONCAVE_WHERE_REACHED = "the activation is concave on the values reached"


@dataclass(frozen=True)
class Activation:
    """A scalar function with one shape on each side of at most one peak.

    concave: its maximal intervals of concavity: the theorems require it on the values reached, which is why tanh
        qualifies (on x ≥ 0) and ReLU does not (across 0).
    peak: where it starts to fall; None if it never does.
    """

    name: str
    function: Callable[[Floats], Floats]
    concave: tuple[tuple[float, float], ...] = ((-inf, inf),)
    peak: float | None = None

    def __call__(self, x: Floats) -> Floats:
        return self.function(x)

    def concave_on(self, low: float, high: float) -> bool:
        """Return whether it is concave on a whole interval.

        >>> TANH.concave_on(0.0, 3.0), TANH.concave_on(-1.0, 1.0)
        (True, False)
        """
        return any(first <= low and high <= last for first, last in self.concave)

    def image(self, low: float, high: float) -> tuple[float, float]:
        """Return the smallest and the largest value on an interval.

        >>> TENT.image(-1.0, 2.0)
        (-2.0, 0.0)
        """
        at = [low, high] + ([self.peak] if self.peak is not None and low < self.peak < high else [])
        values = self.function(np.array(at))
        return float(values.min()), float(values.max())


IDENTITY = Activation("identity", lambda x: x)
RELU = Activation("relu", lambda x: np.maximum(x, 0.0), ((-inf, 0.0), (0.0, inf)))
TANH = Activation("tanh", np.tanh, ((0.0, inf),))
SIGMOID = Activation("sigmoid", lambda x: 0.5 * (1 + np.tanh(0.5 * x)), ((0.0, inf),))
# −softplus(−x) and min(x, 1) are non-decreasing and concave everywhere: all that the recurrent theorem requires.
LOG_SIGMOID = Activation("log-sigmoid", lambda x: -np.logaddexp(0.0, -x))
CAPPED = Activation("capped", lambda x: np.minimum(x, 1.0))
# −|x| is concave but not monotone. It serves the counter-examples only.
TENT = Activation("tent", lambda x: 0.0 - np.abs(x), peak=0.0)
ACTIVATIONS = (IDENTITY, RELU, TANH, SIGMOID, LOG_SIGMOID, CAPPED, TENT)


@dataclass(frozen=True, eq=False)
class WindowNetwork:
    """A W-CNN over one text as an oracle; its problem number is 0 and `batch` holds it.

    counts: (n,) candidates of each word. vectors: (K, D) their vectors, word after word, the original first.
    filters: (F, h, D). bias: (F,). output: (F,). stride: from window to window, by default h.
    """

    counts: tuple[int, ...]
    vectors: Floats
    filters: Floats
    output: Floats
    bias: Floats | float = 0.0
    stride: int | None = None
    activation: Activation = RELU

    @cached_property
    def batch(self) -> Batch:
        """The one problem, with every word allowed to change."""
        return Batch.of([Problem(self.counts, budget=len(self.counts))])

    @cached_property
    def windows(self) -> Ints:
        """(W, h) the words of each window."""
        width = self.filters.shape[1]
        first = np.arange(0, len(self.counts) - width + 1, self.stride or width)
        return np.asarray(first[:, None] + np.arange(width))

    def score(self, problems: Ints, choices: Choices) -> Floats:
        chosen = self.batch.starts + choices[:, : len(self.counts)]
        responses = np.einsum("rwhd,fhd->rwf", self.vectors[chosen][:, self.windows], self.filters) + self.bias
        return np.asarray(self.activation(responses).max(axis=1) @ self.output)

    def measure_gains(self, position: int) -> Floats:
        """Return (k, P·F) how much each candidate of a word raises each filter, at each place P it has in a window."""
        first = self.batch.starts[position]
        moved = self.vectors[first : first + self.counts[position]] - self.vectors[first]
        _, places = np.nonzero(self.windows == position)
        return np.asarray(np.einsum("kd,fpd->kpf", moved, self.filters[:, places]).reshape(len(moved), -1))


def check_window_hypotheses(network: WindowNetwork, *, tolerance: float = 1e-12) -> tuple[Hypothesis, ...]:
    """Return the conditions under which the best score inside X is submodular, each checked on this network."""
    changeable = np.array(network.counts) > 1
    raised = [network.measure_gains(int(position)) for position in np.flatnonzero(changeable)]

    def are_nested(rows: Floats) -> bool:
        """Return whether of any two rows one is at least the other in every column."""
        at_least = (rows[:, None] >= rows[None] - tolerance).all(axis=2)
        return bool((at_least | at_least.T).all())

    return (
        Hypothesis.from_condition(ONE_PER_WINDOW, bool((changeable[network.windows].sum(axis=1) <= 1).all())),
        Hypothesis.from_condition(WEIGHTS_NOT_NEGATIVE, bool((network.output >= 0).all())),
        Hypothesis.from_condition(ACTIVATION_RISES, network.activation.peak is None),
        Hypothesis.from_condition(NOT_LOWERED, all(bool((word >= -tolerance).all()) for word in raised)),
        Hypothesis.from_condition(NESTED, all(are_nested(word[1:]) for word in raised)),
    )


@dataclass(frozen=True, eq=False)
class RecurrentUnit:
    """A recurrent network with one hidden unit, which starts at 0, over one text as an oracle; its problem number is 0.

    counts: (T,) candidates of each word. inputs: (K,) the input of each candidate, ⟨m, v⟩ + b, the original first.
    recurrence: w. output: y.

    >>> unit = RecurrentUnit((2, 1), np.array([0.0, 1.0, 0.5]), recurrence=1.0)
    >>> unit.score(np.array([0, 0]), np.array([[0, 0], [1, 0]], dtype=np.int32)).round(3)
    array([-0.794, -0.604])
    """

    counts: tuple[int, ...]
    inputs: Floats
    recurrence: float
    output: float = 1.0
    activation: Activation = LOG_SIGMOID

    @cached_property
    def batch(self) -> Batch:
        """The one problem, with every word allowed to change."""
        return Batch.of([Problem(self.counts, budget=len(self.counts))])

    def score(self, problems: Ints, choices: Choices) -> Floats:
        chosen = self.inputs[self.batch.starts + choices[:, : len(self.counts)]]
        state = np.zeros(len(chosen))
        for step in range(len(self.counts)):
            state = self.activation(self.recurrence * state + chosen[:, step])
        return self.output * state

    def find_reached(self) -> list[tuple[float, float]]:
        """Return, for each word, an interval that contains the activation's input there, whatever is chosen."""
        low = high = 0.0
        intervals = []
        for first, count in zip(self.batch.starts, self.counts, strict=True):
            chosen = self.inputs[first : first + count]
            carried = sorted((self.recurrence * low, self.recurrence * high))
            intervals.append((carried[0] + float(chosen.min()), carried[1] + float(chosen.max())))
            low, high = self.activation.image(*intervals[-1])
        return intervals


def check_recurrent_hypotheses(unit: RecurrentUnit) -> tuple[Hypothesis, ...]:
    """Return the conditions under which the best score inside X is submodular, each checked on this unit."""
    concave = all(unit.activation.concave_on(low, high) for low, high in unit.find_reached())
    return (
        Hypothesis.from_condition(RECURRENCE_NOT_NEGATIVE, unit.recurrence >= 0),
        Hypothesis.from_condition(OUTPUT_NOT_NEGATIVE, unit.output >= 0),
        Hypothesis.from_condition(ACTIVATION_RISES, unit.activation.peak is None),
        Hypothesis.from_condition(CONCAVE_WHERE_REACHED, concave),
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
    two_words_in_a_window: ONE_PER_WINDOW,
    replacements_not_nested: NESTED,
    negative_output_weight: WEIGHTS_NOT_NEGATIVE,
    lowered_response: NOT_LOWERED,
    activation_that_falls: ACTIVATION_RISES,
}
RECURRENT_WITNESSES: dict[Callable[[], RecurrentUnit], str] = {
    tanh_around_zero: CONCAVE_WHERE_REACHED,
    sigmoid_below_zero: CONCAVE_WHERE_REACHED,
    relu_across_zero: CONCAVE_WHERE_REACHED,
    negative_recurrence: RECURRENCE_NOT_NEGATIVE,
    negative_output: OUTPUT_NOT_NEGATIVE,
    recurrent_tent: ACTIVATION_RISES,
}
