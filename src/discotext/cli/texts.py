"""Texts with their changed words marked: in colour on a terminal, else as [old → new]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from discotext.cli.output import make_console

if TYPE_CHECKING:
    from rich.text import Text

    from discotext.experiment.record import Change, Record

SHOWN = 3  # flipped texts that are printed after an attack
AROUND = 80  # characters that are shown on each side of a change
OLD, NEW = "red strike", "bold green"


class FlippedTexts:
    """Keeps the flipped texts with fewest changes, the shortest first among those: the easiest to take in."""

    def __init__(self, most: int = SHOWN) -> None:
        self.most = most
        self.kept: list[Record] = []

    def add(self, records: Iterable[Record]) -> None:
        found = {record.text: record for record in self.kept}
        for record in records:
            # A text may be flipped under several budgets and by several solvers; once is enough.
            if record.succeeded and (record.text not in found or rank(record) < rank(found[record.text])):
                found[record.text] = record
        self.kept = sorted(found.values(), key=rank)[: self.most]


def rank(record: Record) -> tuple[int, int, int]:
    return len(record.changes), len(record.text), record.id


def print_flipped(records: Sequence[Record], labels: Sequence[str]) -> None:
    """Print flipped texts, with the class before and after."""
    if not records:
        return
    console = make_console()
    fewest = "flipped texts, those with fewest changes:" if len(records) > 1 else "a flipped text:"
    console.print(f"\n{fewest}", highlight=False)
    for record in records:
        after = "–" if record.adversarial_predicted is None else labels[record.adversarial_predicted]
        head = f"{labels[record.label]} → {after} (text {record.id})"
        console.print(head, style="bold", highlight=False, markup=False)
        console.print(mark(record.text, record.changes, colour=console.color_system is not None), highlight=False)


def mark(text: str, changes: Sequence[Change], *, colour: bool, around: int | None = AROUND) -> Text:
    """The text with its changes marked. around: characters kept on each side of a change; None keeps all.

    >>> from discotext.experiment.record import Change
    >>> str(mark("An awful film", [Change(1, 3, 8, "awful", "terrible")], colour=False))
    'An [awful → terrible] film'
    """
    from rich.text import Text

    from discotext.support.redaction import escape_unprintable

    shown, at = Text(), 0
    ordered = sorted(changes, key=lambda change: change.start)
    for number, change in enumerate(ordered):
        shown.append(escape_unprintable(shorten(text[at : change.start], around, first=number == 0)))
        shown.append(escape_unprintable(change.old if colour else f"[{change.old}"), OLD if colour else "")
        shown.append(" " if colour else " → ")
        shown.append(escape_unprintable(change.new if colour else f"{change.new}]"), NEW if colour else "")
        at = change.end
    shown.append(escape_unprintable(shorten(text[at:], around, first=not ordered, last=True)))
    return shown


def shorten(gap: str, around: int | None, *, first: bool = False, last: bool = False) -> str:
    """What stands between two changes, shortened in the middle; before the first and after the last, at the ends.

    >>> shorten("one two three four five six ", 9), shorten("one two three four ", 9, first=True)
    ('one two … six ', '… four ')
    """
    gap = " ".join(gap.splitlines()) + (" " if gap.endswith("\n") else "")
    if around is None or len(gap) <= (around if first or last else 2 * around):
        return gap
    begin = gap[:around].rpartition(" ")[0]
    end = gap[-around:].partition(" ")[2]
    if last:
        return f"{begin} …"
    return f"… {end}" if first else f"{begin} … {end}"
