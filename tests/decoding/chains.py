"""Oracles whose scores are sums along a text, for the solvers that need that."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from discotext import Batch
from tests.conftest import feasible, problems


class Chain:
    """A random oracle that goes from left to right. Tables are looked up one row at a time.

    forbidden: the share of gains that are −inf; those of the originals alone are always finite.
    keys: whether prefixes that agree in what later gains look at are told to have equal futures.
    """

    sequential = True

    def __init__(self, batch: Batch, order: int, seed: int = 0, *, forbidden: float = 0.0, keys: bool = True) -> None:
        rng = np.random.default_rng(seed)
        self.batch, self.order, self.keys = batch, order, keys
        self.tables = []
        for problem in range(len(batch)):
            counts = (1,) * (order - 1) + batch[problem].counts
            tables = []
            for position in range(len(batch[problem])):
                table = rng.normal(size=counts[position : position + order])
                hidden = rng.random(table.shape) < forbidden
                hidden.flat[0] = False
                tables.append(np.where(hidden, -np.inf, table))
            self.tables.append(tables)

    def score(self, problems, choices):
        totals = []
        for problem, choice in zip(problems.tolist(), choices.tolist(), strict=True):
            padded = [0] * (self.order - 1) + choice
            windows = [padded[at : at + self.order] for at in range(len(self.tables[problem]))]
            totals.append(sum(t[tuple(w)] for t, w in zip(self.tables[problem], windows, strict=True)))
        return np.array(totals, dtype=float)

    def start(self, problems):
        return [(problem, (0,) * (self.order - 1)) for problem in problems.tolist()]

    def extend(self, states, parents, position, candidates):
        new, gains = [], []
        for parent, candidate in zip(parents.tolist(), candidates.tolist(), strict=True):
            problem, history = states[parent]
            longer = (*history, candidate)
            gains.append(self.tables[problem][position][longer[len(longer) - self.order :]])
            new.append((problem, longer))
        return new, np.array(gains, dtype=float)

    def recombine(self, states):
        ids = {}
        seen = [(problem, history[len(history) - self.order + 1 :]) for problem, history in states]
        return np.array([ids.setdefault(one, len(ids)) for one in seen], dtype=int) if self.keys else None

    def all_scores(self, index: int) -> dict[tuple[int, ...], float]:
        """Every choice within the budget, with its score."""
        choices = feasible(self.batch[index])
        return {
            choice: float(self.score(np.array([index]), np.array([choice]).reshape(1, -1))[0]) for choice in choices
        }


@st.composite
def chains(draw) -> Chain:
    """Any small chain: several problems, any order, with and without forbidden candidates."""
    batch = Batch.of(draw(st.lists(problems(), min_size=1, max_size=3)))
    forbidden = draw(st.sampled_from([0.0, 0.3]))
    return Chain(batch, draw(st.integers(1, 4)), draw(st.integers(0, 1000)), forbidden=forbidden)
