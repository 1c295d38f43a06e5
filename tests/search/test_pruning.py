"""Pruning keeps the goal and few changes."""

import numpy as np

from discotext import Batch, Problem
from discotext.core.problem import count_changes
from discotext.core.wrappers import Counted
from discotext.search import Search
from discotext.search.pruning import Kept, prune
from discotext.search.solver import DEFAULT


class Additive:
    """Each candidate adds its own worth; the slope says nothing about which."""

    exact_at_vertices = True

    def __init__(self, batch: Batch, seed: int) -> None:
        self.batch, self.worth = batch, np.random.default_rng(seed).exponential(size=batch.candidates)
        self.worth[batch.starts] = 0.0

    def score(self, problems, choices):
        layout = self.batch.take(problems)
        worth = self.worth[self.batch.flat_rows(problems)][layout.chosen(choices)]
        return np.bincount(layout.problem_of_position, weights=worth, minlength=len(problems))

    def relaxed(self, problems, alpha):
        return np.zeros(len(problems)), np.zeros(len(alpha))


def test_rebuilding_finds_the_fewest_changes_where_gains_add_up():
    batch = Batch.of([Problem((4,) * 12, 12) for _ in range(30)])
    oracle = Additive(batch, seed=0)
    everyone = np.arange(len(batch))
    best = np.sort(oracle.worth.reshape(len(batch), 12, 4).max(axis=2), axis=1)[:, ::-1]
    goal = 5.0
    fewest = 1 + (np.cumsum(best, axis=1) < goal).sum(axis=1)
    assert fewest.max() < 12
    words = {}
    for thorough in (False, True):
        choices = np.full((len(batch), 12), 3, dtype=np.int32)
        scores = oracle.score(everyone, choices)
        possible = np.flatnonzero(scores >= goal)
        kept = Kept(
            possible, choices[possible], scores[possible], np.full(len(possible), goal), scores[possible] < goal
        )
        counted = Counted(oracle, batch)
        found, reached = prune(batch, counted, kept, Search.of(counted), DEFAULT, gradients=True, thorough=thorough)
        assert (reached >= goal).all()
        words[thorough] = count_changes(found)
    np.testing.assert_array_equal(words[True], fewest[possible])
    assert words[False].sum() > words[True].sum()
