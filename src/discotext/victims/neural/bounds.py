"""Upper bounds of the averaging network (dan) and the convolutional network (wcnn), as sums over positions.

A bound is a constant and a gain for every candidate, for each difference of class scores (a piece). There is none for
recurrent networks: intervals through their gates grow at every word, and on questions they proved nothing at one change
(docs/benchmarks/certificates.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from torch.nn import ModuleList

from discotext.core.arrays import Bools, Floats, Ints
from discotext.core.reach import AdditiveBound
from discotext.victims.neural.networks import WINDOWS, WordNetwork

Projected = list[Floats]  # what candidates give to a network's first layer, in as many arrays as it likes


@dataclass(frozen=True, eq=False)
class ChoiceSet:
    """The allowed candidates of one text, position by position; the first of each is its base.

    counts: (n,) allowed candidates of each position, at least 1. forced: (n,) whether the original is not among them.
    budget: how many positions may hold something else than their original.
    """

    counts: Ints
    forced: Bools
    budget: int

    @property
    def length(self) -> int:
        return len(self.counts)

    @cached_property
    def base(self) -> Ints:
        """(n,) where each position's candidates start."""
        return np.asarray(np.cumsum(self.counts) - self.counts)

    @cached_property
    def position(self) -> Ints:
        """(K,) the position of each candidate."""
        return np.repeat(np.arange(self.length), self.counts)

    @cached_property
    def open(self) -> Bools:
        """(n,) whether there is a choice."""
        return np.asarray(self.counts > 1)

    @cached_property
    def left(self) -> int:
        """How many positions may change beside those that must."""
        return int(min(max(self.budget - self.forced.sum(), 0), (self.open & ~self.forced).sum()))

    def add_largest(self, gains: Floats) -> Floats:
        """(H,) the most that candidates within the budget can add. gains: (K, H) over what the base gives."""
        if not self.length:
            return np.zeros(gains.shape[1])
        best = np.maximum(np.maximum.reduceat(gains, self.base, axis=0), 0.0)
        free = best[self.open & ~self.forced]
        most = len(free) - self.left
        chosen = np.partition(free, most, axis=0)[most:] if 0 < most < len(free) else free[most:]
        return np.asarray(best[self.forced].sum(axis=0) + chosen.sum(axis=0))


def fold_last(network: WordNetwork, pieces: Floats) -> tuple[Floats, Floats]:
    """Return weights (P, H) and biases (P,) from a text's representation to differences of class scores."""
    norm = network.norm
    numbers = (norm.weight, norm.bias, norm.running_mean, norm.running_var)
    scale, shift, mean, variance = (one.detach().cpu().double().numpy() for one in numbers)  # type: ignore[union-attr]
    factor = scale / np.sqrt(variance + norm.eps)
    weight, bias = to_doubles(network.last)
    combined = pieces @ weight
    return combined * factor, combined @ (shift - factor * mean) + pieces @ bias


def to_doubles(layer: object) -> tuple[Floats, Floats]:
    """Return the weight and bias of a layer in float64."""
    return tuple(one.detach().cpu().double().numpy() for one in (layer.weight, layer.bias))  # type: ignore[attr-defined]


class AveragingBound:
    """Bounds of a dan.

    The mean of the word vectors is a sum over positions, so each unit of the first layer is at most its value for the
    text plus the m largest gains, exactly. Behind a ReLU the sum is lost. There the unit is bounded by straight lines
    between the smallest and the largest value it can have, from the last layer back to the word vectors (CROWN; Zhang
    et al. 2018). What is left is linear in the vectors.
    """

    axis = 0  # of the candidates in the arrays that `project` returns

    def __init__(self, network: WordNetwork) -> None:
        self.network = network
        self.first, self.second = (to_doubles(network.reader[number]) for number in (0, 2))  # type: ignore[index]

    def project(self, vectors: Floats, length: int) -> Projected:
        """Return what each candidate of a text adds to the units of the first layer, (K, H)."""
        return [vectors @ self.first[0].T / max(length, 1)]

    def bound(self, choices: ChoiceSet, projected: Projected, pieces: Floats) -> AdditiveBound:
        """Return the bound of pieces (P, C) for a set of choices. projected: what its candidates give."""
        (_, bias), (weight2, bias2) = self.first, self.second
        given = projected[0]
        start = given[choices.base].sum(axis=0) + bias
        gains = given - given[choices.base][choices.position]
        low, high = start - choices.add_largest(-gains), start + choices.add_largest(gains)
        lines = Lines.of(low, high)
        over, over_constant = lines.above(weight2)
        under, under_constant = lines.below(weight2)
        high2 = over @ start + over_constant + bias2 + choices.add_largest(gains @ over.T)
        low2 = under @ start + under_constant + bias2 - choices.add_largest(-gains @ under.T)
        last, last_bias = fold_last(self.network, pieces)
        outer, outer_constant = Lines.of(low2, np.maximum(high2, low2)).above(last)
        inner, inner_constant = lines.above(outer @ weight2)
        constants = inner @ start + inner_constant + outer @ bias2 + outer_constant + last_bias
        return AdditiveBound(constants[None], gains @ inner.T)


@dataclass(frozen=True, eq=False)
class Lines:
    """Straight lines above (slope, offset) and below (lower_slope) a ReLU between its lowest and highest input."""

    slope: Floats
    offset: Floats
    lower_slope: Floats

    @classmethod
    def of(cls, low: Floats, high: Floats) -> Lines:
        """The chord above; below, the one of y = 0 and y = x that leaves the smaller area."""
        mixed = (low < 0) & (high > 0)
        width = np.where(mixed, high - low, 1.0)
        slope = np.where(mixed, high / width, (high > 0).astype(np.float64))
        return cls(slope, np.where(mixed, -slope * low, 0.0), np.where(mixed, (high > -low).astype(np.float64), slope))

    def above(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return weights and constants of a linear function above weights (P, H) times the ReLUs."""
        up, down = np.maximum(weights, 0), np.minimum(weights, 0)
        return up * self.slope + down * self.lower_slope, up @ self.offset

    def below(self, weights: Floats) -> tuple[Floats, Floats]:
        """The same below."""
        coefficients, constants = self.above(-weights)
        return -coefficients, -constants


class ConvolutionBound:
    """Bounds of a wcnn.

    A filter's value in the text's representation is its largest response over all windows. One change alters the
    windows that contain it, and no others:

    - with one change left, the new largest response of every filter is computed for each candidate, exactly;
    - with more, a filter rises by at most the sum of what each change adds to a window of its own, less an equal share
      of what that window is short of the largest response; and it falls by at most what the changes take from its best
      window, and never below what its windows keep whatever changes.
    """

    axis = 1

    def __init__(self, network: WordNetwork) -> None:
        self.network = network
        assert isinstance(network.reader, ModuleList)
        self.filters = [to_doubles(layer) for layer in network.reader]

    def project(self, vectors: Floats, length: int) -> Projected:
        """Return, for each window size, what each candidate gives to a window at each place in it, (w, K, F)."""
        return [np.matmul(vectors, filters.transpose(2, 1, 0)) for filters, _ in self.filters]

    def bound(self, choices: ChoiceSet, projected: Projected, pieces: Floats) -> AdditiveBound:
        weights, biases = fold_last(self.network, pieces)
        if choices.length == 0:
            # A text without words is read as one vector of zeros.
            empty = np.concatenate([np.maximum(bias, 0.0) for _, bias in self.filters])
            return AdditiveBound((biases + weights @ empty)[None], np.zeros((0, len(pieces))))
        constants, gains, at = biases.copy(), np.zeros((len(choices.position), len(pieces))), 0
        for window, given, (_, bias) in zip(WINDOWS, projected, self.filters, strict=True):
            part = Responses(choices, given, bias, window)
            mine = weights[:, at : at + len(bias)]
            at += len(bias)
            constants += mine @ part.largest
            if choices.left <= 1 and not (choices.forced & choices.open).any():
                gains += part.exact_changes() @ mine.T
            else:
                rises, falls = part.bound_changes()
                gains += rises @ np.maximum(mine, 0).T + falls @ np.maximum(-mine, 0).T
        return AdditiveBound(constants[None], gains)


class Responses:
    """The responses of the filters of one window size to a text, and what candidates add to them.

    largest: (F,) over all windows, at least 0.
    """

    def __init__(self, choices: ChoiceSet, given: Floats, bias: Floats, window: int) -> None:
        self.choices, self.window = choices, window
        self.added = given - given[:, choices.base][:, choices.position]
        self.values = self._add_windows(np.tile(bias, (choices.length, 1)), given[:, choices.base])
        self.largest = np.maximum(self.values.max(axis=0), 0.0)
        # (w, K) the window in which each candidate stands at each place, and whether there is one.
        windows = choices.position[None] - np.arange(window)[:, None]
        self.windows, self.there = np.maximum(windows, 0), (windows >= 0)[..., None]

    def _add_windows(self, values: Floats, given: Floats) -> Floats:
        """Add to values (n, F) of windows what their words give, (w, n, F) by place and position."""
        for place in range(self.window):
            count = len(values) - place
            if count > 0:
                values[:count] += given[place, place:]
        return values

    def exact_changes(self) -> Floats:
        """(K, F) by how much each candidate alone changes the largest response."""
        touched = np.where(self.there, self.values[self.windows] + self.added, -np.inf).max(axis=0)
        highest = np.maximum(touched, self._largest_elsewhere()[self.choices.position])
        return np.asarray(np.maximum(highest, 0.0) - self.largest)

    def _largest_elsewhere(self) -> Floats:
        """(n, F) the largest response of windows that do not contain each position."""
        n = len(self.values)
        nothing = np.full((1, self.values.shape[1]), -np.inf)
        before = np.concatenate([nothing, np.maximum.accumulate(self.values, axis=0)])  # [p]: windows before p
        after = np.concatenate([np.maximum.accumulate(self.values[::-1], axis=0)[::-1], nothing])  # [p]: from p on
        first = np.maximum(np.arange(n) - self.window + 1, 0)
        return np.asarray(np.maximum(before[first], after[np.arange(n) + 1]))

    def bound_changes(self) -> tuple[Floats, Floats]:
        """(K, F) by how much each candidate, with others, may raise and lower the largest response."""
        choices = self.choices
        # How many changes may share a window: those left, those that must be made, and no more than are open there.
        padded = np.append(choices.open, np.zeros(self.window - 1, dtype=bool)).astype(int)
        in_window = np.convolve(padded, np.ones(self.window, dtype=int), mode="valid")
        most = max(choices.left + int((choices.forced & choices.open).sum()), 1)
        short = (self.largest - self.values) / np.clip(in_window, 1, most)[:, None]
        rises = np.where(self.there, self.added - short[self.windows], 0.0).max(axis=0)
        inside = self.there & (self.windows[..., None] == self.values.argmax(axis=0))
        falls = np.where(inside, -self.added, 0.0).max(axis=0)
        # Some window keeps this much, whatever changes.
        losses = np.minimum(np.minimum.reduceat(self.added, choices.base, axis=1), 0.0)  # (w, n, F)
        kept = np.clip(self._add_windows(self.values.copy(), losses).max(axis=0), 0.0, self.largest)
        return np.maximum(rises, 0.0), np.clip(falls, 0.0, self.largest - kept)


NetworkBound = AveragingBound | ConvolutionBound
BOUNDS: dict[str, Callable[[WordNetwork], NetworkBound]] = {"dan": AveragingBound, "wcnn": ConvolutionBound}
