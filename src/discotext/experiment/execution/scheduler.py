"""How workers answer the questions of a run and do its units, wherever they are.

Units are assigned in their order to whichever worker is free, and their records come back in the same order. No worker
gets far ahead of the next unit to be written, so that what waits to be written stays small.

Whatever happens to a worker, its task is done again. A worker that dies may have died of its task: so after some
deaths, or when its time is up, a task is done again in halves, and what still fails with one text alone becomes that
text's record. Where the worker's whole machine has gone, the task is hardly suspected.

A worker that cannot be started is left out, with a warning, as long as others can.
"""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from discotext.experiment.execution.work_queue import ATTEMPTS, Assignment, Lost, Work, WorkQueue, fail_question
from discotext.experiment.job import Job, Question, Reply, Unit
from discotext.experiment.record import Record
from discotext.experiment.task import fail_task
from discotext.victims.victim import Evaluation

AHEAD = 4  # units for each worker that may be done before the next one to be written
SETTLING = -1  # the place of a question that settles a worker's victim
REPORT_EVERY = 1.0  # seconds between reports
RATE_WINDOW = 30.0  # seconds over which rates are taken

Notify = Callable[[str], None]
clock = time.monotonic  # a name of its own, so that tests can replace it


def ignore(message: str) -> None:
    """A `Notify` that does nothing."""


@dataclass(frozen=True)
class Ready:
    """A worker is ready for tasks. where: the name of its machine. node: the machine's id in the cluster."""

    where: str
    node: str = ""


Answer = Ready | Lost | Exception | list[Record] | list[Reply]


class WorkerHandle(Protocol):
    """The scheduler's end of a worker, which does one task at a time. Its first answer is `Ready`, or why not."""

    def assign(self, task: Work) -> None: ...

    def update(self, findings: Mapping[str, Any]) -> None:
        """Send it what has been found out since it got the job."""
        ...

    def answer(self) -> Answer:
        """What it answered; called when `WorkerPool.wait` says that there is an answer."""
        ...

    def stop(self) -> None: ...


class WorkerPool(Protocol):
    """Starts workers, and waits for their answers."""

    def pack(self, job: Job) -> None:
        """Prepare the job that workers are started with from now on."""
        ...

    def start(self, place: int) -> WorkerHandle:
        """Start a worker. place: its number among the workers of the pool."""
        ...

    def wait(self, workers: Sequence[Any], seconds: float) -> Sequence[Any]:
        """The workers that have an answer, as soon as one has; none when the time is up."""
        ...


@dataclass(eq=False)
class Slot:
    """A worker's slot in the pool: its machine, once it is ready, and its assignment.

    settled: whether it has been asked what every worker is asked first.
    """

    place: int
    worker: WorkerHandle
    where: str | None = None
    assignment: Assignment | None = None
    since: float = 0.0
    settled: bool = False

    @property
    def free(self) -> bool:
        return self.where is not None and self.assignment is None


class Crew:
    """The workers of a run, from its first question to its last record. limit: seconds for a task, or None.

    A victim may be settled by what it is asked first (see `Job.identify`): the texts of the first question that was
    answered are what every later worker is asked before anything else. A text that hangs, or that workers die of, when
    it is merely asked about is not given to workers again.
    """

    def __init__(self, pool: WorkerPool, count: int, job: Job, limit: float | None, notify: Notify) -> None:
        self.pool, self.count, self.job, self.limit, self.notify = pool, count, job, limit, notify
        self.slots: list[Slot] = []
        self.first: Question | None = None
        self.given_up: dict[str, str] = {}  # texts, and why
        self.failed_starts = 0
        self.classes_only = False
        pool.pack(job)

    def close(self) -> None:
        for slot in self.slots:
            slot.worker.stop()
        self.slots.clear()

    def ask(self, texts: Sequence[str]) -> Evaluation:
        """The scores of texts, which one worker is asked in one call; halves and single texts where that fails."""
        question = Question(tuple(range(len(texts))), tuple(texts))
        queue = WorkQueue(lambda place: question, 1, 1, fail_question, self.given_up)
        (replies,) = self._do(queue)
        answered = [place for place, reply in enumerate(replies) if reply.error is None]
        if answered and self.first is None:
            self.first = question.take(answered)
            for slot in self.slots:
                slot.settled = True
            if queue.divided:  # each worker has been asked something else
                self.close()
        self.classes_only |= any(reply.classes_only for reply in replies)
        scores = np.full((len(texts), len(self.job.victim.labels)), np.nan)
        for place in answered:
            scores[place] = replies[place].scores
        return Evaluation(scores, [reply.error for reply in replies], np.array([reply.forwards for reply in replies]))

    def run(self, job: Job, units: Sequence[Unit]) -> Iterator[list[Record]]:
        """The records of each unit, in their order."""
        self.job = job
        self.pool.pack(job)
        for slot in [
            slot for slot in self.slots if not slot.free
        ]:  # one that has not begun is sent the new job instead
            slot.worker.stop()
            self.slots.remove(slot)
        for slot in self.slots:
            slot.worker.update(job.findings)
        queue = WorkQueue(
            lambda place: job.task(units[place]), len(units), AHEAD * self.count, partial(fail_task, job), self.given_up
        )
        yield from self._do(queue, report=True)

    def _do(self, queue: WorkQueue, report: bool = False) -> Iterator[list[Any]]:
        """What is found of the tasks of a queue, in their order. report: whether to notify of the rates of machines."""
        slots, throughput, reported = self.slots, Throughput(), 0.0
        for slot in slots:
            throughput.add_machine(slot.where)
        begun = {slot.place for slot in slots}
        slots += [self._start(place) for place in range(min(self.count, queue.size)) if place not in begun]
        while True:
            for slot in slots:
                if slot.free and (assignment := self._choose(slot, queue)) is not None:
                    slot.assignment, slot.since = assignment, clock()
                    slot.worker.assign(assignment.task)
            yield from queue.pop_finished()
            if queue.over:
                return
            if report and clock() - reported >= REPORT_EVERY:
                self.notify(throughput.describe(slots))
                reported = clock()
            for slot in wait_for_answers(self.pool, slots, self.limit):
                answer, assignment = slot.worker.answer(), slot.assignment
                slot.assignment = None
                if isinstance(answer, Lost):
                    self._lose(slot, assignment, answer, queue)
                elif isinstance(answer, Exception):
                    if assignment is not None:
                        raise answer
                    self._leave_out(slot, answer)
                elif isinstance(answer, Ready):
                    slot.where = answer.where
                    throughput.add_machine(answer.where)
                    reported = -np.inf  # who works has changed, which is reported at once
                    self.failed_starts = 0 if self.first is None else self.failed_starts
                elif assignment is not None and assignment.place == SETTLING:
                    slot.settled, self.failed_starts = True, 0
                elif assignment is not None:
                    queue.finish(assignment, answer)
                    throughput.count(slot.where, len(answer))
            for slot in find_overdue(slots, self.limit):
                slot.worker.stop()
                why = f"not finished within the time limit of {self.limit:g} seconds"
                if slot.assignment is None or slot.assignment.place == SETTLING:
                    self._lose(slot, slot.assignment, Lost(why), queue)
                else:
                    queue.halve(slot.assignment, f"TimeoutError: {why}")
                    self._restart(slot)

    def _start(self, place: int) -> Slot:
        return Slot(place, self.pool.start(place))

    def _restart(self, slot: Slot) -> None:
        self.slots[self.slots.index(slot)] = self._start(slot.place)

    def _choose(self, slot: Slot, queue: WorkQueue) -> Assignment | None:
        """What a free worker does next."""
        if self.first is not None and not slot.settled:
            return Assignment(SETTLING, self.first)
        return queue.take()

    def _lose(self, slot: Slot, assignment: Assignment | None, how: Lost, queue: WorkQueue) -> None:
        """A worker has died: its task is done again, and another takes its place."""
        if assignment is not None and assignment.place != SETTLING:
            queue.lost(assignment, how)
        else:
            self.failed_starts += not how.blameless
            if self.failed_starts >= ATTEMPTS:
                died = f"a worker died {ATTEMPTS} times before it was ready: {how.why}. Finished work is kept"
                self._leave_out(slot, RuntimeError(died))
                return
        self._restart(slot)

    def _leave_out(self, slot: Slot, error: Exception) -> None:
        """A worker cannot be started: go on without it, if there is another."""
        if not any(other.where for other in self.slots if other is not slot):
            raise error
        warnings.warn(f"continuing with one worker fewer: {error}", stacklevel=2)
        self.slots.remove(slot)
        slot.worker.stop()
        self.failed_starts = 0


def wait_for_answers(pool: WorkerPool, slots: Sequence[Slot], limit: float | None) -> list[Slot]:
    """Slots whose workers have an answer; waits no longer than until the first time limit."""
    awaited = {id(slot.worker): slot for slot in slots if not slot.free}
    ends = [slot.since + limit for slot in slots if slot.assignment is not None and limit is not None]
    seconds = min([REPORT_EVERY, *(end - clock() for end in ends)])
    return [awaited[id(one)] for one in pool.wait([slot.worker for slot in awaited.values()], max(0.0, seconds))]


def find_overdue(slots: Sequence[Slot], limit: float | None) -> list[Slot]:
    now = clock()
    return [slot for slot in slots if limit is not None and slot.assignment is not None and now - slot.since > limit]


class Throughput:
    """Texts per second of each machine over the last half minute."""

    def __init__(self) -> None:
        self.began: dict[str, float] = {}
        self.done: dict[str, deque[tuple[float, int]]] = {}

    def add_machine(self, where: str | None) -> None:
        if where is None:
            return
        self.began.setdefault(where, clock())
        self.done.setdefault(where, deque())

    def count(self, where: str | None, texts: int) -> None:
        assert where is not None
        self.done[where].append((clock(), texts))

    def rate(self, where: str, now: float) -> float:
        done = self.done[where]
        while done and done[0][0] < now - RATE_WINDOW:
            done.popleft()
        return sum(texts for _, texts in done) / max(REPORT_EVERY, min(RATE_WINDOW, now - self.began[where]))

    def describe(self, slots: Sequence[Slot]) -> str:
        """As '3 of 4 workers; left 12.1, right 11.8 texts/s'; many machines by the slowest and the quickest."""
        now = clock()
        here = [slot.where for slot in slots if slot.where is not None]
        said = (
            f"{len(here)} of {len(slots)} workers"
            if len(here) < len(slots)
            else f"{len(here)} worker{'s' * (len(here) > 1)}"
        )
        throughput = {where: self.rate(where, now) for where in sorted(set(here))}
        if len(throughput) < 2:
            return said
        if len(throughput) <= 4:
            return f"{said}; {', '.join(f'{where} {rate:.1f}' for where, rate in throughput.items())} texts/s"
        low, high = min(throughput.values()), max(throughput.values())
        return f"{said}; {len(throughput)} nodes at {low:.1f} to {high:.1f} texts/s each"
