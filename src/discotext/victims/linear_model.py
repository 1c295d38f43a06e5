"""scikit-learn pipelines that are linear after their vectorisers, as functions of counts with slopes.

    counts → f(count) → factors → length 1 → factors   for each vectoriser,
    joined → length 1 → linear outputs → scores         for the pipeline.

More is understood here than where bounds are needed (`linear_pipeline`): several vectorisers side by side, hashing,
n-grams of characters, calibrated classifiers. What was taken apart is compared with the pipeline's own scores before it
is believed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discotext.core.arrays import Floats
from discotext.text.space import Space
from discotext.victims.linear_features import MixedCounts, Vectoriser


class Link(Protocol):
    """From linear outputs (H,) to the scores of the classes (C,)."""

    def scores(self, outputs: Floats) -> Floats: ...

    def pull_back(self, slope: Floats, outputs: Floats) -> Floats:
        """(H,) the slope by the outputs, from the slope (C,) by the scores."""
        ...


@dataclass(frozen=True)
class Decisions:
    """Outputs that are the scores; a single one, of two classes, is shared between them with opposite signs."""

    def scores(self, outputs: Floats) -> Floats:
        return outputs if len(outputs) > 1 else np.concatenate([-outputs / 2, outputs / 2])

    def pull_back(self, slope: Floats, outputs: Floats) -> Floats:
        return slope if len(outputs) > 1 else (slope[1:] - slope[:1]) / 2


@dataclass(frozen=True)
class LogShares:
    """Logarithms of the shares of exp(output), as naive Bayes gives them.

    >>> LogShares().scores(np.array([3.0, 3.0])).round(3)
    array([-0.693, -0.693])
    """

    def scores(self, outputs: Floats) -> Floats:
        shifted = outputs - outputs.max()
        return np.asarray(shifted - np.log(np.exp(shifted).sum()))

    def pull_back(self, slope: Floats, outputs: Floats) -> Floats:
        return np.asarray(slope - np.exp(self.scores(outputs)) * slope.sum())


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

    def pull_back(self, slope: Floats, outputs: Floats) -> Floats:
        raw, chances = self._chances(outputs)
        by_chance = slope / np.maximum(chances.mean(axis=0), np.finfo(np.float64).tiny) / len(raw)
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
        counts = [[block.vectoriser.count(text) for block in member.blocks] for member in self.members]
        return MixedText(self, counts).read(np.empty(0))[0]

    def mix(self, space: Space, problem: int) -> MixedText:
        """The mixtures of a text's candidates."""
        text, options = space.texts[problem], space.options[problem]
        return MixedText(self, [[one.vectoriser.mix(text, options) for one in each.blocks] for each in self.members])


class MixedText:
    """A text whose words are mixtures of their candidates, as a model sees it."""

    def __init__(self, model: LinearModel, counts: Sequence[Sequence[MixedCounts]]) -> None:
        self.link = model.link
        self.members = [MixedMember(member, each) for member, each in zip(model.members, counts, strict=True)]

    def read(self, alpha: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
        """(C,) the scores of a mixture, and a function from the slope (C,) by them to the slope (K,) by the mixture."""
        read = [member.read(alpha) for member in self.members]
        outputs = np.concatenate([one for one, _ in read])
        ends = np.cumsum([len(one) for one, _ in read])[:-1]

        def pull_back(slope: Floats) -> Floats:
            found = np.zeros(len(alpha))
            parts = np.split(self.link.pull_back(slope, outputs), ends)
            for member, (_, joined), part in zip(self.members, read, parts, strict=True):
                found += member.pull_back(part, joined, alpha)
            return found

        return self.link.scores(outputs), pull_back


@dataclass(frozen=True, eq=False)
class State:
    """What a vectoriser makes of a mixture: slopes of f(count), the length of the values, and values of length 1."""

    falling: Floats
    rising: Floats
    size: float
    unit: Floats


@dataclass(frozen=True, eq=False)
class Joined:
    """The values of all vectorisers side by side: their length, and what they are at length 1."""

    states: list[State]
    size: float
    units: list[Floats]


class MixedMember:
    """A text as one member of a model sees it; only columns that occur are kept."""

    def __init__(self, member: Member, counts: Sequence[MixedCounts]) -> None:
        self.member, self.counts = member, counts
        columns = [one.columns for one in counts]
        both = list(zip(member.blocks, columns, strict=True))
        self.before = [block.before[where] for block, where in both]
        self.after = [block.after[where] for block, where in both]
        self.weights = [block.weights[:, where] for block, where in both]

    def read(self, alpha: Floats) -> tuple[Floats, Joined]:
        """The outputs (h,) of a mixture, and what is needed to go back."""
        states = []
        for block, counts, before in zip(self.member.blocks, self.counts, self.before, strict=True):
            grown, falling, rising = grow(block.vectoriser, counts.count(alpha))
            size = measure(grown * before, block.norm)
            states.append(State(falling, rising, size, grown * before / size))
        values = [state.unit * after for state, after in zip(states, self.after, strict=True)]
        size = measure(np.concatenate(values), self.member.norm)
        joined = Joined(states, size, [one / size for one in values])
        outputs = self.member.bias.copy()
        for weights, one in zip(self.weights, joined.units, strict=True):
            outputs += weights @ one
        return outputs, joined

    def pull_back(self, slope: Floats, joined: Joined, alpha: Floats) -> Floats:
        """(K,) the slope by the mixture, from the slope (h,) by the outputs."""
        by_joined = [slope @ weights for weights in self.weights]
        along = sum(float(one @ unit) for one, unit in zip(by_joined, joined.units, strict=True))
        found = np.zeros(len(alpha))
        for number, (block, state) in enumerate(zip(self.member.blocks, joined.states, strict=True)):
            by_value = straighten(by_joined[number], along, joined.units[number], joined.size, self.member.norm)
            by_unit = by_value * self.after[number]
            by_grown = straighten(by_unit, float(by_unit @ state.unit), state.unit, state.size, block.norm)
            by_grown = by_grown * self.before[number]
            found += self.counts[number].pull_back(by_grown * state.falling, by_grown * state.rising, alpha)
        return found


def grow(vectoriser: Vectoriser, counts: Floats) -> tuple[Floats, Floats, Floats]:
    """The function of the counts, straight between whole numbers, and its slopes to the left and to the right.

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


def straighten(slope: Floats, along: float, unit: Floats, size: float, norm: str | None) -> Floats:
    """The slope by values, from the slope by values of length 1. along: slope · unit, over all parts."""
    if norm is None:
        return slope
    return np.asarray((slope - along * (unit if norm == "l2" else np.sign(unit))) / size)
