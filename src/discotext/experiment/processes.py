"""Workers that are processes of this machine.

Each gets the job once, with a victim that was named by its name alone, and then task after task.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from multiprocessing import connection, get_context

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


def check_limit(seconds: float | None) -> None:
    if seconds is not None and not seconds > 0:
        raise ValueError(f"the time limit is {seconds} seconds; choose more than 0")


class ProcessCrew:
    """Starts processes, and listens to them."""

    def __init__(self, job: Job, share: Share) -> None:
        self.job, self.share, self.numbers = job, share, count()

    def hire(self) -> ProcessWorker:
        return ProcessWorker(self.job, next(self.numbers), self.share)

    def wait(self, workers: Sequence[ProcessWorker], seconds: float) -> list[ProcessWorker]:
        lines = {worker.line: worker for worker in workers}
        return [lines[line] for line in connection.wait(list(lines), seconds)]  # type: ignore[index]


class ProcessWorker:
    """A process that does tasks, and the line to it."""

    def __init__(self, job: Job, number: int, share: Share) -> None:
        # A forked child would inherit locks of threads that it does not have.
        context = get_context("spawn")
        self.line, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, number, share), daemon=True)
        self.process.start()
        theirs.close()
        try:
            with suppress(OSError):  # it may have died already, which is seen when it is asked
                self.line.send(job)
        except Exception as error:
            self.stop()
            raise ValueError(
                f"the victim {job.victim.name} cannot be sent to other processes ({error}); name it, for instance as "
                "'py:module:function', so that each can load it, or do without workers"
            ) from None

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


def work(line: connection.Connection, number: int, share: Share) -> None:
    """The life of a worker: until nobody wants more."""
    # Ctrl-C reaches every process of a terminal; what it means is for the first one to say.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    hand = Hand(share, number)
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
