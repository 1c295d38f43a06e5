"""discotext check and predict: is a victim fit to be attacked, and what does it predict?"""

from __future__ import annotations

import sys
from typing import Any

import click

from discotext.cli import options as shared
from discotext.cli.help import Count, GroupedCommand, data_option
from discotext.cli.output import make_console, make_table, write_json
from discotext.support.progress import Progress

CHUNK = 512  # texts scored before their lines are written
MARKS = {"fine": ("✓", "green"), "note": ("!", "yellow"), "wrong": ("✗", "red")}


@click.command(cls=GroupedCommand)
@shared.victim_argument
@shared.data_argument("test")
@data_option("--limit", default=200, type=Count(2), help="Number of texts to check on.")
@shared.seed_option("Data")
@shared.reading_options
@shared.json_option("one JSON object instead of a table")
def command(victim: str, data: str, limit: int, seed: int, as_json: bool, **options: Any) -> None:
    """Check whether a classifier is fit to be attacked.

    Checks accuracy, the order of the labels, determinism, batching, scores (logits or probabilities), truncation,
    unknown words and gradients. Exits with status 1 if something is wrong.

    \b
    Examples:
      discotext check victim movie_reviews
      discotext check sklearn:model.skops reviews.csv --limit 500
      discotext check py:model.py:scores reviews.jsonl --json
    """
    model = shared.load_named(victim, options, data)
    from rich.text import Text

    from discotext.victims.check import check_victim
    from discotext.victims.examples import load_examples

    examples = load_examples(model, data, shared.pop_columns(options), limit, seed)
    with make_console(stderr=True).status(f"checking on {len(examples)} texts"):
        findings = check_victim(model, examples, seed=seed)
    fit = not any(one.verdict == "wrong" for one in findings)
    if as_json:
        report: dict[str, Any] = {"victim": victim, "data": data, "n": len(examples), "fit": fit}
        report["findings"] = [{"name": one.name, "verdict": one.verdict, "says": one.says} for one in findings]
        write_json(report)
    else:
        console = make_console()
        table = make_table()
        for one in findings:
            mark, colour = MARKS[one.verdict]
            table.add_row(Text(mark, style=colour), Text(one.name, style="bold"), Text(one.says))
        console.print(table)
        console.print("fit to be attacked" if fit else "not fit to be attacked: fix what is marked ✗ first")
    if not fit:
        raise SystemExit(1)


@click.command(cls=GroupedCommand)
@shared.victim_argument
@shared.data_argument("test")
@shared.limit_option("Predict")
@shared.seed_option("Data")
@shared.reading_options
def predict(victim: str, data: str, limit: int | None, seed: int, **options: Any) -> None:
    """Print a classifier's predictions as JSON lines.

    Each line has the text, its label, the predicted class and the scores of all classes. Classes are numbered from 0,
    and named in label_name and predicted_name. Labels are not needed: a .txt file with a text on each line will do.

    \b
    Examples:
      discotext predict victim movie_reviews --limit 20
      discotext predict sklearn:model.skops reviews.csv > predictions.jsonl
      discotext predict victim - < reviews.jsonl
    """
    model = shared.load_named(victim, options, data)
    from discotext.core.objectives import predictions
    from discotext.victims.examples import load_texts
    from discotext.victims.victim import compute_scores

    examples, labelled = load_texts(model, data, shared.pop_columns(options))
    examples = examples if limit is None else examples.sample(limit, seed)
    with Progress() as progress:
        for begin in range(0, len(examples), CHUNK):
            progress.update("predicting", begin, len(examples))
            texts, labels = examples.texts[begin : begin + CHUNK], examples.labels[begin : begin + CHUNK]
            scores = compute_scores(model, texts)
            rows = zip(texts, labels.tolist(), predictions(scores).tolist(), scores.tolist(), strict=True)
            for text, label, predicted, row in rows:
                found = {"text": text, "label": label if labelled else None, "predicted": predicted, "scores": row}
                names = {"label_name": model.labels[label] if labelled else None}
                write_json(found | names | {"predicted_name": model.labels[predicted]})
            sys.stdout.flush()
