"""Running a job: every unit that is not done yet, in order, into a folder, resumable, with progress.

An executor opens a session for a job: in this process, in several processes on this machine, or on the workers of a Ray
cluster. All questions to the victim go through it, those that come before the first unit as well: so each is subject to
the time limit, and a worker that dies of one costs a text and not the run. The records of units come in the order of
the units: so a folder holds the same records, in the same order, however many workers there were.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Protocol, runtime_checkable

from discotext.attacks.job import Job
from discotext.attacks.progress import AttackProgress
from discotext.attacks.result import Result
from discotext.attacks.schedule import Notify, Unit, ignore
from discotext.attacks.task import Inside, TaskRunner
from discotext.runs import coverage
from discotext.runs.certificate import count_unstable, take_back
from discotext.runs.folder import RunFolder, read_records
from discotext.runs.record import Record
from discotext.runs.summary import Tally
from discotext.text.words import split
from discotext.victims.victim import Evaluation, evaluate

Watch = Callable[[int, int, Sequence[Record]], None]
LONG = 20_000  # words in a text


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
        from discotext.attacks.execution.ray import RayExecutor  # which few runs need, as `Processes` below

        executor = RayExecutor(ray, workers, time_limit=time_limit)
        executor.preflight()
        return executor
    if workers is None and time_limit is None:
        return Serial()
    from discotext.attacks.execution.processes import Processes

    return Processes(workers or 1, time_limit)


def warn_of_long_texts(texts: Sequence[str]) -> None:
    """Warn that a text will take long: a whole book in one row is most likely a mistake."""
    # Words have gaps between them, so most texts need not be split to be known as short.
    lengths = [(len(split(text)), number) for number, text in enumerate(texts) if len(text) >= 2 * LONG]
    words, number = max(lengths, default=(0, 0))
    if words > LONG:
        warnings.warn(f"text {number} has {words:,} words, which will take a long time", stacklevel=3)


def resume(job: Job, folder: RunFolder) -> Iterator[list[Record]]:
    """The records of each unit that is done; then an unfinished unit is cut off the file.

    Every line is read and checked before anything is cut. If a line is damaged, missing or out of order, ValueError
    says so and the file stays as it is.
    """
    if not folder.records_path.stat().st_size:
        return
    chunks, made, done = job.schedule.chunks, list[Record](), 0
    expected = ((unit, number) for unit in job.schedule.units for number in chunks[unit.chunk])
    for line, record in enumerate(read_records(folder.path, job.settings), start=1):
        unit, number = next(expected, (None, None))
        if unit is None or (record.unit, record.id) != (unit.number, number):
            raise ValueError(
                f"{folder.records_path}, line {line}: a record of text {record.id}, expected "
                f"{'no more records' if unit is None else f'one of text {number}'}; lines are missing or out of order: "
                "start again in another folder"
            )
        made.append(record)
        if len(made) == len(chunks[unit.chunk]):
            done += len(made)
            yield made
            made = []
    folder.cut(done)


def perform(
    job: Job,
    out: str | Path | None = None,
    watch: Watch | None = None,
    executor: Executor | None = None,
    notify: Notify = ignore,
    inside: Inside = ignore,
) -> Tally:
    """Do all units that are not done yet, in order, into the folder; returns the tally of all of them.

    No record is held after its unit, only the numbers that the tally takes from it. notify: called with lines about the
    workers. inside: called while a unit is done in this process, see `TaskRunner`.
    """
    if executor is None or isinstance(executor, Serial):
        executor = Serial(inside)
    warn_of_long_texts(job.examples.texts)
    with ExitStack() as kept:
        session = kept.enter_context(executor.open(job, notify))
        job = job.identify(session.ask)
        said = coverage.warn_of_victim(job.victim, session.classes_only, job.examples.texts)
        job = job.learn(None if out is None else Path(out), notify, session.ask)
        learnt = job.model.learnt
        if job.learns and learnt is not None and learnt.poor:
            said.append(
                f"a surrogate predicts {job.victim.name} poorly (rank correlation of gains {learnt.correlation:.2f}); "
                "the search learns from its own answers alone"
            )
        for warning in said:
            warnings.warn(warning, stacklevel=3)
        tally = Tally(job.settings)
        folder, done, stable = None, 0, True
        units = job.schedule.units

        def count(made: Sequence[Record]) -> None:
            nonlocal done, stable
            done, stable = done + 1, stable and not count_unstable(made)
            tally.add(made)
            if watch is not None:
                watch(done, len(units), made)

        if out is not None:
            surrogate = None if learnt is None else learnt.to_bytes()
            folder = kept.enter_context(RunFolder(out, job.settings, surrogate))
            for made in resume(job, folder):
                count(made)
        left = units[done:]
        for made in session.run(job, left) if left else ():
            made = take_back(made, stable and not count_unstable(made))
            if folder is not None:
                folder.append(made)
            count(made)
        if folder is not None:
            folder.finish(tally.summaries)
    source = job.asked.candidates.source.name
    for warning in coverage.warn_of_figures(tally, job.examples.texts, source, len(job.victim.labels)):
        warnings.warn(warning, stacklevel=3)
    return tally


def run(
    job: Job,
    out: str | Path | None = None,
    watch: Watch | None = None,
    executor: Executor | None = None,
    progress: bool = False,
) -> Result:
    """`perform`, and keep every record. progress: show a bar, where somebody would see it."""
    records: list[Record] = []
    with AttackProgress(None, len(job.schedule.units), progress) as bar:

        def keep(done: int, units: int, made: Sequence[Record]) -> None:
            records.extend(made)
            bar.update(done, units, made)
            if watch is not None:
                watch(done, units, made)

        tally = perform(job, out, keep, executor, bar.update_workers, bar.update_inside)
    records.sort(key=lambda record: record.id)  # in the order of the texts, all records of a text together
    return Result(dict(tally.settings), take_back(records), None if out is None else Path(out))
