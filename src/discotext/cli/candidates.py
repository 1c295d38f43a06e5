"""discotext candidates: the words that may replace each word, and why others may not."""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import click

from discotext.cli.help import GroupedCommand, argument
from discotext.cli.options import candidate_options, json_option
from discotext.cli.output import make_console, make_table, write_json

if TYPE_CHECKING:
    from discotext.text.candidates import Replacements

SHOWN = 6  # refused words of each filter in the table


@click.command(cls=GroupedCommand)
@argument(
    "word_or_text", "One text; several arguments are joined by spaces. - reads standard input.", nargs=-1, required=True
)
@candidate_options
@json_option("one JSON list instead of a table, with all refused words")
def command(word_or_text: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Show the candidates for each word of a text.

    The last column names the filters that refused other candidates, and some of the words refused.

    \b
    Examples:
      discotext candidates "I purchased an awful film."
      discotext candidates "an awful film" --candidates 20 --without sense
      discotext candidates good film --synonyms synonyms.tsv
      discotext candidates - --source wordnet --json < text.txt
    """
    from discotext.text.candidates import make_candidates

    text = sys.stdin.read() if word_or_text == ("-",) else " ".join(word_or_text)
    found = make_candidates(**options)(text)
    if as_json:
        write_json([word.as_json() for word in found])
    elif not found:
        raise ValueError(f"there are no words in {text[:40]!r}; give some text")
    else:
        print_candidates(found)


def shorten(words: list[str]) -> list[str]:
    """Keep the first words of many, and count the rest."""
    return words if len(words) <= SHOWN else [*words[: SHOWN - 1], f"{len(words) - SHOWN + 1} more"]


def print_candidates(found: list[Replacements]) -> None:
    """Print the candidates of each word as a table."""
    from rich.text import Text

    console = make_console()
    table = make_table("word", left=["word"])
    table.columns[0].style = "bold"
    table.add_column("candidates", style="green")
    table.add_column("refused", style="dim")
    for word in found:
        refused = defaultdict(list)
        for candidate, name in word.refused:
            refused[name].append(candidate)
        reasons = "; ".join(f"{name}: {', '.join(shorten(words))}" for name, words in refused.items())
        table.add_row(Text(word.word), Text(", ".join(word.candidates) or "–"), Text(reasons))
    console.print(table)
    able = [word for word in found if word.candidates]
    total = sum(len(word.candidates) for word in able)
    console.print(f"{len(able)} of {len(found)} words can be replaced; {total} candidates in total")
