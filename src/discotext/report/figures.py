"""What a page and a terminal show of a run: its strongest attack, and its figures as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from discotext.report.table import Column, Table, count, points, share
from discotext.runs.certificate import Certificate
from discotext.runs.folder import Run
from discotext.runs.pairing import Contingency, Pairing
from discotext.runs.record import Budget, Record, describe_budget
from discotext.runs.summary import Estimate, SolverSummary, Summary
from discotext.support.plain_text import percent, shorten


@dataclass(frozen=True)
class Strongest:
    """The attack that a page is about: of the largest budget, the solver that leaves the least accuracy."""

    run: Run
    budget: str
    solver: str

    @classmethod
    def of(cls, run: Run) -> Strongest:
        # Numbers of words and shares are never mixed in a run, so the largest value is the largest budget; and where
        # less need be acceptable, more is allowed.
        budget, summary = max(run.begun, key=lambda pair: (pair[1].budget, -(pair[1].accept or 0.0)))
        ranks = {  # of those that are as strong, the one that proves more comes first
            name: (row.adversarial_accuracy or 0.0, -(row.success_rate or 0), -(row.optimal or 0))
            for name, row in summary.solvers.items()
        }
        return cls(run, budget, min(ranks, key=ranks.__getitem__))

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
        return f"{self.solver}, at most {Budget.parse(self.budget).describe()}"


def tabulate_solvers(summaries: Sequence[Summary]) -> Table:
    """Every solver under every budget, a row each; a solver whose first unit is not done yet has none."""
    rows = [
        (summary, name, row)
        for summary in summaries
        for name, row in summary.solvers.items()
        if row.original_accuracy is not None
    ]
    several = len({summary.accept for summary in summaries}) > 1
    figures = [row for _, _, row in rows]
    tried = [max(row.attacked, 1) for row in figures]
    columns = [
        Column("solver", [shorten(name, 60) for _, name, _ in rows]),
        Column("budget", [describe_budget(one.budget, one.accept if several else None, "") for one, _, _ in rows]),
        share("before", [row.original_accuracy for row in figures]),
        share("after", [row.adversarial_accuracy for row in figures], between=True),
        share("success", [row.success_rate for row in figures], 3),
        share("words", [row.perturbation for row in figures], 2),
        share("words over all", [row.perturbation_all for row in figures], 8),
        count("changes", [row.words_changed for row in figures], 9, digits=1),
        share("proved", [row.optimal for row in figures], 4),
        count("failed", [row.failed for row in figures], 9),
        count("passes", [(row.forwards + row.backwards) / n for row, n in zip(figures, tried, strict=True)], 5),
        count("s/text", [row.seconds / n for row, n in zip(figures, tried, strict=True)], 7, digits=3),
    ]
    return Table("Every solver under every budget", columns)


def tabulate_queries(summary: Summary) -> Table | None:
    """The share of attacked texts that each solver had flipped after so many queries; None if none was attacked."""
    rows = {name: row for name, row in summary.solvers.items() if row.success_by_queries}
    if not rows:
        return None
    steps = next(iter(rows.values())).success_by_queries
    columns = [
        Column("flipped within queries", list(rows)),
        # Every second one is left out before any other.
        *(share(step, [row.success_by_queries[step] for row in rows.values()], 1 + number % 2)
          for number, step in enumerate(steps)),
        count("area", [row.query_area for row in rows.values()], digits=2),
    ]  # fmt: skip
    return Table("Share of attacked texts that were flipped", columns)


def tabulate_certificates(found: Sequence[Certificate]) -> Table:
    """The bracket under every budget."""
    several = len({one.accept for one in found}) > 1
    passes = [(one.forwards + one.backwards + one.bounds) / max(one.n, 1) for one in found]
    columns = [
        Column("budget", [describe_budget(one.budget, one.accept if several else None) for one in found]),
        share("certified", [one.certified_accuracy for one in found], between=True),
        share("attacked", [one.attacked_accuracy for one in found], between=True),
        Column("bracket", [one.bracket for one in found], points, 1),
        *(count(name, [one.verdicts[name] for one in found], 2 + 3 * (name != "open")) for name in
          ("robust", "broken", "open")),
        count("passes", passes, 6),
        count("s/text", [one.seconds / max(one.n, 1) for one in found], 7, digits=3),
    ]  # fmt: skip
    return Table("The bracket under every budget", columns)


def tabulate_pairing(found: Pairing) -> Table:
    """Accuracy on the texts of both runs, before any change and under each attack that both have."""

    def ends(difference: Estimate) -> str:
        return f"{points(difference.low)} to {points(difference.high)}"

    rows = {"before": found.before}
    rows |= {f"{one.solver}, {one.budget.describe('')}": one.after for one in found.attacks}
    tables = rows.values()
    columns = [
        Column("accuracy", list(rows)),
        share("A", [table.accuracies[0] for table in tables]),
        share("B", [table.accuracies[1] for table in tables]),
        Column("B − A", [table.difference for table in tables], points, 0, ends),
        count("only A", [table.first for table in tables]),
        count("only B", [table.second for table in tables]),
        Column("p", [table.p for table in tables], write_p),
    ]
    return Table("Accuracy on the same texts", columns)


def write_p(p: float) -> str:
    """A p-value.

    >>> write_p(0.04321), write_p(1e-9), write_p(0.5)
    ('0.043', '< 0.0001', '0.50')
    """
    if p < 1e-4:
        return "< 0.0001"
    return f"{p:.2f}" if p >= 0.1 else f"{p:.2g}"


def describe_difference(table: Contingency, budget: str) -> str:
    """Which of two runs is more robust, in a sentence."""
    one, other = map(percent, table.accuracies)
    left = f"Changing at most {budget} leaves A {one} accuracy and B {other}"
    if table.first == table.second:
        return f"{left}: no difference."
    p = write_p(table.p) if table.p < 1e-4 else f"= {write_p(table.p)}"
    if table.p >= 0.05:
        return f"{left}: a difference that may be chance (p {p})."
    better = "B" if table.second > table.first else "A"
    return f"{left}: {better} keeps {points(abs(table.difference))} points more (p {p})."


def describe_bracket(one: Certificate) -> str:
    """The bracket of one budget in a sentence."""
    if one.certified_accuracy is None or one.attacked_accuracy is None:
        return "There is no text yet."
    if one.unstable:
        return (
            f"Nothing is certified: the victim answered differently when asked again on {one.unstable:,} of {one.n:,} "
            "texts, and a proof rests on answers that stay the same."
        )
    low, high = percent(one.certified_accuracy), percent(one.attacked_accuracy)
    if not one.open:
        return f"The worst case is known exactly: {high} of the texts keep their right label, and that is proved."
    return f"The worst case lies between {low} (proved) and {high} (attacked); {one.verdicts['open']:,} texts are open."
