"""discotext predict: a victim's predictions for texts."""

from __future__ import annotations

import sys
from typing import Any

import click

from discotext.cli import options as shared
from discotext.cli.help import GroupedCommand
from discotext.cli.output import write_json
from discotext.support.progress import Progress

CHUNK = 512  # texts scored before their lines are written


@click.command(cls=GroupedCommand)
@shared.victim_argument
@shared.data_argument("test")
@shared.limit_option("Predict")
@shared.seed_option("Data")
@shared.reading_options
def command(victim: str, data: str, limit: int | None, seed: int, **options: Any) -> None:
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
                found["label_name"] = model.labels[label] if labelled else None
                found["predicted_name"] = model.labels[predicted]
                write_json(found)
            sys.stdout.flush()
