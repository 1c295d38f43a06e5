"""What commands print: tables and JSON to standard output, messages to standard error.

rich is imported where it is used, so that help pages do without it.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from discotext.report.table import Table

WIDTH = 160  # columns of tables that are not printed to a terminal


def make_console(*, stderr: bool = False) -> Console:
    """Make a console for results, or for messages; a table in a pipe or file has a fixed width."""
    from rich.console import Console

    if stderr:
        return Console(stderr=True)
    return Console(width=None if sys.stdout.isatty() else WIDTH)


def print_message(console: Console, message: str, style: str = "") -> None:
    """Print a line as it is: without colours for numbers, and not wrapped, so that paths can be copied."""
    console.print(message, highlight=False, markup=False, soft_wrap=True, style=style)


def print_sentence(console: Console, sentence: str) -> None:
    """Print a sentence, wrapped between words on a terminal; elsewhere it stays one line, which is easier to search."""
    console.print(sentence, highlight=False, markup=False, soft_wrap=not console.is_terminal)


def print_table(table: Table, title: str = "") -> None:
    """Print a table: on a terminal the columns for which there is room, else all of them."""
    console = make_console()
    whole = table.spread
    shown = whole.fit(console.width) if console.is_terminal else whole
    if title:
        console.print(title, highlight=False, markup=False, style="italic")
    heading, *rows = shown.lines
    print_message(console, heading, "bold")
    for row in rows:
        print_message(console, row)
    hidden = [column.heading for column in whole.columns if column not in shown.columns]
    if hidden:
        print_sentence(console, f"a wider terminal also shows: {', '.join(dict.fromkeys(hidden))}")


def make_table(*headings: str) -> RichTable:
    """Make a table without lines whose columns but the first are aligned to the right; without headings, with none."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=bool(headings))
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="right" if number else "left", no_wrap=True)
    return table


def write_json(value: Any) -> None:
    """Write one line of JSON to standard output."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # a file name that is not UTF-8 can only be written as escapes
        text = json.dumps(value)
    sys.stdout.write(text + "\n")
