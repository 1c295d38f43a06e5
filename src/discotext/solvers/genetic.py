"""The genetic search of Alzantot et al. (2018), for comparison.

Each text has a population. In each generation the best member stays; the others are children of two parents that are
drawn by score, take each word from one of the two, and have one more word exchanged. Differences from the paper: the
candidates are those of the problem; parents are drawn by scores in units of their spread in the population, because
scores have no scale of their own; and a child with more changes than the budget allows loses some at random.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discotext.core.arrays import Choices, Floats, Ints
from discotext.core.oracle import Oracle
from discotext.core.problem import Batch
from discotext.core.sampling import Streams
from discotext.core.swaps import best_of_each
from discotext.search.population import mutate, pick
from discotext.search.solver import Proposal, Proposals, Search, Solver


@dataclass(frozen=True)
class Genetic(Solver):
    """Breed choices: parents drawn by score, children that mix them, one random position exchanged in each.

    population: members of each text. generations: after the first, whose members have one change each. (60 and 20
        are the paper's settings.)
    tries: candidates that a mutation scores, of which it keeps the best.
    temperature: of the softmax by which parents are drawn, in standard deviations of the population's scores.

    At most population · tries forwards are spent in each generation, in one call for all texts.
    """

    population: int = 60
    generations: int = 20
    tries: int = 4
    temperature: float = 1.0

    def __post_init__(self) -> None:
        for name, value, least in (
            ("population", self.population, 2),
            ("generations", self.generations, 0),
            ("tries", self.tries, 1),
        ):
            if value < least:
                raise ValueError(f"{name} is {value}; choose {least} or more")
        if not self.temperature > 0:
            raise ValueError(f"temperature is {self.temperature}; choose a number above 0, for instance 1.0")

    def expect_passes(self, batch: Batch, gradients: bool) -> Floats:
        return np.full(len(batch), float(self.population * self.tries * (self.generations + 1)))

    def propose(self, batch: Batch, oracle: Oracle, search: Search) -> Proposals:
        streams, active = Streams(batch, search.rng), np.arange(len(batch))
        members = np.zeros((len(batch), self.population, batch.n_max), dtype=np.int32)
        scores = np.zeros((len(batch), self.population))
        for generation in range(self.generations + 1):
            if not len(active):
                return
            if generation:
                # The best member stays, as the first; children take the places of all others.
                elite = scores[active].argmax(axis=1)
                children = self._breed(streams, active, members[active], scores[active])
                members[active, 0], scores[active, 0] = members[active, elite], scores[active, elite]
            else:
                children = members[active]
            which, mutants = mutate(batch, streams, active, children, self.tries)
            born = active[which // children.shape[1]]
            found = oracle.score(born, mutants)
            best = best_of_each(which, found)
            first = self.population - children.shape[1]
            members[active, first:] = mutants[best].reshape(children.shape)
            scores[active, first:] = found[best].reshape(children.shape[:2])
            active = yield Proposal(born, mutants, found)

    def _breed(self, streams: Streams, problems: Ints, members: Choices, scores: Floats) -> Choices:
        """(R, population − 1, n_max) children of two parents each."""
        weights, count = weigh(scores, self.temperature), self.population - 1
        rows = np.arange(len(problems))[:, None]
        mothers, fathers = (members[rows, pick(weights, streams.draw(problems, count))] for _ in range(2))
        return np.where(streams.draw_positions(problems, count) < 0.5, mothers, fathers)


def weigh(scores: Floats, temperature: float) -> Floats:
    """(R, M) the softmax of each row of scores, in units of the row's standard deviation; 0 for what is not finite.

    >>> weigh(np.array([[1.0, 1.0, -np.inf]]), 1.0)
    array([[1., 1., 0.]])
    """
    finite = np.isfinite(scores)
    number = np.maximum(finite.sum(axis=1, keepdims=True), 1)
    known = np.where(finite, scores, 0.0)
    centred = np.where(finite, known - known.sum(axis=1, keepdims=True) / number, 0.0)
    spread = np.sqrt((centred**2).sum(axis=1, keepdims=True) / number)
    scaled = np.divide(centred, spread * temperature, out=np.zeros_like(centred), where=spread > 0)
    return np.where(finite, np.exp(scaled - scaled.max(axis=1, keepdims=True, initial=0.0, where=finite)), 0.0)
