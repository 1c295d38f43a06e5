"""scikit-learn pipelines that are linear after their vectorisers, as functions of counts with gradients.

    counts → f(count) → factors → length 1 → factors   for each vectoriser,
    joined → length 1 → linear outputs → scores         for the pipeline.

What was taken apart (`discotext.victims.sklearn.reader`) is compared with the pipeline's own scores before it is
believed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.text.space import Space
from discotext.victims.sklearn.features import MixedCounts, Vectoriser

PullBack = Callable[[Floats], Floats]  # from the gradient by what a function returns to that by what it was given


class Link(Protocol):
    """From linear outputs (H,) to the scores of the classes (C,)."""

    def scores(self, outputs: Floats) -> Floats: ...

    def pull_back(self, gradient: Floats, outputs: Floats) -> Floats:
        """(H,) the gradient by the outputs, from the gradient (C,) by the scores."""
        ...


@dataclass(frozen=True)
class Decisions:
    """Outputs that are the scores; a single one, of two classes, is shared between them with opposite signs."""

    def scores(self, outputs: Floats) -> Floats:
        return outputs if len(outputs) > 1 else np.concatenate([-outputs / 2, outputs / 2])

    def pull_back(self, gradient: Floats, outputs: Floats) -> Floats:
        return gradient if len(outputs) > 1 else (gradient[1:] - gradient[:1]) / 2


@dataclass(frozen=True)
class LogShares:
    """Logarithms of the shares of exp(output), as naive Bayes gives them.

    >>> LogShares().scores(np.array([3.0, 3.0])).round(3)
    array([-0.693, -0.693])
    """

    def scores(self, outputs: Floats) -> Floats:
        shifted = outputs - outputs.max()
        return np.asarray(shifted - np.log(np.exp(shifted).sum()))

    def pull_back(self, gradient: Floats, outputs: Floats) -> Floats:
        return np.asarray(gradient - np.exp(self.scores(outputs)) * gradient.sum())


@dataclass(frozen=True, eq=False)
class Calibrated:
    """The logarithm of the mean, over N classifiers, of sigmoids of their outputs that are scaled to the sum 1.

    a, b: (N, 1) for two classes or (N, C): the probability of a class is 1 / (1 + exp(a·output + b)) before scaling.
    """

    a: Floats
    b: Floats

    def _chances(self, outputs: Floats) -> tuple[Floats, Floats]:
        """(N, 1 or C) each sigmoid, and (N, C) the probabilities."""
        raw = 1 / (1 + np.exp(np.clip(self.a * outputs.reshape(self.a.shape) + self.b, -700, 700)))
        if raw.shape[1] == 1:
            return raw, np.concatenate([1 - raw, raw], axis=1)
        return raw, raw / raw.sum(axis=1, keepdims=True)

    def scores(self, outputs: Floats) -> Floats:
        return np.asarray(np.log(np.maximum(self._chances(outputs)[1].mean(axis=0), np.finfo(np.float64).tiny)))

    def pull_back(self, gradient: Floats, outputs: Floats) -> Floats:
        raw, chances = self._chances(outputs)
        by_chance = gradient / np.maximum(chances.mean(axis=0), np.finfo(np.float64).tiny) / len(raw)
        if raw.shape[1] == 1:
            by_raw = np.broadcast_to(by_chance[1] - by_chance[0], raw.shape)
        else:
            by_raw = (by_chance - (by_chance * chances).sum(axis=1, keepdims=True)) / raw.sum(axis=1, keepdims=True)
        return np.asarray(-by_raw * raw * (1 - raw) * self.a).ravel()


@dataclass(frozen=True, eq=False)
class Block:
    """One vectoriser with what follows it. before, after: (F,) factors, before and after its values get length 1.

    norm: "l1", "l2" or None. weights: (H, F) of the outputs.
    """

    vectoriser: Vectoriser
    before: Floats
    norm: str | None
    after: Floats
    weights: Floats

    def take(self, columns: Ints) -> Block:
        """The block with these columns only."""
        return replace(self, before=self.before[columns], after=self.after[columns], weights=self.weights[:, columns])


@dataclass(frozen=True, eq=False)
class Member:
    """Vectorisers side by side, and linear outputs (h,) of them. norm: of all values together."""

    blocks: tuple[Block, ...]
    norm: str | None
    bias: Floats


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A pipeline, taken apart: the outputs of its members, end to end, go through a link."""

    members: tuple[Member, ...]
    link: Link

    def score(self, text: str) -> Floats:
        """(C,) the scores of a text."""
        return MixedText(self, lambda vectoriser: vectoriser.count(text)).read(np.empty(0))[0]

    def mix(self, space: Space, problem: int) -> MixedText:
        """The mixtures of a text's candidates."""
        text, options = space.texts[problem], space.options[problem]
        return MixedText(self, lambda vectoriser: vectoriser.mix(text, options))


class MixedText:
    """A text whose words are mixtures of their candidates, as a model sees it; only columns that occur are kept."""

    def __init__(self, model: LinearModel, count: Callable[[Vectoriser], MixedCounts]) -> None:
        self.model = model
        counts = [[count(block.vectoriser) for block in member.blocks] for member in model.members]
        self.parts = [
            [(block.take(one.columns), one) for block, one in zip(member.blocks, some, strict=True)]
            for member, some in zip(model.members, counts, strict=True)
        ]

    def read(self, alpha: Floats) -> tuple[Floats, PullBack]:
        """(C,) the scores of a mixture, and a function from the gradient (C,) by them to that (K,) by the mixture."""
        members = zip(self.model.members, self.parts, strict=True)
        read = [read_member(member, parts, alpha) for member, parts in members]
        outputs = np.concatenate([one for one, _ in read])
        ends = np.cumsum([len(one) for one, _ in read])[:-1]

        def pull_back(gradient: Floats) -> Floats:
            found = np.zeros(len(alpha))
            split = np.split(self.model.link.pull_back(gradient, outputs), ends)
            for (_, back), part in zip(read, split, strict=True):
                found += back(part)
            return found

        return self.model.link.scores(outputs), pull_back


def read_member(member: Member, parts: Sequence[tuple[Block, MixedCounts]], alpha: Floats) -> tuple[Floats, PullBack]:
    """The outputs (h,) of a mixture, and the way back."""
    ways, units, sizes = [], [], []  # the gradients of f(count), the values at length 1 and the length they had
    for block, counts in parts:
        grown, falling, rising = grow(block.vectoriser, counts.count(alpha))
        size = measure(grown * block.before, block.norm)
        ways.append((falling, rising))
        sizes.append(size)
        units.append(grown * block.before / size)
    values = [unit * block.after for unit, (block, _) in zip(units, parts, strict=True)]
    whole = measure(np.concatenate(values), member.norm)
    joined = [one / whole for one in values]
    outputs = member.bias.copy()
    for (block, _), one in zip(parts, joined, strict=True):
        outputs += block.weights @ one

    def pull_back(gradient: Floats) -> Floats:
        by_joined = [gradient @ block.weights for block, _ in parts]
        along = sum(float(one @ unit) for one, unit in zip(by_joined, joined, strict=True))
        found = np.zeros(len(alpha))
        for number, (block, counts) in enumerate(parts):
            by_value = straighten(by_joined[number], along, joined[number], whole, member.norm)
            by_unit, unit = by_value * block.after, units[number]
            by_grown = straighten(by_unit, float(by_unit @ unit), unit, sizes[number], block.norm) * block.before
            falling, rising = ways[number]
            found += counts.pull_back(by_grown * falling, by_grown * rising, alpha)
        return found

    return outputs, pull_back


def grow(vectoriser: Vectoriser, counts: Floats) -> tuple[Floats, Floats, Floats]:
    """The function of the counts, straight between whole numbers, and its gradients to the left and to the right.

    >>> from types import SimpleNamespace
    >>> grow(SimpleNamespace(tf="binary", signed=False), np.array([0.5, 1.0, 1.5]))
    (array([0.5, 1. , 1. ]), array([1., 1., 0.]), array([1., 0., 0.]))
    """
    if vectoriser.signed:
        return counts, np.ones_like(counts), np.ones_like(counts)
    # Rounding errors of sums must not move a count over a kink.
    whole = np.round(counts)
    counts = np.where(np.abs(counts - whole) < 1e-9, whole, counts)
    lower = np.floor(counts)
    falling, rising = (
        transform(vectoriser.tf, at + 1) - transform(vectoriser.tf, at) for at in (np.ceil(counts) - 1, lower)
    )
    return transform(vectoriser.tf, lower) + (counts - lower) * rising, falling, rising


def transform(tf: str, counts: Floats) -> Floats:
    """The function of whole counts. Two changes may each take away what is there once; less than none is none."""
    counts = np.maximum(counts, 0.0)
    if tf == "sublinear":
        return np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0.0)
    return np.minimum(counts, 1.0) if tf == "binary" else counts


def measure(values: Floats, norm: str | None) -> float:
    """The length of a vector; 1 where it is not to be made 1, or is 0."""
    if norm is None:
        return 1.0
    return float(np.abs(values).sum() if norm == "l1" else np.sqrt(values @ values)) or 1.0


def straighten(gradient: Floats, along: float, unit: Floats, size: float, norm: str | None) -> Floats:
    """The gradient by values, from that by values of length 1. along: gradient · unit, over all parts."""
    if norm is None:
        return gradient
    return np.asarray((gradient - along * (unit if norm == "l2" else np.sign(unit))) / size)
