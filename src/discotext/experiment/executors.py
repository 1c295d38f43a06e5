"""Who does the units of a job: this process, several on this machine, or those of a cluster.

An executor is given a job and the units that are left, and yields the records of one unit after the other, in the order
of the units, whoever did them: so a folder holds the same records, in the same order, however many were at work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from discotext.experiment.crew import Tell, silent
from discotext.experiment.job import Job, Unit
from discotext.experiment.on_ray import RayExecutor
from discotext.experiment.processes import Processes
from discotext.experiment.work import Record, run_task


class Executor(Protocol):
    """Whatever can do units of a job."""

    def run(self, job: Job, units: Sequence[Unit], tell: Tell = silent) -> Iterator[list[Record]]:
        """The records of each unit, in the order of the units. tell: gets a line on who is at work, now and then."""
        ...


class Serial:
    """One unit after the other, here."""

    def run(self, job: Job, units: Sequence[Unit], tell: Tell = silent) -> Iterator[list[Record]]:
        tell("")
        for unit in units:
            yield run_task(job, job.task(unit))


def executor_of(
    workers: int | None = None,
    threads: int | None = None,
    time_limit: float | None = None,
    ray: bool = False,
    ray_address: str | None = None,
    gpus: float | None = None,
) -> Executor:
    """The executor that options ask for; a cluster that is not there is told now, before anything takes time."""
    if ray or ray_address is not None:
        executor = RayExecutor(ray_address, workers, threads or 1, gpus, time_limit)
        executor.look_first()
        return executor
    if gpus is not None:
        raise ValueError(f"GPUs for each worker ({gpus:g}) are shared out by Ray only; add --ray or --ray-address")
    if workers is None and threads is None and time_limit is None:
        return Serial()
    return Processes(workers or 1, threads, time_limit)
