"""discotext terms: what the columns of tables and the words of reports mean."""

from __future__ import annotations

import click

from discotext.cli.help import GroupedCommand, argument
from discotext.cli.output import make_console


@click.command(cls=GroupedCommand)
@argument("terms", "Words or column headings to explain.", nargs=-1, metavar="[TERM]...")
def command(terms: tuple[str, ...]) -> None:
    """Explain the columns of tables and the words of reports.

    \b
    Examples:
      discotext terms
      discotext terms proved bracket s/text
    """
    from rich.table import Table

    from discotext.report.terms import ALIASES, TERMS, define

    every = {name.lower(): name for name in (*TERMS, *ALIASES)}
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for term in terms or every.values():
        if term.lower() not in every:
            raise ValueError(f"there is no term {term!r}; `discotext terms` lists all of them")
        table.add_row(term, define(every[term.lower()]))
    console = make_console()
    console.width = min(console.width, 100)
    console.print(table)
