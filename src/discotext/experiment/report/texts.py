"""The texts side by side: as data for the page's script, and as markup for readers without one.

Each text is embedded once, however many solvers and budgets it met. A large run is shown in part: its first texts in
their order, for a choice by success would show an attack better than it is.
"""

from __future__ import annotations

from typing import Any

from discotext.experiment.metrics import attacked, succeeded
from discotext.experiment.report.figures import Strongest, allowed
from discotext.experiment.report.markup import Markup, element, joined
from discotext.experiment.report.reading import Run, budget_of
from discotext.experiment.report.table import whole
from discotext.experiment.work import Record

TEXTS, RECORDS, STATIC = 500, 4000, 20  # embedded texts, their records, and those shown without a script
OUTCOMES = {"success": "turned", "resisted": "not turned", "skipped": "not attacked", "failed": "failed"}
SENTENCES = {
    "impossible": "It is proved that no allowed change turns it.",
    "optimal": "It is proved that no allowed change brings it nearer.",
    "improved": "The changes bring it nearer, but do not turn it.",
    "unchanged": "No change was found that brings it nearer.",
    "stopped": "A limit stopped the search; this is the best found until then.",
    "unstable": "The victim gave another score when asked again.",
    "tied": "Two classes are as good as equal: they differ by less than the victim's rounding errors.",
    "unchangeable": "No word of it may change, so it was not tested.",
}


def outcome(record: Record) -> str:
    """How it went, in one word."""
    if succeeded(record):
        return "success"
    if record["status"] == "failed":
        return "failed"
    return "resisted" if attacked(record) else "skipped"


def sentence(run: Run, record: Record) -> str:
    """How it went, in one sentence."""
    kind, n = outcome(record), record["words"]
    changed = f"{len(record['changes'])} of {n} {'word' if n == 1 else 'words'} changed"
    if kind == "failed":
        return f"The victim failed on this text: {record.get('error') or 'no reason given'}"
    if kind == "skipped" and record["predicted"] == record["label"]:
        return "Not attacked: it has the class wanted already."
    if kind == "skipped":
        return "Not attacked: the victim was wrong before any change."
    if kind == "success":
        after = run.label(record["adversarial_predicted"])
        proof = ", and it is proved that fewer do not do it" if record["status"] == "fewest" else ""
        return f"Turned into {after}: {changed}{proof}."
    if not n:
        return "Not turned: there is no word to change."
    return f"Not turned, {changed}. {SENTENCES.get(record['status'], record['status'])}"


def shown_texts(run: Run) -> list[int]:
    """Which texts are on the page: the first, in the order of the run."""
    numbers = list(dict.fromkeys(record["id"] for record in run.records))
    each = len(run.settings["solvers"]) * len(run.settings["budgets"])
    return numbers[: max(1, min(TEXTS, RECORDS // each))]


def marks(record: Record) -> list[dict[str, Any]] | None:
    """The changes from left to right, or None where they do not lead to the adversarial text, so cannot be marked."""
    changes = sorted(record["changes"], key=lambda change: int(change["start"]))
    made, at = "", 0
    for change in changes:
        made += record["text"][at : change["start"]] + change["new"]
        at = change["end"]
    return changes if made + record["text"][at:] == record["adversarial_text"] else None


def data(attack: Strongest) -> dict[str, Any]:
    """What the script shows. Places in a text are counted as JavaScript counts them, in halves of long characters."""
    run = attack.run
    numbers = {number: place for place, number in enumerate(shown_texts(run))}
    solvers, budgets = list(run.settings["solvers"]), list(run.settings["budgets"])
    texts: list[Any] = [None] * len(numbers)
    rows = []
    for record in run.records:
        place = numbers.get(record["id"])
        if place is None:
            continue
        text, changes = whole(record["text"]), marks(record)
        texts[place] = [record["id"], text, run.label(record["label"]), record["words"]]
        rows.append(
            [
                place,
                solvers.index(record["solver"]),
                budgets.index(budget_of(record)),
                list(OUTCOMES).index(outcome(record)),
                sentence(run, record),
                run.label(record["predicted"]),
                run.label(record["adversarial_predicted"]),
                record["score"],
                record["adversarial_score"],
                len(record["changes"]),
                [
                    [_units(text, change["start"]), _units(text, change["end"]), change["new"]]
                    for change in changes or ()
                ],
                None if changes is not None else record["adversarial_text"],
            ]
        )
    chosen = [solvers.index(attack.solver), budgets.index(attack.budget)]
    return {"solvers": solvers, "budgets": [allowed(one) for one in budgets],
            "short": [allowed(one, "") for one in budgets], "labels": run.labels,
            "outcomes": list(OUTCOMES.values()), "keys": list(OUTCOMES), "budgetKeys": budgets, "chosen": chosen,
            "texts": texts, "rows": rows}  # fmt: skip


def _units(text: str, place: int) -> int:
    return place if text.isascii() else len(text[:place].encode("utf-16-le")) // 2


def static_cards(attack: Strongest) -> Markup:
    """The first records of the strongest attack, for readers without a script."""
    first = attack.records[:STATIC]
    said = f"The first {len(first)} texts of {attack}. With scripts allowed, all can be sorted and searched here."
    return joined(element("p", said), *(card(attack.run, record) for record in first))


def card(run: Run, record: Record) -> Markup:
    """One record: what became of the text, and the text before and after."""
    changes = marks(record)
    before: list[Any] = []
    after: list[Any] = []
    at = 0
    for change in changes or ():
        gap = record["text"][at : change["start"]]
        before += [gap, element("del", change["old"])]
        after += [gap, element("ins", change["new"])]
        at = change["end"]
    rest = record["text"][at:]
    budget, label = allowed(budget_of(record)), run.label(record["label"])
    facts = f"text {record['id']} · {record['solver']} · at most {budget} · label {label}"
    flow = f"{run.label(record['predicted'])} → {run.label(record['adversarial_predicted'])} · {scores(record)}"
    columns = [_column("original", *before, rest)]
    if record["changes"]:
        columns.append(
            _column("adversarial", *([*after, rest] if changes is not None else [record["adversarial_text"]]))
        )
    return element(
        "article",
        element("header", element("p", facts, class_="facts"), element("p", flow, class_="flow")),
        element("p", sentence(run, record), class_="verdict"),
        element("div", *columns, class_="sides"),
        class_=f"card {outcome(record)}",
    )


def scores(record: Record) -> str:
    """The score before and after; at 0 a text turns."""
    given = ["–" if record[key] is None else f"{record[key]:.2f}" for key in ("score", "adversarial_score")]
    return f"score {given[0]} → {given[1]}".replace("-", "−")


def _column(name: str, *content: Any) -> Markup:
    return element("div", element("h3", name), element("p", *content, class_="text", dir="auto"))
