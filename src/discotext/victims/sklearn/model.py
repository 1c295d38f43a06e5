"""scikit-learn pipelines that are linear after their vectorisers, as functions of counts with gradients.

    counts → f(count) → factors → length 1 → linear outputs    for each vectoriser; the sum of these → scores

What was taken apart (`discotext.victims.sklearn.reader`) is compared with the pipeline's own scores before it is
believed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.core.objectives import Objective
from discotext.core.oracle import Request
from discotext.text.space import Space
from discotext.victims.sklearn.features import MixedCounts, Vectoriser
from discotext.victims.victim import TextOracle, Victim

Link = Callable[[Floats], tuple[Floats, Floats]]  # from outputs (H,) to scores (C,) and their derivatives (C, H)


def decide(outputs: Floats) -> tuple[Floats, Floats]:
    """Outputs that are the scores; a single one, of two classes, is shared between them with opposite signs.

    >>> decide(np.array([3.0]))[0]
    array([-1.5,  1.5])
    """
    shares = np.eye(len(outputs)) if len(outputs) > 1 else np.array([[-0.5], [0.5]])
    return shares @ outputs, shares


def take_log_shares(outputs: Floats) -> tuple[Floats, Floats]:
    """Logarithms of the shares of exp(output), as naive Bayes gives them.

    >>> take_log_shares(np.array([3.0, 3.0]))[0].round(3)
    array([-0.693, -0.693])
    """
    shifted = outputs - outputs.max()
    scores = np.asarray(shifted - np.log(np.exp(shifted).sum()))
    return scores, np.eye(len(outputs)) - np.exp(scores)


def calibrate(a: Floats, b: Floats, outputs: Floats) -> tuple[Floats, Floats]:
    """The logarithm of the mean, over N classifiers, of sigmoids of their outputs that are scaled to the sum 1.

    a, b: (N, 1) for two classes or (N, C): the probability of a class is 1 / (1 + exp(a·output + b)) before scaling.
    """
    raw = 1 / (1 + np.exp(np.clip(a * outputs.reshape(a.shape) + b, -700, 700)))
    by_output = -a * raw * (1 - raw)
    if raw.shape[1] == 1:
        chances = np.concatenate([1 - raw, raw], axis=1)
        by_raw = np.broadcast_to([[[-1.0], [1.0]]], (len(raw), 2, 1))
    else:
        total = raw.sum(axis=1, keepdims=True)
        chances = raw / total
        by_raw = (np.eye(raw.shape[1]) - chances[:, :, None]) / total[:, :, None]
    mean = np.maximum(chances.mean(axis=0), np.finfo(np.float64).tiny)
    # (N, C, 1 or C) what each classifier adds to the mean; classifiers stand side by side in the outputs.
    parts = by_raw * by_output[:, None, :] / len(raw)
    return np.log(mean), np.concatenate(list(parts), axis=1) / mean[:, None]


@dataclass(frozen=True, eq=False)
class Block:
    """One vectoriser with what follows it. factors: (F,) of f(count).

    norm: the length, "l1", "l2" or None, that these values are divided by. weights: (H, F) of the outputs.
    """

    vectoriser: Vectoriser
    factors: Floats
    norm: str | None
    weights: Floats


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A pipeline, taken apart. bias: (H,) of the outputs."""

    blocks: tuple[Block, ...]
    bias: Floats
    link: Link

    def score(self, text: str) -> Floats:
        """(C,) the scores of a text."""
        return self.read([block.vectoriser.count(text) for block in self.blocks], np.empty(0))[0]

    def read(self, counts: Sequence[MixedCounts], alpha: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
        """(C,) the scores of a mixture, and a function from the gradient (C,) by them to that (K,) by the mixture.

        counts: what each vectoriser makes of the text.
        """
        outputs, ways = self.bias.copy(), []
        for block, mine in zip(self.blocks, counts, strict=True):
            grown, falling, rising = grow(block.vectoriser.tf, mine.count(alpha))
            factors, weights = block.factors[mine.columns], block.weights[:, mine.columns]
            values = grown * factors
            size = 1.0  # stays for values without a norm, or of length 0
            if block.norm is not None:
                size = float(np.abs(values).sum() if block.norm == "l1" else np.sqrt(values @ values)) or 1.0
            outputs += weights @ (values / size)
            ways.append((block.norm, mine, weights, values / size, factors / size, falling, rising))
        scores, derivatives = self.link(outputs)

        def pull_back(gradient: Floats) -> Floats:
            found = np.zeros(len(alpha))
            for norm, mine, weights, unit, factors, falling, rising in ways:
                by_value = gradient @ derivatives @ weights
                if norm is not None:
                    by_value = by_value - (by_value @ unit) * (unit if norm == "l2" else np.sign(unit))
                by_grown = by_value * factors
                found += mine.pull_back(by_grown * falling, by_grown * rising, alpha)
            return found

        return scores, pull_back


def grow(tf: str, counts: Floats) -> tuple[Floats, Floats, Floats]:
    """The function of the counts, straight between whole numbers, and its gradients to the left and to the right.

    >>> grow("binary", np.array([0.5, 1.0, 1.5]))
    (array([0.5, 1. , 1. ]), array([1., 1., 0.]), array([1., 0., 0.]))
    """
    # Rounding errors of sums must not move a count over a kink.
    whole = np.round(counts)
    counts = np.where(np.abs(counts - whole) < 1e-9, whole, counts)
    lower = np.floor(counts)
    falling, rising = (transform(tf, at + 1) - transform(tf, at) for at in (np.ceil(counts) - 1, lower))
    return transform(tf, lower) + (counts - lower) * rising, falling, rising


def transform(tf: str, counts: Floats) -> Floats:
    """The function of whole counts. Two changes may each take away what is there once; less than none is none."""
    counts = np.maximum(counts, 0.0)
    if tf == "sublinear":
        return np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0.0)
    return np.minimum(counts, 1.0) if tf == "binary" else counts


class LinearOracle(TextOracle):
    """A `TextOracle` whose victim is a linear pipeline: its own weights give gradients, for which no text is asked."""

    exact_at_vertices = False  # a token may reach across the edge of a word
    slack = 2.0  # a whole swap is more than a small step
    labels_only = False

    def __init__(self, victim: Victim, space: Space, objective: Objective, model: LinearModel) -> None:
        super().__init__(victim, space, objective)
        self.model = model
        self._counts: dict[int, list[MixedCounts]] = {}

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        ends = self.batch.take(problems).first_candidate
        values, gradient = np.empty(len(problems)), np.empty(len(alpha))
        for row, problem in enumerate(problems.tolist()):
            part, one = slice(ends[row], ends[row + 1]), np.array([problem])
            if problem not in self._counts:
                text, options = self.space.texts[problem], self.space.options[problem]
                self._counts[problem] = [block.vectoriser.mix(text, options) for block in self.model.blocks]
            scores, pull_back = self.model.read(self._counts[problem], alpha[part])
            values[row] = self.objective.value(scores[None], one)[0]
            gradient[part] = pull_back(self.objective.gradient(scores[None], one)[0])
        return values, gradient

    def cost(self, request: Request) -> tuple[Ints, Ints]:
        if request.kind == "relaxed":
            return np.zeros(len(request), dtype=np.int64), np.zeros(len(request), dtype=np.int64)
        return super().cost(request)
