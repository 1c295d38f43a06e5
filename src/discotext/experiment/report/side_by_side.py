"""The page of two runs: which holds better, by how much, whether that may be chance, and on which texts they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discotext.experiment.pairing import Attack, Contingency, Pairing
from discotext.experiment.record import Budget, Record
from discotext.experiment.report.curve import Point, draw_bars, draw_curve
from discotext.experiment.report.figures import format_budget, format_number, format_percent, format_share, make_table
from discotext.experiment.report.legend import explain
from discotext.experiment.report.markup import Markup, element, join
from discotext.experiment.report.page import BASIC, wrap_page
from discotext.experiment.report.sections import OF, wrap_chart
from discotext.experiment.report.texts import classify, describe, mark_changes, order_changes
from discotext.experiment.run import Run

SHOWN = 60  # texts of each list
SIGNIFICANT = 0.05
LETTERS = ("A", "B")


def make_comparison_page(found: Pairing) -> str:
    """The page as HTML."""
    attack = found.strongest
    sections = {
        "attacks": ("Side by side", list_attacks(found)),
        "accuracies": ("Accuracy", chart_accuracies(found)),
        "agreement": ("Where they agree", show_agreement(attack)),
        "won": (f"Texts that A loses and B holds ({attack.after.second:,})", list_texts(found, second=True)),
        "lost": (f"Texts that A holds and B loses ({attack.after.first:,})", list_texts(found, second=False)),
        "pedigree": ("The runs", list_runs(found)),
    }
    victims = [run.settings["victim"] for run in found.runs]
    title = f"{found.names[0]} and {found.names[1]}"
    headline = join(
        element("h1", describe_difference(attack.after, format_budget(attack.budget, OF))),
        element("ul", *(element("li", element("b", letter), f" {name}: {victim}")
                        for letter, name, victim in zip(LETTERS, found.names, victims, strict=True)),
                class_="plain runs"),
        element("p", *_explain_pairs(found), class_="lead"),
        *(element("p", f"{said[0].upper()}{said[1:]}.", class_="note", role="note") for said in found.warnings),
    )  # fmt: skip
    terms = [*BASIC, "right under attack", "flipped", "not flipped", "not attacked"]
    return wrap_page(title, headline, sections, scripts=("terms.js",), terms=terms)


def describe_difference(table: Contingency, budget: str) -> str:
    """Which of the two holds better, in a sentence."""
    one, other = (format_percent(share) for share in table.accuracies)
    left = f"Changing at most {budget} leaves A {one} accuracy and B {other}"
    if table.first == table.second:
        return f"{left}: no difference."
    better = "B" if table.second > table.first else "A"
    if table.p < SIGNIFICANT:
        return f"{left}: {better} keeps {format_points(abs(table.difference))} points more ({format_p(table.p)})."
    return f"{left}: a difference that may be chance ({format_p(table.p)})."


def _explain_pairs(found: Pairing) -> list[Any]:
    both, first, second = found.texts
    table = found.strongest.after
    low, high = (format_points(end) for end in (table.difference.low, table.difference.high))
    return [
        f"{both:,} texts are in both runs; {first:,} are only in A and {second:,} only in B, and are left out. ",
        f"Of the texts in both, {table.second:,} are ",
        explain("right under attack"),
        f" only in B, and {table.first:,} only in A; on the others the runs agree. ",
        f"The interval of the difference is {low} to {high} points (Newcombe’s, for pairs); the ",
        explain("p-value"),
        " is that of McNemar’s exact test.",
    ]


HEADINGS = ("solver", "texts in both", "A", "B", "difference", "only A", "only B", "p-value")
# A heading of this page is short; these are the terms it stands for.
MEANINGS = {"only A": "only first", "only B": "only second"}


def list_attacks(found: Pairing) -> Markup:
    """Every budget and solver that both runs have."""
    headings = [explain(MEANINGS.get(heading, heading), heading) for heading in HEADINGS]
    bodies = [element("tbody", make_row("before any change", found.before))]
    for budget in found.budgets:
        title = element("th", f"at most {format_budget(budget, OF)}", colspan=len(HEADINGS), scope="rowgroup")
        rows = [
            make_row(one.solver, one.after, best=one is found.strongest)
            for one in found.attacks
            if one.budget == budget
        ]
        bodies.append(element("tbody", element("tr", title, class_="group"), *rows))
    note = "Small figures are 95\u00a0% intervals. Differences are B minus A, in percentage points."
    if len(found.attacks) > 1:
        note += f" The p-values are not corrected for there being {len(found.attacks)} comparisons."
    whole = make_table("Accuracy on the same texts", headings, *bodies)
    return join(whole, element("p", note, class_="fine"))


def make_row(name: str, table: Contingency, best: bool = False) -> Markup:
    difference = table.difference
    ends = f"{format_points(difference.low)} to {format_points(difference.high)}"
    return element(
        "tr",
        element("th", name, scope="row"),
        element("td", format_number(table.n, f"{table.n:,}")),
        *map(format_share, table.accuracies),
        element("td", format_number(difference, format_points(difference)), element("small", ends, class_="interval")),
        element("td", format_number(table.first, f"{table.first:,}")),
        element("td", format_number(table.second, f"{table.second:,}")),
        element("td", format_number(table.p, format_p(table.p, ""))),
        class_="best" if best else None,
    )


def chart_accuracies(found: Pairing) -> Markup:
    """Both runs before and under the strongest attack, or by budget where there are several."""
    solver = found.strongest.solver
    mine = [one for one in found.attacks if one.solver == solver]
    kinds = {" words" in one.budget for one in mine}
    if len(mine) < 2 or len(kinds) > 1 or len({_value(one) for one in mine}) < len(mine):
        bars = []
        for name, table in (("before", found.before), (f"after, {solver}", found.strongest.after)):
            for letter, share in zip(LETTERS, table.accuracies, strict=True):
                bars.append((f"{letter} {name}", Point(0, share, share.low, share.high)))
        return wrap_chart(draw_bars(bars))
    mine.sort(key=_value)
    series: dict[str, list[Point]] = {}
    for number, letter in enumerate(LETTERS):
        tables = [(0.0, found.before), *((_value(one), one.after) for one in mine)]
        shares = [(x, table.accuracies[number]) for x, table in tables]
        series[letter] = [Point(x, share, share.low, share.high) for x, share in shares]
    words = kinds.pop()
    ticks = [(_value(one), f"{_value(one):g}" if words else f"{100 * _value(one):g} %") for one in mine]
    axis = f"{'words' if words else 'share of words'} that may change, {solver}"
    return wrap_chart(draw_curve(series, [(0.0, "0"), *ticks], axis))


def _value(attack: Attack) -> float:
    return float(Budget.parse(attack.budget).value)


def show_agreement(attack: Attack) -> Markup:
    """The four kinds of texts."""
    table = attack.after
    rows = [
        element("tr", element("th", name, scope="row"), *(element("td", f"{number:,}") for number in numbers))
        for name, numbers in (("A right", (table.both, table.first)), ("A wrong", (table.second, table.neither)))
    ]
    caption = f"Texts under attack: {attack.solver}, at most {format_budget(attack.budget)}"
    return make_table(caption, ("", "B right", "B wrong"), element("tbody", *rows))


def list_texts(found: Pairing, second: bool) -> Markup:
    """The texts that only one run holds under the strongest attack, as both runs saw them."""
    attack = found.strongest
    pairs = attack.differing(second)
    if not pairs:
        return element("p", "There is none.")
    shown = pairs[:SHOWN]
    of = f"{len(shown):,} of {len(pairs):,} shown, in the order of A. " if len(shown) < len(pairs) else ""
    said = f"{of}{attack.solver}, at most {format_budget(attack.budget)}."
    return join(
        element("p", said, class_="fine"),
        element("div", *(make_pair(found.runs, pair) for pair in shown), class_="cards"),
    )


def make_pair(runs: Sequence[Run], pair: tuple[Record, Record]) -> Markup:
    """One text in both runs."""
    sides = []
    for letter, run, record in zip(LETTERS, runs, pair, strict=True):
        flow = f"{run.label(record.predicted)} → {run.label(record.adversarial_predicted)}"
        shown = mark_changes(record) if order_changes(record) is not None else record.adversarial_text
        sides.append(
            element(
                "div",
                element("h3", letter, " · ", flow),
                element("p", describe(run, record), class_="said"),
                element("p", shown, class_="text", dir="auto"),
                class_=classify(record),
            )
        )
    facts = f"text {pair[0].id} of A, {pair[1].id} of B · label {runs[0].label(pair[0].label)}"
    return element(
        "article",
        element("header", element("p", facts, class_="facts")),
        element("div", *sides, class_="sides"),
        class_="card",
    )


def list_runs(found: Pairing) -> Markup:
    """Where the figures come from."""
    parts = []
    for letter, name, run in zip(LETTERS, found.names, found.runs, strict=True):
        facts = [
            (letter, name), ("victim", run.settings["victim"]), ("data", run.settings["data"]),
            ("solvers", ", ".join(run.settings["solvers"])), ("seed", run.settings["seed"]),
            ("version", run.settings["version"]), ("records", f"{len(run.records):,} of {run.expected:,}"),
            *((f"search space, {format_budget(budget)}", one.space) for budget, one in run.begun),
        ]  # fmt: skip
        parts.append(element("dl", *(element("div", element("dt", key), element("dd", value)) for key, value in facts)))
    return join(*parts)


def format_points(value: float) -> str:
    """A difference of shares in percentage points.

    >>> format_points(-0.1234), format_points(0.0)
    ('−12.3', '0.0')
    """
    shown = f"{100 * value:.1f}"
    return ("0.0" if float(shown) == 0 else shown).replace("-", "−")


def format_p(p: float, name: str = "p") -> str:
    """A p-value.

    >>> format_p(0.04321), format_p(1e-9), format_p(0.5, "")
    ('p = 0.043', 'p < 0.0001', '0.50')
    """
    if p < 1e-4:
        return f"{name} < 0.0001".strip()
    shown = f"{p:.2f}" if p >= 0.1 else f"{p:.2g}"
    return f"{name} = {shown}" if name else shown
