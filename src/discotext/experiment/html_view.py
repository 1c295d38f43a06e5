"""A result as a notebook shows it: the table and some flipped texts, in HTML that brings its own style.

The styles stand in the elements: what notebooks, their viewers and their exports do with a style sheet differs. Letters
keep the colour of the theme, so that the view is readable in a light and in a dark one.
"""

from __future__ import annotations

from collections.abc import Sequence

from discotext.experiment.certificate import Certificate
from discotext.experiment.figures_text import describe_budget
from discotext.experiment.flipped import FlippedTexts
from discotext.experiment.report.markup import Markup, element, join
from discotext.experiment.summary import Estimate, Summary
from discotext.support.plain_text import count_texts, percent, shorten

ROWS = 40
CELL = "text-align: right; padding: 0.2em 0.8em; white-space: nowrap"
# Said, because pages of an old mode do not hand their colour down to tables.
TABLE = "border-collapse: collapse; margin: 0 0 0.6em 0; color: inherit"
HEADINGS = ("solver", "at most changed", "before", "after", "(95 %)", "success", "words changed")
PROVED = ("at most changed", "proved to stay right", "95 %", "at most right", "95 %", "open")


def view_result(
    summaries: Sequence[Summary], certificates: Sequence[Certificate], flipped: FlippedTexts, where: str | None
) -> str:
    """The whole view. where: the folder of the run."""
    first = summaries[0]
    head = f"{count_texts(first.n, first.data, 60)}, victim {shorten(first.victim, 60)}"
    rows = [_list_cells(summary, solver) for summary in summaries for solver in summary.solvers]
    left_out = len(rows) - ROWS
    parts = [
        element("p", element("b", head), style="margin: 0 0 0.4em 0"),
        _make_table(HEADINGS, rows[:ROWS]),
        element("p", f"… and {left_out:,} more rows in .summaries") if left_out > 0 else None,
        _make_table(PROVED, [_list_proof(one) for one in certificates]) if certificates else None,
        element("p", "Flipped texts, those with the fewest changes:", style="margin: 0.6em 0 0.2em 0")
        if flipped
        else None,
        Markup(flipped._repr_html_()),
        element("p", f"records in {where}") if where is not None else None,
    ]
    return str(element("div", join(*parts)))


def _list_cells(summary: Summary, solver: str) -> list[str]:
    row = summary.solvers[solver]
    changed = "–" if row.words_changed is None else f"{row.words_changed:,.1f}"
    return [
        shorten(solver, 60),
        describe_budget(summary.budget, summary.accept),
        percent(row.original_accuracy),
        percent(row.adversarial_accuracy),
        _interval(row.adversarial_accuracy),
        percent(row.success_rate),
        changed,
    ]


def _list_proof(one: Certificate) -> list[str]:
    return [
        describe_budget(one.budget, one.accept),
        percent(one.certified_accuracy),
        _interval(one.certified_accuracy),
        percent(one.attacked_accuracy),
        _interval(one.attacked_accuracy),
        percent(one.open),
    ]


def _make_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    head = element("tr", *(element("th", heading, style=CELL, scope="col") for heading in headings))
    body = [element("tr", *(element("td", cell, style=CELL) for cell in row)) for row in rows]
    return element("table", element("thead", head), element("tbody", *body), style=TABLE)


def _interval(value: Estimate | None) -> str:
    return "–" if value is None else f"{100 * value.low:.1f}–{100 * value.high:.1f}"
