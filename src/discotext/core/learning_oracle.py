"""Gradients for an oracle that has none: learnt from its own answers, while it is asked."""

from __future__ import annotations

from collections import Counter

import numpy as np

from discotext.core.arrays import Choices, Floats, Ints, segment_argmax
from discotext.core.gain_model import SHARED, GainModel
from discotext.core.oracle import Oracle, Request
from discotext.core.problem import Batch

SLACK = 0.8  # learnt gains have the benefit of the doubt already; chosen as the constants of `GainModel`
DRAWN = 0.5  # standard deviation of drawn gains, in units of what the prior misses


class LearningOracle:
    """The scores of an oracle without gradients, and gains that are learnt from them; they cost nothing.

    prior: flat, what each candidate is said to gain. sizes: (B,) how far that is off, see `GainModel`.
    originals: (B,) the scores of the originals.
    labels_only: whether the model answers labels. Then nothing can be learnt from the answers, and gains are drawn at
        random around the prior, new ones each time, so that many likely choices are tried.
    slack: see `FreeGradientsOracle`.
    """

    exact_at_vertices = False

    def __init__(
        self,
        oracle: Oracle,
        batch: Batch,
        prior: Floats,
        sizes: Floats,
        originals: Floats,
        labels_only: bool = False,
        slack: float = SLACK,
    ) -> None:
        self.oracle, self.batch, self.originals, self.labels_only = oracle, batch, originals, labels_only
        self.slack = np.inf if labels_only else slack
        self._draws: Counter[int] = Counter()
        self._prior, self._sizes = prior, sizes
        self._models: dict[int, GainModel] = {}

    def score(self, problems: Ints, choices: Choices) -> Floats:
        found = np.asarray(self.oracle.score(problems, choices), dtype=np.float64)
        useful = np.isfinite(found) & (choices != 0).any(axis=1) & (not self.labels_only)
        for problem in np.unique(problems[useful]).tolist():
            rows = np.flatnonzero(useful & (problems == problem))
            gains = found[rows] - self.originals[problem]
            self._model(problem).learn(choices[rows, : int(self.batch.sizes[problem])], gains)
        return found

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        """What is believed at the choices that the mixtures are nearest to."""
        layout = self.batch.take(problems)
        nearest = layout.dense(segment_argmax(alpha, layout.starts, layout.position_of)[0], 0).astype(np.int32)
        values, gains = np.empty(len(problems)), np.empty(len(alpha))
        for row, problem in enumerate(problems.tolist()):
            model, choice = self._model(problem), nearest[row, : int(layout.sizes[row])]
            values[row] = self.originals[problem] + model.expect(choice)
            if self.labels_only:
                gains[layout.first_candidate[row] : layout.first_candidate[row + 1]] = self._draw(problem)
                continue
            gains[layout.first_candidate[row] : layout.first_candidate[row + 1]] = model.find_gains(choice)
        return values, gains

    def _draw(self, problem: int) -> Floats:
        """(K,) gains drawn around the prior, alike at one position; the first time the prior itself."""
        model, turn = self._model(problem), self._draws[problem]
        self._draws[problem] += 1
        # Of the problem's own shape and turn alone, so that a result does not depend on what else is in the batch.
        rng = np.random.default_rng([len(model.prior), turn])
        share, own = np.sqrt(SHARED), np.sqrt(1 - SHARED)
        noise = share * rng.normal(size=len(model.first))[model.position] + own * rng.normal(size=len(model.prior))
        drawn = model.prior + model.size * DRAWN * min(turn, 1) * noise
        drawn[model.first] = 0.0
        return np.asarray(drawn)

    def cost(self, request: Request) -> tuple[Ints, Ints]:
        """A gradient asks the model nothing."""
        none = np.zeros(len(request), dtype=np.int64)
        return (none, none) if request.kind == "relaxed" else (np.ones_like(none), none)

    def _model(self, problem: int) -> GainModel:
        if problem not in self._models:
            batch = self.batch
            part = slice(*batch.first_candidate[[problem, problem + 1]])
            counts = batch.counts[batch.first_position[problem] : batch.first_position[problem + 1]]
            self._models[problem] = GainModel(self._prior[part], counts, float(self._sizes[problem]))
        return self._models[problem]
