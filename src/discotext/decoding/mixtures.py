"""Mixtures of alternatives: the score of a network where each position holds a weighted mixture of its words.

The channel and n-gram models are extended multilinearly: each position draws its word from its weights, independently,
and the score is the mean, Σ over windows of Π α · term. That is a small tensor for each position, contracted with the
weights of the positions it looks at; the gradient leaves one of them out. Other models mix the vectors of words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from discotext.core.arrays import Choices, Floats, Ints
from discotext.core.problem import Batch
from discotext.decoding.network import Network
from discotext.language.model import MixtureModel, Token

FORBIDDEN = -1e4  # what −inf is in a mixture, where zero times infinity would be nothing
LETTERS = "abcdefghijklmnopqrstuvwxy"
Terms = Callable[[Ints, Ints, Choices], Floats]


class MixtureSum:
    """Scores mixtures of networks, with gradients.

    terms: of one position each, see `MarkovOracle`, looking at `order` positions. models: with their weights.
    """

    def __init__(
        self,
        networks: Sequence[Network],
        batch: Batch,
        terms: Terms,
        order: int,
        models: Sequence[tuple[float, MixtureModel]],
    ) -> None:
        self.batch, self.terms, self.order, self.models = batch, terms, order, list(models)
        self.exact = all(model.exact_at_vertices for _, model in models)
        self._tables: dict[int, list[Floats]] = {}
        tokens = [
            [[Token(network.gap(at), one.word) for one in row] for at, row in enumerate(network.positions)]
            for network in (networks if self.models else ())
        ]
        self._prepared: list[Any] = [model.prepare(tokens) for _, model in self.models]

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        """Scores (R,) and gradients of mixtures, as `RelaxedOracle.relaxed`."""
        scores, gradient = np.zeros(len(problems)), np.zeros(len(alpha))
        ends = np.cumsum(self.batch.widths[problems])
        for problem in np.unique(problems).tolist():
            rows = np.flatnonzero(problems == problem)
            width = int(self.batch.widths[problem])
            places = (ends[rows] - width)[:, None] + np.arange(width)
            scores[rows], gradient[places] = self._contract(problem, alpha[places])
        for (weight, model), prepared in zip(self.models, self._prepared, strict=True):
            found, slopes = model.relaxed(prepared, problems, alpha)
            scores += weight * found
            gradient += weight * slopes
        return scores, gradient

    def _contract(self, problem: int, alpha: Floats) -> tuple[Floats, Floats]:
        """The multilinear part of one problem. alpha: (R, its candidates). Returns (R,), and slopes like alpha."""
        counts = self.batch.counts[self.batch.first_position[problem] : self.batch.first_position[problem + 1]]
        ends = np.cumsum(counts)
        weights = [alpha[:, end - count : end] for count, end in zip(counts, ends, strict=True)]
        scores, slopes = np.zeros(len(alpha)), np.zeros(alpha.shape)
        for position, table in enumerate(self.tables(problem)):
            first = position + 1 - table.ndim
            held = weights[first : position + 1]
            for place in range(table.ndim):
                others = [one for at, one in enumerate(held) if at != place]
                found = np.einsum(spell(table.ndim, place), table, *others, optimize=True)
                at = first + place
                slopes[:, ends[at] - counts[at] : ends[at]] += found if found.ndim == 2 else found[None]
            scores += (held[-1] * (found if found.ndim == 2 else found[None])).sum(axis=1)
        return scores, slopes

    def tables(self, problem: int) -> list[Floats]:
        """The terms of each position of a problem, as a tensor with an axis for each position it looks at."""
        if problem not in self._tables:
            counts = self.batch[problem].counts
            self._tables[problem] = [
                self._tabulate(problem, position, counts[max(0, position + 1 - self.order) : position + 1])
                for position in range(len(counts))
            ]
        return self._tables[problem]

    def _tabulate(self, problem: int, position: int, shape: tuple[int, ...]) -> Floats:
        windows = np.indices(shape, dtype=np.int32).reshape(len(shape), -1).T
        # Before the start of a text there is nothing, which is 0.
        padded = np.zeros((len(windows), self.order), dtype=np.int32)
        padded[:, self.order - len(shape) :] = windows
        terms = self.terms(np.full(len(windows), problem), np.full(len(windows), position), padded)
        return np.asarray(np.maximum(terms, FORBIDDEN).reshape(shape))


@lru_cache(maxsize=64)
def spell(axes: int, kept: int) -> str:
    """How einsum contracts a tensor with the weights of all its axes but one; rows are the letter z.

    >>> spell(3, 1)
    'abc,za,zc->zb'
    """
    letters = LETTERS[:axes]
    others = "".join(f",z{letter}" for letter in letters if letter != letters[kept])
    return f"{letters}{others}->{'z' if others else ''}{letters[kept]}"
