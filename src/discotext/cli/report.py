"""discotext report: the results of a run, or of two side by side, as a table, an HTML page and files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from discotext.cli.compared_runs import report_pair
from discotext.cli.figures import print_certificates, print_summary
from discotext.cli.help import GroupedCommand, argument, option
from discotext.cli.options import OUTPUT_FILE, RUN_FOLDER, complete_solver, json_option
from discotext.cli.output import write_json
from discotext.cli.output_options import wide_option
from discotext.cli.progress import DelayedProgress
from discotext.cli.tables import Column, print_columns

if TYPE_CHECKING:
    from discotext.experiment.run import Run
    from discotext.experiment.summary import Summary


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
@option(
    "--html",
    "html_file",
    section="Output",
    type=OUTPUT_FILE,
    metavar="FILE",
    show_default="RUN/report.html; of two runs, compared.html in the second",
    help="HTML page: one file that works offline.",
)
@option("--csv", "csv_file", section="Output", type=OUTPUT_FILE, metavar="FILE", help="Also write the records as CSV.")
@option(
    "--parquet",
    "parquet_file",
    section="Output",
    type=OUTPUT_FILE,
    metavar="FILE",
    help="Also write the records as Parquet (needs discotext[parquet]).",
)
@json_option("one JSON object per budget instead of tables")
@wide_option
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
@option(
    "--sentence-encoder",
    section="Contents",
    metavar="NAME_OR_FOLDER",
    help="Measure how similar in meaning successful attacks are to their originals (needs discotext[hf]).",
)
@option(
    "--language-model",
    section="Contents",
    metavar="NAME_OR_FOLDER",
    help="Measure how fluent successful attacks are, with a causal language model (needs discotext[hf]).",
)
def command(
    runs: tuple[Path, ...],
    html_file: Path | None,
    csv_file: Path | None,
    parquet_file: Path | None,
    solvers: tuple[str, ...],
    sentence_encoder: str | None,
    language_model: str | None,
    as_json: bool,
    wide: bool,
) -> None:
    """Print the results of a run, and write them as an HTML page.

    With a sentence encoder or a language model, successful attacks are compared with their original texts.

    Two runs are compared on the texts that both have, for each budget and solver that both have: accuracy under attack,
    the difference with a 95 % interval, McNemar's exact p-value, and the texts that only one of them holds.

    \b
    Examples:
      discotext report run
      discotext report run --html results.html --csv records.csv
      discotext report run --solver disco --json
      discotext report run --language-model gpt2
      discotext report hardened/before hardened/after
    """
    if len(runs) > 1:
        files = {"--csv": csv_file, "--parquet": parquet_file}
        models = {"--sentence-encoder": sentence_encoder, "--language-model": language_model}
        given = [name for name, value in (files | models).items() if value is not None]
        if len(runs) > 2:
            raise click.UsageError(
                f"{len(runs)} runs are given; report compares two at most, so compare them in pairs."
            )
        if given:
            raise click.UsageError(f"{given[0]} is for a single run; give one RUN, or leave it out.")
        report_pair((runs[0], runs[1]), solvers, html_file, as_json)
        return
    run = runs[0]
    from discotext.experiment.report import make_page, write_csv, write_parquet
    from discotext.experiment.run import read_run
    from discotext.support.files import write_atomically

    found = read_run(run)
    if solvers:
        found = found.only(solvers)
    if len(found.records) < found.expected:
        click.echo(f"the run is not finished: {len(found.records):,} of {found.expected:,} records so far", err=True)
    if sentence_encoder is not None or language_model is not None:
        found = measure_quality(found, sentence_encoder, language_model)
    if as_json:
        for summary in found.summaries:
            write_json(summary.as_dict())
        for certificate in found.certificates:
            write_json(certificate.as_dict())
    else:
        for _, summary in found.begun:
            print_summary(summary, wide)
            if found.judges:
                print_quality(summary, found.judges, wide)
        if found.certificates:
            print_certificates(found.certificates, found.settings["certify"]["passes"], wide)
    target = html_file or run / "report.html"
    write_atomically(target, make_page(found, str(run)))
    click.echo(f"wrote {target}", err=True)
    for file, write in ((csv_file, write_csv), (parquet_file, write_parquet)):
        if file is not None:
            write(file, found.records, found.labels)
            click.echo(f"wrote {len(found.records):,} rows to {file}", err=True)


def measure_quality(found: Run, sentence_encoder: str | None, language_model: str | None) -> Run:
    """Measure similarity and fluency of the successful attacks, with a bar if that takes a while."""
    from dataclasses import replace

    from discotext.experiment.quality import text_quality

    with DelayedProgress() as progress:
        quality = text_quality(found, sentence_encoder, language_model, watch=progress.update)
    for judge, number in quality.truncated.items():
        if number:
            texts = "1 text is" if number == 1 else f"{number:,} texts are"
            click.echo(f"{texts} longer than the limit of {quality.judges[judge]}, and truncated for it", err=True)
    return replace(found, records=quality.records, judges=quality.judges)


def print_quality(summary: Summary, judges: dict[str, str], wide: bool = False) -> None:
    """Print the table of one budget: successful attacks compared with their original texts."""
    from discotext.experiment.quality import MEASURES

    shown = {name: how for judge in judges for name, how in MEASURES[judge].items()}
    columns = [Column("solver", list(summary.solvers), left=True)]
    for heading, digits, means in (
        (heading, digits, [row.quality[name] for row in summary.solvers.values()])
        for name, (heading, digits) in shown.items()
    ):
        columns.append(Column(heading, ["–" if mean is None else f"{mean:,.{digits}f}" for mean in means]))
        ends = ["–" if mean is None else f"{mean.low:,.{digits}f}–{mean.high:,.{digits}f}" for mean in means]
        # Two columns cannot have the same heading, but for a space.
        columns.append(Column("(95 %)" + " " * len(columns), ends, 1))
    print_columns(columns, "successful attacks compared with the original texts", wide)
