"""attack() and compare(): from a victim and data to records and figures, resumable, and with progress to be watched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from discotext.experiment.folder import RunFolder
from discotext.experiment.job import CHUNK, Budget, Job
from discotext.experiment.metrics import mcnemar, summaries
from discotext.experiment.work import Record, run_unit
from discotext.solvers import SOLVERS, solver_named
from discotext.solvers.proposal import Solver
from discotext.text.candidates import Candidates
from discotext.text.configure import candidates_from
from discotext.text.words import budget_for
from discotext.victims.loading import examples_for
from discotext.victims.named import victim_from
from discotext.victims.victim import Victim

Watch = Callable[[int, int, Sequence[Record]], None]
WITH_GRADIENTS, WITHOUT = "disco", "greedy"  # what `auto` means


@dataclass(frozen=True)
class Result:
    """Records of a run, and what they say together: `summary` for one budget, `summaries` for several."""

    settings: dict[str, Any]
    records: list[Record]
    folder: Path | None = None

    @cached_property
    def summaries(self) -> list[dict[str, Any]]:
        return summaries(self.settings, self.records, self.settings["seed"])

    @property
    def summary(self) -> dict[str, Any]:
        return self.summaries[0]

    def of(self, solver: str) -> list[Record]:
        """The records of one solver."""
        return [record for record in self.records if record["solver"] == solver]

    def p_value(self, first: str, second: str) -> float:
        """How likely so large a difference between two solvers is by chance (McNemar's exact test)."""
        return mcnemar(self.of(first), self.of(second))


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
) -> Result:
    """Attack the same texts, with the same candidates and budget, by several solvers.

    victim, data: as on the command line, or objects: a function, a pipeline, lists, a data frame (see `victim_from` and
        `examples_from`).
    budget: share of words that may change; several give a curve. words: a number of words instead.
    target: the class wanted; any other than the true one without it.
    out: a folder for records; the same call goes on where it stopped.
    watch: called after each unit of work with units done, units in all, and the unit's records.
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
    return run(job, out, watch)


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
    """The job that a call or a command line describes."""
    model = victim_from(victim)
    examples = examples_for(model, data)
    if settings["limit"] is not None:
        examples = examples.sample(settings["limit"], settings["seed"])
    return Job(
        model,
        examples,
        settings["candidates"] or Candidates(),
        solvers_named(model, solvers),
        budgets_of(settings["budget"], settings["words"]),
        settings["seed"],
        settings["target"],
        settings["chunk"],
    )


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
    if budget and words:
        raise ValueError("--budget and --words are both given; a budget is a share of the words or a number of them")
    budgets = budgets_of(list(budget) or 0.2, list(words) or None)
    part = shard_of(shard)
    finder = candidates_from(**candidates)
    model = victim_from(victim, trust)
    examples = examples_for(model, data, (text_column, label_column))
    if limit is not None:
        examples = examples.sample(limit, seed)
    job = Job(model, examples, finder, solvers_named(model, solvers), budgets, seed, target)
    return job if part is None else job.shard(*part)


def shard_of(given: str | None) -> tuple[int, int] | None:
    """(i, n) of 'i/n'."""
    if given is None:
        return None
    first, mark, last = given.partition("/")
    if not mark or not first.isdigit() or not last.isdigit() or not 1 <= int(first) <= int(last):
        raise ValueError(f"the shard is {given!r}; give part i of n as 'i/n', such as 1/4")
    return int(first), int(last)


def solvers_named(victim: Victim, solvers: Any) -> dict[str, Solver]:
    """Solvers by name; `auto` is the relaxation where there are gradients, else greedy."""
    if isinstance(solvers, Mapping):
        return dict(solvers)
    found: dict[str, Solver] = {}
    for given in solvers:
        if isinstance(given, str):
            name = given.replace("_", "-")
            if name == "auto":
                name = WITH_GRADIENTS if hasattr(victim, "oracle") else WITHOUT
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


def budgets_of(share: Any, words: Any) -> tuple[Budget, ...]:
    """Budgets from shares, or from numbers of words."""
    if words is not None:
        numbers = [words] if isinstance(words, int) else list(words)
        for number in numbers:
            if number < 0:
                raise ValueError(f"words is {number}; choose 0 or more")
        return tuple(Budget(words=number) for number in numbers)
    shares = [share] if isinstance(share, str | float | int) else list(share)
    for one in shares:
        budget_for(1, one)  # says what is wrong with it
    return tuple(Budget(share=str(one)) for one in shares)


def run(job: Job, out: str | Path | None = None, watch: Watch | None = None) -> Result:
    """Do all units that are not done yet, in order."""
    folder = None
    done = 0
    records: list[Record] = []
    if out is not None:
        folder = RunFolder(out, job.settings, [len(job.chunks[unit.chunk]) for unit in job.units])
        done = folder.resume()
        records = folder.records()
        if watch is not None:
            watch(done, len(job.units), records)
    for count, unit in enumerate(job.units[done:], start=done + 1):
        made = run_unit(job, unit)
        if folder is not None:
            folder.append(made)
        records += made
        if watch is not None:
            watch(count, len(job.units), made)
    result = Result(job.settings, records, None if folder is None else folder.path)
    if folder is not None:
        folder.finish(result.summaries)
    return result
