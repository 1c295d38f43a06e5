"""discotext train: train a victim of the paper's kind, and measure its accuracy."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from discotext.cli.data_options import pop_columns
from discotext.cli.help import GroupedCommand, option
from discotext.cli.names import MODELS, POOLS
from discotext.cli.number_types import Count, Number
from discotext.cli.options import (
    EXISTING_FILE,
    FOLDER,
    column_options,
    complete_data,
    data_argument,
    exchange_options,
    json_option,
    limit_option,
    seed_option,
)
from discotext.cli.output import percent, write_json
from discotext.cli.progress import TrainingProgress


@click.command(cls=GroupedCommand)
@data_argument("train")
@option(
    "--model",
    "kind",
    section="Model",
    default="lstm",
    type=click.Choice(MODELS),
    help="Architecture: LSTM, word-level CNN, deep averaging network or simple RNN.",
)
@option(
    "--epochs",
    section="Model",
    type=Count(1),
    metavar="N",
    show_default="6; 6 to 40 for fewer than 20,000 texts",
    help="Maximum number of epochs. Training stops early when the held-out accuracy no longer improves.",
)
@option(
    "--vectors",
    section="Model",
    type=EXISTING_FILE,
    metavar="FILE",
    show_default="GloVe in $DISCOTEXT_DATA/vectors, else those in the package",
    help="Initial word vectors: .txt (GloVe), .vec, .bin, .npz or .safetensors.",
)
@option(
    "--tune-vectors/--freeze-vectors",
    section="Model",
    default=None,
    show_default="tune for fewer than 20,000 texts",
    help="Whether to train the word vectors, too.",
)
@option(
    "--pool",
    section="Model",
    type=click.Choice(POOLS),
    show_default="max",
    help="How lstm and rnn pool the states of a text.",
)
@option(
    "--adversarial",
    section="Hardening",
    type=Number(0, 1, max_open=True),
    metavar="WEIGHT",
    default=0.0,
    show_default="0, off",
    help="Train on texts whose words are exchanged to raise the loss, with this weight; 0.5 is a good start. An epoch "
    "then takes about two and a half times as long.",
)
@exchange_options("Hardening", "to exchange words for")
@seed_option("Model")
@option(
    "--test",
    section="Data",
    metavar="DATA",
    show_default="the test split of a data set, or a fifth of a file",
    help="Data to measure the accuracy on.",
    shell_complete=complete_data,
)
@limit_option("Train on")
@column_options
@option("--out", section="Output", required=True, type=FOLDER, metavar="FOLDER", help="Folder for the trained model.")
@option("--overwrite", section="Output", is_flag=True, help="Replace an existing model.")
@json_option("one JSON object instead of text")
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
    adversarial: float,
    share: float,
    synonyms: tuple[Path, ...],
    without: tuple[str, ...],
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Train a classifier on a data set, and print its test accuracy.

    Needs discotext[torch]. Ctrl-C ends training early and keeps the best epoch so far.

    \b
    Examples:
      discotext train movie_reviews --out victim
      discotext train reviews.csv --model wcnn --out victim --overwrite
      discotext train train.csv --test test.csv --label-column stars --out victim
      discotext train movie_reviews --adversarial 0.5 --out hardened
    """
    if (out / "settings.json").exists() and not overwrite:
        raise ValueError(f"{out} already contains a model; choose another folder or use --overwrite")
    from discotext.data.registry import check_data
    from discotext.support.extras import flush_denormals_globally, require

    # Mistakes in the command line are reported before anything slow begins.
    columns = pop_columns(options)
    check_data(data, "train")
    if test:
        check_data(test)
    require("torch", extra="torch", reason="training")
    flush_denormals_globally()
    from discotext.experiment.run_folder import make_folder
    from discotext.text.candidates import make_candidates
    from discotext.victims.neural.train_victim import train_victim

    make_folder(out)
    try:
        with TrainingProgress() as progress:
            report = train_victim(
                data,
                out,
                test=test,
                vectors=vectors,
                limit=limit,
                columns=columns,
                settings={
                    "kind": kind,
                    "pool": pool,
                    "epochs": epochs,
                    "tune_vectors": tune_vectors,
                    "seed": seed,
                    "adversarial": adversarial,
                    "share": share,
                },
                progress=progress.update,
                candidates=make_candidates(synonyms=synonyms, without=without) if adversarial else None,
            )
    except BaseException:
        with suppress(OSError):
            out.rmdir()  # if nothing is in it
        raise
    if as_json:
        write_json(report)
    else:
        print_training(report)


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
