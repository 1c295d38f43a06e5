"""Viterbi: dynamic programming along the text. Its answer is a proof.

Where the term of a position looks at the `order − 1` positions before it and no further, what lies behind is summed up
by a *state*: the candidates at those positions, and the number of changes so far where the budget may run out. Of all
prefixes with the same state only the best can be the beginning of the best choice. So a position costs as many terms as
there are windows of `order` candidates, and the whole text n times that, instead of the product over all positions.

All problems of a batch go forward together, one position at a time. A candidate is forbidden by a term of −inf.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discotext.core.arrays import Bools, Choices, Floats, Ints, ranges
from discotext.core.oracle import MarkovOracle, Oracle, innermost
from discotext.core.problem import Batch
from discotext.search.nbest import NBest, collect_nbest
from discotext.search.paths import History, Rows, best_of_groups, continue_rows, is_counting_needed
from discotext.search.solver import Proposal, Proposals, Search, Solver, is_active

BLOCK = 1_000_000  # prefixes of one position made at once, of all problems together; more are done one after the other


@dataclass(frozen=True)
class Viterbi(Solver):
    """Find the best choice by dynamic programming, and prove it.

    limit: the most prefixes that one position of one problem may need (its windows of `order` candidates, times the
        changes that are told apart); a larger problem is refused before any work.

    >>> Viterbi()
    Viterbi(limit=5000000)
    """

    needs: ClassVar[type] = MarkovOracle
    limit: int = 5_000_000

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise ValueError(f"limit is {self.limit}; choose 1 or more")

    def refuse(self, batch: Batch, oracle: Oracle) -> None:
        order = get_order(oracle)
        if batch.costs is not None:
            raise ValueError(
                "Viterbi does not keep a limit on costs, whose sum would be part of its states; leave out the costs, "
                "or use Beam()"
            )
        sizes = count_prefixes(batch, order, is_counting_needed(batch, None))
        large = np.flatnonzero(sizes > self.limit)
        if len(large):
            first = int(large[0])
            raise ValueError(
                f"problem {first} has up to {sizes[first]:,.0f} prefixes at one position (order {order}, budget "
                f"{batch.budgets[first]}), more than the {self.limit:,} that Viterbi takes on; give fewer candidates, "
                "raise Viterbi(limit=…), or use PrefixBeam()"
            )

    def propose(self, batch: Batch, oracle: MarkovOracle, search: Search) -> Proposals:
        counted = is_counting_needed(batch, search.goal)
        active = np.arange(len(batch))
        for part in cut(count_prefixes(batch, oracle.order, counted)):
            rows, history = find_paths(batch, oracle, part[is_active(part, active)], counted, 1)
            # With a goal the best of each number of changes counts, and otherwise the best of all.
            groups = rows.problems * (batch.n_max + 1) + (0 if search.goal is None else rows.used)
            best = best_of_groups(groups, rows.scores, rows.used, 1)
            below = np.zeros(len(batch), dtype=np.int64)
            below[part] = batch.budgets[part] + 1
            found = rows.take(best)
            active = yield Proposal(found.problems, history.read(best), found.scores, proved=part, below=below)


def viterbi_nbest(batch: Batch, oracle: MarkovOracle, count: int) -> list[NBest]:
    """The best `count` choices of each problem, all different, best first.

    Every state keeps its `count` best prefixes, so the lists are exact.

    >>> from discotext.core.problem import Problem
    >>> from discotext.core.oracle import FunctionOracle
    >>> oracle = FunctionOracle(Batch.of([Problem((3, 2), 2)]), lambda problem, choice: float(sum(choice)))
    >>> oracle.order, oracle.terms = 1, lambda problems, positions, windows: windows[:, 0].astype(float)
    >>> found, = viterbi_nbest(oracle.batch, oracle, 3)
    >>> found.choices.tolist(), found.scores.tolist()
    ([[2, 1], [2, 0], [1, 1]], [3.0, 2.0, 2.0])
    """
    if count < 1:
        raise ValueError(f"count is {count}; choose 1 or more")
    Viterbi().refuse(batch, oracle)
    counted = is_counting_needed(batch, None)
    parts = []
    for part in cut(count_prefixes(batch, oracle.order, counted) * count):
        rows, history = find_paths(batch, oracle, part, counted, count)
        best = best_of_groups(rows.problems, rows.scores, rows.used, count)
        parts.append((rows.problems[best], rows.scores[best], history.read(best)))
    if not parts:
        return []
    problems, scores, choices = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return collect_nbest(batch, problems, choices, scores, count, np.arange(len(batch)))


def get_order(oracle: Oracle) -> int:
    """How many positions a term looks at; ValueError if the oracle says nonsense."""
    inner = innermost(oracle)
    assert isinstance(inner, MarkovOracle)
    if inner.order < 1:
        raise ValueError(f"the oracle's order is {inner.order}; it must be 1 or more: a term looks at its own position")
    return inner.order


def count_prefixes(batch: Batch, order: int, counted: Bools) -> Floats:
    """(B,) how many prefixes a problem has at its widest position, before the best of each state are chosen.

    Of the windows with j changes there are as many as the elementary symmetric sum of degree j of their k_i − 1 says;
    where changes are counted, each goes with the j … budget changes that a prefix may have used.
    """
    wide = max(order, 2)
    swaps = np.maximum(batch.dense_counts - 1.0, 0.0)
    swaps = np.concatenate([np.zeros((len(batch), wide - 1)), swaps], axis=1)
    by_changes = np.zeros((len(batch), batch.n_max, wide + 1))
    by_changes[:, :, 0] = 1.0
    for column in range(wide):
        # Written to the right first: each sum takes in one more position of the window.
        by_changes[:, :, 1:] += by_changes[:, :, :-1] * swaps[:, column : column + batch.n_max, None]
    numbers = np.maximum(batch.budgets[:, None] + 1 - np.arange(wide + 1), 0.0)
    times = np.where(counted[:, None], numbers, 1.0)
    return np.asarray((by_changes * times[:, None, :]).sum(axis=2).max(axis=1, initial=1.0))


def cut(sizes: Floats) -> Iterator[Ints]:
    """Problems in groups that fit into memory together, each in increasing order."""
    totals, first = np.cumsum(sizes), 0
    while first < len(sizes):
        before = totals[first] - sizes[first]
        last = max(first + 1, int(np.searchsorted(totals, before + BLOCK, side="right")))
        yield np.arange(first, last)
        first = last


@dataclass(frozen=True)
class Windows:
    """The candidates at the last positions, for each problem all there are. owners: (W,), digits: (W, context)."""

    owners: Ints
    digits: Choices

    def extend(self, batch: Batch, position: int) -> tuple[Ints, Windows, Ints]:
        """Go on by one position. Returns (W,) where each window's continuations start, the new windows, and which of
        them each continuation is; continuations are in order of windows and candidates."""
        counts = np.maximum(batch.dense_counts[self.owners, position], 1)
        firsts = np.cumsum(counts) - counts
        old = np.repeat(np.arange(len(self.owners)), counts)
        digits = np.empty((len(old), self.digits.shape[1]), dtype=np.int32)
        digits[:, :-1] = self.digits[old, 1:]
        digits[:, -1] = ranges(np.zeros(len(counts), dtype=np.int64), counts)
        owners = self.owners[old]
        # What stands at the end of a text has no future to tell apart.
        digits[batch.sizes[owners] <= position + 1] = 0
        code, width = np.zeros(len(old), dtype=np.int64), np.ones(len(old), dtype=np.int64)
        for column in range(digits.shape[1] - 1, -1, -1):
            at = position - (digits.shape[1] - 1 - column)
            code += digits[:, column] * width
            width *= np.maximum(batch.dense_counts[owners, at], 1) if at >= 0 else 1
        # The windows of one problem follow each other, so its codes begin where the widths before it end.
        changes = np.flatnonzero(np.append(True, owners[1:] != owners[:-1]))
        sizes = width[changes]
        code += np.repeat(np.cumsum(sizes) - sizes, np.diff(np.append(changes, len(owners))))
        there, number = np.unique(code, return_inverse=True)
        first = np.empty(len(there), dtype=np.int64)
        first[number] = np.arange(len(number))
        return firsts, Windows(owners[first], digits[first]), number


def find_paths(batch: Batch, oracle: MarkovOracle, part: Ints, counted: Bools, count: int) -> tuple[Rows, History]:
    """The best `count` prefixes of each state at the end of the texts. part: the problems to look at."""
    order = oracle.order
    # A term that looks at its own position alone is a term that ignores the one before.
    windows = Windows(part, np.zeros((len(part), max(order, 2) - 1), dtype=np.int32))
    rows, at, history = Rows.empty(part), np.arange(len(part)), History(batch)
    for position in range(int(batch.sizes[part].max(initial=0))):
        parents, candidates, used = continue_rows(batch, rows, position)
        firsts, longer, numbers = windows.extend(batch, position)
        steps = firsts[at[parents]] + candidates
        terms = ask_terms(batch, oracle, windows, position, np.unique(steps), firsts, len(numbers))
        scores = rows.scores[parents] + terms[steps]
        problems, new = rows.problems[parents], numbers[steps]
        groups = new * (batch.n_max + 1) + np.where(counted[problems], used, 0)
        kept = best_of_groups(groups, scores, used, count)
        history.add(parents[kept], candidates[kept])
        rows = Rows(problems[kept], used[kept], scores[kept])
        if not len(rows):
            break
        # Windows that no prefix within the budget ends with are not taken along.
        there, at = np.unique(new[kept], return_inverse=True)
        windows = Windows(longer.owners[there], longer.digits[there])
    return rows, history


def ask_terms(
    batch: Batch, oracle: MarkovOracle, windows: Windows, position: int, asked: Ints, firsts: Ints, total: int
) -> Floats:
    """(total,) the terms of continuations of windows, asked for where needed; 0 beyond the end of a text."""
    terms = np.zeros(total)
    old = np.searchsorted(firsts, asked, side="right") - 1
    inside = batch.sizes[windows.owners[old]] > position
    asked, old = asked[inside], old[inside]
    full = np.concatenate([windows.digits[old], (asked - firsts[old])[:, None].astype(np.int32)], axis=1)
    terms[asked] = oracle.terms(
        windows.owners[old], np.full(len(old), position), full[:, full.shape[1] - oracle.order :]
    )
    return terms
