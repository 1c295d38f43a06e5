"""discotext candidates: what may replace what, and why the rest may not."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from discotext.cli.options import Count, Share
from discotext.text.candidates import Candidates, Replacements
from discotext.text.configure import SOURCES, SWITCHES, candidates_from
from discotext.text.tagging import TAGGERS

SHOWN = 6  # refused words of each filter in the table
EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)


def candidate_options(command: Any) -> Any:
    """The options that say where candidates come from; every command that makes candidates has them."""
    for option in reversed(
        [
            click.option(
                "--source",
                "sources",
                multiple=True,
                type=click.Choice(SOURCES),
                help="Where candidates come from; repeatable. Default: neighbours and wordnet, or your own --synonyms.",
            ),
            click.option("--combine", type=click.Choice(["any", "all"]), default="any", show_default=True,
                         help="With several sources: what any proposes, or only what all do."),
            click.option("--synonyms", multiple=True, type=EXISTING, help="Your own list, .json or .tsv; repeatable."),
            click.option("--vectors", type=EXISTING, help="Your own word vectors, instead of those in the package."),
            click.option("--masked-lm", help="A masked language model, for --source masked-lm (extra: hf)."),
            click.option("--without", multiple=True, type=click.Choice(SWITCHES),
                         help="Switch a filter off; repeatable. 'all': all but unknown-to-victim."),
            click.option("--sentence-encoder", help="Switch the filter 'sentence' on, with this encoder (extra: hf)."),
            click.option("--similarity", type=Share(-1, 1),
                         help="The filter's least cosine; 0.5 unless told."),
            click.option("--sense", type=Share(0, 1),
                         help="The filter's least chance that both mean the same: 0.9 is strict; 0.4 unless told."),
            click.option("--tagger", type=click.Choice(list(TAGGERS)), default="light", show_default=True,
                         help="Who tells parts of speech."),
            click.option("--candidates", "per_word", type=Count(1), default=8, show_default=True,
                         help="How many a word may have."),
        ]
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@click.argument("word_or_text", nargs=-1, required=True)
@candidate_options
@click.option("--json", "as_json", is_flag=True, help="One JSON list on standard output instead of a table.")
def command(word_or_text: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Show what may replace each word of a text, and by which filter the rest was refused.

    Several arguments are one text, with spaces between; '-' reads the text from standard input.
    """
    text = sys.stdin.read() if word_or_text == ("-",) else " ".join(word_or_text)
    finder: Candidates = candidates_from(**options)
    found = finder(text)
    if as_json:
        sys.stdout.write(json.dumps([word.as_json() for word in found], ensure_ascii=False) + "\n")
    elif not found:
        raise ValueError(f"there are no words in {text[:40]!r}; give some text")
    else:
        show(found)


def few(words: list[str]) -> list[str]:
    """The first of many, and how many more; JSON has them all."""
    return words if len(words) <= SHOWN else [*words[: SHOWN - 1], f"{len(words) - SHOWN + 1} more"]


def show(found: list[Replacements]) -> None:
    console = Console(width=None if sys.stdout.isatty() else 160)
    table = Table(box=None, pad_edge=False)
    table.add_column("word", no_wrap=True, style="bold")
    table.add_column("may become", style="green")
    table.add_column("refused", style="dim")
    for word in found:
        refused = defaultdict(list)
        for candidate, name in word.refused:
            refused[name].append(candidate)
        reasons = "; ".join(f"{name}: {', '.join(few(words))}" for name, words in refused.items())
        table.add_row(Text(word.word), Text(", ".join(word.candidates) or "–"), Text(reasons))
    console.print(table)
    able = [word for word in found if word.candidates]
    total = sum(len(word.candidates) for word in able)
    console.print(f"{len(able)} of {len(found)} words can be replaced, by {total} candidates in all")
