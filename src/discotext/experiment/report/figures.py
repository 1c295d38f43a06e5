"""What all sections need: the attack they are about, and how a number, a share and a table are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from discotext.experiment.report.markup import Markup, element
from discotext.experiment.report.reading import Run, Summary
from discotext.experiment.work import Record


@dataclass(frozen=True)
class Strongest:
    """The attack that the sections on words, classes and places are about."""

    run: Run
    budget: str
    solver: str

    @classmethod
    def of(cls, run: Run) -> Strongest:
        # Numbers of words and shares are never mixed in a run, so the largest value is the largest budget.
        budget, summary = max(run.begun, key=lambda pair: pair[1]["budget"])
        rows: dict[str, Summary] = summary["solvers"]

        def weakness(name: str) -> tuple[float, ...]:
            row = rows[name]  # of those that are as strong, the one that proves more comes first
            return row["adversarial_accuracy"], -(row["success_rate"] or 0), -(row["optimal"] or 0)

        solver = min(rows, key=weakness)
        return cls(run, budget, solver)

    @cached_property
    def records(self) -> list[Record]:
        return self.run.of(self.budget, self.solver)

    @property
    def summary(self) -> Summary:
        return dict(self.run.begun)[self.budget]

    @property
    def figures(self) -> dict[str, Any]:
        found: dict[str, Any] = self.summary["solvers"][self.solver]
        return found

    def __str__(self) -> str:
        return f"{self.solver}, at most {allowed(self.budget)}"


def allowed(budget: str, of: str = " of the words") -> str:
    """A budget in words.

    >>> allowed("0.2"), allowed("1 words"), allowed("3 words")
    ('20\xa0% of the words', '1 word', '3 words')
    """
    if budget.endswith(" words"):
        return "1 word" if budget == "1 words" else budget
    return f"{100 * float(budget):g}\u00a0%{of}"


def percent(value: float | None, digits: int = 1) -> str:
    # The space does not break, so that no line begins with a percent sign.
    return "–" if value is None else f"{100 * value:.{digits}f}\u00a0%"


def number(value: float | None, shown: str) -> Markup:
    """A number for readers, with the exact one for programs."""
    return element("data", shown, value="" if value is None else repr(value))


def cell(row: dict[str, Any], name: str) -> Markup:
    """A share, with its interval where it has one."""
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    span = (
        None
        if low is None or high is None
        else element("small", f"{100 * low:.1f}–{100 * high:.1f}", class_="interval")
    )
    return element("td", number(row[name], percent(row[name])), span)


def amount(row: dict[str, Any], name: str, digits: int) -> Markup:
    """A figure that is no share, with its interval where it has one."""
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    between = None if low is None or high is None else f"{low:,.{digits}f}–{high:,.{digits}f}"
    span = None if between is None else element("small", between, class_="interval")
    return element("td", number(row[name], "–" if row[name] is None else f"{row[name]:,.{digits}f}"), span)


def table(caption: Any, headings: Sequence[Any], *bodies: Any) -> Markup:
    """A table that scrolls by itself where the page is too narrow for it."""
    head = element("thead", element("tr", *(element("th", heading, scope="col") for heading in headings)))
    whole = element("table", element("caption", element("span", caption)), head, *bodies)
    return element("div", whole, class_="scroll", tabindex="0", role="region", aria_label="Table")
