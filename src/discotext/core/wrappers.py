"""Wrappers around an oracle: counting, splitting large calls, and isolating failures.

`solve` stacks them as Cached(Chunked(Guarded(Counted(oracle)))): cached answers are not counted, limits and the clock
are checked before each call that really happens, and an error is caught where it occurs. Each can be used alone.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from discotext.core.arrays import Bools, Floats, Ints
from discotext.core.oracle import (
    Oracle,
    PaddingOracle,
    PricedOracle,
    Reply,
    Request,
    UnavailableError,
    UnsentError,
    Wrapper,
    innermost,
)
from discotext.core.padding import group_by_length
from discotext.core.problem import Batch, fingerprints


class Chunked(Wrapper):
    """Splits large calls, rows of like length together, and halves the size when memory runs out.

    cells: rows × positions of one call at most (a single row is always sent). An oracle that says of itself that it
    `pads` gets its rows in calls of like length (`group_by_length`), others in as few calls as may be.
    patience: seconds a call should not exceed by much: begin small, and grow while calls are quick. How calls are cut
        then depends on the clock, and with it the last bits of a model's answers; without it, only on `cells`.
    """

    def __init__(
        self,
        oracle: Oracle,
        batch: Batch,
        cells: int = 65_536,
        patience: float | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        if cells < 1:
            raise ValueError(f"cells is {cells}, but a call needs room for at least 1 position; choose 1 or more")
        self.oracle, self.batch, self.patience, self.clock = oracle, batch, patience, clock
        self.most = cells
        self.cells = cells if patience is None else min(cells, 4 * max(batch.n_max, 1))

    def ask(self, request: Request) -> Reply:
        if not len(request):
            # A question about nothing is answered here: many models cannot take an empty batch.
            return join(request, [], self.batch)
        lengths = np.maximum(self.batch.sizes[request.problems], 1)
        pending = self._groups(lengths)[::-1]
        parts: list[tuple[Ints, Reply]] = []
        while pending:
            group = pending.pop()
            # Sorted by length, the last row of a call is its longest: take as many as still fit.
            some = group[: 1 + self.cells // int(lengths[group[0]])]
            area = (np.arange(len(some)) + 1) * np.maximum.accumulate(lengths[some])
            rows = some[: max(1, int(np.searchsorted(area, self.cells, side="right")))]
            whole = len(rows) == len(request)
            began = self.clock()
            try:
                reply = self.pass_on(request if whole else request.take(rows, self.batch))
            except Exception as error:
                if not is_out_of_memory(error) or len(rows) <= 1:
                    raise
                # Half of the call that failed, which may be smaller than half of what was allowed.
                self.cells = self.most = max(1, min(self.cells, len(rows) * int(lengths[rows].max())) // 2)
                pending.append(group)
                continue
            if self.patience is not None:
                seconds = self.clock() - began
                faster, slower = seconds < self.patience / 2, seconds > self.patience
                self.cells = min(self.most, 2 * self.cells) if faster else max(1, self.cells // (2 if slower else 1))
            if whole:
                return reply
            parts.append((rows, reply))
            if len(rows) < len(group):
                pending.append(group[len(rows) :])
        return join(request, parts, self.batch)

    def _groups(self, lengths: Ints) -> list[Ints]:
        """Rows that may travel together, as far as there is room."""
        inner = innermost(self.oracle)
        if isinstance(inner, PaddingOracle) and inner.pads:
            return group_by_length(lengths)
        together = len(lengths) * int(lengths.max()) <= self.cells
        return [np.arange(len(lengths)) if together else np.argsort(lengths, kind="stable")]


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error says that memory ran out, without importing the framework that raised it."""
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "out of memory" in str(error).lower())


def join(request: Request, parts: list[tuple[Ints, Reply]], batch: Batch) -> Reply:
    """Put the replies to parts of a request back in the order of its rows; rows no part answered get −inf."""
    scores = np.full(len(request), -np.inf)
    flat: dict[str, Floats] = {}
    if request.alpha is not None:
        layout = batch.take(request.problems)
        flat = {name: np.zeros(len(request.alpha)) for name in ("gradient", "worth")[: 1 + (request.kind == "reach")]}
    for rows, reply in parts:
        scores[rows] = reply.scores
        for name, values in flat.items():
            values[layout.flat_rows(rows)] = reply.gradient if name == "gradient" else reply.worth
    return Reply(scores, flat.get("gradient"), flat.get("worth"))


class Guarded(Wrapper):
    """Bisects a failing call until the one problem that fails is found; the others keep their answers.

    A row fails when the oracle raises for it, or returns anything but one finite number (or −inf, which forbids a
    choice). Its problem is then failed for good: `failures` holds a sentence, its rows get −inf and are asked no more.
    """

    def __init__(self, oracle: Oracle, batch: Batch) -> None:
        self.oracle, self.batch = oracle, batch
        self.failures: dict[int, str] = {}
        self.raised = False  # whether any call has raised so far
        self.failed = np.zeros(len(batch), dtype=bool)

    def ask(self, request: Request) -> Reply:
        parts: list[tuple[Ints, Reply]] = []
        pending = [np.arange(len(request))]
        while pending:
            rows = pending.pop()
            rows = rows[~self.failed[request.problems[rows]]]
            if not len(rows):
                continue
            whole = len(rows) == len(request)
            reply = self._try(request if whole else request.take(rows, self.batch))
            if reply is not None and whole:
                return reply
            if reply is not None:
                parts.append((rows, reply))
            elif len(rows) > 1:
                middle = len(rows) // 2
                pending += [rows[middle:], rows[:middle]]
        joined = join(request, parts, self.batch)
        joined.scores[self.failed[request.problems]] = -np.inf
        return joined

    def _try(self, request: Request) -> Reply | None:
        """The reply, or None if it must be asked again in smaller parts."""
        try:
            reply = self.pass_on(request)
            check_shapes(request, reply)
        except UnavailableError:
            raise
        except Exception as error:
            if is_out_of_memory(error) and len(request) > 1:
                raise  # smaller calls are the business of `Chunked`
            self.raised = True
            if len(request) == 1:
                self._fail(request, 0, f"{type(error).__name__}: {error}")
            return None
        bad = np.isnan(reply.scores)
        # −inf forbids a choice, or stands for a row that a limit kept from being asked; of a `reach`, infinite is an
        # honest answer too: the goal cannot be reached.
        if request.kind != "reach":
            bad |= np.isposinf(reply.scores)
            if reply.gradient is not None and not np.isfinite(reply.gradient).all():
                bad[self.batch.take(request.problems).row_of[~np.isfinite(reply.gradient)]] = True
        for row in np.flatnonzero(bad):
            finite = np.isfinite(reply.scores[row])
            self._fail(
                request, int(row), f"returned {'a gradient that is not finite' if finite else reply.scores[row]}"
            )
        if bad.any():
            # The other problems have their answers and need not be asked again.
            bad = self.failed[request.problems]
            reply.scores[bad] = -np.inf
            if reply.gradient is not None:
                reply.gradient[bad[self.batch.take(request.problems).row_of]] = 0.0
        return reply

    def _fail(self, request: Request, row: int, reason: str) -> None:
        problem = int(request.problems[row])
        if self.failed[problem]:
            return
        self.failed[problem] = True
        where = f"problem {problem}, row {row} of a call with {len(request)}"
        if request.choices is not None:
            where += f", choice {request.choices[row, : self.batch.sizes[problem]].tolist()}"
        self.failures[problem] = f"{where}: {reason}"


def check_shapes(request: Request, reply: Reply) -> None:
    """Raise if a reply does not have one score per row and one derivative per weight."""
    if reply.scores.shape != (len(request),):
        raise ValueError(
            f"the oracle returned scores of shape {reply.scores.shape} for {len(request)} rows; "
            f"expected ({len(request)},), one number per row"
        )
    if request.alpha is not None:
        shape = None if reply.gradient is None else reply.gradient.shape
        if shape != request.alpha.shape:
            raise ValueError(
                f"the oracle returned a gradient of shape {shape}; expected {request.alpha.shape}, like alpha"
            )


class Counted(Wrapper):
    """Counts, per problem, the forwards and backwards that reach the model, and stops at a limit.

    A gradient is one forward and one backward, unless the oracle says otherwise (`PricedOracle`). A row beyond its
    problem's limit, or after the deadline, is not asked: it gets −inf, and the problem is `exhausted`. `seconds` is the
    time spent inside, shared by a call's rows.

    max_forwards, max_backwards: for each problem. deadline: on the clock, in seconds.
    """

    def __init__(
        self,
        oracle: Oracle,
        batch: Batch,
        *,
        max_forwards: int | None = None,
        max_backwards: int | None = None,
        deadline: float | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.oracle, self.batch, self.clock = oracle, batch, clock
        self.max_forwards = np.inf if max_forwards is None else max_forwards
        self.max_backwards = np.inf if max_backwards is None else max_backwards
        self.deadline = np.inf if deadline is None else deadline
        self.forwards: Ints = np.zeros(len(batch), dtype=np.int64)
        self.backwards: Ints = np.zeros(len(batch), dtype=np.int64)
        self.bounds: Ints = np.zeros(len(batch), dtype=np.int64)  # of the forwards, those that were bounds
        self.exhausted: Bools = np.zeros(len(batch), dtype=bool)
        self.seconds: Floats = np.zeros(len(batch))

    def ask(self, request: Request) -> Reply:
        inner, problems = innermost(self.oracle), request.problems
        if isinstance(inner, PricedOracle):
            forwards, backwards = inner.cost(request)
        else:
            forwards = np.ones(len(request), dtype=np.int64)
            backwards = forwards if request.kind == "relaxed" else np.zeros_like(forwards)
        within = np.full(len(request), not self.late())
        if np.isfinite(self.max_forwards):
            within &= self.forwards[problems] + running_total(problems, forwards) <= self.max_forwards
        if np.isfinite(self.max_backwards):
            within &= self.backwards[problems] + running_total(problems, backwards) <= self.max_backwards
        if within.all():
            return self._send(request, forwards, backwards)
        self.exhausted[problems[~within]] = True
        rows = np.flatnonzero(within)
        part = request.take(rows, self.batch)
        parts = [(rows, self._send(part, forwards[rows], backwards[rows]))] if len(rows) else []
        return join(request, parts, self.batch)

    def passes(self, problems: Ints) -> Ints:
        """(R,) forwards + backwards that have reached the model so far for each of these problems."""
        return np.asarray(self.forwards[problems] + self.backwards[problems])

    def late(self) -> bool:
        """Whether the deadline has passed."""
        return self.clock() > self.deadline

    @property
    def unlimited(self) -> bool:
        """Whether neither passes nor time are limited."""
        return bool(np.isinf([self.max_forwards, self.max_backwards, self.deadline]).all())

    def _send(self, request: Request, forwards: Ints, backwards: Ints) -> Reply:
        np.add.at(self.forwards, request.problems, forwards)
        np.add.at(self.backwards, request.problems, backwards)
        if request.kind == "reach":
            np.add.at(self.bounds, request.problems, forwards)
        began = self.clock()
        try:
            return self.pass_on(request)
        except Exception as error:
            # A call that was too large did not happen, and comes again in parts.
            unsent = slice(None) if is_out_of_memory(error) else error.rows if isinstance(error, UnsentError) else []
            np.subtract.at(self.forwards, request.problems[unsent], forwards[unsent])
            np.subtract.at(self.backwards, request.problems[unsent], backwards[unsent])
            raise
        finally:
            # What takes no pass is not the model's time.
            if forwards.any() or backwards.any():
                np.add.at(self.seconds, request.problems, (self.clock() - began) / max(len(request), 1))


def running_total(problems: Ints, amounts: Ints) -> Ints:
    """(R,) what each row's problem has asked for in this call, up to and with that row.

    >>> running_total(np.array([7, 3, 7]), np.array([1, 1, 1]))
    array([1, 1, 2])
    """
    order = np.argsort(problems, kind="stable")
    total = np.cumsum(amounts[order])
    grouped = problems[order]
    first = np.searchsorted(grouped, grouped, side="left")
    out = np.empty_like(total)
    out[order] = total - (total[first] - amounts[order][first])
    return out


class Renumbered(Wrapper):
    """Shows some of the problems of an oracle as a batch of their own: problem i of it is `numbers[i]` inside."""

    def __init__(self, oracle: Oracle, batch: Batch, numbers: Ints) -> None:
        self.oracle, self.batch, self.numbers = oracle, batch, numbers

    def ask(self, request: Request) -> Reply:
        return self.pass_on(replace(request, problems=self.numbers[request.problems]))


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
        assert request.choices is not None
        hashes = fingerprints(request.choices)
        keys = list(zip(request.problems.tolist(), hashes[:, 0].tolist(), hashes[:, 1].tolist(), strict=True))
        fresh: dict[tuple[int, int, int], int] = {}
        for row, key in enumerate(keys):
            if key not in self._scores and key not in fresh:
                fresh[key] = row
        self.hits += len(keys) - len(fresh)
        answers: dict[tuple[int, int, int], float] = {}
        if fresh:
            rows = np.fromiter(fresh.values(), dtype=np.int64)
            part = request if len(rows) == len(request) else request.take(rows, self.batch)
            answers = dict(zip(fresh, self.pass_on(part).scores.tolist(), strict=True))
        scores = np.array([answers[key] if key in answers else self._scores[key] for key in keys])
        # −inf stands for a row that was not asked (a limit, a failure); that is not a score to remember.
        self._scores.update((key, score) for key, score in answers.items() if score != -np.inf)
        while len(self._scores) > self.entries:
            self._scores.popitem(last=False)
        return Reply(scores)


class Reporting(Wrapper):
    """Reports after each call how many choices were scored in it."""

    def __init__(self, oracle: Oracle, report: Callable[[int], None]) -> None:
        self.oracle, self.report = oracle, report

    def ask(self, request: Request) -> Reply:
        reply = self.pass_on(request)
        if request.kind == "score":
            self.report(len(request))
        return reply
