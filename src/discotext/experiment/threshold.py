"""Is the accuracy under attack as high as wanted? One answer for the command line, for pytest and for JUnit reports."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from discotext.experiment.figures_text import describe_budget
from discotext.experiment.summary import SolverSummary, Summary

UNSTABLE = 0.05  # share of attacked texts on which a victim may contradict itself


@dataclass(frozen=True)
class Check:
    """The accuracy under attack of one solver under one budget, beside the least that is wanted.

    at_least: None if nothing is wanted. low: compare the lower end of the 95 % interval, not the accuracy itself.
    """

    summary: Summary
    solver: str
    at_least: float | None = None
    low: bool = False

    @property
    def figures(self) -> SolverSummary:
        return self.summary.solvers[self.solver]

    @property
    def value(self) -> float | None:
        """What is compared with the least; None where no text was measured."""
        found = self.figures.adversarial_accuracy
        if found is None:
            return None
        return found.low if self.low else float(found)

    @property
    def trouble(self) -> str | None:
        """Why the accuracy says nothing, where that is so: without an answer of the victim nothing has been checked."""
        if self.figures.adversarial_accuracy is None:
            return "there are no records, so nothing is known of the accuracy under attack"
        failed, n = self.figures.failed, self.summary.n
        if 2 * failed > n:
            return f"the victim failed on {failed:,} of {n:,} texts, so the accuracy under attack says nothing"
        if self.figures.unstable > UNSTABLE * max(self.figures.attacked, 1):
            return (
                f"the victim answered differently when asked again on {self.figures.unstable:,} of "
                f"{self.figures.attacked:,} texts, so the accuracy under attack says nothing"
            )
        return None

    @property
    def passed(self) -> bool:
        """Whether the accuracy is known and high enough."""
        if self.trouble is not None or self.value is None:
            return False
        return self.at_least is None or self.value >= self.at_least

    @property
    def name(self) -> str:
        """The attack: solver and budget."""
        accept = "" if self.summary.accept is None else f", swaps accepted with probability ≥ {self.summary.accept:g}"
        return f"{self.solver}, at most {describe_budget(self.summary.budget)} changed{accept}"

    def __str__(self) -> str:
        """The figures in a sentence.

        >>> from discotext.experiment.summary import Tally
        >>> settings = {"victim": "v", "data": "d", "seed": 0, "solvers": ["greedy"], "budgets": ["0.2"], "version": ""}
        >>> print(Check(Tally(settings).summaries[0], "greedy", at_least=0.65))
        there are no records, so nothing is known of the accuracy under attack
        """
        if self.trouble is not None:
            return self.trouble
        found = self.figures.adversarial_accuracy
        assert found is not None
        said = f"accuracy under attack is {100 * found:.1f} % (95 %: {100 * found.low:.1f} to {100 * found.high:.1f} %)"
        if self.figures.original_accuracy is not None:
            said += f", and {100 * self.figures.original_accuracy:.1f} % without one"
        if self.at_least is None:
            return said
        verdict = "as required" if self.passed else "which is too low"
        what = "the lower end of the interval" if self.low else "the accuracy under attack"
        # With as many digits as were given: 65.05 % must not read as 65.0 %.
        return f"{said}; required of {what}: at least {100 * self.at_least:.12g} %, {verdict}"


def check_accuracy(summaries: Iterable[Summary], at_least: float | None = None, low: bool = False) -> list[Check]:
    """A check for each solver under each budget. ValueError if `at_least` is not a share from 0 to 1."""
    if at_least is not None and not 0 <= at_least <= 1:
        raise ValueError(f"the least accuracy under attack is {at_least}; choose a share from 0 to 1, such as 0.65")
    return [Check(summary, solver, at_least, low) for summary in summaries for solver in summary.solvers]
