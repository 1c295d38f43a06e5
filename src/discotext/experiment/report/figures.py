"""What all sections need: the attack they are about, and how numbers, shares and tables are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from discotext.experiment.record import Budget, Record
from discotext.experiment.report.legend import explain
from discotext.experiment.report.markup import Markup, element
from discotext.experiment.run import Run
from discotext.experiment.summary import Estimate, SolverSummary, Summary
from discotext.experiment.terms import TERMS


@dataclass(frozen=True)
class Strongest:
    """The attack that the sections on words, classes and places are about."""

    run: Run
    budget: str
    solver: str

    @classmethod
    def of(cls, run: Run) -> Strongest:
        # Numbers of words and shares are never mixed in a run, so the largest value is the largest budget; and where
        # less need be acceptable, more is allowed.
        budget, summary = max(run.begun, key=lambda pair: (pair[1].budget, -(pair[1].accept or 0.0)))
        rows = summary.solvers

        def weakness(name: str) -> tuple[float, ...]:
            row = rows[name]  # of those that are as strong, the one that proves more comes first
            return row.adversarial_accuracy or 0.0, -(row.success_rate or 0), -(row.optimal or 0)

        solver = min(rows, key=weakness)
        return cls(run, budget, solver)

    @cached_property
    def records(self) -> list[Record]:
        return self.run.select(self.budget, self.solver)

    @property
    def summary(self) -> Summary:
        return dict(self.run.begun)[self.budget]

    @property
    def figures(self) -> SolverSummary:
        return self.summary.solvers[self.solver]

    def __str__(self) -> str:
        return f"{self.solver}, at most {format_budget(self.budget)}"


def format_budget(budget: str, of: str = " of the words") -> str:
    """A budget in words.

    >>> format_budget("0.2"), format_budget("1 words"), format_budget("3 words, accept 0.8")
    ('20\xa0% of the words', '1 word', '3 words, accept ≥ 0.8')
    """
    parsed = Budget.parse(budget)
    if parsed.words is not None:
        changes = "1 word" if parsed.words == 1 else f"{parsed.words} words"
    else:
        changes = f"{100 * parsed.value:g}\u00a0%{of}"
    return changes if parsed.accept is None else f"{changes}, accept ≥ {parsed.accept}"


def format_percent(value: float | None, digits: int = 1) -> str:
    # The space does not break, so that no line begins with a percent sign.
    return "–" if value is None else f"{100 * value:.{digits}f}\u00a0%"


def format_number(value: float | None, shown: str) -> Markup:
    """A number for readers, with the exact one for programs."""
    return element("data", shown, value="" if value is None else repr(value))


def format_share(value: Estimate | float | None) -> Markup:
    """A share as a table cell, with its interval where it has one."""
    span = None
    if isinstance(value, Estimate):
        span = element("small", f"{100 * value.low:.1f}–{100 * value.high:.1f}", class_="interval")
    return element("td", format_number(value, format_percent(value)), span)


def format_amount(value: Estimate | None, digits: int) -> Markup:
    """A mean that is no share as a table cell, with its interval."""
    if value is None:
        return element("td", format_number(None, "–"))
    span = element("small", f"{value.low:,.{digits}f}–{value.high:,.{digits}f}", class_="interval")
    return element("td", format_number(value, f"{value:,.{digits}f}"), span)


def make_table(caption: Any, headings: Sequence[Any], *bodies: Any) -> Markup:
    """A table that scrolls by itself where the page is too narrow for it; a heading that is a term explains itself."""
    # Only under its full name: on the page of a hardening, "after" is not after an attack.
    named = [explain(heading) if heading in TERMS else heading for heading in headings]
    head = element("thead", element("tr", *(element("th", heading, scope="col") for heading in named)))
    whole = element("table", element("caption", element("span", caption)), head, *bodies)
    return element("div", whole, class_="scroll", tabindex="0", role="region", aria_label="Table")
