"""attack() and compare(): from a victim and data to records and summaries, resumable, with progress."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from discotext.attacks.execution.executors import Executor, Serial
from discotext.attacks.execution.scheduler import Notify, ignore
from discotext.attacks.job import Job
from discotext.attacks.preflight import at_levels, check_whole, parse_accept, parse_budgets
from discotext.attacks.progress import AttackProgress
from discotext.attacks.result import Result
from discotext.attacks.solver_list import make_solvers
from discotext.attacks.surrogates import learn, load_surrogate, share_out
from discotext.attacks.task import Inside
from discotext.data.columns import AnyColumns
from discotext.data.labels import find_class
from discotext.runs import coverage
from discotext.runs.certificate import count_unstable, take_back
from discotext.runs.folder import RunFolder, read_records
from discotext.runs.record import Budget, Record
from discotext.runs.summary import Tally
from discotext.search.solver import Solver
from discotext.text.candidates import Candidates
from discotext.text.words import split
from discotext.victims.examples import load_examples
from discotext.victims.registry import load_victim

Watch = Callable[[int, int, Sequence[Record]], None]
LONG = 20_000  # words in a text


def attack(
    victim: Any,
    data: Any,
    solver: str | Solver = "auto",
    *,
    budget: float | str | Sequence[float | str] = 0.2,
    words: int | Sequence[int] | None = None,
    candidates: Candidates | None = None,
    accept: float | Sequence[float] | None = None,
    limit: int | None = None,
    seed: int = 0,
    target: int | str | None = None,
    out: str | Path | None = None,
    chunk: int | None = None,
    watch: Watch | None = None,
    executor: Executor | None = None,
    surrogate: Any = "auto",
    max_queries: int | None = None,
    total_queries: int | None = None,
    text_column: str | None = None,
    label_column: str | None = None,
    progress: bool = True,
) -> Result:
    """Attack a text classifier: replace a few words of each text so that its predicted label flips.

    victim: a function from texts to scores, a transformers pipeline or (model, tokenizer), a fitted scikit-learn
        pipeline, a `Victim`, or a name as on the command line: a folder from `train`, "hf:NAME_OR_FOLDER",
        "model.skops", "py:module:function" or "http(s)://…".
    data: labelled texts: a pair (texts, labels), a data frame, `Examples`, the name of a data set, or a file.
    solver: a name or a `Solver`; "auto" is disco; for a victim without gradients or a stand-in for them, greedy, or
        ranked-greedy where texts are long.
    budget: the share of words that may change; several give one summary each.
    words: the number of words that may change, instead of a share; several give one summary each.
    candidates: where replacements come from; the default is synonyms and near neighbours that fit the sentence.
    accept: the least probability that most people accept a swap in its place [default: 0.45]; several give one summary
        each.
    limit: attack a stratified random sample of so many texts.
    seed: the random seed; with the same seed the records are the same.
    target: the class to flip texts to, by name or number; the default is any class but the true one.
    out: a folder for the records; the same call resumes where it stopped.
    chunk: texts in a unit of work; the default is 64, or 16 for a service.
    watch: called after each unit of work with units done, units in all, and the unit's records.
    executor: `Processes(workers)` or `RayExecutor(address)`; the default is this process. Records are the same.
    surrogate: what gives slopes for a victim without gradients: "auto" is a stand-in learnt from its own scores,
        another victim lends its gradients, a file is a stand-in that a run has kept, and "none" means none.
    max_queries: calls of the model that a text may take, one for each text asked.
    total_queries: calls of the model that the whole run may take, learning a stand-in included; each text gets an equal
        share.
    text_column: of a file or data frame [default: found by its usual names, such as text].
    label_column: the same for labels.
    progress: show a bar in a terminal or a notebook, if the work takes more than a second.

    >>> def scores(texts):
    ...     return [[text.count("purchased"), 0.5] for text in texts]
    >>> result = attack(scores, (["We purchased it", "bad"], [0, 1]), words=1)
    >>> [(record.status, len(record.changes)) for record in result.records]
    [('fewest', 1), ('impossible', 0)]
    """
    return compare(
        victim,
        data,
        [solver],
        budget=budget,
        words=words,
        candidates=candidates,
        accept=accept,
        limit=limit,
        seed=seed,
        target=target,
        out=out,
        chunk=chunk,
        watch=watch,
        executor=executor,
        surrogate=surrogate,
        max_queries=max_queries,
        total_queries=total_queries,
        text_column=text_column,
        label_column=label_column,
        progress=progress,
    )


def compare(
    victim: Any,
    data: Any,
    solvers: Sequence[str | Solver] | Mapping[str, str | Solver] = ("disco", "greedy", "left-to-right"),
    *,
    budget: float | str | Sequence[float | str] = 0.2,
    words: int | Sequence[int] | None = None,
    candidates: Candidates | None = None,
    accept: float | Sequence[float] | None = None,
    limit: int | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    target: int | str | None = None,
    executor: Executor | None = None,
    watch: Watch | None = None,
    chunk: int | None = None,
    surrogate: Any = "auto",
    max_queries: int | None = None,
    total_queries: int | None = None,
    text_column: str | None = None,
    label_column: str | None = None,
    progress: bool = True,
) -> Result:
    """Attack the same texts, with the same candidates and budgets, by several solvers.

    solvers: names or `Solver`s, or a mapping of names of your own to solvers.

    All other parameters are those of `attack`.
    """
    check_types(candidates, out, watch, executor)
    levels = parse_accept(accept)
    job = make_job(
        victim,
        data,
        solvers,
        budgets=at_levels(parse_budgets(budget, words), levels),
        candidates=accept_at_least(candidates or Candidates(), levels),
        limit=None if limit is None else check_whole("limit", limit, 1),
        seed=check_whole("seed", seed, 0),
        target=target,
        chunk=None if chunk is None else check_whole("chunk", chunk, 1),
        surrogate=surrogate,
        max_queries=None if max_queries is None else check_whole("max_queries", max_queries, 3),
        total_queries=None if total_queries is None else check_whole("total_queries", total_queries, 1),
        columns=(text_column, label_column),
    )
    return run(job, out, watch, executor, progress)


def check_types(candidates: object, out: object, watch: object, executor: object) -> None:
    """Raise TypeError for a parameter of another type, before anything is loaded."""
    for name, value, fits, hint in (
        (
            "candidates",
            candidates,
            isinstance(candidates, Candidates),
            "pass a Candidates, as make_candidates() makes it",
        ),
        ("out", out, isinstance(out, str | Path), "pass the path of a folder"),
        ("watch", watch, callable(watch), "pass a function of units done, units in all, and records"),
        ("executor", executor, isinstance(executor, Executor), "pass Processes(workers) or RayExecutor(address)"),
    ):
        if value is not None and not fits:
            raise TypeError(f"{name} is {value!r}; {hint}")


def make_job(
    victim: Any,
    data: Any,
    solvers: Sequence[str | Solver] | Mapping[str, str | Solver],
    *,
    budgets: tuple[Budget, ...],
    candidates: Candidates | None = None,
    limit: int | None = None,
    seed: int = 0,
    target: int | str | None = None,
    chunk: int | None = None,
    shard: tuple[int, int] = (1, 1),
    trust: bool = False,
    columns: AnyColumns = (None, None),
    passes: int | None = None,
    asked: tuple[Budget, ...] = (),
    surrogate: Any = "auto",
    max_queries: int | None = None,
    total_queries: int | None = None,
    service: Mapping[str, Any] | None = None,
) -> Job:
    """Load the victim and the data, and describe the work.

    columns: how a file or data frame is read. service: arguments of `HttpVictim`, for a service.
    """
    model = load_victim(victim, trust, service)
    wanted = None if target is None else find_class(target, model.labels)
    examples = load_examples(model, data, columns, limit, seed, total_queries, label=False)
    job = Job(
        victim=model,
        examples=examples,
        candidates=candidates or Candidates(),
        solvers=make_solvers(model, solvers, surrogate != "none", examples.texts),
        budgets=budgets,
        seed=seed,
        target=wanted,
        chunk=chunk or model.capabilities.chunk,
        only=shard,
        unlabelled=bool(examples.asked),
        named=(victim, trust, service) if isinstance(victim, str) else None,
        passes=passes,
        asked=asked,
        surrogate=surrogate != "none",
        max_queries=max_queries,
        **load_surrogate(model, surrogate, trust),
    )
    return job if total_queries is None else share_out(job, total_queries)


def accept_at_least(candidates: Candidates, levels: Sequence[str]) -> Candidates:
    """Candidates for all levels of acceptance: those of the lowest."""
    if not levels:
        return candidates
    if candidates.scorer is None:
        raise ValueError("accept is given, but the candidates have no scorer to estimate a probability; give them one")
    return replace(candidates, accept=min(map(float, levels)))


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
    units, done = iter(job.units), 0
    made: list[Record] = []
    numbers: Sequence[int] = ()
    unit = None
    for line, record in enumerate(read_records(folder.path, job.settings), start=1):
        if not made:
            unit = next(units, None)
            numbers = () if unit is None else job.chunks[unit.chunk]
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
        job = learn(job, None if out is None else Path(out), notify, session.ask)
        tally = Tally(job.settings)
        folder, done, stable = None, 0, True
        if out is not None:
            surrogate = None if job.learnt is None else job.learnt.to_bytes()
            folder = kept.enter_context(RunFolder(out, job.settings, surrogate))
            for made in resume(job, folder):
                done += 1
                stable = stable and not count_unstable(made)
                tally.add(made)
                if watch is not None:
                    watch(done, len(job.units), made)
        left = job.units[done:]
        if left:
            job = job.calibrate(session.ask)
        for count, made in enumerate(session.run(job, left) if left else (), start=done + 1):
            stable = stable and not count_unstable(made)
            made = take_back(made, stable)
            if folder is not None:
                folder.append(made)
            tally.add(made)
            if watch is not None:
                watch(count, len(job.units), made)
        if folder is not None:
            folder.finish(tally.summaries)
    source = job.candidates.source.name
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
    with AttackProgress(None, len(job.units), progress) as bar:

        def keep(done: int, units: int, made: Sequence[Record]) -> None:
            records.extend(made)
            bar.update(done, units, made)
            if watch is not None:
                watch(done, units, made)

        tally = perform(job, out, keep, executor, bar.update_workers, bar.update_inside)
    records.sort(key=lambda record: record.id)  # in the order of the texts, all records of a text together
    return Result(dict(tally.settings), take_back(records), None if out is None else Path(out))
