"""discotext predict: what a victim says about texts."""

from __future__ import annotations

import json
import sys

import click

from discotext.cli.options import data_options, sample_options, trust_option

CHUNK = 512  # texts scored before their lines are written


@click.command()
@click.argument("victim")
@click.argument("data")
@data_options
@sample_options
@trust_option
def command(
    victim: str,
    data: str,
    text_column: str | None,
    label_column: str | None,
    limit: int | None,
    seed: int,
    trust: bool,
) -> None:
    """Print what a victim predicts for each text, as JSON lines: text, label, predicted, scores.

    VICTIM is a folder from train, hf:NAME_OR_FOLDER, sklearn:FILE, py:module:callable, or http(s)://… DATA is a named
    data set (its test part), a file, or - for JSON lines.
    """
    from discotext.experiment.given import look_for

    look_for(victim, data)
    from rich.console import Console
    from rich.progress import track

    from discotext.victims.loading import victim_and_data

    model, examples = victim_and_data(victim, data, (text_column, label_column), limit, seed, trust)
    from discotext.goals import predictions
    from discotext.victims.victim import checked

    steps = range(0, len(examples), CHUNK)
    for begin in track(steps, description="predicting", console=Console(stderr=True), transient=True):
        texts = examples.texts[begin : begin + CHUNK]
        scores = checked(model, texts)
        for text, label, predicted, row in zip(
            texts, examples.labels[begin : begin + CHUNK].tolist(), predictions(scores).tolist(), scores, strict=True
        ):
            line = {"text": text, "label": label, "predicted": predicted, "scores": row.tolist()}
            sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
        sys.stdout.flush()
