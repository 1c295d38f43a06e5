"""Slopes of pipelines that are linear after their vectorisers, from their own weights: no text is asked for.

A mixture of candidates has mixed counts (`linear_features`). Counts go through the same functions as in the pipeline,
and the chain rule leads back (`linear_model`).
"""

from __future__ import annotations

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.core.objectives import Objective
from discotext.core.oracle import Request
from discotext.core.problem import Batch
from discotext.text.space import Space
from discotext.victims.linear_model import LinearModel, MixedText


class LinearSlopes:
    """Scores and slopes of mixtures, for the texts of a space."""

    def __init__(self, space: Space, objective: Objective, model: LinearModel) -> None:
        self.space, self.objective, self.model = space, objective, model
        self._texts: dict[int, MixedText] = {}

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        batch: Batch = self.space.batch
        ends = batch.take(problems).first_candidate
        values, slopes = np.empty(len(problems)), np.empty(len(alpha))
        for row, problem in enumerate(problems.tolist()):
            part = slice(ends[row], ends[row + 1])
            values[row], slopes[part] = self._relax(problem, alpha[part])
        return values, slopes

    def _relax(self, problem: int, alpha: Floats) -> tuple[float, Floats]:
        if problem not in self._texts:
            self._texts[problem] = self.model.mix(self.space, problem)
        found, pull_back = self._texts[problem].read(alpha)
        scores, one = found[None], np.array([problem])
        return float(self.objective.value(scores, one)[0]), pull_back(self.objective.slope(scores, one)[0])

    @staticmethod
    def cost(request: Request) -> tuple[Ints, Ints] | None:
        """What a call takes, if it is one of mixtures: nothing is asked. None for other calls."""
        none = np.zeros(len(request), dtype=np.int64)
        return (none, none) if request.kind == "relaxed" else None
