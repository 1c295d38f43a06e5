"""Slopes of pipelines that are linear after a word vectoriser, from their own weights: no text is asked for.

A mixture of candidates has mixed counts: Σ α over the candidates that have a token, and for neighbours the product of
both weights. Counts go through the same functions as in the pipeline, and the chain rule leads back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.core.objectives import Objective
from discotext.core.oracle import Request
from discotext.core.problem import Batch
from discotext.text.space import Space
from discotext.victims.linear_pipeline import LinearPipeline


@dataclass(frozen=True, eq=False)
class MixedText:
    """The features of a text's candidates.

    columns: (F,) of the pipeline. fixed: (F,) counts of what is between the words. rows, features: which candidate has
    which feature, one entry for each time. left, right, pairs: which candidates of neighbours make which feature.
    """

    columns: Ints
    fixed: Floats
    rows: Ints
    features: Ints
    left: Ints
    right: Ints
    pairs: Ints

    def count(self, alpha: Floats) -> Floats:
        """(F,) the counts of a mixture."""
        counts = self.fixed.copy()
        np.add.at(counts, self.features, alpha[self.rows])
        np.add.at(counts, self.pairs, alpha[self.left] * alpha[self.right])
        return counts

    def pull_back(self, slope: Floats, alpha: Floats) -> Floats:
        """(K,) the slope by the mixture, from the slope (F,) by the counts."""
        found = np.zeros(len(alpha))
        np.add.at(found, self.rows, slope[self.features])
        np.add.at(found, self.left, slope[self.pairs] * alpha[self.right])
        np.add.at(found, self.right, slope[self.pairs] * alpha[self.left])
        return found


class LinearSlopes:
    """Scores and slopes of mixtures, for the texts of a space."""

    def __init__(self, space: Space, objective: Objective, pipeline: LinearPipeline) -> None:
        self.space, self.objective, self.pipeline = space, objective, pipeline
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
        pipeline, text = self.pipeline, self._read(problem)
        counts = text.count(alpha)
        idf, weights = pipeline.idf[text.columns], pipeline.weights[:, text.columns]
        # Between counts of 0 and 1 the functions are taken to be straight; a step down from 1 counts as a step up to 1.
        below = counts <= 1
        if pipeline.tf == "sublinear":
            values = np.where(below, counts, 1 + np.log(np.maximum(counts, 1)))
            rise = np.where(below, 1.0, 1 / np.maximum(counts, 1))
        elif pipeline.tf == "binary":
            values, rise = np.minimum(counts, 1.0), below.astype(np.float64)
        else:
            values, rise = counts, np.ones_like(counts)
        values = values * idf
        size = 1.0
        if pipeline.norm is not None:
            size = float(np.abs(values).sum() if pipeline.norm == "l1" else np.sqrt(values @ values)) or 1.0
        inner = weights @ values / size
        scores = (inner + pipeline.bias)[None]
        one = np.array([problem])
        by_score = self.objective.slope(scores, one)[0]
        by_value = by_score @ weights / size
        if pipeline.norm == "l2":
            by_value = by_value - float(by_score @ inner) * values / size**2
        elif pipeline.norm == "l1":
            by_value = by_value - float(by_score @ inner) * np.sign(values) / size
        return float(self.objective.value(scores, one)[0]), text.pull_back(by_value * idf * rise, alpha)

    def _read(self, problem: int) -> MixedText:
        if problem not in self._texts:
            self._texts[problem] = _read_mixed(self.pipeline, self.space, problem)
        return self._texts[problem]

    @staticmethod
    def cost(request: Request) -> tuple[Ints, Ints] | None:
        """What a call takes, if it is one of mixtures: nothing is asked. None for other calls."""
        none = np.zeros(len(request), dtype=np.int64)
        return (none, none) if request.kind == "relaxed" else None


def _read_mixed(pipeline: LinearPipeline, space: Space, problem: int) -> MixedText:
    """The features of a text's candidates, each word by itself: tokens that reach across its edges are not seen."""
    options = space.options[problem]
    tokens = [[pipeline.tokens(word) for word in some] for some in options]
    counts = [len(some) for some in options]
    starts = np.cumsum([0, *counts])
    fixed = [column for gap in space.texts[problem].gaps for column in pipeline.columns(pipeline.tokens(gap))]
    own = [
        (int(starts[at]) + number, column)
        for at, some in enumerate(tokens)
        for number, one in enumerate(some)
        for column in pipeline.columns(one)
    ]
    made = []
    if pipeline.lengths[1] == 2:
        for at in range(len(tokens) - 1):
            if pipeline.tokens(space.texts[problem].gaps[at + 1]):
                continue  # other tokens stand between
            for i, left in enumerate(tokens[at]):
                for j, right in enumerate(tokens[at + 1]):
                    column = pipeline.pair(left[-1], right[0]) if left and right else -1
                    if column >= 0:
                        made.append((int(starts[at]) + i, int(starts[at + 1]) + j, column))
    columns = sorted({*fixed, *(column for _, column in own), *(column for *_, column in made)})
    place = {column: number for number, column in enumerate(columns)}
    rest = np.zeros(len(columns))
    for column in fixed:
        rest[place[column]] += 1
    pairs = np.array([(i, j, place[column]) for i, j, column in made], dtype=np.int64).reshape(-1, 3).T
    singles = np.array([(row, place[column]) for row, column in own], dtype=np.int64).reshape(-1, 2).T
    return MixedText(np.array(columns, dtype=np.int64), rest, singles[0], singles[1], *pairs)
