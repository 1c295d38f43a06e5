"""Exact search: the answer is a proof.

Enumeration goes by the number of changes, so the first choice to reach a goal reaches it with the fewest. Where the
oracle can bound what a partial choice may still become, branch and bound rules out most choices unseen.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from discotext.oracle import BoundingOracle, Oracle, can
from discotext.problem import Batch, Problem
from discotext.segments import Choices, Floats, Ints, ranges, rank_in_group
from discotext.solvers.proposal import Proposal, Proposals
from discotext.swaps import BLOCK, best_of_each, blocks


@dataclass(frozen=True)
class Exact:
    """Find the best choice and prove it.

    limit: the most choices of one problem to enumerate; more are refused before any work. With bounds, the most partial
        choices to open; a problem that needs more ends without proof.
    bounds: use the oracle's bounds where it has them.
    """

    needs: ClassVar[type] = Oracle
    limit: int = 10_000_000
    bounds: bool = True

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise ValueError(f"limit is {self.limit}; choose 1 or more")

    def refuse(self, batch: Batch, oracle: Oracle) -> None:
        """Raise if a problem is too large to enumerate."""
        if self.bounds and can(oracle, BoundingOracle):
            return
        for index in range(len(batch)):
            problem = batch[index]
            if not problem.has_at_most(self.limit):
                raise ValueError(
                    f"problem {index} has {how_many(problem)} choices within its budget of {problem.budget}, "
                    f"more than the {self.limit:,} that Exact enumerates; lower the budget, raise Exact(limit=…), or "
                    "use Beam() or, with gradients, Disco(effort='high')"
                )

    def propose(self, batch: Batch, oracle: Oracle, rng: np.random.Generator) -> Proposals:
        if self.bounds and can(oracle, BoundingOracle):
            return branch_and_bound(batch, oracle, self.limit)  # type: ignore[arg-type]
        return enumerate_levels(batch, oracle)


def how_many(problem: Problem) -> str:
    """The number of feasible choices for a reader: in full while that can be read, as a power of ten beyond."""
    if problem.has_at_most(10**15):
        return f"{problem.feasible_choices:,}"
    by_changes, exponent = np.zeros(problem.budget + 1), 0.0
    by_changes[0] = 1.0
    for count in problem.counts:
        by_changes[1:] += by_changes[:-1] * (count - 1)
        size = by_changes.max()
        by_changes, exponent = by_changes / size, exponent + math.log10(size)
    return f"about 10^{exponent + math.log10(by_changes.sum()):.0f}"


def enumerate_levels(batch: Batch, oracle: Oracle) -> Proposals:
    """Score everything with one change, then everything with two, and so on."""
    active = np.arange(len(batch))
    for changes in range(1, int(batch.budgets.max(initial=0)) + 1):
        for problems, choices in level_rows(batch, active[batch.budgets[active] >= changes], changes):
            # Who left while this level went on is not asked about any more.
            going = np.isin(problems, active)
            problems, choices = problems[going], choices[going]
            if not len(problems):
                continue
            scores = oracle.score(problems, choices)
            best = best_of_each(problems, scores)
            active = yield Proposal(problems[best], choices[best], scores[best], below=changes)
        done = active[batch.budgets[active] <= changes]
        active = yield Proposal(done[:0], batch.originals()[:0], np.empty(0), proved=done, below=changes + 1)
        if not len(active):
            return


def level_rows(batch: Batch, problems: Ints, changes: int) -> Iterator[tuple[Ints, Choices]]:
    """All choices with exactly this many changes, in blocks of bounded size, problems in order."""
    numbers: list[Ints] = []
    rows: list[Choices] = []
    size = 0
    for problem in problems.tolist():
        for part in exactly(batch[problem], changes):
            wide = np.zeros((len(part), batch.n_max), dtype=np.int32)
            wide[:, : part.shape[1]] = part
            numbers.append(np.full(len(part), problem))
            rows.append(wide)
            size += wide.size
            if size >= BLOCK:
                yield np.concatenate(numbers), np.concatenate(rows)
                numbers, rows, size = [], [], 0
    if rows:
        yield np.concatenate(numbers), np.concatenate(rows)


def exactly(problem: Problem, changes: int) -> Iterator[Choices]:
    """Every choice of a problem with exactly this many changes, one set of positions after the other, in blocks."""
    changeable = [position for position, count in enumerate(problem.counts) if count > 1]
    for positions in combinations(changeable, changes):
        shape = [problem.counts[position] - 1 for position in positions]
        for block in blocks(math.prod(shape), len(problem)):
            rows = np.zeros((len(block), len(problem)), dtype=np.int32)
            rows[:, list(positions)] = np.stack(np.unravel_index(block, shape), axis=1) + 1
            yield rows


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
        active = yield from one_level(batch, oracle, active, level, best, opened, limit)
        done = active[(batch.budgets[active] <= level) & (opened[active] <= limit)]
        active = yield Proposal(done[:0], batch.originals()[:0], np.empty(0), proved=done, below=level + 1)
        # One whose nodes have run out has proved nothing, and goes no further.
        active = active[(opened[active] <= limit) & (batch.budgets[active] > level)]
        if not len(active):
            return


def one_level(
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
        chosen = deepest(nodes)
        kept = np.ones(len(nodes.problems), dtype=bool)
        kept[chosen] = False
        np.add.at(opened, nodes.problems[chosen], 1)
        problems, choices = children(batch, nodes.take(chosen), level)
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


def deepest(nodes: Nodes) -> Ints:
    """Of each problem, the nodes with fewest open positions, the most promising first among equals."""
    depth = -(nodes.choices < 0).sum(axis=1)
    order = np.lexsort((-nodes.bounds, -depth, nodes.problems))
    return np.asarray(order[rank_in_group(nodes.problems[order]) < WIDTH])


def children(batch: Batch, nodes: Nodes, level: int) -> tuple[Ints, Choices]:
    """Every way to close the first open position of each node with at most `level` changes."""
    first = (nodes.choices < 0).argmax(axis=1)
    room = (nodes.choices > 0).sum(axis=1) < level
    options = np.where(room, batch.dense_counts[nodes.problems, first], 1)
    rows = np.repeat(np.arange(len(first)), options)
    choices = nodes.choices[rows]
    choices[np.arange(len(rows)), first[rows]] = ranges(np.zeros_like(options), options)
    return nodes.problems[rows], choices
