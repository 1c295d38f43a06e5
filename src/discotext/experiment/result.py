"""The result of a run: its records, and what they say together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from discotext.experiment import coverage
from discotext.experiment.certificate import Certificate, make_certificates
from discotext.experiment.record import Record
from discotext.experiment.summary import Summary, mcnemar, summarise_run, under_budget


@dataclass(frozen=True)
class Result:
    """Records of a run, and what they say together: `summary` for one budget, `summaries` for several."""

    settings: dict[str, Any]
    records: list[Record]
    folder: Path | None = None

    def __repr__(self) -> str:
        where = "" if self.folder is None else f", folder={str(self.folder)!r}"
        return f"Result({len(self.records)} records of {', '.join(self.settings['solvers'])}{where})"

    @cached_property
    def summaries(self) -> list[Summary]:
        """The figures of every solver, a summary for each budget."""
        return summarise_run(self.settings, self.records)

    @property
    def summary(self) -> Summary:
        """The summary of the first budget."""
        return self.summaries[0]

    @cached_property
    def certificates(self) -> list[Certificate]:
        """For each budget, between which accuracies the true worst case lies; empty unless made by `certify`."""
        return make_certificates(self.settings, self.records)

    @property
    def notes(self) -> list[str]:
        """What to know beside the figures: how much of the texts can change, ties, words the victim does not know."""
        return [note for summary in self.summaries for note in coverage.notes(summary)]

    def select(self, solver: str) -> list[Record]:
        """The records of one solver."""
        return [record for record in self.records if record.solver == solver]

    def p_value(self, first: str, second: str, budget: float | None = None, accept: float | None = None) -> float:
        """The probability of so large a difference between two solvers by chance (McNemar's exact test).

        budget, accept: as `summaries` have them; needed only where there are several.
        """
        levels = list(dict.fromkeys(summary.accept for summary in self.summaries))
        if accept is None and len(levels) > 1:
            raise ValueError(f"the run has the levels {', '.join(map(str, levels))}; choose one, as accept={levels[0]}")
        if accept is not None and accept not in levels:
            raise ValueError(f"the run has no level {accept!r}; choose one of {', '.join(map(str, levels))}")
        budgets = list(dict.fromkeys(summary.budget for summary in self.summaries))
        if budget is None and len(budgets) > 1:
            # A text under two budgets is not two texts: taken together they would make p too small.
            raise ValueError(
                f"the run has the budgets {', '.join(map(str, budgets))}; choose one, as budget={budgets[0]}"
            )
        if budget is not None and budget not in budgets:
            raise ValueError(f"the run has no budget {budget!r}; choose one of {', '.join(map(str, budgets))}")
        under = budgets[0] if budget is None else budget
        return mcnemar(*(under_budget(self.select(solver), under, accept) for solver in (first, second)))
