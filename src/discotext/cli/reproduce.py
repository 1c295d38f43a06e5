"""discotext reproduce: the paper's table, with ours beside it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from discotext.attacks.progress import AttackProgress
from discotext.cli.help import Count, GroupedCommand, data_option, output_option
from discotext.cli.names import PAPER_DATASETS
from discotext.cli.options import FOLDER, json_option, seed_option, worker_options
from discotext.cli.output import make_console, print_message, print_table, write_json
from discotext.cli.train import show_training
from discotext.support.plain_text import interval, percent


@click.command(cls=GroupedCommand)
@data_option(
    "--data", multiple=True, type=click.Choice(PAPER_DATASETS), show_default="all three", help="Data set. Repeatable."
)
@data_option(
    "--texts", default=500, type=Count(0), help="Texts in the larger sample, which includes the first; 0 omits it."
)
@seed_option("Data")
@output_option("--out", default="paper", type=FOLDER, help="Folder for models and records.")
@json_option("one JSON list instead of a table")
@worker_options
def command(out: Path, data: tuple[str, ...], texts: int, seed: int, as_json: bool, **workers: Any) -> None:
    """Reproduce the paper's table, next to its own figures.

    Trains the models that are not in OUT/victims yet (IMDB 13 minutes, AG News 6, TREC half a minute), then attacks
    the paper's sample of each class, and then a larger sample for more reliable figures (on IMDB without greedy, which
    is too slow). Repeat the command to resume an interrupted run. Needs discotext[torch].

    \b
    Examples:
      discotext reproduce --data trec
      discotext reproduce --data trec --texts 0 --out quick
      discotext reproduce --workers 4 --json > table.json
    """
    from discotext.support.extras import flush_denormals_globally, require

    require("torch", extra="torch", reason="the paper's LSTM")
    flush_denormals_globally()
    from discotext.attacks.paper import make_table as make_rows
    from discotext.attacks.paper import reproduce
    from discotext.attacks.run import make_executor

    console = make_console(stderr=True)
    with AttackProgress(console, 1) as progress:
        found = reproduce(
            out,
            data or PAPER_DATASETS,
            texts=texts,
            seed=seed,
            notify=lambda message: print_message(console, message),
            watch=progress.update,
            executor=make_executor(**workers),
            training=partial(show_training, progress.bar),
        )
    rows = make_rows(found)
    if as_json:
        write_json(rows)
    else:
        print_paper_table(rows)


def print_paper_table(rows: list[dict[str, Any]]) -> None:
    """Print our figures beside the paper's, which have no interval."""
    from discotext.report.table import Column, Table, count, share
    from discotext.runs.summary import Estimate

    ends = ("adversarial_accuracy_low", "adversarial_accuracy_high")
    after = [Estimate(row["adversarial_accuracy"], *(row.get(end, 0.0) for end in ends)) for row in rows]
    columns = [
        Column("data", [row["data"] for row in rows]),
        Column("method", [row["method"] for row in rows]),
        count("texts", [row.get("n") for row in rows], 3),
        share("before", [row["original_accuracy"] for row in rows], 1),
        Column("after", after, percent, 0, lambda one: interval(one) if one.high else "–"),
        share("words over all", [row["perturbation_all"] for row in rows]),
        count("passes", [row.get("passes") for row in rows], 4),
    ]
    print_table(Table("", columns))
