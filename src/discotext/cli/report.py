"""discotext report: what a run says, as a table, a page and files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--html", "html_file", type=FILE, help="Where the page goes; RUN/report.html unless told.")
@click.option("--csv", "csv_file", type=FILE, help="Write one row a record as CSV.")
@click.option("--parquet", "parquet_file", type=FILE, help="Write one row a record as Parquet (extra: parquet).")
@click.option("--solver", "solvers", multiple=True, help="Only the records of this solver; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output for each budget, no table.")
def command(
    run: Path,
    html_file: Path | None,
    csv_file: Path | None,
    parquet_file: Path | None,
    solvers: tuple[str, ...],
    as_json: bool,
) -> None:
    """Make a table, a page and files of a run's records.

    RUN is a folder that attack or compare made with --out. The run need not be finished: the report is about the
    records that are there. The page is one file that needs no other and no network.
    """
    from discotext.cli.attacking import show
    from discotext.experiment.folder import write_whole
    from discotext.experiment.report import page, read_run, write_csv, write_parquet

    found = read_run(run)
    if solvers:
        found = found.only(solvers)
    if len(found.records) < found.expected:
        click.echo(f"the run is not finished: {len(found.records):,} of {found.expected:,} records are there", err=True)
    if as_json:
        for summary in found.summaries:
            sys.stdout.write(json.dumps(summary, ensure_ascii=False) + "\n")
    else:
        for _, summary in found.begun:
            show(summary)
    target = html_file or run / "report.html"
    write_whole(target, page(found))
    click.echo(f"page in {target}", err=True)
    if csv_file is not None:
        write_csv(csv_file, found.records)
        click.echo(f"{len(found.records):,} rows in {csv_file}", err=True)
    if parquet_file is not None:
        write_parquet(parquet_file, found.records)
        click.echo(f"{len(found.records):,} rows in {parquet_file}", err=True)
