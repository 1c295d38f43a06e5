"""PrefixBeam: from left to right, with the best few prefixes of each number of changes.

A beam compares prefixes of equal length. Under a budget that is unfair: a prefix that has spent its changes early is
ahead, drives the others out, and has nothing left for the rest of the text. So prefixes compete only with those that
have used as many changes (`per_change`), and each number of changes has a beam of its own.

Prefixes with the same future (`SequentialOracle.recombine`) are one, and the better stays. If nothing else was left
out, this is dynamic programming over the oracle's own states, and the answer is proved.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discotext.core.arrays import Bools, Floats, Ints, rank_in_group
from discotext.core.oracle import SequentialOracle
from discotext.core.problem import Batch
from discotext.search.nbest import NBest, collect_nbest
from discotext.search.paths import History, Rows, best_of_groups, continue_rows, is_counting_needed
from discotext.search.solver import Proposal, Proposals, Search, Solver


@dataclass(frozen=True)
class PrefixBeam(Solver):
    """Keep the `width` best prefixes, and extend all of all problems in one call per position.

    width: how many prefixes are kept.
    per_change: keep so many of each number of changes, where the budget may run out; otherwise of all together.
    margin: leave out prefixes that score less than the best of their beam by more than this.

    >>> PrefixBeam(width=4)
    PrefixBeam(width=4, per_change=True, margin=inf)
    """

    needs: ClassVar[type] = SequentialOracle
    width: int = 8
    per_change: bool = True
    margin: float = math.inf

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ValueError(f"width is {self.width}; a beam keeps at least 1 prefix, so choose 1 or more")
        if not self.margin >= 0:
            raise ValueError(f"margin is {self.margin}; choose 0 or more")

    def refuse(self, batch: Batch, oracle: object) -> None:
        if batch.costs is not None:
            raise ValueError("PrefixBeam does not keep a limit on costs; leave out the costs, or use Beam()")

    def propose(self, batch: Batch, oracle: SequentialOracle, search: Search) -> Proposals:
        rows, history, pruned = self.find(batch, oracle, is_counting_needed(batch, search.goal), 1)
        groups = rows.problems * (batch.n_max + 1) + (0 if search.goal is None else rows.used)
        best = best_of_groups(groups, rows.scores, rows.used, 1)
        proved = np.flatnonzero(~pruned)
        below = np.zeros(len(batch), dtype=np.int64)
        below[proved] = batch.budgets[proved] + 1
        yield Proposal(rows.problems[best], history.read(best), rows.scores[best], proved=proved, below=below)

    def find(self, batch: Batch, oracle: SequentialOracle, counted: Bools, count: int) -> tuple[Rows, History, Bools]:
        """The prefixes that are kept to the end, and (B,) where any were left out that had a future of their own.

        counted: (B,) where it matters how many changes a prefix has used. count: prefixes to keep of equal future.
        """
        rows, history = Rows.empty(np.arange(len(batch))), History(batch)
        states, at = oracle.start(rows.problems), np.arange(len(batch))
        pruned = np.zeros(len(batch), dtype=bool)
        for position in range(batch.n_max):
            parents, candidates, used = continue_rows(batch, rows, position)
            problems, scores, state = rows.problems[parents], rows.scores[parents], np.full(len(parents), -1)
            # Texts that have ended wait as they are; the others are extended in one call.
            going = np.flatnonzero(batch.sizes[problems] > position)
            apart = problems * (batch.n_max + 1) + np.where(counted[problems], used, 0)
            futures = np.arange(len(parents))
            if len(going):
                where = np.full(len(going), position)
                states, gains = oracle.extend(states, at[parents[going]], where, candidates[going])
                scores[going] += gains
                state[going] = np.arange(len(going))
                keys = oracle.recombine(states)
                if keys is not None:
                    futures[going] = going[find_equals(apart[going], keys)]
            kept = best_of_groups(futures, scores, used, count)
            beams = apart if self.per_change else problems
            kept, lost = self._prune(beams[kept], scores[kept], kept, max(self.width, count))
            # Behind the last word there is no future: what is left out there was only worse than what was kept.
            pruned[problems[lost[(batch.sizes[problems[lost]] > position + 1) | (not self.per_change)]]] = True
            history.add(parents[kept], candidates[kept])
            rows, at = Rows(problems[kept], used[kept], scores[kept]), state[kept]
            if not len(rows):
                break
        return rows, history, pruned

    def _prune(self, beams: Ints, scores: Floats, rows: Ints, width: int) -> tuple[Ints, Ints]:
        """The rows to keep and those to leave out, of the rows that may be kept. beams, scores: of each."""
        order = np.lexsort((-scores, beams))
        ranks = rank_in_group(beams[order])
        best = scores[order][np.arange(len(order)) - ranks]
        inside = (ranks < width) & (scores[order] >= best - self.margin)
        return rows[order[inside]], rows[order[~inside]]


def find_equals(groups: Ints, keys: Sequence[Hashable] | Ints) -> Ints:
    """(R,) for each row the first that has the same group and key.

    >>> find_equals(np.array([1, 1, 1, 2]), ["a", "b", "a", "a"])
    array([0, 1, 0, 3])
    """
    if not isinstance(keys, np.ndarray):
        known: dict[Hashable, int] = {}
        keys = np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int64)
    order = np.lexsort((keys, groups))
    new = np.append(True, (np.diff(groups[order]) != 0) | (np.diff(keys[order]) != 0))
    first = np.empty(len(order), dtype=np.int64)
    first[order] = order[np.flatnonzero(new)][np.cumsum(new) - 1]
    return first


def prefix_beam_nbest(
    batch: Batch, oracle: SequentialOracle, count: int, solver: PrefixBeam | None = None
) -> list[NBest]:
    """The best `count` choices of each problem that a beam finds, all different, best first."""
    solver = PrefixBeam() if solver is None else solver
    if count < 1:
        raise ValueError(f"count is {count}; choose 1 or more")
    solver.refuse(batch, oracle)
    rows, history, pruned = solver.find(batch, oracle, is_counting_needed(batch, None), count)
    best = best_of_groups(rows.problems, rows.scores, rows.used, count)
    complete = np.flatnonzero(~pruned)
    return collect_nbest(batch, rows.problems[best], history.read(best), rows.scores[best], count, complete)
