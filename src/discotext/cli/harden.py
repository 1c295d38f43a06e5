"""discotext harden: train a robust model, and show how robust it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discotext.cli import options as shared
from discotext.cli.help import Count, GroupedCommand, Number, attack_option, model_option, output_option
from discotext.cli.names import FILTERS, MODELS, join_names
from discotext.cli.output import make_console, print_message, print_table, write_json
from discotext.support.progress import Progress

if TYPE_CHECKING:
    from discotext.hardening.outcome import Hardening


@click.command(cls=GroupedCommand)
@shared.data_argument("train")
@model_option(
    "--model",
    default="lstm",
    metavar="MODEL",
    help=f"Model: {join_names((*MODELS, 'tfidf'))}, trained from scratch; hf:FOLDER, fine-tuned further; sklearn:FILE, "
    "fitted again; a folder of discotext train, trained again from scratch; or any other victim, which stays as it is "
    "and gets a reader of synonyms.",
)
@model_option(
    "--recipe",
    "recipes",
    multiple=True,
    metavar="RECIPE",
    default=["auto"],
    show_default="auto, those worth trying for the model",
    help="Recipe to try: plain, or parts joined by +: merged[:LOSS], adversarial[:WEIGHT], "
    "augmented[:ROUNDS]. Repeatable.",
)
@model_option(
    "--max-loss",
    type=Number(0, 100),
    metavar="POINTS",
    default=2.0,
    help="Accuracy on held-out texts that may be lost, in percentage points.",
)
@model_option("--epochs", type=Count(1), show_default="as train", help="Epochs at most.")
@shared.seed_option("Model")
@attack_option(
    "--budget",
    "share",
    type=Number(0, 1, min_open=True),
    metavar="SHARE",
    default=0.2,
    help="Share of the words that may be exchanged.",
)
@attack_option(
    "--synonyms",
    multiple=True,
    type=shared.EXISTING_FILE,
    show_default="the candidates that attack uses by default",
    help="Your own synonyms, .json or .tsv, that the model is to be robust against. Repeatable.",
)
@attack_option(
    "--without",
    multiple=True,
    type=click.Choice(FILTERS),
    metavar="FILTER",
    help=f"Disable a filter of candidates: {join_names(FILTERS)}. Repeatable.",
)
@shared.held_out_option("on, once, in the end")
@shared.limit_option("Train on")
@shared.column_options
@shared.trust_option
@output_option("--out", required=True, type=shared.FOLDER, help="Folder for the hardened model.")
@shared.json_option("one JSON object instead of tables")
def command(data: str, model: str, share: float, out: Path, as_json: bool, **options: Any) -> None:
    """Train a classifier that is robust when words are exchanged, and show how robust it is.

    Trains by several recipes, attacks held-out training texts, and takes the recipe that keeps the highest accuracy
    under attack within --max-loss. Then both models meet the test texts: clean, attacked and certified accuracy, and
    attacks that the model was not built for. Repeat the command to resume.

    FOLDER is a victim for all other commands; it also has the plain model, the records and report.html.

    \b
    Examples:
      discotext harden movie_reviews --model wcnn --out hardened
      discotext harden reviews.csv --model tfidf --synonyms mine.json --out out
      discotext harden trec --model lstm --recipe merged+adversarial --out out
      discotext harden data.csv --model hf:FOLDER --max-loss 1 --out out
    """
    from discotext.data.registry import check_data
    from discotext.support.extras import flush_denormals_globally

    columns = shared.pop_columns(options)
    check_data(data, "train")
    if options["test"]:
        check_data(options["test"])
    if model in MODELS or Path(model).is_dir():
        flush_denormals_globally()  # must come before anything else imports PyTorch
    from discotext.hardening.harden import Budgets, harden
    from discotext.text.candidates import make_candidates

    console = make_console(stderr=True)
    candidates = make_candidates(synonyms=options.pop("synonyms"), without=options.pop("without"))
    options |= {"candidates": candidates, "budgets": Budgets(share=share), "columns": columns}
    with Progress(console) as progress:
        found = harden(data, model, out=out, progress=progress.update_stage, **options)
    if as_json:
        write_json(found.as_dict())
    else:
        print_hardening(found)
        if found.trained:
            saved = f"the hardened model is in {out}"
        elif found.chosen == "plain":
            saved = "nothing was saved: the model stays as it is"
        else:
            saved = f"its merged words are in {out / 'merged_words.json'}, for discotext.victims.Encoded"
        print_message(console, f"{saved}; {out / 'report.html'} shows both models on the same texts")


def print_hardening(found: Hardening) -> None:
    """Print the recipes, both models side by side, the matrix, and what it all means."""
    from discotext.hardening.page import tabulate_matrix, tabulate_models, tabulate_recipes

    console = make_console()
    for tabulate in (tabulate_recipes, tabulate_models, tabulate_matrix):
        table = tabulate(found)
        print_table(table, table.title)
        print_message(console, "")
    for note in found.as_dict()["notes"]:
        print_message(console, note)
