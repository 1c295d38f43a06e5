"""Workers that are processes of this machine.

Each gets the job once, with a victim that was named by its name alone, and then task after task.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection, get_context
from multiprocessing.reduction import ForkingPickler

from discotext.experiment.crew import Answer, Lost, Tell, drive, silent
from discotext.experiment.hand import Hand, Share, portable
from discotext.experiment.job import Job, Task, Unit
from discotext.experiment.work import Record

HERE = "this machine"


@dataclass(frozen=True)
class Processes:
    """Several processes on this machine; where there are GPUs, each takes the next.

    workers: how many. threads: of the victim's framework in each; unless told, the processors are shared out. With as
        many threads, records are the same to the last bit, whatever the number of workers.
    time_limit: seconds for the texts of a unit; where they are over, they are done again in halves, and a text that
        takes too long alone gets a record that says so.
    """

    workers: int
    threads: int | None = None
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if self.workers < 1 or (self.threads is not None and self.threads < 1):
            raise ValueError(f"workers is {self.workers} and threads is {self.threads}; choose 1 or more for both")
        check_limit(self.time_limit)

    def run(self, job: Job, units: Sequence[Unit], tell: Tell = silent) -> Iterator[list[Record]]:
        threads = self.threads or max(1, (os.cpu_count() or 1) // self.workers)
        return drive(ProcessCrew(job, Share(threads)), self.workers, job, units, self.time_limit, tell)


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Variables as what is started within shall find them."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def check_limit(seconds: float | None) -> None:
    if seconds is not None and not seconds > 0:
        raise ValueError(f"the time limit is {seconds} seconds; choose more than 0")


class ProcessCrew:
    """Starts processes, and listens to them."""

    def __init__(self, job: Job, share: Share) -> None:
        self.share = share
        try:
            self.parcel = bytes(ForkingPickler.dumps(job))
        except Exception as error:
            raise ValueError(
                f"the victim {job.victim.name} cannot be sent to other processes ({error}); name it, for instance as "
                "'py:module:function', so that each can load it, or do without workers"
            ) from None

    def hire(self, place: int) -> ProcessWorker:
        return ProcessWorker(self.parcel, place, self.share)

    def wait(self, workers: Sequence[ProcessWorker], seconds: float) -> list[ProcessWorker]:
        lines = {worker.line: worker for worker in workers}
        return [lines[line] for line in connection.wait(list(lines), seconds)]  # type: ignore[index]


class ProcessWorker:
    """A process that does tasks, and the line to it."""

    def __init__(self, parcel: bytes, place: int, share: Share) -> None:
        # A forked child would inherit locks of threads that it does not have.
        context = get_context("spawn")
        self.line, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, place, share), daemon=True)
        with environment(OMP_NUM_THREADS=str(share.threads)):  # NumPy reads it as it is loaded, before anything else
            self.process.start()
        theirs.close()
        # A line takes only so much before somebody reads it, and nobody is to wait for that.
        threading.Thread(target=self._send, args=(parcel,), daemon=True).start()

    def _send(self, parcel: bytes) -> None:
        with suppress(OSError):  # it may have died already, which is seen when it is asked
            self.line.send_bytes(parcel)

    def give(self, task: Task) -> None:
        with suppress(OSError):  # it may have died, as above
            self.line.send(task)

    def answer(self) -> Answer:
        try:
            said: Answer = self.line.recv()
            return said
        except (EOFError, OSError):
            self.stop()
            code = self.process.exitcode
            how = f"killed by signal {-code}" if code is not None and code < 0 else f"with status {code}"
            return Lost(
                f"its process ended, {how} (was it killed, or did memory run out? A script must call this under "
                "`if __name__ == '__main__':`)"
            )

    def stop(self) -> None:
        self.line.close()
        # A victim that hangs may not listen to anything milder.
        self.process.kill()
        self.process.join()


def work(line: connection.Connection, place: int, share: Share) -> None:
    """The life of a worker: until nobody wants more."""
    # Ctrl-C reaches every process of a terminal; what it means is for the first one to say.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    hand = Hand(share, place)
    with suppress(EOFError, OSError):
        try:
            job: Job = line.recv()
        except (EOFError, OSError):
            raise
        except Exception as error:  # what was sent cannot be put together here
            line.send(portable(error))
            return
        line.send(hand.load(job, HERE))
        while True:
            line.send(hand.do(line.recv()))
