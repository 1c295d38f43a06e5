"""Texts with their changed words marked: in colour on a terminal, else as [old → new]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from discotext.cli.output import make_console, print_message

if TYPE_CHECKING:
    from rich.text import Text

    from discotext.runs.record import Record

OLD, NEW = "red strike", "bold green"


def print_flipped(records: Sequence[Record], labels: Sequence[str]) -> None:
    """Print flipped texts, with the class before and after; of a long one, what stands around the changes."""
    from discotext.report.flipped import cut_pieces, show_flipped

    if not records:
        return
    console = make_console()
    print_message(console, "\nflipped texts, those with fewest changes:" if len(records) > 1 else "\na flipped text:")
    for one in show_flipped(records, labels, len(records)):
        console.print(one.heading, style="bold", highlight=False, markup=False)
        console.print(paint(cut_pieces(one.record), colour=console.color_system is not None), highlight=False)


def paint(pieces: Iterable[tuple[str, str]], *, colour: bool = True) -> Text:
    """Pieces of a text, as `cut_pieces` gives them, with old and new words in colour; without colour, as [old → new].

    >>> str(paint([("kept", "An "), ("old", "awful"), ("new", "bad"), ("kept", " film")], colour=False))
    'An [awful → bad] film'
    """
    from rich.text import Text

    from discotext.support.plain_text import escape_unprintable

    shown = Text()
    for kind, text in pieces:
        # A line break within a text is no reason for a new line; anything that a terminal would obey is escaped.
        safe = escape_unprintable(text.replace("\n", " ").replace("\r", " ").replace("\t", " "))
        if colour:
            shown.append(safe, {"old": OLD, "new": NEW}.get(kind, ""))
            shown.append(" " if kind == "old" else "")
        else:
            shown.append({"old": f"[{safe} → ", "new": f"{safe}]"}.get(kind, safe))
    return shown
