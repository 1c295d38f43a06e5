"""What a worker does, wherever it is: take its share of the machine, load the victim once, do task after task.

What goes wrong is an answer, for there is nobody else to see it.
"""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass, field

from discotext.experiment.crew import Answer, Arrived
from discotext.experiment.job import Job, Task
from discotext.experiment.work import run_task
from discotext.extras import quick_start


@dataclass(frozen=True)
class Share:
    """What a worker has of its machine. torch: whether whoever hires uses it, for then so will the victim here."""

    threads: int
    torch: bool = field(default_factory=lambda: "torch" in sys.modules)


class Hand:
    """One worker. number: which of the GPUs that it sees is its own, round and round."""

    def __init__(self, share: Share, number: int = 0) -> None:
        # Before any framework is loaded.
        os.environ["OMP_NUM_THREADS"] = str(share.threads)
        if share.torch:
            quick_start()
            torch = importlib.import_module("torch")
            torch.set_num_threads(share.threads)
            if torch.cuda.is_available():
                torch.cuda.set_device(number % torch.cuda.device_count())
        self.job: Job | None = None

    def load(self, job: Job, where: str) -> Answer:
        try:
            self.job = job.loaded()
            return Arrived(where)
        except Exception as error:
            return portable(error)

    def do(self, task: Task) -> Answer:
        assert self.job is not None
        try:
            return run_task(self.job, task)
        except Exception as error:
            return portable(error)


def portable(error: Exception) -> Exception:
    """The error, if whoever gets it knows its class; else what it says."""
    known = type(error).__module__.split(".")[0] in ("builtins", "discotext")
    return error if known else RuntimeError(f"{type(error).__name__}: {error}")
