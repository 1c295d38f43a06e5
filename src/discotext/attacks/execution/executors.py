"""Executors: this process, several processes on this machine, or the workers of a Ray cluster.

An executor opens a session for a job. All questions to the victim go through it, those that come before the first unit
as well: so each is subject to the time limit, and a worker that dies of one costs a text and not the run. The records
of units come in the order of the units: so a folder holds the same records, in the same order, however many workers
there were.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, runtime_checkable

from discotext.attacks.execution.processes import Processes
from discotext.attacks.execution.ray import RayExecutor
from discotext.attacks.job import Job
from discotext.attacks.schedule import Notify, Unit, ignore
from discotext.attacks.task import Inside, TaskRunner
from discotext.runs.record import Record
from discotext.victims.victim import Evaluation, evaluate


class Session(Protocol):
    """Asks the victim of a job, and does units of it.

    classes_only: what the victim declares, as far as it has answered.
    ask: the scores of texts; one on which the victim fails, hangs or dies has an error instead.
    run: the records of each unit, in the order of the units. The job is the same, identified by now.
    """

    @property
    def classes_only(self) -> bool: ...
    def ask(self, texts: Sequence[str]) -> Evaluation: ...
    def run(self, job: Job, units: Sequence[Unit]) -> Iterator[list[Record]]: ...


@runtime_checkable
class Executor(Protocol):
    """Opens a session for a job. notify: called with a line about the workers."""

    def open(self, job: Job, notify: Notify = ignore) -> AbstractContextManager[Session]: ...


class Serial:
    """One unit after the other, in this process. inside: see `TaskRunner`."""

    def __init__(self, inside: Inside = ignore) -> None:
        self.inside = inside

    @contextmanager
    def open(self, job: Job, notify: Notify = ignore) -> Iterator[Serial]:
        self.victim, self.notify = job.victim, notify
        yield self

    @property
    def classes_only(self) -> bool:
        return self.victim.capabilities.classes_only

    def ask(self, texts: Sequence[str]) -> Evaluation:
        return evaluate(self.victim, texts)

    def run(self, job: Job, units: Sequence[Unit]) -> Iterator[list[Record]]:
        self.notify("")
        runner = TaskRunner(job, self.inside)
        for unit in units:
            yield runner.run(job.task(unit))


def make_executor(workers: int | None = None, time_limit: float | None = None, ray: str | None = None) -> Executor:
    """The executor that options ask for; a cluster that cannot be reached is reported before anything takes time."""
    if ray is not None:
        executor = RayExecutor(ray, workers, time_limit=time_limit)
        executor.preflight()
        return executor
    return Serial() if workers is None and time_limit is None else Processes(workers or 1, time_limit)
