"""A wrapper that remembers scores."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

import numpy as np

from discotext.core.oracle import Oracle, Reply, Request, Wrapper
from discotext.core.problem import Batch, fingerprints
from discotext.core.wrappers import Counted


class Cached(Wrapper):
    """Remembers scores, so that no choice is asked twice. The oldest are forgotten beyond `entries`.

    A choice is known by its fingerprint. About 260 bytes an entry.
    counted: the counter inside, if its deadline is to hold for remembered scores too.
    """

    def __init__(
        self, oracle: Oracle, batch: Batch, entries: int = 1_000_000, *, counted: Counted | None = None
    ) -> None:
        if entries < 1:
            raise ValueError(f"entries is {entries}, but a memory holds at least 1; leave the wrapper out for none")
        self.oracle, self.batch, self.entries, self.counted = oracle, batch, entries, counted
        self.hits = 0
        self._scores: OrderedDict[tuple[int, int, int], float] = OrderedDict()

    def ask(self, request: Request) -> Reply:
        if request.kind != "score":
            return self.pass_on(request)
        if self.counted is not None and self.counted.late():
            # After the deadline nothing is asked, and nothing is looked up either.
            self.counted.exhausted[request.problems] = True
            return Reply(np.full(len(request), -np.inf))
        keys = self._keys(request)
        fresh: dict[tuple[int, int, int], int] = {}
        for row, key in enumerate(keys):
            if key not in self._scores and key not in fresh:
                fresh[key] = row
        self.hits += len(keys) - len(fresh)
        if len(fresh) == len(keys):
            reply = self.pass_on(request)
            self._remember(zip(keys, reply.scores.tolist(), strict=True))
            return reply
        answers: dict[tuple[int, int, int], float] = {}
        if fresh:
            part = self.pass_on(request.take(np.fromiter(fresh.values(), dtype=np.int64), self.batch))
            answers = dict(zip(fresh, part.scores.tolist(), strict=True))
        scores = np.array([answers[key] if key in answers else self._scores[key] for key in keys])
        self._remember(answers.items())
        return Reply(scores)

    def _keys(self, request: Request) -> list[tuple[int, int, int]]:
        assert request.choices is not None
        hashes = fingerprints(request.choices)
        return list(zip(request.problems.tolist(), hashes[:, 0].tolist(), hashes[:, 1].tolist(), strict=True))

    def _remember(self, items: Iterable[tuple[tuple[int, int, int], float]]) -> None:
        for key, score in items:
            # −inf stands for a row that was not asked (a limit, a failure); that is not a score to remember.
            if score != -np.inf:
                self._scores[key] = score
        while len(self._scores) > self.entries:
            self._scores.popitem(last=False)
