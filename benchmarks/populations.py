"""Searches with a population, to compare with: the genetic search of Alzantot et al. and the swarm of Zang et al.

They are no part of the package: `benchmarks.queries` runs them as any custom solver is run. Arrays are (R, M, n_max):
problems, members, positions. Random numbers come from a stream of each problem's own, so that a problem finds the same
in any company.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discotext.core.arrays import Choices, Floats, Ints
from discotext.core.oracle import Oracle
from discotext.core.problem import Batch, count_changes
from discotext.core.swaps import best_of_each
from discotext.search.solver import Proposal, Proposals, Search, Solver

# Of a swarm, in the first iteration and in the last: how much of its speed a particle keeps, and how probably it moves
# to its own best; to the swarm's best, the same the other way round.
INERTIA = 0.8, 0.2
MOVING = 0.8, 0.2
FASTEST = 3.0
RARER = 2.0  # how fast mutations become rarer with the share of words that are changed


@dataclass(frozen=True)
class Genetic(Solver):
    """The genetic search of Alzantot et al. (2018).

    Each text has a population. In each generation the best member stays; the others are children of two parents that
    are drawn by score, take each word from one of the two, and have one more word exchanged. Differences from the
    paper: the candidates are those of the problem; parents are drawn by scores in units of their spread in the
    population, because scores have no scale of their own; and a child with more changes than the budget allows loses
    some at random.

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


@dataclass(frozen=True)
class ParticleSwarm(Solver):
    """The particle swarm search of Zang et al. (2020).

    Each text has a swarm. A particle is a choice with a speed at each position; in each iteration it takes words of the
    best choice that it has met, and of the best that the swarm has met, at positions drawn by their speeds. Early on it
    looks more to itself, later more to the swarm. Now and then a word is exchanged at random, the more rarely the more
    words are changed already. Differences from the paper: the candidates are those of the problem, the words to
    exchange are drawn without scoring all of them first, and a particle with more changes than the budget allows loses
    some at random.

    population: particles of each text. iterations: after the first, whose particles have one change each.
    (60 and 20 are the paper's settings.)

    At most `population` forwards are spent in each iteration, in one call for all texts.
    """

    population: int = 60
    iterations: int = 20

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


def pick(weights: Floats, uniform: Floats) -> Ints:
    """(R, M) numbers drawn with probabilities proportional to weights (R, W); all alike where no weight is positive.

    >>> pick(np.array([[1.0, 0.0, 3.0]]), np.array([[0.1, 0.3, 0.9]]))
    array([[0, 2, 2]])
    """
    total = weights.sum(axis=1, keepdims=True)
    shares = np.where(total > 0, weights, 1.0)
    ends = np.cumsum(shares, axis=1)
    targets = uniform * ends[:, -1:]
    found = [np.searchsorted(row, wanted, side="right") for row, wanted in zip(ends, targets, strict=True)]
    return np.asarray(np.minimum(np.stack(found), weights.shape[1] - 1))


def repair(batch: Batch, problems: Ints, members: Choices, keys: Floats) -> Choices:
    """(R, M, n_max) the members with changes undone, of the largest keys first, until all are within budget."""
    rows = np.repeat(problems, members.shape[1])
    flat = keep_first(batch.take(rows), members.reshape(len(rows), -1), keys.reshape(len(rows), -1))
    return flat.reshape(members.shape)


def mutate(batch: Batch, streams: Streams, problems: Ints, members: Choices, tries: int) -> tuple[Ints, Choices]:
    """Put another candidate at one random position of each member, `tries` candidates in turn where there are so many.

    A position is drawn with a probability proportional to its candidates. Other changes are undone at random where the
    budget asks for it. Returns (S,) which member, counted through all problems, each result comes from, in order, and
    (S, n_max) the results.
    """
    count = members.shape[1]
    options = np.maximum(batch.dense_counts[problems] - 1, 0)
    positions = pick(options.astype(np.float64), streams.draw(problems, count)).ravel()
    there = np.take_along_axis(options, positions.reshape(len(problems), count), axis=1).ravel()
    first = np.floor(streams.draw(problems, count).ravel() * there).astype(np.int64)
    keys = streams.draw_positions(problems, count).reshape(len(positions), -1)
    # The new change is the last to be undone.
    keys[np.arange(len(positions)), positions] = -1.0
    copies = np.clip(there, 1, tries)
    which = np.repeat(np.arange(len(positions)), copies)
    turn = np.arange(len(which)) - np.repeat(np.cumsum(copies) - copies, copies)
    mutants = members.reshape(len(positions), -1)[which]
    candidates = np.where(there[which] > 0, 1 + (first[which] + turn) % np.maximum(there[which], 1), 0)
    mutants[np.arange(len(which)), positions[which]] = candidates
    return which, keep_first(batch.take(problems[which // count]), mutants, keys[which])


def keep_first(layout: Batch, choices: Choices, keys: Floats) -> Choices:
    """Undo changes, those with the largest keys first, until each row keeps its budget.

    choices, keys: (R, n_max or more), a key for each position.

    >>> from discotext.core.problem import Problem
    >>> layout = Batch.of([Problem((3, 2, 2), budget=2)])
    >>> keep_first(layout, np.array([[2, 1, 1]], dtype=np.int32), np.array([[0.5, 0.9, 0.1]]))
    array([[2, 0, 1]], dtype=int32)
    """
    width = layout.n_max
    changed = choices[:, :width] != 0
    order = np.argsort(np.where(changed, keys[:, :width], np.inf), axis=1, kind="stable")
    kept = np.zeros(changed.shape, dtype=bool)
    np.put_along_axis(kept, order, np.arange(width) < layout.budgets[:, None], axis=1)
    out = np.zeros_like(choices)
    out[:, :width] = np.where(kept & changed, choices[:, :width], 0)
    return out


class Streams:
    """A stream of random numbers for each problem: what one draws does not depend on the others in its batch.

    All come from one seed, drawn from rng; a problem's own shape, and not its number in the batch, tells them apart.
    """

    def __init__(self, batch: Batch, rng: np.random.Generator) -> None:
        seed = int(rng.integers(2**62))
        self.sizes, self.width = batch.sizes.tolist(), batch.n_max
        counts = np.split(batch.counts, batch.first_position[1:-1])
        self._generators = [
            np.random.default_rng([seed, budget, *own.tolist()])
            for budget, own in zip(batch.budgets.tolist(), counts, strict=False)
        ]

    def draw(self, problems: Ints, members: int) -> Floats:
        """(R, members) uniform numbers."""
        return np.stack([self._generators[problem].random(members) for problem in problems.tolist()])

    def draw_positions(self, problems: Ints, members: int) -> Floats:
        """(R, members, n_max) uniform numbers, one for each position; 0 beyond a problem's end."""
        out = np.zeros((len(problems), members, self.width))
        for row, problem in enumerate(problems.tolist()):
            size = self.sizes[problem]
            out[row, :, :size] = self._generators[problem].random((members, size))
        return out
