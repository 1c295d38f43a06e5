"""What `attack` and `compare` have in common: options, progress, and the table at the end."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from discotext.cli.candidates import candidate_options
from discotext.cli.ending import MostFailed, one_line, stopped
from discotext.cli.options import WORKER_OPTIONS, Count, data_options, sample_options, trust_option, worker_options

if TYPE_CHECKING:
    from discotext.experiment.metrics import Tally

EVERY = 60.0  # seconds between lines of progress in a log
HEADINGS = ["solver", "accuracy before", "after", "(95 %)", "success", "words changed", "over all texts", "proved"]
HEADINGS += ["passes/text", "s/text"]


def attack_options(command: Any) -> Any:
    """Budget, sample, candidates, and where it all goes."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output for each budget."),
        click.option("--shard", help="Only part i of n, as 'i/n'; `discotext merge` puts the parts together."),
        click.option(
            "--out",
            type=click.Path(path_type=Path),
            help="A folder for records; the same command goes on where it stopped.",
        ),
        worker_options,
        click.option("--target", type=Count(0), help="The class wanted, by number; any wrong one unless told."),
        click.option("--words", multiple=True, type=Count(0), help="How many words may change; repeatable."),
        click.option("--budget", multiple=True, help="Share of words that may change; repeatable. 0.2 unless told."),
        candidate_options,
        trust_option,
        data_options,
        sample_options,
    ):
        command = option(command)
    return command


def attacked(victim: str, data: str, solvers: Sequence[str], options: dict[str, Any]) -> None:
    """Run, show progress, print the table or JSON; Ctrl-C says what is kept."""
    try:
        _attacked(victim, data, solvers, dict(options))
    except KeyboardInterrupt:
        raise stopped(options["out"]) from None


def _attacked(victim: str, data: str, solvers: Sequence[str], options: dict[str, Any]) -> None:
    from discotext.experiment.executors import executor_of
    from discotext.experiment.given import look_first

    # What can be wrong is looked at before what takes time.
    executor = executor_of(**{name: options.pop(name) for name in WORKER_OPTIONS})
    look_first(victim, data, solvers, **{name: options[name] for name in ("budget", "words", "shard", "out")})
    from discotext.experiment.given import is_network
    from discotext.extras import quick_start

    if is_network(victim):
        quick_start()  # before anything else; for others it would only take the time that PyTorch takes to be imported
    from discotext.experiment.attack import job_from_options, perform

    taken = {name: options.pop(name) for name in ("as_json", "out")}
    job = job_from_options(victim, data, solvers, **options)
    console = Console(stderr=True)
    named = ", ".join(job.solvers)
    console.print(f"{len(job.examples):,} texts of {data}, solver {named}", highlight=False)
    if job.examples.names != job.victim.labels:
        pairs = zip(job.examples.names, job.victim.labels, strict=True)
        console.print(f"the data's classes are taken as the victim's: {', '.join(f'{a} → {b}' for a, b in pairs)}")
    with watched(console, len(job.units)) as watch:
        tally = perform(job, taken["out"], watch, executor, watch.tell)
    tell_if_worse_than_chance(console, tally.summaries[0], len(job.victim.labels))
    if taken["as_json"]:
        for summary in tally.summaries:
            sys.stdout.write(json.dumps(summary, ensure_ascii=False) + "\n")
    else:
        for summary in tally.summaries:
            show(summary)
            tell_differences(tally, summary)
    if taken["out"] is not None and not taken["as_json"]:
        console.print(
            f"records in {taken['out']}; `discotext report {taken['out']}` makes a page of them",
            highlight=False,
            soft_wrap=True,
        )
    tell_failures(tally)


def tell_failures(tally: Tally) -> None:
    """On how many texts the victim failed; with a status of its own where that is most of them."""
    failed, records = int(tally.lines["failed"].sum()), len(tally.lines)
    if not failed:
        return
    said = f"the victim failed on {failed:,} of {records:,} records, the first time with: {one_line(tally.error)}"
    if 2 * failed > records:
        raise MostFailed(f"{said}. The figures are about the few texts that are left, and not to be relied on")
    click.echo(f"discotext: {said}", err=True)


def tell_if_worse_than_chance(console: Console, summary: dict[str, Any], classes: int) -> None:
    """A victim that is right less often than a blind guess most likely has its classes mixed up."""
    row = next(iter(summary["solvers"].values()))
    right, blind = row["original_accuracy"], 1 / max(classes, 1)
    if right is not None and row["original_accuracy_high"] < blind:
        console.print(
            f"the victim is right on {percent(right)} of the texts, less than a blind guess: are its classes and the "
            "data's in the same order? `discotext check` tells",
            highlight=False,
            soft_wrap=True,
        )


def tell_differences(tally: Tally, summary: dict[str, Any]) -> None:
    """How likely the differences between the first solver and each other one are by chance."""
    from discotext.experiment.metrics import chance

    first, *others = summary["solvers"]
    mine = tally.turned(summary["budget"], first)
    for other in others if mine else ():  # a shard may have no texts
        theirs = tally.turned(summary["budget"], other)
        p = chance((won, theirs[number]) for number, won in mine.items())
        won, lost = sum(mine.values()), sum(theirs.values())
        click.echo(f"{first} turns {won} texts, {other} {lost}: p = {p:.2g} (McNemar)")


class watched:  # noqa: N801 (used as a function)
    """A progress bar that knows how many attacks have succeeded so far, and who is at work.

    Where there is no terminal, as in the log of a cluster, it is a line a minute.
    """

    def __init__(self, console: Console, units: int) -> None:
        shown = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:.0f} %"),
            TimeRemainingColumn(),
        )
        self.console = console
        self.progress = Progress(*shown, console=console, transient=True)
        self.task = self.progress.add_task("attacking", total=units)
        self.tried = self.won = 0
        self.workers: str | None = None
        self.printed = time.monotonic()

    def __enter__(self) -> watched:
        self.progress.__enter__()
        self._begin()
        return self

    def _begin(self) -> None:
        from discotext.experiment.crew import Rates

        self.rates = Rates()
        self.rates.arrive("all")

    def __exit__(self, *error: Any) -> None:
        self.progress.__exit__(*error)

    def __call__(self, done: int, units: int, records: Sequence[dict[str, Any]]) -> None:
        from discotext.experiment.metrics import attacked, succeeded

        self.tried += sum(attacked(record) for record in records)
        self.won += sum(succeeded(record) for record in records)
        self.rates.count("all", len(records))
        self.progress.update(self.task, completed=done, total=units)
        self._show()

    def tell(self, workers: str) -> None:
        """Who is at work."""
        if self.workers is None:
            self._begin()  # what was there of an earlier run was quick
        self.workers = workers
        self._show()

    def _show(self) -> None:
        task = self.progress.tasks[0]
        said = f"{self.won} of {self.tried} succeeded"
        if rate := self.rates.rate("all", time.monotonic()):
            said += f", {rate:.1f} texts/s"
        if self.workers:
            said += f" ({self.workers})"
        self.progress.update(self.task, description=said)
        if not self.console.is_terminal and time.monotonic() - self.printed >= EVERY:
            self.printed = time.monotonic()
            self.console.print(f"{task.percentage:.0f} %: {said}", highlight=False, soft_wrap=True)


def percent(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{100 * value:.{digits}f} %"


def show(summary: dict[str, Any]) -> None:
    """The table of one budget, and what to know beside it."""
    from discotext.experiment.coverage import notes

    console = Console(width=None if sys.stdout.isatty() else 160)
    budget = summary["budget"]
    # Of a short text, too, one word may change.
    allowed = f"{100 * budget:g} % of the words (or one)" if isinstance(budget, float) else f"{budget} words"
    title = f"{summary['data']}, {summary['n']} texts, at most {allowed} changed (space {summary['space']})"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading == "solver" else "right", no_wrap=True)
    for name, row in summary["solvers"].items():
        if row["original_accuracy"] is None:
            continue  # its first unit is not done yet
        tried = max(row["attacked"], 1)
        table.add_row(
            name,
            percent(row["original_accuracy"]),
            percent(row["adversarial_accuracy"]),
            f"{100 * row['adversarial_accuracy_low']:.1f}–{100 * row['adversarial_accuracy_high']:.1f}",
            percent(row["success_rate"]),
            percent(row["perturbation"]),
            percent(row["perturbation_all"]),
            percent(row["optimal"]),
            f"{(row['forwards'] + row['backwards']) / tried:,.0f}",
            f"{row['seconds'] / tried:.3f}",
        )
    console.print(table)
    for note in notes(summary):
        console.print(note, highlight=False, markup=False)
