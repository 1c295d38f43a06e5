"""Windows of words, filters, a maximum over windows, a weighted sum: the W-CNN, and when it is submodular.

    c_ij = φ(⟨w_j, window i⟩ + b_j),   ĉ_j = max_i c_ij,   score = ⟨w, ĉ⟩ + b

The paper (after Lei et al. 2019) states that f(X), the best score with changes inside X, is submodular if windows do
not overlap and changes only increase the output. That is false: two words of one window can be worth nothing alone and
something together, as in most random networks with two changeable words per window. What is true:

    f(X) is submodular if at most one word of each window can change, output weights are ≥ 0, φ does not decrease, no
    replacement lowers a filter's response, and the replacements of a word are nested: of any two, one raises every
    response at least as far as the other.

Then each word has one best replacement whatever the others are, ĉ_j is a maximum over words of a number per word, and
such a maximum is submodular; so is a sum of them with weights ≥ 0. Windows may overlap, though overlap makes it harder
to have one changeable word in each. `counterexamples` violates each condition once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discotext.core.arrays import Choices, Floats, Ints
from discotext.core.problem import Batch, Problem
from discotext.theory.activation import RELU, Activation
from discotext.theory.verdict import Hypothesis

ONE_PER_WINDOW = "at most one word of each window can change"
WEIGHTS_NOT_NEGATIVE = "output weights are not negative"
ACTIVATION_RISES = "the activation does not decrease"
NOT_LOWERED = "no replacement lowers a filter's response"
NESTED = "the replacements of a word are nested"


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
    bias: Floats | None = None
    offset: float = 0.0
    stride: int | None = None
    activation: Activation = RELU

    def __post_init__(self) -> None:
        count, width, dimensions = self.filters.shape
        if self.vectors.shape != (sum(self.counts), dimensions):
            raise ValueError(
                f"vectors have shape {self.vectors.shape}; expected {(sum(self.counts), dimensions)}, one per candidate"
            )
        if self.output.shape != (count,) or (self.bias is not None and self.bias.shape != (count,)):
            raise ValueError(f"there are {count} filters; expected an output weight, and a bias if any, for each")
        if len(self.counts) < width:
            raise ValueError(f"the text has {len(self.counts)} words, but a window has {width}; choose a longer text")
        if self.stride is not None and self.stride < 1:
            raise ValueError(f"stride is {self.stride}; choose 1 or more")

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
        responses = np.einsum("rwhd,fhd->rwf", self.vectors[chosen][:, self.windows], self.filters)
        if self.bias is not None:
            responses = responses + self.bias
        return np.asarray(self.activation(responses).max(axis=1) @ self.output + self.offset)

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
    return (
        Hypothesis.from_condition(ONE_PER_WINDOW, bool((changeable[network.windows].sum(axis=1) <= 1).all())),
        Hypothesis.from_condition(WEIGHTS_NOT_NEGATIVE, bool((network.output >= 0).all())),
        Hypothesis.from_condition(ACTIVATION_RISES, network.activation.non_decreasing),
        Hypothesis.from_condition(NOT_LOWERED, all(bool((word >= -tolerance).all()) for word in raised)),
        Hypothesis.from_condition(NESTED, all(are_nested(word[1:], tolerance) for word in raised)),
    )


def are_nested(raised: Floats, tolerance: float) -> bool:
    """Return whether of any two rows one is at least the other in every column."""
    at_least = (raised[:, None] >= raised[None] - tolerance).all(axis=2)
    return bool((at_least | at_least.T).all())


def make_random_window_network(
    seed: int,
    *,
    windows: int = 4,
    width: int = 2,
    filters: int = 3,
    changeable: int = 1,
    replacements: int = 1,
    activation: Activation = RELU,
) -> WindowNetwork:
    """Make a random network whose windows do not overlap and whose changes only increase the output.

    changeable: words of each window that can change. With 1 every condition holds; with 2 only those in the paper do.
    """
    if not 0 <= changeable <= width:
        raise ValueError(f"changeable is {changeable}, but a window has {width} words; choose 0 to {width}")
    rng = np.random.default_rng(seed)
    dimensions = filters
    counts: list[int] = []
    vectors: list[Floats] = []
    for _ in range(windows):
        free = set(rng.permutation(width)[:changeable].tolist())
        for place in range(width):
            original = rng.normal(size=dimensions)
            # Filters are not negative, so vectors that grow in every coordinate raise every response: nested.
            steps = np.abs(rng.normal(size=(replacements if place in free else 0, dimensions)))
            vectors.append(original + np.concatenate([np.zeros((1, dimensions)), np.cumsum(steps, axis=0)]))
            counts.append(len(vectors[-1]))
    return WindowNetwork(
        counts=tuple(counts),
        vectors=np.concatenate(vectors),
        filters=np.abs(rng.normal(size=(filters, width, dimensions))),
        output=rng.random(filters),
        bias=rng.normal(size=filters),
        activation=activation,
    )
