"""Exact search: the answer is a proof.

Where the oracle has bounds, most choices need not be scored (`branch_and_bound`). Else every choice is scored, by the
number of changes: the first choice to reach a goal then reaches it with the fewest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discotext.core.arrays import Choices, Ints
from discotext.core.oracle import BoundingOracle, Oracle, can
from discotext.core.problem import Batch, Problem
from discotext.core.swaps import BLOCK, best_of_each, blocks
from discotext.search.solver import Proposal, Proposals, Search, Solver, is_active


@dataclass(frozen=True)
class Exact(Solver):
    """Find the best choice and prove it: by enumeration, or by branch and bound where the oracle has bounds.

    limit: the most choices of one problem to enumerate; a larger problem is refused before any work. Not with bounds.
    passes: what may be spent on each problem, forwards and bounds together. Then no problem is refused; one that needs
        more ends without a proof, and `Solution.proved_below` says up to which number of changes there is one.
    bounds: use the oracle's bounds where it has them.
    """

    limit: int = 10_000_000
    passes: int | None = None
    bounds: bool = True

    def __post_init__(self) -> None:
        for name, value in (("limit", self.limit), ("passes", self.passes)):
            if value is not None and value < 1:
                raise ValueError(f"{name} is {value}; choose 1 or more")

    def refuse(self, batch: Batch, oracle: Oracle) -> None:
        if self.passes is not None or (self.bounds and can(oracle, BoundingOracle)):
            return
        for index in range(len(batch)):
            problem = batch[index]
            if not problem.has_at_most(self.limit):
                raise ValueError(
                    f"problem {index} has more choices within its budget of {problem.budget} than the {self.limit:,} "
                    "that exact search enumerates; lower the budget, or use the solver "
                    "beam or, with gradients, disco-high (in Python, Exact(limit=…) enumerates more)"
                )

    def propose(self, batch: Batch, oracle: Oracle, search: Search) -> Proposals:
        if self.bounds and can(oracle, BoundingOracle):
            # Imported here, because few searches have bounds.
            from discotext.search.branch_and_bound import branch_and_bound

            return branch_and_bound(batch, oracle, search, self.passes)  # type: ignore[arg-type]
        return enumerate_levels(batch, oracle, np.arange(len(batch)), search, self.passes)


def enumerate_levels(
    batch: Batch, oracle: Oracle, problems: Ints, search: Search | None = None, passes: int | None = None
) -> Proposals:
    """Score everything with one change, then everything with two, and so on. problems: in increasing order.

    passes: what may be spent on each problem; a level that does not fit into the rest is not begun.
    """
    active = problems
    sizes = None if passes is None else [batch[problem].count_by_changes() for problem in problems.tolist()]
    for changes in range(1, int(batch.budgets[problems].max(initial=0)) + 1):
        if sizes is not None and search is not None and passes is not None:
            level = np.array([sizes[at][changes] for at in np.searchsorted(problems, active).tolist()])
            active = active[search.spent(active) + level <= passes]
        for rows, choices in level_rows(batch, active[batch.budgets[active] >= changes], changes):
            # A problem that left while this level went on is not asked about any more.
            going = is_active(rows, active)
            rows, choices = rows[going], choices[going]
            if not len(rows):
                continue
            scores = oracle.score(rows, choices)
            best = best_of_each(rows, scores)
            received = yield Proposal(rows[best], choices[best], scores[best], proved_below=changes)
            active = active[is_active(active, received)]
        done = active[batch.budgets[active] <= changes]
        received = yield Proposal(done[:0], batch.originals()[:0], np.empty(0), proved=done, proved_below=changes + 1)
        active = active[is_active(active, received) & (batch.budgets[active] > changes)]
        if not len(active):
            return
        below = np.zeros(len(batch), dtype=np.int64)
        below[active] = changes + 1
        received = yield Proposal(active[:0], batch.originals()[:0], np.empty(0), proved_below=below)
        active = active[is_active(active, received)]


def level_rows(batch: Batch, problems: Ints, changes: int) -> Iterator[tuple[Ints, Choices]]:
    """All choices with exactly this many changes, in blocks of bounded size, problems in order."""
    numbers: list[Ints] = []
    rows: list[Choices] = []
    size = 0
    for problem in problems.tolist():
        for part in exactly(batch[problem], changes):
            wide = np.zeros((len(part), batch.n_max), dtype=np.int32)
            wide[:, : part.shape[1]] = part
            numbers.append(np.full(len(wide), problem))
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
