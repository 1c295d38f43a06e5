"""Flipped texts to show: which ones, and the words that were changed marked in plain text and in colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from discotext.experiment.record import Record
from discotext.experiment.report.markup import Markup, element
from discotext.experiment.report.texts import order_changes
from discotext.support.plain_text import shorten

# In a text that is longer than that, what is far from a change is left out.
LONG, AROUND = 600, 80
CHANGES = 12  # changes that are shown of one text
# The colours lie over whatever background the notebook has, and the letters keep its colour: so both are readable in a
# light and in a dark theme. Nothing is said by colour alone.
OLD = "background: rgba(224, 49, 49, 0.25); text-decoration: line-through; border-radius: 3px; padding: 0 2px"
NEW = "background: rgba(47, 158, 68, 0.35); text-decoration: none; font-weight: 600; border-radius: 3px; padding: 0 2px"
Kind = Literal["kept", "old", "new"]


@dataclass(frozen=True, repr=False)
class FlippedText:
    """A text before and after an attack.

    label: the true class. flipped_to: what the changed text is taken for.
    """

    record: Record
    label: str
    flipped_to: str

    @property
    def before(self) -> str:
        """The original text."""
        return self.record.text

    @property
    def after(self) -> str:
        """The changed text."""
        return self.record.adversarial_text

    @property
    def heading(self) -> str:
        """Which text it is, what became of it, and by how many changes."""
        record = self.record
        words = "1 word" if record.words == 1 else f"{record.words:,} words"
        flow = f"{shorten(self.label, 30)} → {shorten(self.flipped_to, 30)}"
        return f"text {record.id}: {flow}, {len(record.changes):,} of {words} changed"

    @property
    def marked(self) -> str:
        """The text in a line, each change as [old → new]; of a long text, what stands around the changes."""
        pieces = []
        for kind, text in cut_pieces(self.record):
            if kind == "kept":
                pieces.append(_keep_ends(text))
            else:
                pieces.append(f"[{shorten(text, 60)} → " if kind == "old" else f"{shorten(text, 60)}]")
        return "".join(pieces).strip()

    def __repr__(self) -> str:
        return f"{self.heading}\n  {self.marked}"

    def as_markup(self) -> Markup:
        """The text as HTML, old words struck through in red, new ones in green."""
        drawn: list[str] = []
        for kind, text in cut_pieces(self.record):
            if kind == "kept":
                drawn.append(text)
            else:
                drawn += [element("del", text, style=OLD), " "] if kind == "old" else [element("ins", text, style=NEW)]
        style = "margin: 0 0 0.6em 0; white-space: pre-wrap; max-width: 60em; text-align: left"
        return element("p", element("small", self.heading), "\n", element("span", *drawn, dir="auto"), style=style)

    def _repr_html_(self) -> str:
        return str(self.as_markup())


class FlippedTexts(list[FlippedText]):
    """A list of flipped texts that a terminal shows line by line and a notebook in colour."""

    def __repr__(self) -> str:
        return "\n".join(map(repr, self)) if self else "no text was flipped"

    def _repr_html_(self) -> str:
        if not self:
            return "<p>No text was flipped.</p>"
        return str(element("div", *(one.as_markup() for one in self)))


def choose_flipped(records: Iterable[Record], n: int = 3) -> list[Record]:
    """The flipped texts with the fewest changes, each text once; of equal ones those that people accept most easily.

    Of the records of one text, that with the fewest changes is taken.
    """
    best: dict[int, Record] = {}
    for record in records:
        if record.succeeded and (record.id not in best or _rank(record) < _rank(best[record.id])):
            best[record.id] = record
    return sorted(best.values(), key=_rank)[:n]


def _rank(record: Record) -> tuple[float, ...]:
    return len(record.changes), -(record.all_accepted or 0.0), record.id


def show_flipped(records: Iterable[Record], labels: Sequence[str], n: int = 3) -> FlippedTexts:
    """The chosen texts, with the names of their classes."""

    def name(number: int | None) -> str:
        return "–" if number is None else labels[number]

    chosen = choose_flipped(records, n)
    return FlippedTexts(FlippedText(one, name(one.label), name(one.adversarial_predicted)) for one in chosen)


def cut_pieces(record: Record) -> Iterator[tuple[Kind, str]]:
    """The text in pieces: what was kept, and each old word with the new one after it."""
    changes = order_changes(record)
    if changes is None:  # of another program: the changes do not lead to the text, so both are shown whole
        yield "old", _shorten_gap(record.text, first=True, last=True)
        yield "new", _shorten_gap(record.adversarial_text, first=True, last=True)
        return
    shown = changes[:CHANGES]
    long = len(record.text) > LONG
    places = [0, *(place for change in shown for place in (change.start, change.end)), len(record.text)]
    gaps = [record.text[start:end] for start, end in list(pairwise(places))[::2]]
    for number, (gap, change) in enumerate(zip(gaps, [*shown, None], strict=True)):
        yield "kept", _shorten_gap(gap, first=number == 0, last=change is None) if long else gap
        if change is not None:
            yield "old", change.old
            yield "new", change.new
    if len(changes) > len(shown):
        yield "kept", f" ({len(changes) - len(shown):,} more changes)"


def _shorten_gap(gap: str, first: bool, last: bool) -> str:
    """A stretch without a change, with its middle left out where it is long."""
    head, tail = 0 if first and not last else AROUND, 0 if last and not first else AROUND
    if len(gap) <= head + tail + 20:
        return gap
    return f"{gap[:head]} … {gap[len(gap) - tail :]}"


def _keep_ends(text: str) -> str:
    """The text on one line and without what a terminal would obey; a space at either end stays."""
    if not text.strip():
        return " " if text else ""
    line = shorten(text, max(4 * LONG, len(text)))
    return f"{' ' if text[0].isspace() else ''}{line}{' ' if text[-1].isspace() else ''}"
