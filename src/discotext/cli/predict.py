"""discotext predict: a victim's predictions for texts."""

from __future__ import annotations

import sys
from typing import Any

import click

from discotext.cli.data_options import pop_columns
from discotext.cli.help import GroupedCommand
from discotext.cli.options import (
    column_options,
    data_argument,
    limit_option,
    seed_option,
    trust_option,
    victim_argument,
)
from discotext.cli.output import write_json
from discotext.cli.service_options import pop_service, service_options
from discotext.support.progress import Progress

CHUNK = 512  # texts scored before their lines are written


@click.command(cls=GroupedCommand)
@victim_argument
@data_argument("test")
@limit_option("Predict")
@seed_option("Data")
@column_options
@trust_option
@service_options
def command(
    victim: str,
    data: str,
    limit: int | None,
    seed: int,
    trust: bool,
    **options: Any,
) -> None:
    """Print a classifier's predictions as JSON lines.

    Each line has the text, its label, the predicted class and the scores of all classes. Classes are numbered from 0,
    and named in label_name and predicted_name. Labels are not needed; lines of text on standard input will do.

    \b
    Examples:
      discotext predict victim movie_reviews --limit 20
      discotext predict sklearn:model.skops reviews.csv > predictions.jsonl
      echo "A fine film" | discotext predict victim -
    """
    from discotext.attacks.preflight import check_inputs

    service = pop_service(victim, options)
    check_inputs(victim, data)
    from discotext.victims.examples import load_texts
    from discotext.victims.registry import load_victim

    columns = pop_columns(options)
    model = load_victim(victim, trust, service)
    examples, labelled = load_texts(model, data, columns)
    examples = examples if limit is None else examples.sample(limit, seed)
    from discotext.core.objectives import predictions
    from discotext.victims.victim import compute_scores

    with Progress() as progress:
        for begin in range(0, len(examples), CHUNK):
            progress.update("predicting", begin, len(examples))
            texts, labels = examples.texts[begin : begin + CHUNK], examples.labels[begin : begin + CHUNK]
            scores = compute_scores(model, texts)
            for text, label, predicted, row in zip(
                texts, labels.tolist(), predictions(scores).tolist(), scores, strict=True
            ):
                found = {
                    "text": text,
                    "label": label if labelled else None,
                    "predicted": predicted,
                    "scores": row.tolist(),
                    "label_name": model.labels[label] if labelled else None,
                    "predicted_name": model.labels[predicted],
                }
                write_json(found)
            sys.stdout.flush()
