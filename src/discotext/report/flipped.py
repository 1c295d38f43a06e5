"""Flipped texts to show: which ones, and the words that were changed marked in plain text and in colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from discotext.report.markup import Markup, element, join
from discotext.runs.record import Change, Record
from discotext.support.plain_text import escape_unprintable, shorten

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
        return write_plainly(cut_pieces(self.record)).strip()

    def __repr__(self) -> str:
        return f"{self.heading}\n  {self.marked}"

    def as_markup(self) -> Markup:
        """The text for a notebook, old words struck through in red, new ones in green."""
        style = "margin: 0 0 0.6em 0; white-space: pre-wrap; max-width: 60em; text-align: left"
        text = element("span", mark_changes(self.record, styled=True), dir="auto")
        return element("p", element("small", self.heading), "\n", text, style=style)

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


def show_flipped(records: Iterable[Record], labels: Sequence[str], n: int = 3) -> FlippedTexts:
    """The chosen texts, with the names of their classes."""

    def name(number: int | None) -> str:
        return "–" if number is None else labels[number]

    chosen = choose_flipped(list(records), n)
    return FlippedTexts(FlippedText(one, name(one.label), name(one.adversarial_predicted)) for one in chosen)


def choose_flipped(records: Sequence[Record], most: int = 3) -> list[Record]:
    """The flipped texts with the fewest changes; of those, the most acceptable ones, then the shortest.

    A text that occurs twice in the data is chosen once.
    """
    # Where the changes do not lead to the text there is nothing to colour.
    flipped = [one for one in records if one.succeeded and order_changes(one) is not None]
    flipped.sort(key=lambda one: (len(one.changes), -(one.all_accepted or 0.0), one.words, one.id))
    first: dict[str, Record] = {}
    for one in flipped:
        first.setdefault(one.text, one)
    return list(first.values())[:most]


def order_changes(record: Record) -> list[Change] | None:
    """The changes from left to right, or None where they do not lead to the adversarial text, so cannot be marked."""
    changes = sorted(record.changes, key=lambda change: change.start)
    made, at = "", 0
    for change in changes:
        made += record.text[at : change.start] + change.new
        at = change.end
    return changes if made + record.text[at:] == record.adversarial_text else None


def mark_changes(record: Record, *, styled: bool = False) -> Markup:
    """The text around its changes as HTML, old words struck through. styled: with the colours of a notebook."""
    drawn: list[str] = []
    for kind, text in cut_pieces(record):
        if kind == "old":
            drawn += [element("del", text, style=OLD if styled else None), " "]
        else:
            drawn.append(text if kind == "kept" else element("ins", text, style=NEW if styled else None))
    return join(*drawn)


def cut_pieces(record: Record, whole: bool = False) -> Iterator[tuple[Kind, str]]:
    """The text in pieces: what was kept, and each old word with the new one after it.

    whole: show all of a long text, not only what stands around its first changes.
    """
    changes = order_changes(record)
    if changes is None:  # of another program: the changes do not lead to the text, so both are shown
        yield "old", record.text
        yield "new", record.adversarial_text
        return
    shown = changes if whole else changes[:CHANGES]
    long = len(record.text) > LONG and not whole
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


def make_harmless(text: str) -> str:
    """The text on one line, with what a terminal would obey written as escape codes."""
    return escape_unprintable(text.replace("\n", " ").replace("\r", " ").replace("\t", " "))


def write_plainly(pieces: Iterable[tuple[str, str]]) -> str:
    """Pieces of a text on one line, each change as [old → new]."""
    forms = {"old": "[{} → ", "new": "{}]"}
    return "".join(forms.get(kind, "{}").format(make_harmless(text)) for kind, text in pieces)
