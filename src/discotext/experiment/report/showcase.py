"""Three flipped texts for the top of the page: the clearest ones, and how they were chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discotext.experiment.record import Record
from discotext.experiment.report.figures import Strongest
from discotext.experiment.report.legend import explain
from discotext.experiment.report.markup import Markup, element, join
from discotext.experiment.report.texts import order_changes, select_texts
from discotext.experiment.run import Run

SHOWN = 3
AROUND = 160  # characters of a long text that are shown on each side of a change


def choose_flipped(records: Sequence[Record], most: int = SHOWN) -> list[Record]:
    """The flipped texts with the fewest changes; of those, the most acceptable ones, then the shortest.

    A text that occurs twice in the data is chosen once.
    """
    # `order_changes` is None where the changes do not lead to the text: then there is nothing to colour.
    flipped = [one for one in records if one.succeeded and order_changes(one) is not None]
    flipped.sort(key=lambda one: (len(one.changes), -(one.all_accepted or 0.0), one.words, one.id))
    first: dict[str, Record] = {}
    for one in flipped:
        first.setdefault(one.text, one)
    return list(first.values())[:most]


def show_flipped(attack: Strongest) -> Markup | None:
    """The flipped texts, and how they were chosen; None where no text was flipped."""
    chosen = choose_flipped(attack.records)
    if not chosen:
        return None
    flipped = sum(record.succeeded for record in attack.records)
    accepted = all(record.all_accepted is not None for record in chosen)
    order = "the fewest words changed" + (", then the swaps that people are most likely to accept" if accepted else "")
    if len(chosen) < flipped:
        how = f"{len(chosen)} of the {flipped:,} texts that {attack.solver} flipped: {order}. "
        listed, there = select_texts(attack).flipped
        how += (
            f"They are the clearest, not typical ones; {'all' if listed == there else f'{listed:,}'} are listed below."
        )
    else:
        how = (
            f"All texts that {attack.solver} flipped."
            if flipped > 1
            else f"The only text that {attack.solver} flipped."
        )
    cards = [show_example(attack.run, record) for record in chosen]
    return element(
        "div",
        element("div", *cards, class_="examples"),
        element("p", how, class_="fine"),
        class_="showcase",
        role="group",
        aria_label="Flipped texts",
    )


def show_example(run: Run, record: Record) -> Markup:
    """One flipped text: its label before and after, and the text with the old and the new words."""
    flow = element(
        "p",
        element("b", run.label(record.predicted), class_="was"),
        element("span", " → ", aria_label="becomes"),
        element("b", run.label(record.adversarial_predicted), class_="is"),
        class_="flow",
    )
    n, changed = record.words, len(record.changes)
    said = join(f"{changed} of {n} {'word' if n == 1 else 'words'} changed", _accept(record))
    return element(
        "figure", flow, element("blockquote", *mark_excerpt(record), class_="text", dir="auto"),
        element("figcaption", said), class_="example",
    )  # fmt: skip


def _accept(record: Record) -> Markup | None:
    chance = record.all_accepted
    if chance is None:
        return None
    what = "people accept it" if len(record.changes) == 1 else "people accept all of it"
    return join(f"; {what} with probability {chance:.2f} (", explain("accept", "estimate"), ")")


def mark_excerpt(record: Record, around: int = AROUND) -> list[Any]:
    """The text with old words struck through and new ones beside them; what is far from any change is left out."""
    parts: list[Any] = []
    at, changes = 0, order_changes(record) or []
    for number, change in enumerate(changes):
        gap = record.text[at : change.start]
        parts += [shorten(gap, around, before=number > 0), element("del", change.old), " ", element("ins", change.new)]
        at = change.end
    return [*parts, shorten(record.text[at:], around, before=bool(changes), after=False)]


def shorten(gap: str, around: int, before: bool = True, after: bool = True) -> str:
    """A piece of text between changes, without its middle where it is long, cut at spaces.

    before, after: whether there is a change at its beginning, and at its end.

    >>> shorten("one two three four five six", 8), shorten("one two three four", 9, before=False)
    ('one two … six', '… four')
    """
    if len(gap) <= 1.2 * around * (before + after):
        return gap
    head = gap[:around].rsplit(" ", 1)[0] + " " if before else ""
    tail = " " + gap[-around:].split(" ", 1)[-1] if after else ""
    return f"{head}…{tail}"
