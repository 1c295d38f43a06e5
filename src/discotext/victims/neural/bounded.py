"""An oracle of a network that can prove: bounds for the averaging and the convolutional network.

There is none for recurrent networks: intervals through their gates grow at every word, and on questions they proved
nothing at one change (docs/benchmarks/certificates.md). For these, choices are enumerated.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Protocol

import numpy as np

from discotext.core.arrays import Bools, Floats, Ints
from discotext.core.embedding import to_numpy
from discotext.core.objectives import DifferenceObjective
from discotext.core.problem import Batch
from discotext.core.reach import AdditiveBound, Reach, find_reach_of
from discotext.victims.neural.averaging_bound import AveragingBound, Projected
from discotext.victims.neural.convolution_bound import ConvolutionBound
from discotext.victims.neural.networks import Network
from discotext.victims.neural.oracle import WordOracle
from discotext.victims.neural.row import Row

# The network computes in single precision, the bound in double: relative to the scores, the difference is below this.
PRECISION = 1e-5
MEMORY = 400_000_000  # bytes of projections that are kept


class NetworkBound(Protocol):
    """Bounds differences of class scores by sums over positions.

    axis: of the candidates in the arrays that `project` returns.
    """

    axis: int

    def project(self, vectors: Floats, length: int) -> Projected:
        """What candidates (K, d) of a text give to the first layer; kept for as long as the text is looked at."""
        ...

    def bound(self, row: Row, projected: Projected, pieces: Floats) -> AdditiveBound:
        """The bound of a set of choices. projected: of its candidates."""
        ...


BOUNDS: dict[str, Callable[[Network], NetworkBound]] = {"dan": AveragingBound, "wcnn": ConvolutionBound}


class BoundedWordOracle(WordOracle):
    """A `WordOracle` with bounds. The objective must be made of differences of class scores."""

    @cached_property
    def differences(self) -> DifferenceObjective:
        assert isinstance(self.objective, DifferenceObjective)
        return self.objective

    @cached_property
    def _bound(self) -> NetworkBound:
        return BOUNDS[self.network.shape.kind](self.network)

    @cached_property
    def _projected(self) -> OrderedDict[int, Projected]:
        return OrderedDict()

    def reach(self, problems: Ints, allowed: Bools, goals: Floats) -> Reach:
        layout = self.batch.take(problems)
        numbers = np.flatnonzero(allowed)
        positions = layout.position_of[numbers]
        counts = np.bincount(positions, minlength=len(layout.counts))
        firsts = numbers[np.cumsum(counts) - counts]
        forced = firsts != layout.starts
        parts = [slice(*layout.first_position[[row, row + 1]]) for row in range(len(layout))]
        rows = [
            Row(counts[part], forced[part], int(budget)) for part, budget in zip(parts, layout.budgets, strict=True)
        ]
        flat = [allowed[slice(*layout.first_candidate[[row, row + 1]])] for row in range(len(layout))]
        most = max((row.left for row in rows), default=0)
        # The fewer changes a bound has to allow for, the nearer it is to the truth.
        found = [self._reach_with(more, layout, problems, rows, flat, goals) for more in sorted({min(1, most), most})]
        return found[0] if len(found) == 1 else self._join(layout, rows, *found)

    def _reach_with(
        self, more: int, layout: Batch, problems: Ints, rows: Sequence[Row], allowed: Sequence[Bools], goals: Floats
    ) -> Reach:
        """The reach where at most so many words change beside those that must."""
        classes = self.network.shape.classes
        constants, gains = [], np.zeros((layout.candidates, 0))
        for number, (problem, row, mine) in enumerate(zip(problems.tolist(), rows, allowed, strict=True)):
            limited = replace(row, budget=int(row.forced.sum()) + min(more, row.left))
            projected = [one.compress(mine, axis=self._bound.axis) for one in self._project(problem)]
            found = self._bound.bound(limited, projected, self.differences.pieces(problem, classes))
            if not number:
                gains = np.zeros((layout.candidates, found.gains.shape[1]))
            constants.append(found.constants)
            gains[layout.first_candidate[number] : layout.first_candidate[number + 1]][mine] = found.gains
        bound = AdditiveBound(np.concatenate(constants), gains)
        lowered = goals - PRECISION * (1 + np.abs(bound.constants).max(axis=1))
        return find_reach_of(layout, np.concatenate(allowed), bound, lowered, self.differences.any_piece)

    def _project(self, problem: int) -> Projected:
        """What the candidates of a problem give to the first layer."""
        found = self._projected.get(problem)
        if found is None:
            vectors = to_numpy(self.table[self._ids_of(np.array([problem]))])
            found = self._projected[problem] = self._bound.project(vectors, int(self.batch.sizes[problem]))
            while sum(one.nbytes for ones in self._projected.values() for one in ones) > MEMORY:
                self._projected.popitem(last=False)
        return found

    def _join(self, layout: Batch, rows: Sequence[Row], near: Reach, far: Reach) -> Reach:
        """What both say: the first of choices with one change beside those that must, the second of any."""
        limits = np.array([int(row.forced.sum()) + min(1, row.left) for row in rows], dtype=np.float64)
        beyond = limits[layout.row_of]
        return Reach(
            np.where(near.levels <= limits, near.levels, np.maximum(far.levels, limits + 1)),
            np.where(near.by_candidate <= beyond, near.by_candidate, np.maximum(far.by_candidate, beyond + 1)),
            far.worth,
        )
