"""Search along a text: partial choices that grow from left to right, for many problems at once.

A row is a prefix: a problem, how many changes it has used, and its score so far. At each position every row is
continued by every candidate that its budget allows; of the new rows some are kept. Of prefixes that have equal futures
(`PathOracle.recombine`) and have used as many changes, only the best can be the beginning of the best choice. If
nothing else is left out this is dynamic programming (`Viterbi`), and its answer is a proof; with a limit on the rows it
is a beam (`PrefixBeam`), whose answer is a proof if the limit was never met. A gain of −inf forbids a candidate.

A beam compares prefixes of equal length. Under a budget that is unfair: a prefix that has spent its changes early is
ahead, drives the others out, and has nothing left for the rest of the text. So prefixes compete only with those that
have used as many changes (`per_change`), and each number of changes has a beam of its own.

Both are solvers, which `solve` runs, prunes and checks as any other. But they read a text word by word, which the
wrappers of `solve` know nothing of; so they ask the oracle inside, and what they read is not counted as passes.
"""

from __future__ import annotations

import heapq
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from discotext.core.arrays import Bools, Choices, Floats, Ints, ranges, rank_in_group
from discotext.core.oracle import Oracle, Reply, Request, Wrapper, innermost
from discotext.core.problem import Batch
from discotext.core.wrappers import Renumbered
from discotext.search.solver import Proposal, Proposals, Search, Solver

BLOCK = 1_000_000  # prefixes of one position made at once, of all problems together; more are done one after the other


@runtime_checkable
class PathOracle(Oracle, Protocol):
    """An oracle that reads from left to right: a choice's score is the sum of the gains of its candidates.

    sequential: Whether it can do so with the models it has.
    order: How many positions a gain looks at, its own included; None where that is too far to be listed.
    """

    sequential: bool
    order: int | None

    def start(self, problems: Ints) -> Any:
        """The states of the empty prefixes of some problems, one for each row."""
        ...

    def extend(self, states: Any, parents: Ints, position: int, candidates: Ints) -> tuple[Any, Floats]:
        """Put one more candidate behind each prefix; returns new states and the gains, (R,).

        parents: (R,) the rows of `states` to continue, in any order and number. candidates: (R,). The gain at the last
        position of a problem includes the end of its text.
        """
        ...

    def recombine(self, states: Any) -> Ints | None:
        """A key for each prefix: those of equal key are of one problem and have equal futures. None: no two do."""
        ...


NBest = list[tuple[tuple[int, ...], float]]  # different choices of one problem with their scores, best first


@dataclass(frozen=True)
class Rows:
    """Prefixes. problems, used (changes so far), scores: (R,)."""

    problems: Ints
    used: Ints
    scores: Floats

    def __len__(self) -> int:
        return len(self.problems)


Steps = list[tuple[Ints, Ints]]  # at each position (R,) the row that each row continues, and by which candidate
Found = tuple[Ints, Rows, Steps, Bools]  # problems, their prefixes to the end, and which problems had others pruned


def read_back(steps: Steps, rows: Ints, width: int) -> Choices:
    """(R, width) the choices of some of the last rows."""
    choices = np.zeros((len(rows), width), dtype=np.int32)
    for position, (parents, candidates) in reversed(list(enumerate(steps))):
        choices[:, position] = candidates[rows]
        rows = parents[rows]
    return choices


def continue_rows(batch: Batch, rows: Rows, position: int) -> tuple[Ints, Ints, Ints]:
    """All rows continued by all candidates that the budget allows: (S,) parents, candidates and changes used.

    A problem that ends before the position is continued by candidate 0, which stands for nothing.
    """
    counts = np.maximum(batch.dense_counts[rows.problems, position], 1)
    # Where the budget is spent, the original alone is left.
    counts = np.where(rows.used < batch.budgets[rows.problems], counts, 1)
    parents = np.repeat(np.arange(len(rows)), counts)
    candidates = ranges(np.zeros(len(rows), dtype=np.int64), counts)
    return parents, candidates, rows.used[parents] + (candidates > 0)


def best_of_groups(groups: Ints, scores: Floats, used: Ints, count: int) -> Ints:
    """Indices of the best `count` rows of each group, ties to fewer changes; −inf is never among them.

    >>> best_of_groups(np.array([1, 0, 1, 1]), np.array([2.0, -np.inf, 3.0, 3.0]), np.array([0, 0, 2, 1]), 1)
    array([3])
    """
    finite = np.flatnonzero(scores > -np.inf)
    order = finite[np.lexsort((used[finite], -scores[finite], groups[finite]))]
    return np.asarray(order[rank_in_group(groups[order]) < count])


def is_counting_needed(batch: Batch, goal: float | None) -> Bools:
    """(B,) whether the number of changes so far matters: the budget can run out, or a goal asks for the fewest."""
    changeable = np.bincount(batch.problem_of_position, weights=batch.counts > 1, minlength=len(batch))
    return np.asarray((batch.budgets < changeable) | (goal is not None))


def find_path_oracle(oracle: Oracle) -> PathOracle:
    """The oracle inside the wrappers."""
    inner = innermost(oracle)
    if not isinstance(inner, PathOracle):
        raise TypeError(f"{type(inner).__name__} does not read a text from left to right; expected a PathOracle")
    return inner


class PathSolver(Solver):
    """What `Viterbi` and `PrefixBeam` share."""

    needs: ClassVar[type] = PathOracle

    @abstractmethod
    def _run(self, batch: Batch, oracle: PathOracle, numbers: Ints, counted: Bools, count: int) -> Iterator[Found]:
        """Parts of the batch with what is found in them.

        numbers: (B,) what the oracle calls the problems. counted: (B,) whether the number of changes so far matters.
        count: How many prefixes of equal future are kept.
        """

    def refuse(self, batch: Batch, oracle: Oracle) -> None:
        if not find_path_oracle(oracle).sequential:
            raise ValueError(
                f"{type(self).__name__} needs models that read from left to right, and one of these reads whole texts "
                "alone; choose disco or greedy"
            )

    def propose(self, batch: Batch, oracle: Wrapper, search: Search) -> Proposals:
        numbers = oracle.numbers if isinstance(oracle, Renumbered) else np.arange(len(batch))
        counted = is_counting_needed(batch, search.goal)
        for part, rows, steps, pruned in self._run(batch, find_path_oracle(oracle), numbers, counted, 1):
            # With a goal the best of each number of changes counts, and otherwise the best of all.
            groups = rows.problems * (batch.n_max + 1) + (0 if search.goal is None else rows.used)
            best = best_of_groups(groups, rows.scores, rows.used, 1)
            proved = part[~pruned[part]]
            below = np.zeros(len(batch), dtype=np.int64)
            below[proved] = batch.budgets[proved] + 1
            choices = read_back(steps, best, batch.n_max)
            yield Proposal(rows.problems[best], choices, rows.scores[best], proved=proved, proved_below=below)

    def find_nbest(self, batch: Batch, oracle: Oracle, count: int) -> list[NBest]:
        """The best `count` choices of each problem, all different, best first; exact where `propose` is."""
        if count < 1:
            raise ValueError(f"count is {count}; choose 1 or more")
        self.refuse(batch, oracle)
        found: list[NBest] = []
        numbers, counted = np.arange(len(batch)), is_counting_needed(batch, None)
        for part, rows, steps, _ in self._run(batch, find_path_oracle(oracle), numbers, counted, count):
            best = best_of_groups(rows.problems, rows.scores, rows.used, count)
            choices, scores = read_back(steps, best, batch.n_max), rows.scores[best]
            for index in part.tolist():
                mine = rows.problems[best] == index
                listed = choices[mine, : batch.sizes[index]].tolist()
                found.append(list(zip(map(tuple, listed), scores[mine].tolist(), strict=True)))
        return found


def find_paths(
    part: Ints,
    batch: Batch,
    oracle: PathOracle,
    numbers: Ints,
    counted: Bools,
    count: int,
    beam: PrefixBeam | None = None,
) -> Found:
    """Search along some problems of a batch; the other parameters are those of `PathSolver._run`."""
    rows = Rows(part, np.zeros(len(part), dtype=np.int64), np.zeros(len(part)))
    steps, pruned = Steps(), np.zeros(len(batch), dtype=bool)
    states, at = oracle.start(numbers[part]), np.arange(len(part))  # at: the state of each row
    for position in range(int(batch.sizes[part].max(initial=0))):
        parents, candidates, used = continue_rows(batch, rows, position)
        owners, scores = rows.problems[parents], rows.scores[parents]
        # A text that has ended waits as it is; its rows, which have no state, differ from all others.
        state = -1 - parents
        going = np.flatnonzero(batch.sizes[owners] > position)
        # Prefixes that differ in their changes alone share a state, which is extended once.
        wide = int(candidates.max(initial=0)) + 1
        asked, which = np.unique(at[parents[going]] * wide + candidates[going], return_inverse=True)
        states, gains = oracle.extend(states, asked // wide, position, asked % wide)
        scores[going] += gains[which]
        keys = oracle.recombine(states)
        # Of states that have equal futures, the first stands for all.
        _, first, equal = np.unique(
            np.arange(len(asked)) if keys is None else keys, return_index=True, return_inverse=True
        )
        state[going] = first[equal][which]
        apart = np.where(counted[owners], used, 0)
        kept = best_of_groups(state * (batch.n_max + 1) + apart, scores, used, count)
        if beam is not None:
            beams = owners * (batch.n_max + 1) + (apart if beam.per_change else 0)
            order = kept[np.lexsort((-scores[kept], beams[kept]))]
            inside = rank_in_group(beams[order]) < max(beam.width, count)
            kept, lost = order[inside], owners[order[~inside]]
            # Behind the last word there is no future: what is left out there was only worse than what was kept.
            pruned[lost[(batch.sizes[lost] > position + 1) | (not beam.per_change)]] = True
        steps.append((parents[kept], candidates[kept]))
        rows, at = Rows(owners[kept], used[kept], scores[kept]), state[kept]
        if not len(rows):
            break
    return part, rows, steps, pruned


@dataclass(frozen=True)
class Viterbi(PathSolver):
    """Find the best choice by dynamic programming, and prove it.

    limit: The most prefixes that one position of one problem may need; a larger problem is refused before any work.

    >>> Viterbi()
    Viterbi(limit=5000000)
    """

    limit: int = 5_000_000

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise ValueError(f"limit is {self.limit}; choose 1 or more")

    def refuse(self, batch: Batch, oracle: Oracle) -> None:
        super().refuse(batch, oracle)
        order = find_path_oracle(oracle).order
        if order is None:
            raise ValueError(
                "Viterbi needs n-gram models, and a network without spans and without long runs of words that may be "
                "skipped; choose prefix-beam"
            )
        sizes = count_prefixes(batch, order, is_counting_needed(batch, None))
        large = np.flatnonzero(sizes > self.limit)
        if len(large):
            raise ValueError(
                f"problem {large[0]} has up to {sizes[large[0]]:,.0f} prefixes at one position, more than the "
                f"{self.limit:,} that Viterbi takes on; give fewer candidates, or choose prefix-beam"
            )

    def _run(self, batch: Batch, oracle: PathOracle, numbers: Ints, counted: Bools, count: int) -> Iterator[Found]:
        assert oracle.order is not None
        sizes = count_prefixes(batch, oracle.order, counted) * count
        totals, first = np.cumsum(sizes), 0
        while first < len(sizes):
            # As many problems as fit into memory together.
            fitting = np.searchsorted(totals, totals[first] - sizes[first] + BLOCK, side="right")
            part = np.arange(first, max(first + 1, int(fitting)))
            yield find_paths(part, batch, oracle, numbers, counted, count)
            first += len(part)


def count_prefixes(batch: Batch, order: int, counted: Bools) -> Floats:
    """(B,) how many prefixes a problem has at most at one position, before the best of each state are chosen: the
    choices of a window of `order` positions, times the numbers of changes where they matter."""
    counts = np.pad(np.maximum(batch.dense_counts, 1.0), ((0, 0), (order - 1, 1)), constant_values=1.0)
    windows = np.lib.stride_tricks.sliding_window_view(counts, order, axis=1).prod(axis=2).max(axis=1)
    return np.asarray(windows * np.where(counted, batch.budgets + 1, 1))


@dataclass(frozen=True)
class PrefixBeam(PathSolver):
    """Keep the `width` best prefixes, and extend all of all problems in one call per position.

    width: How many prefixes are kept.
    per_change: Keep so many of each number of changes, where the budget may run out; otherwise of all together.

    >>> PrefixBeam(width=4)
    PrefixBeam(width=4, per_change=True)
    """

    width: int = 8
    per_change: bool = True

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ValueError(f"width is {self.width}; a beam keeps at least 1 prefix, so choose 1 or more")

    def _run(self, batch: Batch, oracle: PathOracle, numbers: Ints, counted: Bools, count: int) -> Iterator[Found]:
        if len(batch):
            yield find_paths(np.arange(len(batch)), batch, oracle, numbers, counted, count, self)


class Recording(Wrapper):
    """Remembers the `count` best choices of each problem that were scored and are within the budget.

    Put around an oracle that is given to `solve`, it makes an n-best list of any search: the best that it came across,
    which need not be the best there are.
    """

    def __init__(self, oracle: Oracle, batch: Batch, count: int) -> None:
        self.oracle, self.batch, self.count = oracle, batch, count
        self._best: list[dict[tuple[int, ...], float]] = [{} for _ in range(len(batch))]

    def ask(self, request: Request) -> Reply:
        reply = self.pass_on(request)
        if request.kind == "score" and request.choices is not None and len(request):
            fine = np.isfinite(reply.scores) & ~self.batch.take(request.problems).infeasible(request.choices)
            for row in np.flatnonzero(fine).tolist():
                problem = int(request.problems[row])
                found = self._best[problem]
                found[tuple(request.choices[row, : self.batch.sizes[problem]].tolist())] = float(reply.scores[row])
                if len(found) > 100 * self.count:
                    self._best[problem] = dict(self._rank(found))
        return reply

    def _rank(self, found: dict[tuple[int, ...], float]) -> NBest:
        return heapq.nlargest(self.count, found.items(), key=lambda one: one[1])

    def nbest(self) -> list[NBest]:
        """The best choices met so far, one list for each problem."""
        return list(map(self._rank, self._best))
