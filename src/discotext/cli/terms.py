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
    from difflib import get_close_matches

    from rich.table import Table

    from discotext.experiment.terms import ALIASES, TERMS, define

    found = dict(TERMS)
    if terms:
        found = {}
        for term in terms:
            meaning = define(term.lower())
            if meaning is None:
                near = get_close_matches(term.lower(), [*TERMS, *ALIASES], n=3)
                hint = f"did you mean {' or '.join(near)}?" if near else "`discotext terms` lists all of them"
                raise ValueError(f"there is no term {term!r}; {hint}")
            found[term] = meaning
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    also = {full: [short for short, of in ALIASES.items() if of == full and short not in full] for full in TERMS}
    for name, meaning in found.items():
        spellings = also.get(name, []) if not terms else []
        shown = f"Also {', '.join(spellings)}. " if spellings else ""
        table.add_row(name, shown + meaning)
    console = make_console()
    console.width = min(console.width, 100)
    console.print(table)
