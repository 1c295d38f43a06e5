"""discotext attack: how far can a few synonyms push a classifier?"""

from __future__ import annotations

from typing import Any

import click

from discotext.cli.attacking import attack_options, attacked


@click.command()
@click.argument("victim")
@click.argument("data")
@click.option("--solver", default="auto", show_default=True, help="How to search; auto takes what suits the victim.")
@attack_options
def command(victim: str, data: str, solver: str, **options: Any) -> None:
    """Attack a victim on data: how many texts can be turned by changing a few words?

    VICTIM is a folder from train, hf:NAME_OR_FOLDER, sklearn:FILE, py:module:callable, or http(s)://… DATA is
    movie_reviews, imdb, ag_news, trec, a .csv .tsv .jsonl or .parquet file, or - for JSON lines.
    """
    attacked(victim, data, [solver], options)
