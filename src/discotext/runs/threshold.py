"""Is the accuracy under attack as high as wanted? One answer for the command line and for pytest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from discotext.runs.record import describe_budget
from discotext.runs.summary import SolverSummary, Summary
from discotext.support.plain_text import percent

UNSTABLE = 0.05  # share of attacked texts on which a victim may contradict itself


@dataclass(frozen=True)
class Check:
    """The accuracy under attack of one solver under one budget, beside the least that is wanted."""

    summary: Summary
    solver: str
    at_least: float

    @property
    def figures(self) -> SolverSummary:
        return self.summary.solvers[self.solver]

    @property
    def trouble(self) -> str | None:
        """Why the accuracy says nothing, where that is so: without an answer of the victim nothing has been checked."""
        row, n = self.figures, self.summary.n
        if row.adversarial_accuracy is None:
            return "there are no records, so nothing is known of the accuracy under attack"
        if 2 * row.failed > n:
            why = f"the victim failed on {row.failed:,} of {n:,} texts"
        elif row.unstable > UNSTABLE * max(row.attacked, 1):
            why = f"the victim answered differently when asked again on {row.unstable:,} of {row.attacked:,} texts"
        else:
            return None
        return f"{why}, so the accuracy under attack says nothing"

    @property
    def passed(self) -> bool:
        """Whether the accuracy is known and high enough."""
        found = self.figures.adversarial_accuracy
        return found is not None and self.trouble is None and found >= self.at_least

    @property
    def name(self) -> str:
        """The attack: solver and budget."""
        accept = "" if self.summary.accept is None else f", swaps accepted with probability ≥ {self.summary.accept:g}"
        return f"{self.solver}, at most {describe_budget(self.summary.budget)} changed{accept}"

    def __str__(self) -> str:
        """The figures in a sentence."""
        found = self.figures.adversarial_accuracy
        if self.trouble is not None or found is None:
            return str(self.trouble)
        between = f"95 %: {100 * found.low:.1f} to {100 * found.high:.1f} %"
        # With as many digits as were given: 65.05 % must not read as 65.0 %.
        wanted = f"at least {100 * self.at_least:.12g} %, {'as required' if self.passed else 'which is too low'}"
        return (
            f"accuracy under attack is {percent(found)} ({between}), and {percent(self.figures.original_accuracy)} "
            f"without one; required: {wanted}"
        )


def check_accuracy(summaries: Iterable[Summary], at_least: float) -> list[Check]:
    """A check for each solver under each budget. ValueError if `at_least` is not a share from 0 to 1."""
    if not 0 <= at_least <= 1:
        raise ValueError(f"the least accuracy under attack is {at_least}; choose a share from 0 to 1, such as 0.65")
    return [Check(summary, solver, at_least) for summary in summaries for solver in summary.solvers]
