"""The oracles of a network over word vectors: with gradients and deletions, and where there are bounds, with these."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discotext.core.arrays import Bools, Floats, Ints
from discotext.core.embedding import EmbeddingOracle, to_numpy
from discotext.core.objectives import DifferenceObjective, Objective
from discotext.core.problem import Batch
from discotext.core.reach import AdditiveBound, Reach, find_reach_of
from discotext.support.threads import limit_threads
from discotext.victims.neural.bounds import BOUNDS, ChoiceSet, NetworkBound, Projected

if TYPE_CHECKING:
    from discotext.victims.neural.victim import NeuralVictim

# The network computes in single precision, the bound in double: relative to the scores, the difference is below this.
PRECISION = 1e-5
MEMORY = 400_000_000  # bytes of projections that are kept


class WordOracle(EmbeddingOracle):
    """An `EmbeddingOracle` of a network that can also score a text with a word left out."""

    def __init__(self, batch: Batch, ids: Ints, victim: NeuralVictim, objective: Objective) -> None:
        super().__init__(batch, ids, victim.table, victim.network, objective)
        self.victim = victim

    score = limit_threads()(EmbeddingOracle.score)
    relaxed = limit_threads()(EmbeddingOracle.relaxed)

    def without(self, problems: Ints, positions: Ints) -> Floats:
        """Return the scores of the original texts, each without one word."""
        assert self.objective is not None
        originals = self.ids.cpu().numpy()[self.batch.starts]
        texts = [originals[slice(*self.batch.first_position[[problem, problem + 1]])] for problem in problems.tolist()]
        rows = [np.delete(text, position) for text, position in zip(texts, positions.tolist(), strict=True)]
        return self.objective.value(self.victim.score_rows(rows), problems)


class BoundedWordOracle(WordOracle):
    """A `WordOracle` with bounds, of a network and an objective that have them."""

    objective: DifferenceObjective

    @cached_property
    def _bound(self) -> NetworkBound:
        return BOUNDS[self.victim.network.shape.kind](self.victim.network)

    @cached_property
    def _projected(self) -> OrderedDict[int, Projected]:
        return OrderedDict()

    def reach(self, problems: Ints, allowed: Bools, goals: Floats) -> Reach:
        layout = self.batch.take(problems)
        numbers = np.flatnonzero(allowed)
        counts = np.bincount(layout.position_of[numbers], minlength=len(layout.counts))
        forced = numbers[np.cumsum(counts) - counts] != layout.starts
        parts = [slice(*layout.first_position[[row, row + 1]]) for row in range(len(layout))]
        sets = [
            ChoiceSet(counts[part], forced[part], int(budget))
            for part, budget in zip(parts, layout.budgets, strict=True)
        ]
        most = max((one.left for one in sets), default=0)
        # The fewer changes a bound has to allow for, the nearer it is to the truth.
        found = [
            self._reach_with(more, layout, problems, sets, allowed, goals) for more in sorted({min(1, most), most})
        ]
        if len(found) == 1:
            return found[0]
        # The first is about choices with one change beside those that must be made, the second about any.
        near, far = found
        limits = np.array([int(one.forced.sum()) + min(1, one.left) for one in sets], dtype=np.float64)
        beyond = limits[layout.row_of]
        return Reach(
            np.where(near.levels <= limits, near.levels, np.maximum(far.levels, limits + 1)),
            np.where(near.by_candidate <= beyond, near.by_candidate, np.maximum(far.by_candidate, beyond + 1)),
            far.worth,
        )

    def _reach_with(
        self, more: int, layout: Batch, problems: Ints, sets: Sequence[ChoiceSet], allowed: Bools, goals: Floats
    ) -> Reach:
        """Return the reach where at most `more` words change beside those that must."""
        constants, gains = [], np.zeros((layout.candidates, 0))
        for row, (problem, choices) in enumerate(zip(problems.tolist(), sets, strict=True)):
            part = slice(*layout.first_candidate[[row, row + 1]])
            limited = replace(choices, budget=int(choices.forced.sum()) + min(more, choices.left))
            projected = [one.compress(allowed[part], axis=self._bound.axis) for one in self._project(problem)]
            found = self._bound.bound(limited, projected, self.objective.pieces(problem, len(self.victim.labels)))
            if not row:
                gains = np.zeros((layout.candidates, found.gains.shape[1]))
            constants.append(found.constants)
            gains[part][allowed[part]] = found.gains
        bound = AdditiveBound(np.concatenate(constants), gains)
        lowered = goals - PRECISION * (1 + np.abs(bound.constants).max(axis=1))
        return find_reach_of(layout, allowed, bound, lowered, self.objective.any_piece)

    def _project(self, problem: int) -> Projected:
        """Return what the candidates of a problem give to the first layer."""
        found = self._projected.get(problem)
        if found is None:
            vectors = to_numpy(self.table[self._ids_of(np.array([problem]))])
            found = self._projected[problem] = self._bound.project(vectors, int(self.batch.sizes[problem]))
            while sum(one.nbytes for ones in self._projected.values() for one in ones) > MEMORY:
                self._projected.popitem(last=False)
        return found
