"""Activations, with the two properties that the theorems about networks require: monotonicity and concavity.

Concavity is required on the values actually reached, which is why tanh qualifies (on x ≥ 0) and ReLU does not (across
0). Each activation therefore has its largest intervals of concavity instead of a yes or no.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np

from discotext.core.arrays import Floats


@dataclass(frozen=True)
class Activation:
    """A scalar function with one shape on each side of at most one peak.

    concave: its maximal intervals of concavity. peak: where it starts to fall; None if it never does.
    """

    name: str
    function: Callable[[Floats], Floats]
    concave: tuple[tuple[float, float], ...]
    peak: float | None = None

    def __call__(self, x: Floats) -> Floats:
        return self.function(x)

    @property
    def non_decreasing(self) -> bool:
        return self.peak is None

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


def sigmoid(x: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * x)))


def log_sigmoid(x: Floats) -> Floats:
    return -np.logaddexp(0.0, -x)


def cap(x: Floats) -> Floats:
    return np.minimum(x, 1.0)


def rectify(x: Floats) -> Floats:
    return np.maximum(x, 0.0)


def tent(x: Floats) -> Floats:
    return 0.0 - np.abs(x)


def identity(x: Floats) -> Floats:
    return x


EVERYWHERE = ((-inf, inf),)
IDENTITY = Activation("identity", identity, EVERYWHERE)
RELU = Activation("relu", rectify, ((-inf, 0.0), (0.0, inf)))
TANH = Activation("tanh", np.tanh, ((0.0, inf),))
SIGMOID = Activation("sigmoid", sigmoid, ((0.0, inf),))
# −softplus(−x) and min(x, 1) are non-decreasing and concave everywhere: all that the recurrent theorem requires.
LOG_SIGMOID = Activation("log-sigmoid", log_sigmoid, EVERYWHERE)
CAPPED = Activation("capped", cap, EVERYWHERE)
# −|x| is concave but not monotone. It serves the counter-examples only.
TENT = Activation("tent", tent, EVERYWHERE, peak=0.0)
ACTIVATIONS = (IDENTITY, RELU, TANH, SIGMOID, LOG_SIGMOID, CAPPED, TENT)
