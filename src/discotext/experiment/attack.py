"""attack() and compare(): from a victim and data to records and figures, resumable, and with progress to be watched."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from discotext.experiment import coverage
from discotext.experiment.crew import Tell, silent
from discotext.experiment.executors import Executor, Serial
from discotext.experiment.folder import RunFolder
from discotext.experiment.given import budgets_from_options, budgets_of, shard_of, whole
from discotext.experiment.job import CHUNK, Job
from discotext.experiment.metrics import Tally, mcnemar, summaries, under_budget
from discotext.experiment.report.reading import checked_records
from discotext.experiment.work import Record
from discotext.solvers import SOLVERS, solver_named
from discotext.solvers.proposal import Solver
from discotext.text.candidates import Candidates
from discotext.text.configure import candidates_from
from discotext.text.words import split
from discotext.victims.loading import examples_for
from discotext.victims.named import victim_from
from discotext.victims.victim import Victim

Watch = Callable[[int, int, Sequence[Record]], None]
WITH_GRADIENTS, WITHOUT = "disco", "greedy"  # what `auto` means
LONG = 20_000  # words in a text


@dataclass(frozen=True)
class Result:
    """Records of a run, and what they say together: `summary` for one budget, `summaries` for several."""

    settings: dict[str, Any]
    records: list[Record]
    folder: Path | None = None

    @cached_property
    def summaries(self) -> list[dict[str, Any]]:
        return summaries(self.settings, self.records)

    @property
    def summary(self) -> dict[str, Any]:
        return self.summaries[0]

    @property
    def notes(self) -> list[str]:
        """What one should know beside the figures: how much of the texts can change, ties, words put in unknown."""
        return [note for summary in self.summaries for note in coverage.notes(summary)]

    def of(self, solver: str) -> list[Record]:
        """The records of one solver."""
        return [record for record in self.records if record["solver"] == solver]

    def p_value(self, first: str, second: str, budget: float | None = None) -> float:
        """How likely so large a difference between two solvers is by chance (McNemar's exact test).

        budget: under which, as `summaries` call it; needed only where there are several.
        """
        budgets = [summary["budget"] for summary in self.summaries]
        if budget is None and len(budgets) > 1:
            # A text under two budgets is not two texts: all together would make chance look small.
            raise ValueError(
                f"the run has the budgets {', '.join(map(str, budgets))}; say which, as budget={budgets[0]}"
            )
        if budget is not None and budget not in budgets:
            raise ValueError(f"the run has no budget {budget!r}; choose one of {', '.join(map(str, budgets))}")
        under = budgets[0] if budget is None else budget
        return mcnemar(under_budget(self.of(first), under), under_budget(self.of(second), under))


def compare(
    victim: Any,
    data: Any,
    solvers: Sequence[str | Solver] | Mapping[str, Solver] = ("disco", "greedy", "left-to-right"),
    *,
    budget: float | str | Sequence[float | str] = 0.2,
    words: int | Sequence[int] | None = None,
    candidates: Candidates | None = None,
    limit: int | None = None,
    seed: int = 0,
    target: int | None = None,
    out: str | Path | None = None,
    chunk: int = CHUNK,
    watch: Watch | None = None,
    executor: Executor | None = None,
) -> Result:
    """Attack the same texts, with the same candidates and budget, by several solvers.

    victim, data: as on the command line, or objects: a function, a pipeline, lists, a data frame (see `victim_from` and
        `examples_from`).
    budget: share of words that may change; several give a curve. words: a number of words instead.
    target: the class wanted; any other than the true one without it.
    out: a folder for records; the same call goes on where it stopped.
    watch: called after each unit of work with units done, units in all, and the unit's records.
    executor: who does the work: this process, `Processes(workers)` or `RayExecutor(address)`; records are the same.
    """
    job = job_of(
        victim,
        data,
        solvers,
        budget=budget,
        words=words,
        candidates=candidates,
        limit=limit,
        seed=seed,
        target=target,
        chunk=chunk,
    )
    return run(job, out, watch, executor)


def attack(victim: Any, data: Any, solver: str | Solver = "auto", **settings: Any) -> Result:
    """Attack a victim on data by one solver; see `compare` for the settings.

    >>> def scores(texts):
    ...     return [[text.count("purchased"), 0.5] for text in texts]
    >>> result = attack(scores, (["We purchased it", "bad"], [0, 1]), words=1)
    >>> [(record["status"], len(record["changes"])) for record in result.records]
    [('reached', 1), ('unchanged', 0)]
    """
    return compare(victim, data, [solver], **settings)


def job_of(victim: Any, data: Any, solvers: Any, **settings: Any) -> Job:
    """The job that a call describes."""
    budgets = budgets_of(settings["budget"], settings["words"])
    seed, chunk = whole("seed", settings["seed"], 0), whole("chunk", settings["chunk"], 1)
    limit, target = settings["limit"], settings["target"]
    limit = None if limit is None else whole("limit", limit, 1)
    target = None if target is None else whole("target", target, 0)
    model = victim_from(victim)
    examples = examples_for(model, data)
    if limit is not None:
        examples = examples.sample(limit, seed)
    finder = settings["candidates"] or Candidates()
    named = (victim, False) if isinstance(victim, str) else None
    return Job(model, examples, finder, solvers_named(model, solvers), budgets, seed, target, chunk, named=named)


def job_from_options(
    victim: str,
    data: str,
    solvers: Sequence[str],
    *,
    budget: Sequence[str],
    words: Sequence[int],
    limit: int | None,
    seed: int,
    target: int | None,
    shard: str | None,
    trust: bool,
    text_column: str | None,
    label_column: str | None,
    **candidates: Any,
) -> Job:
    """The job of a command line."""
    budgets = budgets_from_options(budget, words)
    part = shard_of(shard)
    finder = candidates_from(**candidates)
    model = victim_from(victim, trust)
    examples = examples_for(model, data, (text_column, label_column))
    if limit is not None:
        examples = examples.sample(limit, seed)
    named = (victim, trust)
    job = Job(model, examples, finder, solvers_named(model, solvers), budgets, seed, target, named=named)
    return job if part is None else job.shard(*part)


def solvers_named(victim: Victim, solvers: Any) -> dict[str, Solver]:
    """Solvers by name; `auto` is the relaxation where there are gradients, else greedy."""
    if isinstance(solvers, Mapping):
        return dict(solvers)
    if isinstance(solvers, str):
        raise ValueError(f"the solvers are {solvers!r}; give a list of them, such as [{solvers!r}]")
    found: dict[str, Solver] = {}
    for given in solvers:
        if isinstance(given, str):
            name = given.replace("_", "-")
            if name == "auto":
                name = WITH_GRADIENTS if victim.gradients else WITHOUT
            solver = solver_named(name)
        else:
            solver, name = given, _name_of(given)
        if name in found:
            raise ValueError(f"the solver {name!r} is given twice; give each once, or a mapping of names to solvers")
        found[name] = solver
    return found


def _name_of(solver: Solver) -> str:
    """A solver's own name where it has the usual settings, else how it is written."""
    return next((name for name, usual in SOLVERS.items() if usual() == solver), repr(solver))


def warn_of_long(texts: Sequence[str]) -> None:
    """Say beforehand that a text will take its time: one that is a whole book was most likely not meant."""
    # Words have gaps between them, so that most texts need not be cut into words to be known as short.
    long = [(len(split(text)), number) for number, text in enumerate(texts) if len(text) >= 2 * LONG]
    long = [pair for pair in long if pair[0] > LONG]
    if long:
        words, number = max(long)
        more = "" if len(long) == 1 else f"; {len(long)} texts have more than {LONG:,}"
        warnings.warn(f"text {number} has {words:,} words, which will take long{more}", stacklevel=3)


def resume(job: Job, folder: RunFolder) -> Iterator[list[Record]]:
    """The records of each unit that is done; then a unit that was not finished is cut off.

    Every line is read and checked before anything is cut. A line that is damaged, missing or in another place ends in a
    sentence, and the file stays as it is.
    """
    units, done = iter(job.units), 0
    made: list[Record] = []
    numbers: Sequence[int] = ()
    unit = None
    for line, record in enumerate(checked_records(folder.path, job.settings), start=1):
        if not made:
            unit = next(units, None)
            numbers = () if unit is None else job.chunks[unit.chunk]
        place = (None, None) if unit is None else (unit.number, numbers[len(made)])
        if (record.get("unit"), record["id"]) != place:
            expected = "no more records" if unit is None else f"one of text {place[1]}"
            raise ValueError(
                f"{folder.records_path}, line {line}: a record of text {record['id']}, expected {expected}; lines are "
                "missing or in another order: begin again in another folder"
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
    tell: Tell = silent,
) -> Tally:
    """Do all units that are not done yet, in order; what is left of them is in the folder, and in the tally.

    No record is held after its unit, only the numbers that the tally makes of it. tell: gets lines on who is at work.
    """
    warn_of_long(job.examples.texts)
    tally = Tally(job.settings)
    with ExitStack() as kept:
        folder, done = None, 0
        if out is not None:
            folder = kept.enter_context(RunFolder(out, job.settings))
            for made in resume(job, folder):
                done += 1
                tally.add(made)
                if watch is not None:
                    watch(done, len(job.units), made)
        # The executor's generator has no name here, so that it ends, and its workers with it, as soon as this does.
        for count, made in enumerate((executor or Serial()).run(job, job.units[done:], tell), start=done + 1):
            if folder is not None:
                folder.append(made)
            tally.add(made)
            if watch is not None:
                watch(count, len(job.units), made)
        if folder is not None:
            folder.finish(tally.summaries)
    for summary in tally.summaries:
        said = coverage.warn(summary, job.examples.texts)
        if said is not None:
            warnings.warn(said, stacklevel=3)
    return tally


def run(
    job: Job, out: str | Path | None = None, watch: Watch | None = None, executor: Executor | None = None
) -> Result:
    """`perform`, and keep every record to be looked at."""
    records: list[Record] = []

    def keep(done: int, units: int, made: Sequence[Record]) -> None:
        records.extend(made)
        if watch is not None:
            watch(done, units, made)

    perform(job, out, keep, executor)
    records.sort(key=lambda record: int(record["id"]))  # as the texts were given, and all of a text together
    return Result(job.settings, records, None if out is None else Path(out))
