"""discotext reproduce: the paper's table, with ours beside it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from discotext.cli.help import GroupedCommand, option
from discotext.cli.names import PAPER_DATASETS
from discotext.cli.number_types import Count
from discotext.cli.options import FOLDER, json_option, seed_option, worker_options
from discotext.cli.output import make_console, percent, print_message, write_json
from discotext.cli.output_options import wide_option
from discotext.cli.progress import AttackProgress, TrainingProgress
from discotext.cli.tables import Column, print_columns


@click.command(cls=GroupedCommand)
@option(
    "--data",
    section="Data",
    multiple=True,
    type=click.Choice(PAPER_DATASETS),
    show_default="all three",
    help="Data set. Repeatable.",
)
@option(
    "--per-class",
    section="Data",
    default=50,
    type=Count(1),
    metavar="N",
    help="Texts per class in the first sample, as in the paper.",
)
@option(
    "--texts",
    section="Data",
    default=500,
    type=Count(0),
    metavar="N",
    help="Texts in the larger sample, which includes the first; 0 omits it.",
)
@seed_option("Data")
@option("--filtered", section="Attack", is_flag=True, help="Filter the candidates, which the paper does not.")
@option(
    "--out", section="Output", default="paper", type=FOLDER, metavar="FOLDER", help="Folder for models and records."
)
@json_option("one JSON list instead of a table")
@wide_option
@worker_options
def command(
    out: Path,
    data: tuple[str, ...],
    per_class: int,
    texts: int,
    filtered: bool,
    seed: int,
    as_json: bool,
    wide: bool,
    **workers: Any,
) -> None:
    """Reproduce the paper's table, next to its own figures.

    Trains the models that are not in OUT/victims yet (IMDB 13 minutes, AG News 6, TREC half a minute), then attacks
    the paper's sample of each class, and then a larger sample for more reliable figures (on IMDB without greedy, which
    is too slow). Repeat the command to resume an interrupted run. Needs discotext[torch].

    \b
    Examples:
      discotext reproduce --data trec
      discotext reproduce --per-class 10 --texts 0 --out quick
      discotext reproduce --workers 4 --json > table.json
    """
    from discotext.support.extras import flush_denormals_globally, require

    require("torch", extra="torch", reason="the paper's LSTM")
    flush_denormals_globally()
    from discotext.experiment.execution.executors import make_executor
    from discotext.experiment.paper import make_table as make_rows
    from discotext.experiment.paper import reproduce

    console = make_console(stderr=True)
    with AttackProgress(console, 1) as progress, TrainingProgress() as training:
        rows = make_rows(
            reproduce(
                out,
                data or PAPER_DATASETS,
                per_class,
                texts,
                seed,
                filtered,
                lambda message: print_message(console, message),
                progress.update,
                make_executor(**workers),
                training.update,
            )
        )
    if as_json:
        write_json(rows)
    else:
        print_paper_table(rows, wide)


def print_paper_table(rows: list[dict[str, Any]], wide: bool = False) -> None:
    """Print our figures beside the paper's."""
    ends = [[row.get(f"adversarial_accuracy_{end}", math.nan) for end in ("low", "high")] for row in rows]
    columns = [
        Column("data", [row["data"] for row in rows], left=True),
        Column("method", [row["method"] for row in rows], left=True),
        Column("texts", [str(row.get("n", "")) for row in rows], 3),
        Column("before", [percent(row["original_accuracy"]) for row in rows], 1),
        Column("after", [percent(row["adversarial_accuracy"]) for row in rows]),
        Column("(95 %)", ["" if math.isnan(a) else f"{100 * a:.1f}–{100 * b:.1f}" for a, b in ends], 2),
        Column("words over all", [percent(row["perturbation_all"]) for row in rows]),
        Column("passes", [f"{row['passes']:,.0f}" if "passes" in row else "" for row in rows], 4),
    ]
    print_columns(columns, wide=wide)
