"""Workers as processes on this machine.

Each gets the job once (a victim that was given by name is sent as a name) and then task after task.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection, get_context
from multiprocessing.reduction import ForkingPickler
from typing import Any

from discotext.attacks.execution.scheduler import Answer, Crew, Lost
from discotext.attacks.execution.worker import Worker, WorkerSettings, make_portable
from discotext.attacks.job import Job
from discotext.attacks.schedule import Notify, Question, Task, ignore
from discotext.support import threads

HERE = "this machine"


@dataclass(frozen=True)
class Processes:
    """Several processes on this machine; where there are GPUs, each takes the next.

    A worker's framework uses as many threads as OMP_NUM_THREADS says or, if that is not set, cores ÷ workers, and one
    for the networks of `discotext train`. With the same number of threads, records are the same to the last bit,
    whatever the number of workers.

    workers: how many.
    time_limit: seconds for the texts of a unit, or of a question that comes before them; a first call that loads a
        model takes part of it. When they are over, the texts are done again in halves, and a text that takes too long
        alone gets a record that says so.
    """

    workers: int
    time_limit: float | None = None

    def __post_init__(self) -> None:
        check_settings(self.workers, self.time_limit)

    @contextmanager
    def open(self, job: Job, notify: Notify = ignore) -> Iterator[Crew]:
        share = max(1, threads.count_processors() // self.workers)
        settings = WorkerSettings(threads.chosen or share, threads.chosen is not None)
        with closing(Crew(ProcessPool(settings), self.workers, job, self.time_limit, notify)) as crew:
            yield crew


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Set environment variables for processes that are started within."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def check_settings(workers: int | None, time_limit: float | None) -> None:
    """Raise ValueError for numbers that make no sense."""
    if workers is not None and workers < 1:
        raise ValueError(f"workers is {workers}; choose 1 or more")
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"the time limit is {time_limit} seconds; choose more than 0")


class ProcessPool:
    """Starts processes, and waits for their answers."""

    def __init__(self, settings: WorkerSettings) -> None:
        self.settings, self.parcel = settings, b""

    def pack(self, job: Job) -> None:
        try:
            self.parcel = bytes(ForkingPickler.dumps(job))
        except Exception as error:
            raise ValueError(
                f"the victim {job.victim.name} cannot be sent to other processes ({error}); give it by name, for "
                "instance 'py:module:function', so that each can load it, or run without workers"
            ) from None

    def start(self, place: int) -> ProcessWorker:
        return ProcessWorker(self.parcel, place, self.settings)

    def wait(self, workers: Sequence[ProcessWorker], seconds: float) -> list[ProcessWorker]:
        pipes = {worker.pipe: worker for worker in workers}
        return [pipes[pipe] for pipe in connection.wait(list(pipes), seconds)]  # type: ignore[index]


class ProcessWorker:
    """A process that does tasks, and the pipe to it."""

    def __init__(self, parcel: bytes, place: int, settings: WorkerSettings) -> None:
        # A forked child would inherit locks of threads that it does not have.
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, place, settings), daemon=True)
        with environment(**threads.make_environment(settings.threads)):  # libraries read them when they are loaded
            self.process.start()
        theirs.close()
        # A pipe holds only so much until it is read, and nothing should wait for that.
        threading.Thread(target=self._send, args=(parcel,), daemon=True).start()

    def _send(self, parcel: bytes) -> None:
        # It may have died already, which `answer` reports; or the pipe is closed in the middle, and has no number then.
        with suppress(OSError, TypeError):
            self.pipe.send_bytes(parcel)

    def update(self, findings: Mapping[str, Any]) -> None:
        self._tell(dict(findings))

    def assign(self, work: Task | Question) -> None:
        self._tell(work)

    def _tell(self, message: Any) -> None:
        with suppress(OSError):  # as above
            self.pipe.send(message)

    def answer(self) -> Answer:
        try:
            answer: Answer = self.pipe.recv()
            return answer
        except (EOFError, OSError):
            self.stop()
            code = self.process.exitcode
            how = f"killed by signal {-code}" if code is not None and code < 0 else f"with status {code}"
            return Lost(
                f"its process ended, {how} (was it killed, or did memory run out? A script must call this under "
                "`if __name__ == '__main__':`)"
            )

    def stop(self) -> None:
        self.pipe.close()
        # A victim that hangs may not react to anything milder.
        self.process.kill()
        self.process.join()


def work(pipe: connection.Connection, place: int, settings: WorkerSettings) -> None:
    """Serve tasks until the pipe is closed."""
    # Ctrl-C reaches every process of a terminal; the first one decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker = Worker(settings, place)
    with suppress(EOFError, OSError):
        try:
            job: Job = pipe.recv()
        except (EOFError, OSError):
            raise
        except Exception as error:  # what was sent cannot be unpickled here
            pipe.send(make_portable(error))
            return
        pipe.send(worker.load(job, HERE))
        while True:
            message = pipe.recv()
            if isinstance(message, dict):
                worker.update(message)
            else:
                pipe.send(worker.do(message))
