"""Running a job: every unit that is not done yet, in order, into a folder, resumable, with progress."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from discotext.attacks.execution.executors import Executor, Serial
from discotext.attacks.job import Job, warn_of_poor_surrogate
from discotext.attacks.progress import AttackProgress
from discotext.attacks.result import Result
from discotext.attacks.schedule import Notify, ignore
from discotext.attacks.task import Inside
from discotext.runs import coverage
from discotext.runs.certificate import count_unstable, take_back
from discotext.runs.folder import RunFolder, read_records
from discotext.runs.record import Record
from discotext.runs.summary import Tally
from discotext.text.words import split

Watch = Callable[[int, int, Sequence[Record]], None]
LONG = 20_000  # words in a text


def warn_of_long_texts(texts: Sequence[str]) -> None:
    """Warn that a text will take long: a whole book in one row is most likely a mistake."""
    # Words have gaps between them, so most texts need not be split to be known as short.
    long = [(len(split(text)), number) for number, text in enumerate(texts) if len(text) >= 2 * LONG]
    long = [pair for pair in long if pair[0] > LONG]
    if long:
        words, number = max(long)
        more = "" if len(long) == 1 else f"; {len(long)} texts have more than {LONG:,}"
        warnings.warn(f"text {number} has {words:,} words, which will take a long time{more}", stacklevel=3)


def resume(job: Job, folder: RunFolder) -> Iterator[list[Record]]:
    """The records of each unit that is done; then an unfinished unit is cut off the file.

    Every line is read and checked before anything is cut. If a line is damaged, missing or out of order, ValueError
    says so and the file stays as it is.
    """
    if folder.is_empty():
        return
    units, done = iter(job.schedule.units), 0
    made: list[Record] = []
    numbers: Sequence[int] = ()
    unit = None
    for line, record in enumerate(read_records(folder.path, job.settings), start=1):
        if not made:
            unit = next(units, None)
            numbers = () if unit is None else job.schedule.chunks[unit.chunk]
        place = (None, None) if unit is None else (unit.number, numbers[len(made)])
        if (record.unit, record.id) != place:
            expected = "no more records" if unit is None else f"one of text {place[1]}"
            raise ValueError(
                f"{folder.records_path}, line {line}: a record of text {record.id}, expected {expected}; lines are "
                "missing or out of order: start again in another folder"
            )
        made.append(record)
        if len(made) == len(numbers):
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
    inside: Inside | None = None,
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
        coverage.warn_of_classes(job.victim.name, session.classes_only)
        coverage.warn_of_truncation(job.victim, job.examples.texts)
        job = job.learn(None if out is None else Path(out), notify, session.ask)
        warn_of_poor_surrogate(job)
        tally = Tally(job.settings)
        folder, done, stable = None, 0, True
        if out is not None:
            surrogate = None if job.model.learnt is None else job.model.learnt.to_bytes()
            folder = kept.enter_context(RunFolder(out, job.settings, surrogate))
            for made in resume(job, folder):
                done += 1
                stable = stable and not count_unstable(made)
                tally.add(made)
                if watch is not None:
                    watch(done, len(job.schedule.units), made)
        left = job.schedule.units[done:]
        for count, made in enumerate(session.run(job, left) if left else (), start=done + 1):
            stable = stable and not count_unstable(made)
            made = take_back(made, stable)
            if folder is not None:
                folder.append(made)
            tally.add(made)
            if watch is not None:
                watch(count, len(job.schedule.units), made)
        if folder is not None:
            folder.finish(tally.summaries)
    source = job.asked.candidates.source.name
    said = [coverage.warn(summary, job.examples.texts, source) for summary in tally.summaries]
    said.append(coverage.warn_of_chance(tally.summaries[0], len(job.victim.labels)))
    for warning in (*said, coverage.warn_unstable(tally)):
        if warning is not None:
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
