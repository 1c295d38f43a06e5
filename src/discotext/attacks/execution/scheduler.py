"""How workers answer the questions of a run and do its units, wherever they are.

Units are assigned in their order to whichever worker is free, and their records come back in the same order. No worker
gets far ahead of the next unit to be written, so that what waits to be written stays small.

Whatever happens to a worker, its task is done again. A worker that dies may have died of its task: so after some
deaths, or when its time is up, a task is done again in halves, and what still fails with one text alone becomes that
text's record. Where the worker's whole machine has gone, the task is hardly suspected.

A worker that cannot be started is left out, with a warning, as long as others can.
"""

from __future__ import annotations

import math
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from discotext.attacks.job import Job
from discotext.attacks.schedule import Notify, Question, Task, Unit, WorkerReply, ignore
from discotext.attacks.task import fail_task
from discotext.runs.record import Record
from discotext.victims.victim import Evaluation

AHEAD = 4  # units for each worker that may be done before the next one to be written
ATTEMPTS = 3  # workers that may die of a task before it is done in halves
BLAME = 0.1  # what the loss of a machine counts of a death: some text may be what takes machines down
FAILURES_IN_A_ROW = 8  # texts that fail alone, one after the other, before the run is given up
SETTLING = -1  # the place of a question that settles a worker's victim
WAIT = 1.0  # seconds to wait for answers before looking again

Work = Task | Question
Found = Record | WorkerReply
clock = time.monotonic  # under another name, so that tests can replace it


@dataclass(frozen=True)
class Ready:
    """A worker is ready for tasks. machine: what tells its machine from others."""

    machine: str


@dataclass(frozen=True)
class Lost:
    """A worker has died. blameless: its machine, or the connection to it, was lost, so its task is not to blame."""

    why: str
    blameless: bool = False


Answer = Ready | Lost | Exception | list[Record] | list[WorkerReply]


class WorkerHandle(Protocol):
    """The scheduler's end of a worker, which does one task at a time. Its first answer is `Ready`, or why not.

    update: send it what has been found out since it got the job. answer: called when `WorkerPool.wait` names it.
    """

    def assign(self, task: Work) -> None: ...
    def update(self, findings: Mapping[str, Any]) -> None: ...
    def answer(self) -> Answer: ...
    def stop(self) -> None: ...


class WorkerPool(Protocol):
    """Starts workers, and waits for their answers.

    pack: prepare the job that workers are started with from now on. start: a worker, by its number in the pool.
    wait: the workers that have an answer, as soon as one has; none when the time is up.
    """

    def pack(self, job: Job) -> None: ...
    def start(self, place: int) -> WorkerHandle: ...
    def wait(self, workers: Sequence[Any], seconds: float) -> Sequence[Any]: ...


@dataclass(frozen=True)
class Assignment:
    """A task at some place in the order, or part of it. deaths: of workers that had it."""

    place: int
    task: Work
    deaths: float = 0


class WorkQueue:
    """Tasks still to be assigned, and what is found of later ones while earlier ones are not finished.

    make: the task at a place. size: how many there are. ahead: how many may be done before the next one to be finished.
    fail: what is found of a task that is given up, and why. given_up: texts that no worker is to get, and why.
    """

    def __init__(
        self,
        make: Callable[[int], Work],
        size: int,
        ahead: int,
        fail: Callable[[Any, str], Sequence[Found]],
        given_up: dict[str, str],
    ) -> None:
        self.make, self.size, self.ahead, self.fail, self.given_up = make, size, ahead, fail, given_up
        self.again: deque[Assignment] = deque()  # what failed, to be assigned before all else
        self.next = self.turn = 0
        self.numbers: dict[int, tuple[int, ...]] = {}  # of the texts of each task that was begun
        self.done: dict[int, dict[int, Found]] = {}  # by place and number of the text
        self.bad = 0  # texts given up since the last success
        self.divided = False

    @property
    def over(self) -> bool:
        return self.turn == self.size

    def take(self) -> Assignment | None:
        """The next assignment, or None if there is none now."""
        if self.again:
            return self.again.popleft()
        while self.next < min(self.size, self.turn + self.ahead):
            whole, place = self.make(self.next), self.next
            self.numbers[place], self.next = whole.numbers, place + 1
            left = []
            for at, text in enumerate(whole.texts):
                if text in self.given_up:
                    self._keep(place, self.fail(whole.take([at]), self.given_up[text]))
                else:
                    left.append(at)
            if left:
                return Assignment(place, whole.take(left))
        return None

    def finish(self, assignment: Assignment, found: Sequence[Found]) -> None:
        self.bad = 0
        self._keep(assignment.place, found)

    def _keep(self, place: int, found: Sequence[Found]) -> None:
        self.done.setdefault(place, {}).update({one.id: one for one in found})

    def lost(self, assignment: Assignment, how: Lost) -> None:
        """The worker died: the same again, in the end in halves."""
        deaths = assignment.deaths + (BLAME if how.blameless else 1)
        if deaths < ATTEMPTS:
            self.again.appendleft(replace(assignment, deaths=deaths))
        else:
            self.halve(assignment, f"the worker died: {how.why}")

    def halve(self, assignment: Assignment, why: str) -> None:
        """The same in two halves; of one text, what is found of a failure."""
        task, many = assignment.task, len(assignment.task.texts)
        if many > 1:
            self.divided = True
            # Something is wrong here, so one more death is enough to look closer; a single text is given more chances.
            self.again.extendleft(
                Assignment(assignment.place, half, ATTEMPTS - 1 if len(half.texts) > 1 else 0)
                for half in (task.take(range(many // 2, many)), task.take(range(many // 2)))
            )
            return
        self.bad += 1
        if self.bad == FAILURES_IN_A_ROW:
            raise RuntimeError(
                f"{FAILURES_IN_A_ROW} texts in a row failed, the last (text {task.numbers[0]}) with: {why}. "
                "Finished work is kept; try fewer workers or a longer time limit"
            )
        if isinstance(task, Question):  # a question is the text itself; an attack may fail where another would not
            self.given_up[task.texts[0]] = why
        self._keep(assignment.place, self.fail(task, why))

    def pop_finished(self) -> Iterator[list[Any]]:
        """What is found of finished tasks, in order, up to the first that is not finished."""
        while not self.over:
            numbers = self.numbers.get(self.turn)
            if numbers is None or len(self.done.get(self.turn, ())) < len(numbers):
                return
            found = self.done.pop(self.turn)
            del self.numbers[self.turn]
            self.turn += 1
            yield [found[number] for number in numbers]


def fail_question(question: Question, reason: str) -> list[WorkerReply]:
    return [WorkerReply(number, error=reason) for number in question.numbers]


@dataclass(eq=False)
class Slot:
    """A worker's slot in the pool: its machine, once it is ready, and its assignment.

    settled: whether it has been asked what every worker is asked first.
    """

    place: int
    worker: WorkerHandle
    machine: str | None = None
    assignment: Assignment | None = None
    since: float = 0.0
    settled: bool = False

    @property
    def free(self) -> bool:
        return self.machine is not None and self.assignment is None


class Crew:
    """The workers of a run, from its first question to its last record. limit: seconds for a task, or None.

    A victim may be settled by what it is asked first (see `Job.identify`): the texts of the first question that was
    answered are what every later worker is asked before anything else. A text that hangs, or that workers die of, when
    it is merely asked about is not given to workers again.
    """

    def __init__(self, pool: WorkerPool, count: int, job: Job, limit: float | None, notify: Notify) -> None:
        self.pool, self.count, self.job, self.notify = pool, count, job, notify
        self.limit = math.inf if limit is None else limit
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
        seconds = sum(reply.seconds for reply in replies) / max(len(replies), 1)
        errors, forwards = [reply.error for reply in replies], np.array([reply.forwards for reply in replies])
        return Evaluation(scores, errors, forwards, seconds)

    def run(self, job: Job, units: Sequence[Unit]) -> Iterator[list[Record]]:
        """The records of each unit, in their order."""
        self.job = job
        self.pool.pack(job)
        for slot in list(self.slots):
            if slot.free:
                slot.worker.update(job.model.findings)
            else:  # it has not begun, and another is started with the new job
                slot.worker.stop()
                self.slots.remove(slot)
        queue = WorkQueue(
            lambda place: job.task(units[place]), len(units), AHEAD * self.count, partial(fail_task, job), self.given_up
        )
        yield from self._do(queue, self.notify)

    def _do(self, queue: WorkQueue, notify: Notify = ignore) -> Iterator[list[Any]]:
        """What is found of the tasks of a queue, in their order. notify: called when other workers are ready."""
        slots, notified = self.slots, ""
        begun = {slot.place for slot in slots}
        slots += [
            Slot(place, self.pool.start(place)) for place in range(min(self.count, queue.size)) if place not in begun
        ]
        while True:
            for slot in slots:
                if not slot.free:
                    continue
                if self.first is not None and not slot.settled:
                    slot.assignment = Assignment(SETTLING, self.first)
                else:
                    slot.assignment = queue.take()
                if slot.assignment is not None:
                    slot.since = clock()
                    slot.worker.assign(slot.assignment.task)
            yield from queue.pop_finished()
            if queue.over:
                return
            if (workers := describe_workers(slots)) != notified:
                notify(workers)
                notified = workers
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
                    slot.machine = answer.machine
                    self.failed_starts = 0 if self.first is None else self.failed_starts
                elif assignment is not None and assignment.place == SETTLING:
                    slot.settled, self.failed_starts = True, 0
                elif assignment is not None:
                    queue.finish(assignment, answer)
            now = clock()
            for slot in [one for one in slots if one.assignment is not None and now - one.since > self.limit]:
                slot.worker.stop()
                why = f"not finished within the time limit of {self.limit:g} seconds"
                if slot.assignment is None or slot.assignment.place == SETTLING:
                    self._lose(slot, slot.assignment, Lost(why), queue)
                else:
                    queue.halve(slot.assignment, f"TimeoutError: {why}")
                    self._restart(slot)

    def _restart(self, slot: Slot) -> None:
        self.slots[self.slots.index(slot)] = Slot(slot.place, self.pool.start(slot.place))

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
        """A worker cannot be started: continue without it, if there is another."""
        if not any(other.machine for other in self.slots if other is not slot):
            raise error
        warnings.warn(f"continuing with one worker fewer: {error}", stacklevel=2)
        self.slots.remove(slot)
        slot.worker.stop()
        self.failed_starts = 0


def wait_for_answers(pool: WorkerPool, slots: Sequence[Slot], limit: float) -> list[Slot]:
    """Slots whose workers have an answer; waits no longer than until the first time limit."""
    awaited = {id(slot.worker): slot for slot in slots if not slot.free}
    ends = [slot.since + limit for slot in slots if slot.assignment is not None]
    seconds = min([WAIT, *(end - clock() for end in ends)])
    return [awaited[id(one)] for one in pool.wait([slot.worker for slot in awaited.values()], max(0.0, seconds))]


def describe_workers(slots: Sequence[Slot]) -> str:
    """How many workers are ready, of how many, and on how many machines.

    >>> describe_workers([Slot(0, None, "left"), Slot(1, None, "right"), Slot(2, None)])
    '2 of 3 workers on 2 machines'
    """
    ready = [slot.machine for slot in slots if slot.machine is not None]
    number = str(len(slots)) if len(ready) == len(slots) else f"{len(ready)} of {len(slots)}"
    machines = f" on {len(set(ready))} machines" if len(set(ready)) > 1 else ""
    return f"{number} worker{'s' * (len(slots) > 1)}{machines}"
