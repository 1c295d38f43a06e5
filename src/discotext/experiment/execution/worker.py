"""What a worker does, wherever it is: configure itself, load the victim once, do task after task.

An error is an answer like any other: nobody else would see it.
"""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass, field

from discotext.experiment.execution.scheduler import Answer, Ready
from discotext.experiment.job import Job, Task
from discotext.experiment.task import TaskRunner
from discotext.support.extras import flush_denormals_globally
from discotext.support.threads import choose_small, make_environment


@dataclass(frozen=True)
class WorkerSettings:
    """Threads of a worker.

    chosen: whether the user has asked for so many; otherwise small networks use one. torch: whether the process that
    starts it has loaded PyTorch, as the victim then will.
    """

    threads: int
    chosen: bool = True
    torch: bool = field(default_factory=lambda: "torch" in sys.modules)


class Worker:
    """One worker. number: its number in the pool, by which it picks one of the GPUs that it sees."""

    def __init__(self, settings: WorkerSettings, number: int = 0) -> None:
        # Before any framework is loaded.
        os.environ.update(make_environment(settings.threads))
        choose_small(settings.threads if settings.chosen else None)
        if settings.torch:
            flush_denormals_globally()
            torch = importlib.import_module("torch")
            torch.set_num_threads(settings.threads)
            if torch.cuda.is_available():
                torch.cuda.set_device(number % torch.cuda.device_count())
        self.runner: TaskRunner | None = None

    def load(self, job: Job, where: str) -> Answer:
        try:
            self.runner = TaskRunner(job.load())
            return Ready(where)
        except Exception as error:
            return make_portable(error)

    def do(self, task: Task) -> Answer:
        assert self.runner is not None
        try:
            return self.runner.run(task)
        except Exception as error:
            return make_portable(error)


def make_portable(error: Exception) -> Exception:
    """The error, if every process knows its class; else its message."""
    known = type(error).__module__.split(".")[0] in ("builtins", "discotext")
    return error if known else RuntimeError(f"{type(error).__name__}: {error}")
