"""discotext candidates: the words that may replace each word, and why others may not."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from discotext.cli.help import GroupedCommand, argument
from discotext.cli.options import accept_option, candidate_options, json_option
from discotext.cli.output import make_console, make_table, write_json

if TYPE_CHECKING:
    from discotext.text.candidates import Replacements

SHOWN = 6  # refused words of each filter in the table
AT_ONCE = 64  # texts of JSON lines whose candidates are found together


@click.command(cls=GroupedCommand)
@argument(
    "word_or_text", "One text; several arguments are joined by spaces. - reads standard input.", nargs=-1, required=True
)
@accept_option(multiple=False)
@candidate_options
@json_option('one JSON list instead of a table, with all refused words; with -, a list for each line {"text": …}')
def command(word_or_text: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Show the candidates for each word of a text.

    The last column names the filters that refused other candidates, and some of the words refused.

    \b
    Examples:
      discotext candidates "I purchased an awful film."
      discotext candidates "an awful film" --accept 0.2 --candidates 20
      discotext candidates good film --synonyms synonyms.tsv
      discotext candidates - --json < texts.jsonl
    """
    from discotext.text.candidates import make_candidates

    text = sys.stdin.read() if word_or_text == ("-",) else " ".join(word_or_text)
    finder = make_candidates(**options)
    if as_json and word_or_text == ("-",) and text.lstrip().startswith("{"):
        texts = read_json_texts(text)
        while some := list(islice(texts, AT_ONCE)):
            for one in finder.find(some):
                write_json([word.as_json() for word in one])
        return
    found = finder(text)
    if as_json:
        write_json([word.as_json() for word in found])
    elif not found:
        raise ValueError(f"there are no words in {text[:40]!r}; give some text")
    else:
        print_candidates(found)


def read_json_texts(lines: str) -> Iterator[str]:
    """Read the texts of JSON lines {"text": …}."""
    for number, line in enumerate(lines.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict) or not isinstance(value.get("text"), str):
            raise ValueError(f'line {number} is {line[:60]!r}; expected an object such as {{"text": "A good film."}}')
        yield value["text"]


def print_candidates(found: Sequence[Replacements]) -> None:
    """Print the candidates of each word as a table."""
    from rich.text import Text

    console = make_console()
    table = make_table("word")
    table.columns[0].style = "bold"
    table.add_column("candidates", style="green")
    table.add_column("refused", style="dim")
    for word in found:
        refused = defaultdict(list)
        for candidate, name in word.refused:
            refused[name].append(candidate)
        for words in refused.values():
            words[SHOWN:] = [f"{len(words) - SHOWN} more"] if len(words) > SHOWN else []
        reasons = "; ".join(f"{name}: {', '.join(words)}" for name, words in refused.items())
        pairs = zip(word.candidates, word.accept, strict=True)
        offered = ", ".join(name if chance is None else f"{name} {chance:.2f}" for name, chance in pairs)
        table.add_row(Text(word.word), Text(offered or "–"), Text(reasons))
    console.print(table)
    able = [word for word in found if word.candidates]
    total = sum(len(word.candidates) for word in able)
    console.print(f"{len(able)} of {len(found)} words can be replaced; {total} candidates in total", highlight=False)
    if any(chance is not None for word in able for chance in word.accept):
        console.print("The number after a candidate: the probability that most people accept it here.", style="dim")
