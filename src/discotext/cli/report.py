"""discotext report, merge, augment and terms: tables, a page and files of a run; one run of shards; training data."""

from __future__ import annotations

from pathlib import Path

import click

from discotext.cli.figures import print_certificates, print_pairing, print_summary
from discotext.cli.help import GroupedCommand, argument, option, output_option
from discotext.cli.options import OUTPUT_FILE, RUN_FOLDER, complete_solver, json_option
from discotext.cli.output import make_console, make_table, write_json


@click.command(cls=GroupedCommand)
@argument(
    "runs",
    "A folder written by attack, certify, compare or merge; the run need not be finished. Or two of them, which are "
    "then compared text by text.",
    type=RUN_FOLDER,
    nargs=-1,
    required=True,
    metavar="RUN [RUN]",
)
@output_option(
    "--html",
    "html_file",
    type=OUTPUT_FILE,
    show_default="RUN/report.html; of two runs, compared.html in the second",
    help="HTML page: one file that works offline.",
)
@output_option("--csv", "csv_file", type=OUTPUT_FILE, help="Also write the records as CSV.")
@output_option(
    "--parquet", "parquet_file", type=OUTPUT_FILE, help="Also write the records as Parquet (needs discotext[parquet])."
)
@json_option("one JSON object per budget instead of tables")
@option(
    "--solver",
    "solvers",
    section="Contents",
    multiple=True,
    metavar="NAME",
    show_default="all solvers of the run",
    help="Include only this solver. Repeatable.",
    shell_complete=complete_solver,
)
def command(
    runs: tuple[Path, ...],
    html_file: Path | None,
    csv_file: Path | None,
    parquet_file: Path | None,
    solvers: tuple[str, ...],
    as_json: bool,
) -> None:
    """Print the results of a run, and write them as an HTML page.

    Two runs are compared on the texts that both have, for each budget and solver that both have: accuracy under attack,
    the difference with a 95 % interval, and McNemar's exact p-value. The page is that of the second run, with a section
    on the comparison and the texts that only one of the models keeps.

    \b
    Examples:
      discotext report run
      discotext report run --html results.html --csv records.csv
      discotext report run --solver disco --json
      discotext report hardened/before hardened/after
    """
    if len(runs) > 2:
        raise click.UsageError(f"{len(runs)} runs are given; report compares two at most, so compare them in pairs.")
    from discotext.report import make_page, write_csv, write_parquet
    from discotext.runs.folder import read_run
    from discotext.runs.pairing import pair_runs
    from discotext.support.files import write_atomically

    found = [read_run(run).only(solvers) if solvers else read_run(run) for run in runs]
    last = found[-1]
    paired = pair_runs(found[0], last, (str(runs[0]), str(runs[1]))) if len(runs) == 2 else None
    if paired is not None:
        for warning in paired.warnings:
            click.echo(f"discotext: {warning}", err=True)
    elif len(last.records) < last.expected:
        click.echo(f"the run is not finished: {len(last.records):,} of {last.expected:,} records so far", err=True)
    if as_json:
        figures = [one.as_dict() for one in last.summaries] + [one.as_dict() for one in last.certificates]
        for row in figures if paired is None else paired.as_dicts():
            write_json(row)
    elif paired is not None:
        print_pairing(paired)
    else:
        for _, summary in last.begun:
            print_summary(summary)
        if last.certificates:
            print_certificates(last.certificates, last.settings["certify"]["passes"])
    target = html_file or runs[-1] / ("report.html" if paired is None else "compared.html")
    write_atomically(target, make_page(last, paired))
    click.echo(f"wrote {target}", err=True)
    for file, write in ((csv_file, write_csv), (parquet_file, write_parquet)):
        if file is not None:
            write(file, last.records, last.labels)
            click.echo(f"wrote {len(last.records):,} rows to {file}", err=True)


@click.command(cls=GroupedCommand)
@argument(
    "runs", "The folders of all shards, written with --shard and --out.", nargs=-1, required=True, type=RUN_FOLDER
)
@output_option("--out", required=True, type=RUN_FOLDER, help="Folder for the merged run.")
def merge(runs: tuple[Path, ...], out: Path) -> None:
    """Merge the shards of an attack into one run.

    The result is the same as that of a run without --shard.

    \b
    Examples:
      discotext attack victim movie_reviews --shard 1/2 --out part1
      discotext attack victim movie_reviews --shard 2/2 --out part2
      discotext merge part1 part2 --out run
    """
    from discotext.runs.merge import merge

    for summary in merge(runs, out):
        print_summary(summary)


@click.command(cls=GroupedCommand)
@argument("run", "A folder written by attack, compare or merge.", type=RUN_FOLDER)
@output_option("--out", required=True, type=OUTPUT_FILE, help="A .jsonl, .csv or .tsv file.")
@output_option("--overwrite", is_flag=True, help="Replace an existing file.")
def augment(run: Path, out: Path, overwrite: bool) -> None:
    """Write a run's texts and its successful attacks as training data.

    Every text has its true label, so that a classifier can be trained on the file to become more robust.

    \b
    Examples:
      discotext augment run --out more.jsonl
      discotext train more.jsonl --out hardened
    """
    from discotext.runs.merge import check_suffix, collect_examples, write_examples

    check_suffix(out)
    if out.exists() and not overwrite:
        raise ValueError(f"{out} already exists; choose another file or use --overwrite")
    texts, flipped = collect_examples(run)
    write_examples(texts + flipped, out)
    made = f"{len(texts):,} texts and {len(flipped):,} successful attacks, with their true labels"
    click.echo(f"wrote {made}, to {out}; train on them with `discotext train {out}`", err=True)


@click.command(cls=GroupedCommand)
@argument("words", "Words or column headings to explain.", nargs=-1, metavar="[TERM]...")
def terms(words: tuple[str, ...]) -> None:
    """Explain the columns of tables and the words of reports.

    \b
    Examples:
      discotext terms
      discotext terms proved bracket s/text
    """
    from discotext.report.terms import ALIASES, TERMS, define

    every = {name.lower(): name for name in (*TERMS, *ALIASES)}
    table = make_table()
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for term in words or every.values():
        if term.lower() not in every:
            raise ValueError(f"there is no term {term!r}; `discotext terms` lists all of them")
        table.add_row(term, define(every[term.lower()]))
    console = make_console()
    console.width = min(console.width, 100)
    console.print(table)
