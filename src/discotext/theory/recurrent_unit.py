"""One recurrent unit, and when its score is submodular.

    h_t = φ(w h_{t−1} + u_t),   score = y h_T,   u_t = ⟨m, v_t⟩ + b, a number per candidate

If w, y ≥ 0 and φ does not decrease, the best candidate of a word is the one of largest u whatever the others are, so
f(X), the best score with changes inside X, adds fixed amounts d_i ≥ 0 to the inputs of X. If φ is also concave *on the
values reached*, an amount added later meets a state raised by the earlier ones and adds less: f is submodular, for any
candidates. Only the values reached count: tanh qualifies as long as its inputs are ≥ 0, but not around 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discotext.core.arrays import Choices, Floats, Ints
from discotext.core.problem import Batch, Problem
from discotext.theory.activation import LOG_SIGMOID, Activation
from discotext.theory.verdict import Hypothesis

RECURRENCE_NOT_NEGATIVE = "the recurrent weight is not negative"
OUTPUT_NOT_NEGATIVE = "the output weight is not negative"
ACTIVATION_RISES = "the activation does not decrease"
CONCAVE_WHERE_REACHED = "the activation is concave on the values reached"


@dataclass(frozen=True, eq=False)
class RecurrentUnit:
    """A recurrent network with one hidden unit over one text as an oracle; its problem number is 0.

    counts: (T,) candidates of each word. inputs: (K,) the input of each candidate, ⟨m, v⟩ + b, the original first.
    recurrence: w. output: y. start: h_0.

    >>> unit = RecurrentUnit((2, 1), np.array([0.0, 1.0, 0.5]), recurrence=1.0)
    >>> unit.score(np.array([0, 0]), np.array([[0, 0], [1, 0]], dtype=np.int32)).round(3)
    array([-0.794, -0.604])
    """

    counts: tuple[int, ...]
    inputs: Floats
    recurrence: float
    output: float = 1.0
    start: float = 0.0
    activation: Activation = LOG_SIGMOID

    def __post_init__(self) -> None:
        if self.inputs.shape != (sum(self.counts),):
            raise ValueError(
                f"inputs have shape {self.inputs.shape}; expected ({sum(self.counts)},), one for each candidate"
            )

    @cached_property
    def batch(self) -> Batch:
        """The one problem, with every word allowed to change."""
        return Batch.of([Problem(self.counts, budget=len(self.counts))])

    def score(self, problems: Ints, choices: Choices) -> Floats:
        chosen = self.inputs[self.batch.starts + choices[:, : len(self.counts)]]
        state = np.full(len(chosen), self.start)
        for step in range(len(self.counts)):
            state = self.activation(self.recurrence * state + chosen[:, step])
        return self.output * state

    def find_reached(self) -> list[tuple[float, float]]:
        """Return, for each word, an interval that contains the activation's input there, whatever is chosen."""
        low = high = self.start
        intervals = []
        for first, count in zip(self.batch.starts, self.counts, strict=True):
            chosen = self.inputs[first : first + count]
            carried = sorted((self.recurrence * low, self.recurrence * high))
            interval = carried[0] + float(chosen.min()), carried[1] + float(chosen.max())
            intervals.append(interval)
            low, high = self.activation.image(*interval)
        return intervals


def check_recurrent_hypotheses(unit: RecurrentUnit) -> tuple[Hypothesis, ...]:
    """Return the conditions under which the best score inside X is submodular, each checked on this unit."""
    concave = all(unit.activation.concave_on(low, high) for low, high in unit.find_reached())
    return (
        Hypothesis.from_condition(RECURRENCE_NOT_NEGATIVE, unit.recurrence >= 0),
        Hypothesis.from_condition(OUTPUT_NOT_NEGATIVE, unit.output >= 0),
        Hypothesis.from_condition(ACTIVATION_RISES, unit.activation.non_decreasing),
        Hypothesis.from_condition(CONCAVE_WHERE_REACHED, concave),
    )


def make_random_recurrent_unit(
    seed: int, *, words: int = 6, candidates: int = 3, activation: Activation = LOG_SIGMOID, spread: float = 1.0
) -> RecurrentUnit:
    """Make a random unit with w, y ≥ 0 and any candidates; inputs of tanh, sigmoid or ReLU stay where they are concave.

    candidates: the most candidates of a word, the original included; some words have fewer.
    """
    if words < 1 or candidates < 1:
        raise ValueError(f"words is {words} and candidates {candidates}; choose 1 or more of each")
    rng = np.random.default_rng(seed)
    counts = tuple(rng.integers(1, candidates + 1, size=words).tolist())
    inputs = spread * rng.normal(size=sum(counts))
    if not activation.concave_on(-np.inf, np.inf):
        # All three map x ≥ 0 to h ≥ 0 and are concave there, so inputs ≥ 0 keep every state on that side.
        inputs = np.abs(inputs)
    return RecurrentUnit(
        counts, inputs, recurrence=float(2 * rng.random()), output=float(rng.random()), activation=activation
    )
