"""Objectives: from a model's scores of the classes to the one number that an attack maximises.

An objective gives its value and its gradient, both as arrays, so that no autograd graph has to know of it: a victim
with gradients multiplies it into its own backward pass. The value is at least 0 exactly when the prediction (the
class of the highest score, the first of equals) is what the attack wants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from discotext.core.arrays import Floats, Ints

# Just below 0: a tie that the prediction does not resolve in the attack's favour is not a success.
NOT_QUITE = -1e-12


class Objective(Protocol):
    """A number to be maximised. scores: (R, C), one row a text; problems: (R,), whose texts these are."""

    def value(self, scores: Floats, problems: Ints) -> Floats:
        """(R,) larger is better for the attack; at least 0 when it has succeeded."""
        ...

    def gradient(self, scores: Floats, problems: Ints) -> Floats:
        """(R, C) the derivative of the value by the scores."""
        ...


@runtime_checkable
class DifferenceObjective(Objective, Protocol):
    """An objective made of differences of class scores, which is what bounds of models are for.

    any_piece: whether the value is the largest of the differences; if not, the smallest.
    """

    any_piece: ClassVar[bool]

    def pieces(self, problem: int, classes: int) -> Floats:
        """(P, C) the weights of the class scores in each difference."""
        ...


def compare_with(one: int, classes: int) -> Floats:
    """(C − 1, C) every other class's score less that of one class."""
    others = np.delete(np.eye(classes), one, axis=0)
    others[:, one] = -1.0
    return others


def predictions(scores: Floats) -> Ints:
    """The class of the highest score, the first of equals."""
    return np.asarray(scores.argmax(axis=1))


@dataclass(frozen=True)
class Untargeted:
    """Any class but the true one: the best other score less that of the true class (the margin).

    >>> Untargeted([0, 0]).value(np.array([[3.0, 1.0, 2.0], [1.0, 4.0, 0.0]]), np.array([0, 1]))
    array([-1.,  3.])
    """

    labels: Sequence[int] | Ints
    any_piece: ClassVar[bool] = True

    def pieces(self, problem: int, classes: int) -> Floats:
        return compare_with(int(self.labels[problem]), classes)

    def value(self, scores: Floats, problems: Ints) -> Floats:
        return self._margin(scores, problems)[0]

    def gradient(self, scores: Floats, problems: Ints) -> Floats:
        _, rows, true, other = self._margin(scores, problems)
        out = np.zeros_like(scores)
        out[rows, other], out[rows, true] = 1.0, -1.0
        return out

    def _margin(self, scores: Floats, problems: Ints) -> tuple[Floats, Ints, Ints, Ints]:
        rows, true = np.arange(len(scores)), np.asarray(self.labels)[problems]
        others = scores.copy()
        others[rows, true] = -np.inf
        other = others.argmax(axis=1)
        margin = scores[rows, other] - scores[rows, true]
        tied = (margin >= 0) & (predictions(scores) == true)
        return np.where(tied, NOT_QUITE, margin), rows, true, other


@dataclass(frozen=True)
class Targeted:
    """One class for each text: its score less that of the best other class.

    >>> Targeted([2]).value(np.array([[3.0, 1.0, 2.0]]), np.array([0]))
    array([-1.])
    """

    targets: Sequence[int] | Ints
    any_piece: ClassVar[bool] = False

    def pieces(self, problem: int, classes: int) -> Floats:
        return -compare_with(int(self.targets[problem]), classes)

    def value(self, scores: Floats, problems: Ints) -> Floats:
        margin = -Untargeted(self.targets)._margin(scores, problems)[0]
        wanted = np.asarray(self.targets)[problems]
        return np.where(predictions(scores) == wanted, np.maximum(margin, 0.0), np.minimum(margin, NOT_QUITE))

    def gradient(self, scores: Floats, problems: Ints) -> Floats:
        return -Untargeted(self.targets).gradient(scores, problems)


@dataclass(frozen=True)
class CustomObjective:
    """A user's function: takes scores (R, C) and problems (R,), returns values (R,); 0 or more is success.

    Its gradient is found by differences, two calls a class; the function is cheap beside the model.
    """

    function: Callable[[Floats, Ints], Floats]
    step: float = 1e-5

    def value(self, scores: Floats, problems: Ints) -> Floats:
        value = np.asarray(self.function(scores, problems), dtype=np.float64)
        if value.shape != (len(scores),):
            raise ValueError(
                f"the objective returned shape {value.shape} for {len(scores)} rows; return one number a row"
            )
        return value

    def gradient(self, scores: Floats, problems: Ints) -> Floats:
        out = np.empty_like(scores)
        for column in range(scores.shape[1]):
            step = np.zeros_like(scores)
            step[:, column] = self.step * np.maximum(1.0, np.abs(scores[:, column]))
            difference = self.value(scores + step, problems) - self.value(scores - step, problems)
            out[:, column] = difference / (2 * step[:, column])
        return out
