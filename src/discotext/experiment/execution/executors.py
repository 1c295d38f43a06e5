"""Executors: this process, several processes on this machine, or the workers of a Ray cluster.

An executor is given a job and the units that are left, and yields the records of one unit after the other, in the order
of the units: so a folder holds the same records, in the same order, however many workers there were.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

from discotext.experiment.execution.processes import Processes
from discotext.experiment.execution.ray import RayExecutor
from discotext.experiment.execution.scheduler import Notify, ignore
from discotext.experiment.job import Job, Unit
from discotext.experiment.record import Record
from discotext.experiment.task import Inside, TaskRunner


@runtime_checkable
class Executor(Protocol):
    """Does units of a job."""

    def run(self, job: Job, units: Sequence[Unit], notify: Notify = ignore) -> Iterator[list[Record]]:
        """The records of each unit, in the order of the units. notify: called with a line about the workers."""
        ...


class Serial:
    """One unit after the other, in this process. inside: see `TaskRunner`."""

    def __init__(self, inside: Inside | None = None) -> None:
        self.inside = inside

    def run(self, job: Job, units: Sequence[Unit], notify: Notify = ignore) -> Iterator[list[Record]]:
        notify("")
        runner = TaskRunner(job, self.inside)
        for unit in units:
            yield runner.run(job.task(unit))


def make_executor(
    workers: int | None = None,
    threads: int | None = None,
    time_limit: float | None = None,
    ray: bool = False,
    ray_address: str | None = None,
    gpus: float | None = None,
) -> Executor:
    """The executor that options ask for; a cluster that cannot be reached is reported before anything takes time."""
    if ray or ray_address is not None:
        executor = RayExecutor(ray_address, workers, threads or 1, gpus, time_limit)
        executor.preflight()
        return executor
    if gpus is not None:
        raise ValueError(f"--gpus {gpus:g} is only available with Ray; add --ray or --ray-address")
    if workers is None and threads is None and time_limit is None:
        return Serial()
    return Processes(workers or 1, threads, time_limit)
