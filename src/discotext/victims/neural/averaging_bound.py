"""Upper bounds for the averaging network (dan), as sums over positions.

The mean of the word vectors is a sum over positions, so each unit of the first layer is at most its value for the text
plus the m largest gains, exactly. Behind a ReLU the sum is lost. There the unit is bounded by straight lines between
the smallest and the largest value it can have, from the last layer back to the word vectors (CROWN; Zhang et al. 2018).
What is left is linear in the vectors: a constant and a gain for every candidate.
"""

from __future__ import annotations

import numpy as np

from discotext.core.arrays import Floats
from discotext.core.reach import AdditiveBound
from discotext.victims.neural.networks import Network
from discotext.victims.neural.row import Row


def fold_last(network: Network, pieces: Floats) -> tuple[Floats, Floats]:
    """Weights (P, H) and biases (P,) from the text's representation to differences of class scores."""
    norm = network.norm
    numbers = (norm.weight, norm.bias, norm.running_mean, norm.running_var)
    scale, shift, mean, variance = (one.detach().cpu().double().numpy() for one in numbers)  # type: ignore[union-attr]
    factor = scale / np.sqrt(variance + norm.eps)
    weight, bias = to_doubles(network.last)
    combined = pieces @ weight
    return combined * factor, combined @ (shift - factor * mean) + pieces @ bias


def to_doubles(layer: object) -> tuple[Floats, Floats]:
    """The weight and bias of a layer, in float64."""
    return tuple(one.detach().cpu().double().numpy() for one in (layer.weight, layer.bias))  # type: ignore[attr-defined]


Projected = list[Floats]  # what candidates give to a network's first layer, in as many arrays as it likes


class AveragingBound:
    """Bounds of a dan. pieces are differences of class scores."""

    axis = 0  # of the candidates in what is projected

    def __init__(self, network: Network) -> None:
        self.network = network
        self.first, self.second = (to_doubles(network.reader[number]) for number in (0, 2))  # type: ignore[index]

    def project(self, vectors: Floats, length: int) -> Projected:
        """What each candidate of a text adds to the units of the first layer, (K, H)."""
        return [vectors @ self.first[0].T / max(length, 1)]

    def bound(self, row: Row, projected: Projected, pieces: Floats) -> AdditiveBound:
        """The bound of one set of choices. pieces: (P, C)."""
        (_, bias), (weight2, bias2) = self.first, self.second
        given = projected[0]
        start = given[row.base].sum(axis=0) + bias
        gains = given - given[row.base][row.position]
        low, high = start - row.add_largest(-gains), start + row.add_largest(gains)
        lines = Lines.of(low, high)
        over, over_constant = lines.above(weight2)
        under, under_constant = lines.below(weight2)
        high2 = over @ start + over_constant + bias2 + row.add_largest(gains @ over.T)
        low2 = under @ start + under_constant + bias2 - row.add_largest(-gains @ under.T)
        last, last_bias = fold_last(self.network, pieces)
        outer, outer_constant = Lines.of(low2, np.maximum(high2, low2)).above(last)
        inner, inner_constant = lines.above(outer @ weight2)
        constants = inner @ start + inner_constant + outer @ bias2 + outer_constant + last_bias
        return AdditiveBound(constants[None], gains @ inner.T)


class Lines:
    """Straight lines above and below a ReLU between its lowest and highest input."""

    def __init__(self, slope: Floats, offset: Floats, lower_slope: Floats) -> None:
        self.slope, self.offset, self.lower_slope = slope, offset, lower_slope

    @classmethod
    def of(cls, low: Floats, high: Floats) -> Lines:
        """The chord above; below, the one of y = 0 and y = x that leaves the smaller area."""
        mixed = (low < 0) & (high > 0)
        width = np.where(mixed, high - low, 1.0)
        slope = np.where(mixed, high / width, (high > 0).astype(np.float64))
        return cls(slope, np.where(mixed, -slope * low, 0.0), np.where(mixed, (high > -low).astype(np.float64), slope))

    def above(self, weights: Floats) -> tuple[Floats, Floats]:
        """Weights and constants of a linear function above weights (P, H) times the ReLUs."""
        up, down = np.maximum(weights, 0), np.minimum(weights, 0)
        return up * self.slope + down * self.lower_slope, up @ self.offset

    def below(self, weights: Floats) -> tuple[Floats, Floats]:
        """The same below."""
        coefficients, constants = self.above(-weights)
        return -coefficients, -constants
