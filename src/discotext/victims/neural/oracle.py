"""The oracle of a network over word vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from torch import Tensor

from discotext.core.arrays import Floats, Ints
from discotext.core.embedding import EmbeddingOracle
from discotext.core.objectives import Objective
from discotext.core.problem import Batch
from discotext.support.threads import limit_threads
from discotext.victims.neural.networks import Network


class WordOracle(EmbeddingOracle):
    """An `EmbeddingOracle` that can also score a text with a word left out.

    score_rows: returns (N, C) scores of texts given as rows of the table.
    """

    def __init__(
        self,
        batch: Batch,
        ids: Ints,
        table: Tensor,
        network: Network,
        objective: Objective,
        score_rows: Callable[[Sequence[Ints]], Floats],
    ) -> None:
        super().__init__(batch, ids, table, network, objective)
        self.network, self.score_rows = network, score_rows

    score = limit_threads()(EmbeddingOracle.score)
    relaxed = limit_threads()(EmbeddingOracle.relaxed)

    def without(self, problems: Ints, positions: Ints) -> Floats:
        """Return the scores of the original texts, each without one word."""
        assert self.objective is not None
        flat = self.ids.cpu().numpy()
        rows = []
        for problem, position in zip(problems.tolist(), positions.tolist(), strict=True):
            layout = self.batch.take(np.array([problem]))
            originals = flat[self.batch.flat_rows(np.array([problem]))][layout.starts]
            rows.append(np.delete(originals, position))
        return self.objective.value(self.score_rows(rows), problems)
