"""What a worker does, wherever it is: configure itself, load the victim once, do task after task.

An error is an answer like any other: nobody else would see it.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from discotext.attacks.execution.scheduler import Answer, Ready
from discotext.attacks.job import Job
from discotext.attacks.schedule import Question, Task, WorkerReply
from discotext.attacks.task import TaskRunner
from discotext.support.extras import flush_denormals_globally
from discotext.support.threads import choose_small, make_environment
from discotext.victims.victim import Victim, evaluate


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
        self.job: Job | None = None
        self.runner: TaskRunner | None = None

    def load(self, job: Job, machine: str) -> Answer:
        """Load the victim; no text is scored."""
        try:
            self.job = job.load()
            return Ready(machine)
        except Exception as error:
            return make_portable(error)

    def update(self, findings: Mapping[str, Any]) -> None:
        """Take what has been found out by asking since the job was sent."""
        assert self.job is not None
        self.job, self.runner = replace(self.job, model=replace(self.job.model, **findings)), None

    def do(self, work: Task | Question) -> Answer:
        assert self.job is not None
        try:
            if isinstance(work, Question):
                return answer(self.job.victim, work)
            self.runner = self.runner or TaskRunner(self.job)
            return self.runner.run(work)
        except Exception as error:
            return make_portable(error)


def answer(victim: Victim, question: Question) -> list[WorkerReply]:
    """What a victim says of each text of a question."""
    found = evaluate(victim, question.texts)
    rows = zip(question.numbers, found.scores.tolist(), found.errors, found.forwards.tolist(), strict=True)
    return [
        WorkerReply(number, tuple(row), error, count, found.seconds, victim.capabilities.classes_only)
        for number, row, error, count in rows
    ]


def make_portable(error: Exception) -> Exception:
    """The error, if every process knows its class; else its message."""
    known = type(error).__module__.split(".")[0] in ("builtins", "discotext")
    return error if known else RuntimeError(f"{type(error).__name__}: {error}")
