"""The texts side by side: as data for the page's script, and as markup for readers without one.

Each text is embedded once, however many solvers and budgets it met. A large run is shown in part: its first texts in
their order, because a choice by success would flatter the attack.
"""

from __future__ import annotations

from typing import Any

from discotext.experiment.record import Change, Record
from discotext.experiment.report.figures import Strongest, format_budget
from discotext.experiment.report.markup import Markup, element, join
from discotext.experiment.report.table import replace_surrogates
from discotext.experiment.run import Run

TEXTS, RECORDS, STATIC = 500, 4000, 20  # embedded texts, their records, and those shown without a script
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


def select_texts(run: Run) -> list[int]:
    """Which texts are on the page: the first, in the order of the run."""
    numbers = list(dict.fromkeys(record.id for record in run.records))
    each = len(run.settings["solvers"]) * len(run.settings["budgets"])
    return numbers[: max(1, min(TEXTS, RECORDS // each))]


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
    numbers = {number: place for place, number in enumerate(select_texts(run))}
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
    """The first records of the strongest attack, for readers without a script."""
    first = attack.records[:STATIC]
    said = f"The first {len(first)} texts of {attack}. With scripts allowed, all can be sorted and searched here."
    return join(element("p", said), *(make_card(attack.run, record) for record in first))


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
