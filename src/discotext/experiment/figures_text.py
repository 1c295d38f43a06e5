"""The figures of a run as a few lines of plain text, for whoever prints a result.

They are taken from what `as_dict` of a summary or a certificate returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discotext.support.plain_text import LINE, align, count_texts, percent, shorten

ROWS = 4  # solvers under budgets that are shown
HEADINGS = ("solver", "budget", "before", "after (95 %)", "success", "changes")


def describe_budget(budget: float | int, accept: float | None = None) -> str:
    """What may change.

    >>> describe_budget(0.2), describe_budget(1), describe_budget(3, 0.8)
    ('20 % of the words', '1 word', '3 words, accept ≥ 0.8')
    """
    if isinstance(budget, float):
        changes = f"{100 * budget:g} % of the words"
    else:
        changes = "1 word" if budget == 1 else f"{budget:,} words"
    return changes if accept is None else f"{changes}, accept ≥ {accept:g}"


def format_interval(figures: Mapping[str, Any], name: str) -> str:
    """A share with its 95 % interval, both in percent."""
    share = figures[name]
    if share is None:
        return "–"
    return f"{percent(share)} ({100 * figures[f'{name}_low']:.1f}–{100 * figures[f'{name}_high']:.1f})"


def describe_figures(figures: Mapping[str, Any]) -> str:
    """The figures of one solver in a line."""
    before, after = percent(figures["original_accuracy"]), format_interval(figures, "adversarial_accuracy")
    return f"accuracy {before} → {after} under attack, {percent(figures['success_rate'])} of attacks succeeded"


def describe_summaries(what: str, summaries: Sequence[Mapping[str, Any]]) -> list[str]:
    """A heading and a table with a row for each solver under each budget; of many rows, the first."""
    first = summaries[0]
    head = f"{what}: {count_texts(first['n'], first['data'])}, victim {shorten(first['victim'], 60)}"
    levels = len({one["accept"] for one in summaries}) > 1
    rows = []
    for one in summaries:
        share = isinstance(one["budget"], float)
        allowed = f"{100 * one['budget']:g} %" if share else describe_budget(one["budget"])
        allowed += f", ≥ {one['accept']:g}" if levels and one["accept"] is not None else ""
        for name, figures in one["solvers"].items():
            changed = figures["words_changed"]
            rows.append(
                [
                    shorten(name, 16),
                    shorten(allowed, 15),
                    percent(figures["original_accuracy"]),
                    format_interval(figures, "adversarial_accuracy"),
                    percent(figures["success_rate"]),
                    "–" if changed is None else f"{changed:,.1f}",
                ]
            )
    lines = [head, *align([HEADINGS, *rows[:ROWS]])]
    if len(rows) > ROWS:
        lines.append(f"… and {len(rows) - ROWS} more rows in .summaries")
    return [shorten_line(line) for line in lines]


def describe_certificate(figures: Mapping[str, Any]) -> str:
    """What a certificate says, in a line."""
    low, high = percent(figures["certified_accuracy"]), percent(figures["attacked_accuracy"])
    budget = describe_budget(figures["budget"])
    return shorten_line(f"{low} proved to stay right, {high} at most, if {budget} may change")


def shorten_line(line: str) -> str:
    """The line, cut off where it is too long; spaces between columns stay."""
    return line if len(line) <= LINE else line[: LINE - 1] + "…"
