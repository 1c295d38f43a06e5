"""Problems with a known optimum, to measure solvers on.

Random networks over random word vectors: small enough to enumerate, and hard enough that greedy often misses the
optimum. Each network is a problem; all are scored together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from discotext.core.arrays import Choices, Floats, Ints
from discotext.core.problem import Batch, Problem


class RandomNetworks:
    """One network per seed: concatenated vectors, two hidden layers, one output; weights N(0, scale² / fan-in).

    `networks.batch` has one problem per seed.

    >>> networks = RandomNetworks([0, 1])
    >>> networks.batch[0].feasible_choices
    15185
    """

    exact_at_vertices = True

    def __init__(
        self,
        seeds: Sequence[int],
        *,
        positions: int = 12,
        candidates: int = 5,
        budget: int = 3,
        dimensions: int = 8,
        hidden: int = 64,
        activation: Literal["relu", "tanh"] = "relu",
        scale: float = 1.0,
    ) -> None:
        self.batch = Batch.of([Problem((candidates,) * positions, budget)] * len(seeds))
        self.activation = activation
        inputs = positions * dimensions
        self._vectors = np.empty((len(seeds), positions, candidates, dimensions))
        self._first = np.empty((len(seeds), inputs, hidden))
        self._second = np.empty((len(seeds), hidden, hidden))
        self._last = np.empty((len(seeds), hidden))
        for index, seed in enumerate(seeds):
            rng = np.random.default_rng(seed)
            self._vectors[index] = rng.normal(size=self._vectors.shape[1:])
            self._first[index] = rng.normal(size=(inputs, hidden)) * scale / np.sqrt(inputs)
            self._second[index] = rng.normal(size=(hidden, hidden)) * scale / np.sqrt(hidden)
            self._last[index] = rng.normal(size=hidden) * scale / np.sqrt(hidden)

    def score(self, problems: Ints, choices: Choices) -> Floats:
        vectors = self._vectors[problems[:, None], np.arange(self._vectors.shape[1]), choices]
        return self._run(problems, vectors.reshape(len(problems), -1))[0]

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        vectors = self._vectors[problems]
        weights = alpha.reshape(vectors.shape[:3])
        mixed = np.einsum("rik,rikd->rid", weights, vectors)
        scores, gradients = self._run(problems, mixed.reshape(len(problems), -1))
        return scores, np.einsum("rid,rikd->rik", gradients.reshape(mixed.shape), vectors).reshape(-1)

    def _run(self, problems: Ints, inputs: Floats) -> tuple[Floats, Floats]:
        """Return scores (R,) and their gradients in the inputs (R, inputs), network by network."""
        scores, gradients = np.empty(len(problems)), np.empty_like(inputs)
        order = np.argsort(problems, kind="stable")
        starts = np.flatnonzero(np.diff(problems[order], prepend=-1))
        for rows in np.split(order, starts[1:]) if len(order) else []:
            network = problems[rows[0]]
            first, gradient_first = self._activate(inputs[rows] @ self._first[network])
            second, gradient_second = self._activate(first @ self._second[network])
            scores[rows] = second @ self._last[network]
            back = (self._last[network] * gradient_second) @ self._second[network].T
            gradients[rows] = (back * gradient_first) @ self._first[network].T
        return scores, gradients

    def _activate(self, values: Floats) -> tuple[Floats, Floats]:
        if self.activation == "relu":
            return np.maximum(values, 0.0), (values > 0).astype(np.float64)
        out = np.tanh(values)
        return out, 1.0 - out**2
