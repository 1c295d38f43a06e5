"""Tables that fit the terminal: where there is too little room, the columns that matter least are left out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from discotext.cli.output import make_console, make_table, print_message

NARROW = 80  # columns of a table that is not printed to a terminal, unless it is asked to be wide
GAP = 2  # between two columns


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading and cells.

    rank: where there is too little room, columns with the highest rank are left out first; those of rank 0 never.
    """

    heading: str
    cells: Sequence[str]
    rank: int = 0
    left: bool = False

    @property
    def width(self) -> int:
        return max(map(len, (self.heading, *self.cells)))


def choose_columns(columns: Sequence[Column], width: int) -> list[Column]:
    """The columns that fit into a width, the most important ones, in their order.

    >>> few = choose_columns([Column("solver", ["disco"]), Column("s/text", ["0.1"], 2), Column("after", ["1"], 1)], 14)
    >>> [column.heading for column in few]
    ['solver', 'after']
    """
    kept = list(columns)
    while sum(column.width + GAP for column in kept) - GAP > width and any(column.rank for column in kept):
        kept.remove(max(reversed(kept), key=lambda column: column.rank))
    return kept


def print_columns(columns: Sequence[Column], title: str | None = None, wide: bool = False) -> None:
    """Print a table, with all of its columns if it is `wide`, else those for which there is room."""
    console = make_console()
    if not sys.stdout.isatty():
        console.width = NARROW
    shown = list(columns) if wide else choose_columns(columns, console.width)
    if title is not None:
        console.print(title, highlight=False, markup=False, style="italic")
    table = make_table(*(column.heading for column in shown), left=[one.heading for one in shown if one.left])
    for row in zip(*(column.cells for column in shown), strict=True):
        table.add_row(*row)
    console.width = max(console.width, sum(column.width + GAP for column in shown))
    console.print(table)
    hidden = [column.heading.strip() for column in columns if column not in shown]
    if hidden:
        print_message(console, f"--wide also shows: {', '.join(hidden)}")
