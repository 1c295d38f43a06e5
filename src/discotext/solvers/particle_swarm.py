"""The particle swarm search of Zang et al. (2020), for comparison.

Each text has a swarm. A particle is a choice with a speed at each position; in each iteration it takes words of the
best choice that it has met, and of the best that the swarm has met, at positions drawn by their speeds. Early on it
looks more to itself, later more to the swarm. Now and then a word is exchanged at random, the more rarely the more
words are changed already. Differences from the paper: the candidates are those of the problem, the words to exchange
are drawn without scoring all of them first, and a particle with more changes than the budget allows loses some at
random.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discotext.core.arrays import Choices, Floats
from discotext.core.oracle import Oracle
from discotext.core.problem import Batch, count_changes
from discotext.core.sampling import Streams
from discotext.search.population import mutate, repair
from discotext.search.solver import Proposal, Proposals, Search, Solver

# In the first iteration and in the last: how much of its speed a particle keeps, and how probably it moves to its own
# best; to the swarm's best, the same the other way round.
INERTIA = 0.8, 0.2
MOVING = 0.8, 0.2
FASTEST = 3.0
RARER = 2.0  # how fast mutations become rarer with the share of words that are changed


@dataclass(frozen=True)
class ParticleSwarm(Solver):
    """Move many choices towards the best that each, and all together, have met.

    population: particles of each text. iterations: after the first, whose particles have one change each.
    (60 and 20 are the paper's settings.)

    At most `population` forwards are spent in each iteration, in one call for all texts.
    """

    population: int = 60
    iterations: int = 20

    def __post_init__(self) -> None:
        for name, value, least in (("population", self.population, 1), ("iterations", self.iterations, 0)):
            if value < least:
                raise ValueError(f"{name} is {value}; choose {least} or more")

    def expect_passes(self, batch: Batch, gradients: bool) -> Floats:
        return np.full(len(batch), float(self.population * (self.iterations + 1)))

    def propose(self, batch: Batch, oracle: Oracle, search: Search) -> Proposals:
        streams, active, count = Streams(batch, search.rng), np.arange(len(batch)), self.population
        if not len(active):
            return
        places = np.zeros((len(batch), count, batch.n_max), dtype=np.int32)
        places[:] = mutate(batch, streams, active, places, 1)[1].reshape(places.shape)
        speeds = FASTEST * (2 * streams.draw_positions(active, count) - 1)
        own, own_scores = places.copy(), np.full((len(batch), count), -np.inf)
        for iteration in range(self.iterations + 1):
            if iteration:
                leaders = own[active, own_scores[active].argmax(axis=1)][:, None]
                time = iteration / self.iterations
                keep = INERTIA[0] + time * (INERTIA[1] - INERTIA[0])
                speeds[active] = accelerate(speeds[active], places[active], own[active], leaders, keep)
                # From its own best to the swarm's.
                moved, towards = places[active], MOVING[0] + time * (MOVING[1] - MOVING[0])
                chances = 1 / (1 + np.exp(-speeds[active]))
                for goal, likely in ((own[active], towards), (leaders, sum(MOVING) - towards)):
                    moving = streams.draw(active, count)[..., None] < likely
                    moved = np.where(moving & (streams.draw_positions(active, count) < chances), goal, moved)
                moved = repair(batch, active, moved, streams.draw_positions(active, count))
                mutants = mutate(batch, streams, active, moved, 1)[1].reshape(moved.shape)
                changed = count_changes(moved.reshape(-1, batch.n_max)).reshape(moved.shape[:2])
                rare = 1 - RARER * changed / batch.sizes[active][:, None]
                places[active] = np.where((streams.draw(active, count) < rare)[..., None], mutants, moved)
            rows = np.repeat(active, count)
            here = places[active].reshape(len(rows), -1)
            found = oracle.score(rows, here)
            scores = found.reshape(-1, count)
            better = scores > own_scores[active]
            own[active] = np.where(better[..., None], places[active], own[active])
            own_scores[active] = np.where(better, scores, own_scores[active])
            active = yield Proposal(rows, here, found)
            if not len(active):
                return


def accelerate(speeds: Floats, places: Choices, own: Choices, leaders: Choices, keep: float) -> Floats:
    """The speeds (R, M, n_max) after an iteration: up where a particle differs from the best, else down."""
    pull = np.where(own != places, FASTEST, -FASTEST) + np.where(leaders != places, FASTEST, -FASTEST)
    return np.clip(keep * speeds + (1 - keep) * pull, -FASTEST, FASTEST)
