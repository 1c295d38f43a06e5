"""Wrappers that look on while a search goes on: one keeps the best choices, one reports how many were asked for."""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np

from discotext.core.oracle import Oracle, Reply, Request, Wrapper
from discotext.core.problem import Batch
from discotext.search.nbest import NBest


class Recording(Wrapper):
    """Remembers the `count` best choices of each problem that were scored and are within the budget.

    Put around an oracle that is given to `solve`, it makes an n-best list of any search: the best that it came across,
    which need not be the best there are.
    """

    def __init__(self, oracle: Oracle, batch: Batch, count: int) -> None:
        self.oracle, self.batch, self.count = oracle, batch, count
        self._best: list[list[tuple[float, tuple[int, ...]]]] = [[] for _ in range(len(batch))]

    def ask(self, request: Request) -> Reply:
        reply = self.pass_on(request)
        if request.kind == "score" and request.choices is not None and len(request):
            fine = np.isfinite(reply.scores) & ~self.batch.take(request.problems).infeasible(request.choices)
            for row in np.flatnonzero(fine).tolist():
                problem = int(request.problems[row])
                choice = tuple(request.choices[row, : self.batch.sizes[problem]].tolist())
                self._remember(self._best[problem], (float(reply.scores[row]), choice))
        return reply

    def _remember(self, heap: list[tuple[float, tuple[int, ...]]], found: tuple[float, tuple[int, ...]]) -> None:
        if len(heap) == self.count and found[0] <= heap[0][0]:
            return
        if any(choice == found[1] for _, choice in heap):
            return
        (heapq.heappush if len(heap) < self.count else heapq.heappushpop)(heap, found)

    def nbest(self) -> list[NBest]:
        """The best choices met so far, one list for each problem."""
        lists = []
        for index, heap in enumerate(self._best):
            found = sorted(heap, key=lambda one: -one[0])
            choices = np.array([choice for _, choice in found], dtype=np.int32)
            size = int(self.batch.sizes[index])
            scores = np.array([score for score, _ in found], dtype=np.float64)
            lists.append(NBest(choices.reshape(len(found), size), scores, complete=False))
        return lists


class Reporting(Wrapper):
    """Reports after each call how many choices were scored in it."""

    def __init__(self, oracle: Oracle, report: Callable[[int], None]) -> None:
        self.oracle, self.report = oracle, report

    def ask(self, request: Request) -> Reply:
        reply = self.pass_on(request)
        if request.kind == "score":
            self.report(len(request))
        return reply
