"""Branch and bound: where an oracle bounds what a partial choice may become, most choices are ruled out unseen."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from discotext.core.arrays import Choices, Floats, Ints, ranges, rank_in_group
from discotext.core.oracle import BoundingOracle
from discotext.core.problem import Batch
from discotext.core.swaps import best_of_each
from discotext.search.solver import Proposal, Proposals

WIDTH = 64  # partial choices of each problem opened in one round


@dataclass(frozen=True)
class Nodes:
    """Partial choices: −1 marks an open position."""

    problems: Ints
    choices: Choices
    bounds: Floats

    def take(self, which: Ints) -> Nodes:
        return Nodes(self.problems[which], self.choices[which], self.bounds[which])

    def __add__(self, other: Nodes) -> Nodes:
        return Nodes(
            np.concatenate([self.problems, other.problems]),
            np.concatenate([self.choices, other.choices]),
            np.concatenate([self.bounds, other.bounds]),
        )


def branch_and_bound(batch: Batch, oracle: BoundingOracle, limit: int) -> Proposals:
    """For one change, then two, and so on: open the deepest partial choices first, and drop those that cannot win.

    Going by the number of changes, like enumeration, so that what reaches a goal first reaches it with the fewest; a
    level only looks at choices with exactly that many changes, and inherits the best score to beat.
    """
    everyone = np.arange(len(batch))
    best = oracle.score(everyone, batch.originals())
    opened: Ints = np.zeros(len(batch), dtype=np.int64)
    active = everyone
    for level in range(1, int(batch.budgets.max(initial=0)) + 1):
        active = yield from search_level(batch, oracle, active, level, best, opened, limit)
        done = active[(batch.budgets[active] <= level) & (opened[active] <= limit)]
        active = yield Proposal(done[:0], batch.originals()[:0], np.empty(0), proved=done, below=level + 1)
        # One whose nodes have run out has proved nothing, and goes no further.
        active = active[(opened[active] <= limit) & (batch.budgets[active] > level)]
        if not len(active):
            return


def search_level(
    batch: Batch, oracle: BoundingOracle, active: Ints, level: int, best: Floats, opened: Ints, limit: int
) -> Generator[Proposal, Ints, Ints]:
    """Branch and bound over choices with exactly `level` changes; best and opened go on from level to level."""
    # A position with nothing to choose is closed from the start.
    root = np.where(batch.dense_counts > 1, -1, 0).astype(np.int32)[active]
    nodes = Nodes(active, root, np.full(len(active), np.inf))
    while True:
        alive = np.isin(nodes.problems, active) & (nodes.bounds > best[nodes.problems])
        alive &= opened[nodes.problems] <= limit
        # What is open must suffice for the changes still missing.
        alive &= (nodes.choices != 0).sum(axis=1) >= level
        nodes = nodes.take(np.flatnonzero(alive))
        if not len(nodes.problems):
            return active
        chosen = pick_deepest(nodes)
        kept = np.ones(len(nodes.problems), dtype=bool)
        kept[chosen] = False
        np.add.at(opened, nodes.problems[chosen], 1)
        problems, choices = expand(batch, nodes.take(chosen), level)
        nodes = nodes.take(np.flatnonzero(kept))
        open_ = (choices < 0).any(axis=1)
        full = np.flatnonzero(~open_ & ((choices > 0).sum(axis=1) == level))
        if len(full):
            scores = oracle.score(problems[full], choices[full])
            order = np.argsort(problems[full], kind="stable")
            top = order[best_of_each(problems[full][order], scores[order])]
            np.maximum.at(best, problems[full], scores)
            active = yield Proposal(problems[full][top], choices[full][top], scores[top], below=level)
        rows = np.flatnonzero(open_)
        if len(rows):
            remaining = level - (choices[rows] > 0).sum(axis=1)
            bounds = oracle.bound(problems[rows], choices[rows], remaining)
            nodes = nodes + Nodes(problems[rows], choices[rows], bounds)


def pick_deepest(nodes: Nodes) -> Ints:
    """Of each problem, the nodes with fewest open positions, the most promising first among equals."""
    depth = -(nodes.choices < 0).sum(axis=1)
    order = np.lexsort((-nodes.bounds, -depth, nodes.problems))
    return np.asarray(order[rank_in_group(nodes.problems[order]) < WIDTH])


def expand(batch: Batch, nodes: Nodes, level: int) -> tuple[Ints, Choices]:
    """Every way to close the first open position of each node with at most `level` changes."""
    first = (nodes.choices < 0).argmax(axis=1)
    room = (nodes.choices > 0).sum(axis=1) < level
    options = np.where(room, batch.dense_counts[nodes.problems, first], 1)
    rows = np.repeat(np.arange(len(first)), options)
    choices = nodes.choices[rows]
    choices[np.arange(len(rows)), first[rows]] = ranges(np.zeros_like(options), options)
    problems = nodes.problems[rows]
    if batch.costs is not None:
        # Open positions cost nothing yet.
        kept = batch.take(problems).room(np.maximum(choices, 0)) >= 0
        problems, choices = problems[kept], choices[kept]
    return problems, choices
