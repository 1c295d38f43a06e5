"""Upper bounds for the convolutional network (wcnn), as sums over positions.

A filter's value in the text's representation is its largest response over all windows. One change alters the windows
that contain it, and no others:

- with one change left, the new largest response of every filter is computed for each candidate, exactly;
- with more, a filter rises by at most the sum of what each change adds to a window of its own, less an equal share of
  what that window is short of the largest response; and it falls by at most what the changes take from its best window,
  and never below what its windows keep whatever changes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from torch.nn import ModuleList

from discotext.core.arrays import Floats
from discotext.core.reach import AdditiveBound
from discotext.victims.neural.averaging_bound import Projected, fold_last, to_doubles
from discotext.victims.neural.networks import WINDOWS, Network
from discotext.victims.neural.row import Row


class ConvolutionBound:
    """Bounds of a wcnn. pieces are differences of class scores."""

    axis = 1  # of the candidates in what is projected

    def __init__(self, network: Network) -> None:
        self.network = network
        assert isinstance(network.reader, ModuleList)
        self.filters = [to_doubles(layer) for layer in network.reader]

    def project(self, vectors: Floats, length: int) -> Projected:
        """For each window size, what each candidate gives to a window in which it stands at each place, (w, K, F)."""
        return [np.matmul(vectors, filters.transpose(2, 1, 0)) for filters, _ in self.filters]

    def bound(self, row: Row, projected: Projected, pieces: Floats) -> AdditiveBound:
        """The bound of one set of choices. pieces: (P, C)."""
        weights, biases = fold_last(self.network, pieces)
        if row.length == 0:
            return AdditiveBound((biases + weights @ self._empty())[None], np.zeros((0, len(pieces))))
        constants, gains, at = biases.copy(), np.zeros((len(row.position), len(pieces))), 0
        for window, given, (_, bias) in zip(WINDOWS, projected, self.filters, strict=True):
            part = Responses(row, given, bias, window)
            mine = weights[:, at : at + len(bias)]
            at += len(bias)
            constants += mine @ part.largest
            if row.left <= 1 and not (row.forced & row.open).any():
                gains += part.exact_changes() @ mine.T
            else:
                rises, falls = part.bound_changes()
                gains += rises @ np.maximum(mine, 0).T + falls @ np.maximum(-mine, 0).T
        return AdditiveBound(constants[None], gains)

    def _empty(self) -> Floats:
        """The representation of a text without words, which the network reads as one vector of zeros."""
        return np.concatenate([np.maximum(bias, 0.0) for _, bias in self.filters])


class Responses:
    """The responses of the filters of one window size to a text, and what candidates add to them.

    largest: (F,) over all windows, at least 0.
    """

    def __init__(self, row: Row, given: Floats, bias: Floats, window: int) -> None:
        self.row, self.window = row, window
        n = row.length
        self.added = given - given[:, row.base][:, row.position]
        self.values: Floats = np.tile(bias, (n, 1))
        for place in range(window):
            count = n - place
            if count > 0:
                self.values[:count] += given[place, row.base[place:]]
        self.largest = np.maximum(self.values.max(axis=0), 0.0)

    def _windows(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """(w, K) the window in which each candidate stands at each place, and whether there is one."""
        windows = self.row.position[None] - np.arange(self.window)[:, None]
        return np.maximum(windows, 0), windows >= 0

    def exact_changes(self) -> Floats:
        """(K, F) by how much each candidate alone changes the largest response."""
        windows, there = self._windows()
        touched = np.where(there[..., None], self.values[windows] + self.added, -np.inf).max(axis=0)
        highest = np.maximum(touched, self._largest_elsewhere()[self.row.position])
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
        windows, there = self._windows()
        row = self.row
        # How many changes may share a window: those left, those that must be made, and no more than are open there.
        padded = np.append(row.open, np.zeros(self.window - 1, dtype=bool)).astype(int)
        in_window = np.convolve(padded, np.ones(self.window, dtype=int), mode="valid")
        most = max(row.left + int((row.forced & row.open).sum()), 1)
        share = np.clip(in_window, 1, most)
        short = (self.largest - self.values) / share[:, None]
        rises = np.where(there[..., None], self.added - short[windows], 0.0).max(axis=0)
        best = self.values.argmax(axis=0)
        inside = there[..., None] & (windows[..., None] == best)
        falls = np.where(inside, -self.added, 0.0).max(axis=0)
        return np.maximum(rises, 0.0), np.clip(falls, 0.0, self.largest - self._kept())

    def _kept(self) -> Floats:
        """(F,) a response that some window keeps, whatever changes."""
        row = self.row
        losses = np.minimum(np.minimum.reduceat(self.added, row.base, axis=1), 0.0)  # (w, n, F)
        lowest = self.values.copy()
        for place in range(self.window):
            count = row.length - place
            if count > 0:
                lowest[:count] += losses[place, place:]
        return np.asarray(np.clip(lowest.max(axis=0), 0.0, self.largest))
