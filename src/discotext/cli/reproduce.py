"""discotext reproduce: the paper's table, with ours beside it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from discotext.cli.options import Count, worker_options

NAMES = ["imdb", "ag_news", "trec"]


@click.command()
@click.option("--out", default="paper", show_default=True, type=click.Path(file_okay=False, path_type=Path))
@click.option("--data", multiple=True, type=click.Choice(NAMES), help="Only these data sets; repeatable.")
@click.option("--per-class", default=50, show_default=True, type=Count(1), help="Texts of each class, first.")
@click.option("--texts", default=500, show_default=True, type=Count(0), help="Then so many in all.")
@click.option("--filtered", is_flag=True, help="Candidates as this package filters them, in place of the paper's.")
@click.option("--seed", default=0, show_default=True, type=Count(0), help="Which texts, and all chance.")
@worker_options
@click.option("--json", "as_json", is_flag=True, help="One JSON list on standard output.")
def command(
    out: Path,
    data: tuple[str, ...],
    per_class: int,
    texts: int,
    filtered: bool,
    seed: int,
    as_json: bool,
    **workers: Any,
) -> None:
    """Make the paper's table again, its own figures beside ours.

    Trains victims that are not in OUT/victims yet (IMDB 13 minutes, AG News 6, TREC half a one), then attacks: first
    the paper's sample of each class, then more texts for figures with meaning (on IMDB without greedy, which takes
    too long). The same command goes on where it stopped.
    """
    from discotext.extras import need, quick_start

    need("torch", extra="torch", reason="the paper's LSTM")
    quick_start()
    from discotext.cli.attacking import watched
    from discotext.experiment.executors import executor_of
    from discotext.experiment.paper import reproduce, table

    talk = Console(stderr=True)

    def tell(said: str) -> None:
        talk.print(said, highlight=False)

    with watched(talk, 1) as watch:
        rows = table(
            reproduce(out, data or tuple(NAMES), per_class, texts, seed, filtered, tell, watch, executor_of(**workers))
        )
    if as_json:
        sys.stdout.write(json.dumps(rows) + "\n")
    else:
        show(rows)


def show(rows: list[dict[str, Any]]) -> None:
    console = Console(width=None if sys.stdout.isatty() else 160)
    shown = Table(box=None, pad_edge=False)
    for heading in (
        "data",
        "method",
        "texts",
        "accuracy before",
        "after",
        "(95 %)",
        "words changed, all texts",
        "passes/text",
    ):
        shown.add_column(heading, justify="left" if heading in ("data", "method") else "right", no_wrap=True)
    for row in rows:
        ends = [row.get(f"adversarial_accuracy_{end}") for end in ("low", "high")]
        shown.add_row(
            row["data"],
            row["method"],
            str(row.get("n", "")),
            *(f"{100 * row[key]:.1f} %" for key in ("original_accuracy", "adversarial_accuracy")),
            "" if None in ends else "–".join(f"{100 * end:.1f}" for end in ends if end is not None),
            f"{100 * row['perturbation_all']:.1f} %",
            f"{row['passes']:,.0f}" if "passes" in row else "",
            style=None if "passes" in row else "dim",
        )
    console.print(shown)
