"""The texts of the page: three flipped ones on top, and all side by side, which its script lists, sorts and searches.

Each text is embedded once, however many solvers and budgets it met. Of a large run the page holds those that the
strongest attack flipped before others, because they are what a reader looks for. That flatters the attack, so the page
says how many of each there are.
"""

from __future__ import annotations

from typing import Any

from discotext.report.figures import Strongest
from discotext.report.flipped import choose_flipped, mark_changes, order_changes
from discotext.report.markup import Markup, element, join, replace_surrogates
from discotext.report.terms import define, explain
from discotext.runs.folder import Run
from discotext.runs.record import Budget, Record

TEXTS, RECORDS = 500, 4000  # embedded texts, and their records
OUTCOMES = {"success": "flipped", "resisted": "not flipped", "skipped": "not attacked", "failed": "failed"}
SORTS = {
    "flipped": "flipped first", "order": "in the order of the data", "fewest": "fewest words changed",
    "most": "most words changed", "high": "highest score after", "low": "lowest score after", "short": "shortest",
    "long": "longest",
}  # fmt: skip


def classify(record: Record) -> str:
    """The outcome in one word."""
    if record.succeeded:
        return "success"
    if record.status == "failed":
        return "failed"
    return "resisted" if record.attacked else "skipped"


def describe(run: Run, record: Record) -> str:
    """The outcome in one sentence."""
    kind, changed = classify(record), count_changed(record)
    if kind == "failed":
        return f"The victim failed on this text: {record.error or 'no reason given'}"
    if kind == "skipped":
        right = record.predicted == record.label
        reason = "it has the target class already" if right else "the victim was wrong before any change"
        return f"Not attacked: {reason}."
    if kind == "success":
        proof = ", and it is proved that fewer are not enough" if record.status == "fewest" else ""
        return f"Flipped to {run.label(record.adversarial_predicted)}: {changed}{proof}."
    return f"Not flipped, {changed}. {define(record.status) or record.status}"


def count_changed(record: Record) -> str:
    return f"{len(record.changes)} of {record.words} words changed"


def select_texts(attack: Strongest) -> list[int]:
    """The numbers of the texts on the page, in the order of the run: flipped ones, then others while there is room."""
    run = attack.run
    numbers = list(dict.fromkeys(record.id for record in run.records))
    each = len(run.settings["solvers"]) * len(run.settings["budgets"])
    flipped = {record.id for record in attack.records if record.succeeded}
    kept = set(sorted(numbers, key=lambda number: number not in flipped)[: max(1, min(TEXTS, RECORDS // each))])
    return [number for number in numbers if number in kept]


def make_data(attack: Strongest) -> dict[str, Any]:
    """What the script shows. Places in a text are counted as JavaScript counts them, in halves of long characters."""
    run = attack.run
    numbers = {number: place for place, number in enumerate(select_texts(attack))}
    solvers, budgets = list(run.settings["solvers"]), list(run.settings["budgets"])
    texts: list[Any] = [None] * len(numbers)
    rows = []
    for record in run.records:
        place = numbers.get(record.id)
        if place is None:
            continue
        text, changes = replace_surrogates(record.text), order_changes(record)
        texts[place] = [record.id, text, run.label(record.label), record.words]
        marks = [[_units(text, change.start), _units(text, change.end), change.new] for change in changes or ()]
        rows.append([
            place, solvers.index(record.solver), budgets.index(str(record.run_budget)),
            list(OUTCOMES).index(classify(record)), describe(run, record), run.label(record.predicted),
            run.label(record.adversarial_predicted), record.score, record.adversarial_score, len(record.changes), marks,
            None if changes is not None else record.adversarial_text,
        ])  # fmt: skip
    chosen = [solvers.index(attack.solver), budgets.index(attack.budget)]
    parsed = [Budget.parse(one) for one in budgets]
    return {"solvers": solvers, "budgets": [one.describe() for one in parsed],
            "short": [one.describe("") for one in parsed], "labels": run.labels, "outcomes": list(OUTCOMES.values()),
            "keys": list(OUTCOMES), "budgetKeys": budgets, "chosen": chosen,
            "texts": texts, "rows": rows}  # fmt: skip


def _units(text: str, place: int) -> int:
    return place if text.isascii() else len(text[:place].encode("utf-16-le")) // 2


def show_texts(attack: Strongest) -> Markup:
    """Controls, and the place where the script puts the texts."""
    legend = element(
        "p",
        *("A changed word is ", element("del", "struck through"), " in the original, and its replacement "),
        *(element("ins", "underlined"), " in the adversarial text. "),
        *("The ", explain("score"), " is what an attack raises: above 0 the label is flipped. "),
        *("Outcomes and statuses are explained under ", element("a", "Terms", href="#terms"), "."),
        class_="fine",
    )
    controls = [_select(name, SORTS if name == "sort" else {}) for name in "solver budget outcome class sort".split()]
    controls.append(element("label", "search", element("input", type="search", name="search", autocomplete="off")))
    form = element("form", *controls, element("output", name="count", aria_live="polite"), id="controls", hidden=True)
    more = element("button", "Show more", type="button", id="more", hidden=True)
    cards = element("div", id="cards", class_="cards")
    without = element("noscript", element("p", "With scripts allowed, all texts can be sorted and searched here."))
    return join(note_selection(attack), legend, form, cards, more, without)


def note_selection(attack: Strongest) -> Markup | None:
    """What a page that cannot hold all texts holds; None where it holds all."""
    shown, there = set(select_texts(attack)), {record.id for record in attack.run.records}
    flipped = {record.id for record in attack.records if record.succeeded}
    said = (
        f"The page holds {len(shown):,} of {len(there):,} texts: {len(shown & flipped):,} of the {len(flipped):,} that "
        f"the strongest attack flipped, and {len(shown - flipped):,} of the {len(there - flipped):,} others. The "
        "tables count all texts, and report --csv FILE writes all of them."
    )
    return None if shown == there else element("p", said, class_="note")


def _select(name: str, options: dict[str, str]) -> Markup:
    listed = [element("option", text, value=value) for value, text in options.items()]
    return element("label", name, element("select", *listed, name=name))


def show_examples(attack: Strongest) -> Markup | None:
    """The flipped texts on top of the page, and how they were chosen; None where no text was flipped."""
    chosen = choose_flipped(attack.records)
    if not chosen:
        return None
    how = (
        f"{len(chosen)} of the {sum(record.succeeded for record in attack.records):,} texts that {attack.solver} "
        "flipped: the fewest words changed, then the swaps that people are most likely to accept. They are the "
        "clearest, not typical ones."
    )
    cards = element("div", *(show_example(attack.run, record) for record in chosen), class_="examples")
    how_chosen = element("p", how, class_="fine")
    return element("div", cards, how_chosen, class_="showcase", role="group", aria_label="Flipped texts")


def show_example(run: Run, record: Record) -> Markup:
    """One flipped text: its label before and after, and the text with the old and the new words."""
    was = element("b", run.label(record.predicted), class_="was")
    becomes = element("b", run.label(record.adversarial_predicted), class_="is")
    flow = element("p", was, element("span", " → ", aria_label="becomes"), becomes, class_="flow")
    said: Any = count_changed(record)
    if record.all_accepted is not None:
        what = "it" if len(record.changes) == 1 else "all of it"
        chance = f"; people accept {what} with probability {record.all_accepted:.2f} ("
        said = join(said, chance, explain("accept", "estimate"), ")")
    text = element("blockquote", mark_changes(record), class_="text", dir="auto")
    return element("figure", flow, text, element("figcaption", said), class_="example")
