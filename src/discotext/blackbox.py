"""Gradients for a model that has none: the multilinear extension, by drawing and swapping.

Draw each position's candidate independently with the probabilities α. The expected score is a function of α that
equals the score at every one-hot α and is affine in each position, so its slope in α_i^j is the expected score with
candidate j put at position i. One draw gives an unbiased estimate of all slopes.

What it costs: one gradient takes draws × (1 + Σ(k_i − 1)) forwards, as much as one round of `Greedy` for each draw.
At a one-hot α one draw is exact; elsewhere the error falls as 1/√draws. It makes every solver run on a black box;
it does not make it cheap.
"""

from __future__ import annotations

import numpy as np

from discotext.oracle import Oracle
from discotext.problem import Batch
from discotext.sampling import draw
from discotext.segments import Choices, Floats, Ints, ranges


class Multilinear:
    """A relaxed view of any oracle, paid for in forwards.

    draws: texts drawn from each mixture.
    """

    exact_at_vertices = True

    def __init__(self, oracle: Oracle, batch: Batch, *, draws: int = 1, seed: int = 0) -> None:
        if draws < 1:
            raise ValueError(f"draws is {draws}, but a gradient needs at least 1 draw; choose 1 or more")
        self.oracle, self.batch, self.draws = oracle, batch, draws
        self._rng = np.random.default_rng(seed)

    def score(self, problems: Ints, choices: Choices) -> Floats:
        return self.oracle.score(problems, choices)

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        layout = self.batch.take(problems)
        scores, gradient = np.zeros(len(problems)), np.zeros(len(alpha))
        for _ in range(self.draws):
            drawn = draw(layout, alpha, self._rng)
            at_draw = np.asarray(self.oracle.score(problems, drawn))
            scores += at_draw / self.draws
            gradient += self._swapped(layout, problems, drawn, at_draw) / self.draws
        return scores, gradient

    def gradient_cost(self, problems: Ints) -> tuple[Ints, Ints]:
        """Forwards and backwards of one gradient for each row."""
        swaps = self.batch.widths[problems] - self.batch.sizes[problems]
        return self.draws * (1 + swaps), np.zeros_like(swaps)

    def _swapped(self, layout: Batch, problems: Ints, drawn: Choices, at_draw: Floats) -> Floats:
        """(K,) the score with each candidate in turn put into the drawn text."""
        owner = layout.row_of
        position = ranges(np.zeros(len(layout), dtype=np.int64), layout.sizes)[layout.position_of]
        candidate = ranges(np.zeros(len(layout.counts), dtype=np.int64), layout.counts)
        out = at_draw[layout.row_of]
        (asked,) = np.nonzero(candidate != drawn[owner, position])
        # Row by row of the layout, so that memory holds one text's swaps at a time.
        for row in range(len(layout)):
            mine = asked[owner[asked] == row]
            if len(mine):
                rows = np.repeat(drawn[row][None], len(mine), axis=0)
                rows[np.arange(len(mine)), position[mine]] = candidate[mine]
                out[mine] = self.oracle.score(np.full(len(mine), problems[row]), rows)
        return out
