"""The texts side by side: as data for the page's script, and as markup for readers without one.

Each text is embedded once, however many solvers and budgets it met. Flipped texts come first. A large run is shown in
part: mostly flipped texts, because they are what a reader looks for, and some that were not. That flatters the attack,
so the page says how many of each there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discotext.experiment.record import Change, Record
from discotext.experiment.report.figures import Strongest, format_budget
from discotext.experiment.report.markup import Markup, element, join
from discotext.experiment.report.table import replace_surrogates
from discotext.experiment.run import Run

TEXTS, RECORDS, STATIC = 500, 4000, 20  # embedded texts, their records, and those shown without a script
FLIPPED = 0.75  # of the embedded texts of a large run, those that may be flipped ones while there are others
OUTCOMES = {"success": "flipped", "resisted": "not flipped", "skipped": "not attacked", "failed": "failed"}
SENTENCES = {
    "impossible": "It is proved that no allowed change flips it.",
    "optimal": "It is proved that no allowed change brings it nearer.",
    "improved": "The changes bring it nearer, but do not flip it.",
    "unchanged": "No change was found that brings it nearer.",
    "stopped": "A limit stopped the search; this is the best found until then.",
    "unstable": "The victim gave a different score when asked again.",
    "tied": "The scores of two classes differ by less than the victim's rounding errors.",
    "unchangeable": "No word of it can change, so it was not tested.",
}


def classify(record: Record) -> str:
    """The outcome in one word."""
    if record.succeeded:
        return "success"
    if record.status == "failed":
        return "failed"
    return "resisted" if record.attacked else "skipped"


def describe(run: Run, record: Record) -> str:
    """The outcome in one sentence."""
    kind, n = classify(record), record.words
    changed = f"{len(record.changes)} of {n} {'word' if n == 1 else 'words'} changed"
    if kind == "failed":
        return f"The victim failed on this text: {record.error or 'no reason given'}"
    if kind == "skipped" and record.predicted == record.label:
        return "Not attacked: it has the target class already."
    if kind == "skipped":
        return "Not attacked: the victim was wrong before any change."
    if kind == "success":
        after = run.label(record.adversarial_predicted)
        proof = ", and it is proved that fewer are not enough" if record.status == "fewest" else ""
        return f"Flipped to {after}: {changed}{proof}."
    if not n:
        return "Not flipped: there is no word to change."
    return f"Not flipped, {changed}. {SENTENCES.get(record.status, record.status)}"


@dataclass(frozen=True)
class Selection:
    """Which texts are on the page. flipped, others: of the strongest attack, how many are shown, of how many."""

    numbers: list[int]
    flipped: tuple[int, int]
    others: tuple[int, int]

    @property
    def is_part(self) -> bool:
        return sum(self.flipped) + sum(self.others) < 2 * (self.flipped[1] + self.others[1])

    def __str__(self) -> str:
        there = self.flipped[1] + self.others[1]
        kinds = (
            f"{self.flipped[0]:,} of the {self.flipped[1]:,} that the strongest attack flipped, and "
            f"{self.others[0]:,} of the {self.others[1]:,} others, the first of each in the order of the data"
        )
        more = (
            " Flipped texts are more frequent here than in the run; the tables count all texts."
            if self.flipped[0] * self.others[1] > self.flipped[1] * self.others[0]
            else ""
        )
        return f"The page holds {len(self.numbers):,} of {there:,} texts: {kinds}.{more}"


def select_texts(attack: Strongest) -> Selection:
    """Which texts are on the page, in the order of the run: if not all, flipped ones up to a share, and others."""
    run = attack.run
    numbers = list(dict.fromkeys(record.id for record in run.records))
    each = len(run.settings["solvers"]) * len(run.settings["budgets"])
    room = max(1, min(TEXTS, RECORDS // each))
    won = {record.id for record in attack.records if record.succeeded}
    flipped = [number for number in numbers if number in won]
    others = [number for number in numbers if number not in won]
    # What one kind leaves free, the other takes.
    first = flipped[: max(int(FLIPPED * room), room - len(others))] if room > 1 else flipped[:1]
    rest = others[: room - len(first)]
    shown = {*first, *rest}
    return Selection(
        [number for number in numbers if number in shown], (len(first), len(flipped)), (len(rest), len(others))
    )


def order_changes(record: Record) -> list[Change] | None:
    """The changes from left to right, or None where they do not lead to the adversarial text, so cannot be marked."""
    changes = sorted(record.changes, key=lambda change: change.start)
    made, at = "", 0
    for change in changes:
        made += record.text[at : change.start] + change.new
        at = change.end
    return changes if made + record.text[at:] == record.adversarial_text else None


def make_data(attack: Strongest) -> dict[str, Any]:
    """What the script shows. Places in a text are counted as JavaScript counts them, in halves of long characters."""
    run = attack.run
    numbers = {number: place for place, number in enumerate(select_texts(attack).numbers)}
    solvers, budgets = list(run.settings["solvers"]), list(run.settings["budgets"])
    texts: list[Any] = [None] * len(numbers)
    rows = []
    for record in run.records:
        place = numbers.get(record.id)
        if place is None:
            continue
        text, changes = replace_surrogates(record.text), order_changes(record)
        texts[place] = [record.id, text, run.label(record.label), record.words]
        rows.append(
            [
                place,
                solvers.index(record.solver),
                budgets.index(str(record.run_budget)),
                list(OUTCOMES).index(classify(record)),
                describe(run, record),
                run.label(record.predicted),
                run.label(record.adversarial_predicted),
                record.score,
                record.adversarial_score,
                len(record.changes),
                [[_units(text, change.start), _units(text, change.end), change.new] for change in changes or ()],
                None if changes is not None else record.adversarial_text,
            ]
        )
    chosen = [solvers.index(attack.solver), budgets.index(attack.budget)]
    return {"solvers": solvers, "budgets": [format_budget(one) for one in budgets],
            "short": [format_budget(one, "") for one in budgets], "labels": run.labels,
            "outcomes": list(OUTCOMES.values()), "keys": list(OUTCOMES), "budgetKeys": budgets, "chosen": chosen,
            "texts": texts, "rows": rows}  # fmt: skip


def _units(text: str, place: int) -> int:
    return place if text.isascii() else len(text[:place].encode("utf-16-le")) // 2


def make_static_cards(attack: Strongest) -> Markup:
    """The first records of the strongest attack, flipped ones first, for readers without a script."""
    first = sorted(attack.records, key=lambda record: list(OUTCOMES).index(classify(record)))[:STATIC]
    said = (
        f"The first {len(first)} of {len(attack.records):,} texts of {attack}, flipped ones first. With scripts "
        "allowed, they can be sorted and searched here."
    )
    cards = element("div", *(make_card(attack.run, record) for record in first), class_="cards")
    return join(element("p", said), cards)


def make_card(run: Run, record: Record) -> Markup:
    """One record: what became of the text, and the text before and after."""
    changes = order_changes(record)
    before: list[Any] = []
    after: list[Any] = []
    at = 0
    for change in changes or ():
        gap = record.text[at : change.start]
        before += [gap, element("del", change.old)]
        after += [gap, element("ins", change.new)]
        at = change.end
    rest = record.text[at:]
    budget, label = format_budget(str(record.run_budget)), run.label(record.label)
    facts = f"text {record.id} · {record.solver} · at most {budget} · label {label}"
    flow = f"{run.label(record.predicted)} → {run.label(record.adversarial_predicted)} · {format_scores(record)}"
    columns = [_column("original", *before, rest)]
    if record.changes:
        columns.append(_column("adversarial", *([*after, rest] if changes is not None else [record.adversarial_text])))
    return element(
        "article",
        element("header", element("p", facts, class_="facts"), element("p", flow, class_="flow")),
        element("p", describe(run, record), class_="verdict"),
        element("div", *columns, class_="sides"),
        class_=f"card {classify(record)}",
    )


def mark_changes(record: Record) -> Markup:
    """The text with old words struck through and new ones beside them."""
    parts: list[Any] = []
    at = 0
    for change in order_changes(record) or ():
        parts += [record.text[at : change.start], element("del", change.old), " ", element("ins", change.new)]
        at = change.end
    return join(*parts, record.text[at:])


def format_scores(record: Record) -> str:
    """The score before and after; above 0 the text is flipped."""
    given = ["–" if value is None else f"{value:.2f}" for value in (record.score, record.adversarial_score)]
    return f"score {given[0]} → {given[1]}".replace("-", "−")


def _column(name: str, *content: Any) -> Markup:
    return element("div", element("h3", name), element("p", *content, class_="text", dir="auto"))
