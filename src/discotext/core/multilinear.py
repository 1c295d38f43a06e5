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

from discotext.core.arrays import Choices, Floats, Ints
from discotext.core.oracle import Oracle, Request
from discotext.core.problem import Batch
from discotext.core.sampling import draw
from discotext.core.swaps import all_swaps, score_swaps
from discotext.core.wrappers import Chunked


class Multilinear:
    """A relaxed view of any oracle, paid for in forwards.

    draws: texts drawn from each mixture.
    """

    exact_at_vertices = True

    def __init__(self, oracle: Oracle, batch: Batch, *, draws: int = 1, seed: int = 0) -> None:
        if draws < 1:
            raise ValueError(f"draws is {draws}, but a gradient needs at least 1 draw; choose 1 or more")
        # What it asks in one go is far more than it was asked.
        self.oracle, self.batch, self.draws = Chunked(oracle, batch), batch, draws
        self._rng = np.random.default_rng(seed)

    def score(self, problems: Ints, choices: Choices) -> Floats:
        return self.oracle.score(problems, choices)

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        layout = self.batch.take(problems)
        scores, gradient = np.zeros(len(problems)), np.zeros(len(alpha))
        swaps = all_swaps(layout)
        for _ in range(self.draws):
            drawn = draw(layout, alpha, self._rng)
            at_draw = np.asarray(self.oracle.score(problems, drawn))
            scores += at_draw / self.draws
            swapped = at_draw[layout.row_of]
            new = swaps.candidates != drawn[swaps.rows, swaps.positions]
            swapped[new] = score_swaps(self.oracle, problems, drawn, swaps.take(new))
            gradient += swapped / self.draws
        return scores, gradient

    def cost(self, request: Request) -> tuple[Ints, Ints]:
        """Forwards and backwards of each row: a gradient is paid for in forwards."""
        swaps = self.batch.widths[request.problems] - self.batch.sizes[request.problems]
        forwards = self.draws * (1 + swaps) if request.kind == "relaxed" else np.ones_like(swaps)
        return forwards, np.zeros_like(swaps)
