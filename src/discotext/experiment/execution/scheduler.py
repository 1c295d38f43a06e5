"""How workers do the units of a job, wherever they are.

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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from discotext.experiment.job import Job, Task, Unit
from discotext.experiment.record import Record
from discotext.experiment.task import fail_task

AHEAD = 4  # units for each worker that may be done before the next one to be written
ATTEMPTS = 3  # workers that may die of a task before it is done in halves
BLAME = 0.1  # what the loss of a machine counts of a death: some text may be what takes machines down
FAILURES_IN_A_ROW = 8  # texts that fail alone, one after the other, before the run is given up
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


@dataclass(frozen=True)
class Lost:
    """A worker has died. blameless: its machine, or the connection to it, was lost, so its task is not to blame."""

    why: str
    blameless: bool = False


Answer = Ready | Lost | Exception | list[Record]


class WorkerHandle(Protocol):
    """The scheduler's end of a worker, which does one task at a time. Its first answer is `Ready`, or why not."""

    def assign(self, task: Task) -> None: ...

    def answer(self) -> Answer:
        """What it answered; called when `WorkerPool.wait` says that there is an answer."""
        ...

    def stop(self) -> None: ...


class WorkerPool(Protocol):
    """Starts workers, and waits for their answers."""

    def start(self, place: int) -> WorkerHandle:
        """Start a worker. place: its number among the workers of the pool."""
        ...

    def wait(self, workers: Sequence[Any], seconds: float) -> Sequence[Any]:
        """The workers that have an answer, as soon as one has; none when the time is up."""
        ...


@dataclass(eq=False)
class Slot:
    """A worker's slot in the pool: its machine, once it is ready, and its assignment."""

    place: int
    worker: WorkerHandle
    where: str | None = None
    assignment: Assignment | None = None
    since: float = 0.0

    @property
    def free(self) -> bool:
        return self.where is not None and self.assignment is None


@dataclass(frozen=True)
class Assignment:
    """A task of the unit at some place in the order. deaths: of workers that had it."""

    place: int
    task: Task
    deaths: float = 0


def schedule(
    pool: WorkerPool, count: int, job: Job, units: Sequence[Unit], limit: float | None, notify: Notify
) -> Iterator[list[Record]]:
    """The records of each unit, in their order, by `count` workers. limit: seconds for a task, or None."""
    queue, throughput, failed_starts, reported = WorkQueue(job, units, AHEAD * count), Throughput(), 0, 0.0
    slots: list[Slot] = []
    try:
        slots += [Slot(place, pool.start(place)) for place in range(min(count, len(units)))]
        while not queue.over:
            for slot in slots:
                if slot.free and (assignment := queue.take()) is not None:
                    slot.assignment, slot.since = assignment, clock()
                    slot.worker.assign(assignment.task)
            if clock() - reported >= REPORT_EVERY:
                notify(throughput.describe(slots))
                reported = clock()
            for slot in wait_for_answers(pool, slots, limit):
                answer, assignment = slot.worker.answer(), slot.assignment
                slot.assignment = None
                if isinstance(answer, Lost) and assignment is None:
                    failed_starts += not answer.blameless
                    if failed_starts >= ATTEMPTS:
                        answer = RuntimeError(
                            f"a worker died {ATTEMPTS} times before it was ready: {answer.why}. Finished work is kept"
                        )
                if isinstance(answer, Exception):
                    if assignment is not None or not any(other.where for other in slots):
                        raise answer
                    warnings.warn(f"continuing with one worker fewer: {answer}", stacklevel=2)
                    slots.remove(slot)
                    slot.worker.stop()
                    failed_starts = 0
                elif isinstance(answer, Ready):
                    slot.where, failed_starts = answer.where, 0
                    throughput.add_machine(answer.where)
                elif isinstance(answer, Lost):
                    if assignment is not None:
                        queue.lost(assignment, answer)
                    slots[slots.index(slot)] = Slot(slot.place, pool.start(slot.place))
                elif assignment is not None:
                    queue.finish(assignment, answer)
                    throughput.count(slot.where, len(answer))
            for slot in find_overdue(slots, limit):
                assert slot.assignment is not None
                slot.worker.stop()
                queue.halve(slot.assignment, f"TimeoutError: not finished within the time limit of {limit:g} seconds")
                slots[slots.index(slot)] = Slot(slot.place, pool.start(slot.place))
            yield from queue.pop_finished()
    finally:
        for slot in slots:
            slot.worker.stop()


def wait_for_answers(pool: WorkerPool, slots: Sequence[Slot], limit: float | None) -> list[Slot]:
    """Slots whose workers have an answer; waits no longer than until the first time limit."""
    awaited = {id(slot.worker): slot for slot in slots if not slot.free}
    ends = [slot.since + limit for slot in slots if slot.assignment is not None and limit is not None]
    seconds = min([REPORT_EVERY, *(end - clock() for end in ends)])
    return [awaited[id(one)] for one in pool.wait([slot.worker for slot in awaited.values()], max(0.0, seconds))]


def find_overdue(slots: Sequence[Slot], limit: float | None) -> list[Slot]:
    now = clock()
    return [slot for slot in slots if limit is not None and slot.assignment is not None and now - slot.since > limit]


class WorkQueue:
    """Tasks still to be assigned, and records that wait for earlier units."""

    def __init__(self, job: Job, units: Sequence[Unit], ahead: int) -> None:
        self.job, self.units, self.ahead = job, units, ahead
        self.again: deque[Assignment] = deque()  # what failed, to be assigned before all else
        self.next = self.turn = 0
        self.done: dict[int, dict[int, Record]] = {}  # by place and number of the text
        self.bad = 0  # texts given up since the last success

    @property
    def over(self) -> bool:
        return self.turn == len(self.units)

    def take(self) -> Assignment | None:
        """The next assignment, or None if there is none now."""
        if self.again:
            return self.again.popleft()
        if self.next == len(self.units) or self.next >= self.turn + self.ahead:
            return None
        self.next += 1
        return Assignment(self.next - 1, self.job.task(self.units[self.next - 1]))

    def finish(self, assignment: Assignment, records: Sequence[Record]) -> None:
        self.bad = 0
        self._keep(assignment, records)

    def _keep(self, assignment: Assignment, records: Sequence[Record]) -> None:
        self.done.setdefault(assignment.place, {}).update({record.id: record for record in records})

    def lost(self, assignment: Assignment, how: Lost) -> None:
        """The worker died: the same again, in the end in halves."""
        deaths = assignment.deaths + (BLAME if how.blameless else 1)
        if deaths < ATTEMPTS:
            self.again.appendleft(replace(assignment, deaths=deaths))
        else:
            self.halve(assignment, f"the worker died: {how.why}")

    def halve(self, assignment: Assignment, why: str) -> None:
        """The same in two halves; of one text, a record that it failed."""
        if len(assignment.task.texts) > 1:
            # Something is wrong here, so one more death is enough to look closer; a single text is given more chances.
            self.again.extendleft(
                Assignment(assignment.place, half, ATTEMPTS - 1 if len(half.texts) > 1 else 0)
                for half in reversed(assignment.task.halves())
            )
            return
        self.bad += 1
        if self.bad == FAILURES_IN_A_ROW:
            raise RuntimeError(
                f"{FAILURES_IN_A_ROW} texts in a row failed, the last (text {assignment.task.numbers[0]}) with: {why}. "
                "Finished work is kept; try fewer workers or a longer time limit"
            )
        self._keep(assignment, fail_task(self.job, assignment.task, why))

    def pop_finished(self) -> Iterator[list[Record]]:
        """The records of finished units, in order, up to the first that is not finished."""
        while not self.over:
            numbers = self.job.chunks[self.units[self.turn].chunk]
            if len(self.done.get(self.turn, ())) < len(numbers):
                return
            found = self.done.pop(self.turn)
            self.turn += 1
            yield [found[number] for number in numbers]


class Throughput:
    """Texts per second of each machine over the last half minute."""

    def __init__(self) -> None:
        self.began: dict[str, float] = {}
        self.done: dict[str, deque[tuple[float, int]]] = {}

    def add_machine(self, where: str) -> None:
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
