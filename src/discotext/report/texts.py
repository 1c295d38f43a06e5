"""The texts of the page: three flipped ones on top, and all side by side, for its script and for readers without one.

Each text is embedded once, however many solvers and budgets it met. Flipped texts come first. A large run is shown in
part: mostly flipped texts, because they are what a reader looks for, and some that were not. That flatters the attack,
so the page says how many of each there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discotext.report.figures import Strongest
from discotext.report.flipped import choose_flipped, cut_pieces, mark_changes, order_changes
from discotext.report.markup import Markup, element, join, replace_surrogates
from discotext.report.terms import define, explain
from discotext.runs.folder import Run
from discotext.runs.record import Budget, Record

TEXTS, RECORDS, STATIC = 500, 4000, 20  # embedded texts, their records, and those shown without a script
FLIPPED = 0.75  # of the embedded texts of a large run, those that may be flipped ones while there are others
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
    if kind == "skipped" and record.predicted == record.label:
        return "Not attacked: it has the target class already."
    if kind == "skipped":
        return "Not attacked: the victim was wrong before any change."
    if kind == "success":
        after = run.label(record.adversarial_predicted)
        proof = ", and it is proved that fewer are not enough" if record.status == "fewest" else ""
        return f"Flipped to {after}: {changed}{proof}."
    return f"Not flipped, {changed}. {define(record.status) or record.status}"


def count_changed(record: Record) -> str:
    return f"{len(record.changes)} of {record.words} {'word' if record.words == 1 else 'words'} changed"


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
    parsed = [Budget.parse(one) for one in budgets]
    return {"solvers": solvers, "budgets": [one.describe() for one in parsed],
            "short": [one.describe("") for one in parsed], "labels": run.labels, "outcomes": list(OUTCOMES.values()),
            "keys": list(OUTCOMES), "budgetKeys": budgets, "chosen": chosen,
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
    pieces = list(cut_pieces(record, whole=True))
    before = [element("del", text) if kind == "old" else text for kind, text in pieces if kind != "new"]
    after = [element("ins", text) if kind == "new" else text for kind, text in pieces if kind != "old"]
    facts = (
        f"text {record.id} · {record.solver} · at most {record.run_budget.describe()} · label {run.label(record.label)}"
    )
    flow = f"{run.label(record.predicted)} → {run.label(record.adversarial_predicted)} · {format_scores(record)}"
    return element(
        "article",
        element("header", element("p", facts, class_="facts"), element("p", flow, class_="flow")),
        element("p", describe(run, record), class_="verdict"),
        element(
            "div",
            _column("original", *before),
            _column("adversarial", *after) if record.changes else None,
            class_="sides",
        ),
        class_=f"card {classify(record)}",
    )


def format_scores(record: Record) -> str:
    """The score before and after; above 0 the text is flipped."""
    given = ["–" if value is None else f"{value:.2f}" for value in (record.score, record.adversarial_score)]
    return f"score {given[0]} → {given[1]}".replace("-", "−")


def _column(name: str, *content: Any) -> Markup:
    return element("div", element("h3", name), element("p", *content, class_="text", dir="auto"))


def show_texts(attack: Strongest) -> Markup:
    """Controls, the place where the script puts the texts, and some of them for readers without one."""
    selection = select_texts(attack)
    legend = element(
        "p",
        *("A changed word is ", element("del", "struck through"), " in the original, and its replacement "),
        *(element("ins", "underlined"), " in the adversarial text. "),
        *("The ", explain("score"), " is what an attack raises: above 0 the label is flipped. "),
        *("Outcomes and statuses are explained under ", element("a", "Terms", href="#terms"), "."),
        class_="fine",
    )
    controls = [
        *(_select(name) for name in ("solver", "budget", "outcome", "class")),
        _select("sort", SORTS),
        element("label", "search", element("input", type="search", name="search", autocomplete="off")),
    ]
    form = element("form", *controls, element("output", name="count", aria_live="polite"), id="controls", hidden=True)
    more = element("button", "Show more", type="button", id="more", hidden=True)
    part = f"{selection} report --csv FILE writes all of them."
    note = element("p", part, class_="note") if selection.is_part else None
    return join(
        note,
        legend,
        form,
        element("div", id="cards", class_="cards"),
        more,
        element("noscript", make_static_cards(attack)),
    )


def _select(name: str, options: dict[str, str] | None = None) -> Markup:
    listed = [element("option", text, value=value) for value, text in (options or {}).items()]
    return element("label", name, element("select", *listed, name=name))


def show_examples(attack: Strongest) -> Markup | None:
    """The flipped texts on top of the page, and how they were chosen; None where no text was flipped."""
    chosen = choose_flipped(attack.records)
    if not chosen:
        return None
    flipped = sum(record.succeeded for record in attack.records)
    how = f"All {flipped:,} texts that {attack.solver} flipped."
    if len(chosen) < flipped:
        listed, there = select_texts(attack).flipped
        how = (
            f"{len(chosen)} of the {flipped:,} texts that {attack.solver} flipped: the fewest words changed, then the "
            "swaps that people are most likely to accept. They are the clearest, not typical ones; "
            f"{'all' if listed == there else f'{listed:,}'} are listed below."
        )
    cards = element("div", *(show_example(attack.run, record) for record in chosen), class_="examples")
    how_chosen = element("p", how, class_="fine")
    return element("div", cards, how_chosen, class_="showcase", role="group", aria_label="Flipped texts")


def show_example(run: Run, record: Record) -> Markup:
    """One flipped text: its label before and after, and the text with the old and the new words."""
    flow = element(
        "p",
        element("b", run.label(record.predicted), class_="was"),
        element("span", " → ", aria_label="becomes"),
        element("b", run.label(record.adversarial_predicted), class_="is"),
        class_="flow",
    )
    said: Any = count_changed(record)
    if record.all_accepted is not None:
        what = "it" if len(record.changes) == 1 else "all of it"
        chance = f"; people accept {what} with probability {record.all_accepted:.2f} ("
        said = join(said, chance, explain("accept", "estimate"), ")")
    text = element("blockquote", mark_changes(record, whole=False), class_="text", dir="auto")
    return element("figure", flow, text, element("figcaption", said), class_="example")
