"""discotext report: what a run says, as a table, a page and files."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from discotext.experiment.report import Run

FILE = click.Path(path_type=Path, dir_okay=False)
PATIENCE = 2.0  # seconds before a bar is shown


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--html", "html_file", type=FILE, help="Where the page goes; RUN/report.html unless told.")
@click.option("--csv", "csv_file", type=FILE, help="Write one row a record as CSV.")
@click.option("--parquet", "parquet_file", type=FILE, help="Write one row a record as Parquet (extra: parquet).")
@click.option("--solver", "solvers", multiple=True, help="Only the records of this solver; repeatable.")
@click.option(
    "--sentence-encoder", metavar="NAME_OR_FOLDER", help="Judge how far turned texts stray in meaning (extra: hf)."
)
@click.option(
    "--language-model", metavar="NAME_OR_FOLDER", help="Judge how well turned texts read, by a causal one (extra: hf)."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output for each budget, no table.")
def command(
    run: Path,
    html_file: Path | None,
    csv_file: Path | None,
    parquet_file: Path | None,
    solvers: tuple[str, ...],
    sentence_encoder: str | None,
    language_model: str | None,
    as_json: bool,
) -> None:
    """Make a table, a page and files of a run's records.

    RUN is a folder that attack or compare made with --out. The run need not be finished: the report is about the
    records that are there. The page is one file that needs no other and no network.

    With a sentence encoder or a language model, the texts that turned the victim are judged beside their originals.
    """
    from discotext.cli.attacking import show
    from discotext.experiment.report import page, read_run, write_csv, write_parquet
    from discotext.files import write_whole

    found = read_run(run)
    if solvers:
        found = found.only(solvers)
    if len(found.records) < found.expected:
        click.echo(f"the run is not finished: {len(found.records):,} of {found.expected:,} records are there", err=True)
    if sentence_encoder is not None or language_model is not None:
        found = judged(found, sentence_encoder, language_model)
    if as_json:
        for summary in found.summaries:
            sys.stdout.write(json.dumps(summary, ensure_ascii=False) + "\n")
    else:
        for _, summary in found.begun:
            show(summary)
            if found.judges:
                show_quality(summary, found.judges)
    target = html_file or run / "report.html"
    write_whole(target, page(found))
    click.echo(f"page in {target}", err=True)
    if csv_file is not None:
        write_csv(csv_file, found.records)
        click.echo(f"{len(found.records):,} rows in {csv_file}", err=True)
    if parquet_file is not None:
        write_parquet(parquet_file, found.records)
        click.echo(f"{len(found.records):,} rows in {parquet_file}", err=True)


def judged(found: Run, sentence_encoder: str | None, language_model: str | None) -> Run:
    """The run with its turned texts judged; a bar is shown if that takes a while."""
    from dataclasses import replace

    from discotext.experiment.quality import text_quality

    with Waiting() as watch:
        quality = text_quality(found, sentence_encoder, language_model, watch=watch.update)
    for judge, number in quality.cut.items():
        if number:
            texts = "1 text is" if number == 1 else f"{number:,} texts are"
            click.echo(f"{texts} longer than {quality.judges[judge]} reads, and judged by what comes first", err=True)
    return replace(found, records=quality.records, judges=quality.judges)


class Waiting:
    """A progress bar that comes only if the work takes more than two seconds."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import Progress, TaskID

        self.progress = Progress(console=Console(stderr=True), transient=True)
        self.began = time.perf_counter()
        self.tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Waiting:
        return self

    def __exit__(self, *error: Any) -> None:
        self.progress.stop()

    def update(self, doing: str, done: int, total: int) -> None:
        if doing not in self.tasks:
            self.tasks[doing] = self.progress.add_task(doing, total=total)
        self.progress.update(self.tasks[doing], completed=done)
        if time.perf_counter() - self.began > PATIENCE:
            self.progress.start()  # once it has begun, nothing more


def show_quality(summary: dict[str, Any], judges: dict[str, str]) -> None:
    """The table of one budget: what the turned texts are like beside their originals."""
    from rich.console import Console
    from rich.table import Table

    from discotext.experiment.quality import MEASURES

    shown = {name: how for judge in judges for name, how in MEASURES[judge].items()}
    table = Table(title="turned texts beside their originals", title_justify="left", box=None, pad_edge=False)
    table.add_column("solver", no_wrap=True)
    for heading, _ in shown.values():
        table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("(95 %)", justify="right", no_wrap=True)
    for solver, row in summary["solvers"].items():
        cells = [solver]
        for name, (_, digits) in shown.items():
            if row[name] is None:
                cells += ["–", "–"]
            else:
                value, low, high = (f"{row[key]:,.{digits}f}" for key in (name, f"{name}_low", f"{name}_high"))
                cells += [value, f"{low}–{high}"]
        table.add_row(*cells)
    Console(width=None if sys.stdout.isatty() else 160).print(table)
