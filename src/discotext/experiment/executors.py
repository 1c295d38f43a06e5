"""Who does the units of a job: this process, or several on this machine.

An executor is given a job and the units that are left, and yields the records of one unit after the other, in the order
of the units, whoever did them: so a folder holds the same records, in the same order, however many were at work. A
worker gets the job once, with a victim that was named by its name alone, and then unit after unit. If it dies, its
unit goes to another.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import connection, get_context
from typing import Any, Protocol

from discotext.experiment.job import Job, Unit
from discotext.experiment.work import Record, run_unit
from discotext.extras import quick_start

AHEAD = 4  # units for each worker that may be done before the one whose turn it is
TRIES = 3  # how often a unit is given out whose worker dies


class Executor(Protocol):
    """Whatever can do units of a job."""

    def run(self, job: Job, units: Sequence[Unit]) -> Iterator[list[Record]]:
        """The records of each unit, in the order of the units."""
        ...


class Serial:
    """One unit after the other, here."""

    def run(self, job: Job, units: Sequence[Unit]) -> Iterator[list[Record]]:
        for unit in units:
            yield run_unit(job, unit)


@dataclass(frozen=True)
class Processes:
    """Several processes on this machine; where there are GPUs, each takes the next.

    workers: how many. threads: of the victim's framework in each; unless told, the processors are shared out. With as
        many threads, records are the same to the last bit, whatever the number of workers.
    """

    workers: int
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.workers < 1 or (self.threads is not None and self.threads < 1):
            raise ValueError(f"workers is {self.workers} and threads is {self.threads}; choose 1 or more for both")

    def run(self, job: Job, units: Sequence[Unit]) -> Iterator[list[Record]]:
        left, done, tries = deque(enumerate(units)), dict[int, list[Record]](), dict[int, int]()
        threads = self.threads or max(1, (os.cpu_count() or 1) // self.workers)
        workers = [Worker(job, number, threads) for number in range(min(self.workers, len(units)))]
        turn = 0
        try:
            while turn < len(units):
                for worker in workers:
                    if worker.busy is None and left and left[0][0] < turn + AHEAD * len(workers):
                        worker.give(*left.popleft())
                for worker in wait_for(workers):
                    place, answer = worker.answer()
                    if isinstance(answer, BaseException):
                        raise answer
                    if answer is None:
                        tries[place] = tries.get(place, 0) + 1
                        if tries[place] == TRIES:
                            raise RuntimeError(
                                f"a worker process ended {TRIES} times on the same texts (chunk {units[place].chunk}): "
                                "was it killed, or did memory run out? Try fewer workers; what is done is kept. "
                                "(A script must call this under `if __name__ == '__main__':`)"
                            )
                        left.appendleft((place, units[place]))
                        workers[workers.index(worker)] = Worker(job, worker.number, threads)
                    else:
                        done[place] = answer
                while turn in done:
                    yield done.pop(turn)
                    turn += 1
        finally:
            for worker in workers:
                worker.stop()


def executor_of(workers: int | None, threads: int | None) -> Executor:
    """The executor that options ask for."""
    return Serial() if workers is None and threads is None else Processes(workers or 1, threads)


class Worker:
    """A process that does units, and the line to it."""

    def __init__(self, job: Job, number: int, threads: int) -> None:
        # A forked child would inherit locks of threads that it does not have.
        context = get_context("spawn")
        self.number = number
        self.busy: int | None = None  # the place of the unit it is at
        self.line, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, number, threads), daemon=True)
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

    def give(self, place: int, unit: Unit) -> None:
        self.busy = place
        with suppress(OSError):  # it may have died, as above
            self.line.send(unit)

    def answer(self) -> tuple[int, Any]:
        """The place of the unit it was given, and its records, an error, or None if it has died."""
        place, self.busy = self.busy, None
        assert place is not None
        try:
            return place, self.line.recv()
        except (EOFError, OSError):
            self.stop()
            return place, None

    def stop(self) -> None:
        self.line.close()
        self.process.terminate()
        self.process.join()


def wait_for(workers: Sequence[Worker]) -> list[Worker]:
    """Busy workers that have something to say, or have died."""
    lines = {worker.line: worker for worker in workers if worker.busy is not None}
    return [lines[line] for line in connection.wait(list(lines))]  # type: ignore[index]


def work(line: connection.Connection, number: int, threads: int) -> None:
    """The life of a worker."""
    # Ctrl-C reaches every process of a terminal; what it means is for the first one to say.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    settle(number, threads)
    try:
        job: Job = line.recv()
        while True:
            unit = line.recv()
            try:
                line.send(run_unit(job, unit))
            except Exception as error:
                line.send(error)
    except (EOFError, OSError):
        return  # nobody wants more
    except Exception as error:
        # The job could not be unpacked or its victim not loaded: say so in place of the first records.
        line.send(error)


def settle(number: int, threads: int) -> None:
    """Take the worker's share of the machine, before any framework is loaded."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    quick_start()
    if importlib.util.find_spec("torch") is not None:
        torch = importlib.import_module("torch")
        torch.set_num_threads(threads)
        if torch.cuda.is_available():
            torch.cuda.set_device(number % torch.cuda.device_count())
