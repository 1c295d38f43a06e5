"""The result of a run: its records, and what they say together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discotext.attacks.settings import check_whole
from discotext.report.export import COLUMNS, flatten
from discotext.report.figures import tabulate_certificates, tabulate_solvers
from discotext.report.flipped import FlippedTexts, show_flipped
from discotext.report.markup import Markup, element
from discotext.runs import coverage
from discotext.runs.certificate import Certificate
from discotext.runs.folder import Run
from discotext.runs.record import Record
from discotext.runs.summary import Estimate, Summary, mcnemar
from discotext.support.extras import require
from discotext.support.files import write_atomically
from discotext.support.plain_text import LINE, count_texts, shorten

if TYPE_CHECKING:
    import pandas as pd

    from discotext.report.chart import Chart

PRINTED, SHOWN = 4, 40  # rows of the table that are printed, and that a notebook shows
# As pandas calls columns in which a value may be missing.
PANDAS = {"int64": "Int64", "float64": "float64", "string": "string", "bool": "boolean"}
COLUMNS_PRINTED = ("solver", "budget", "before", "after", "success", "changes")


@dataclass(frozen=True, repr=False)
class Result:
    """Records of a run, and what they say together: `summary` for one budget, `summaries` for several.

    Printed, it is a table of a few lines; a notebook shows the table and three flipped texts.
    """

    settings: dict[str, Any]
    records: list[Record]
    folder: Path | None = None

    def __repr__(self) -> str:
        heading, *rows = tabulate_solvers(self.summaries).only(*COLUMNS_PRINTED).spread.lines
        lines = [f"Result: {self._head}", heading, *rows[:PRINTED]]
        if len(rows) > PRINTED:
            lines.append(f"… and {len(rows) - PRINTED} more rows in .summaries")
        lines += map(str, self.certificates[: PRINTED // 2])
        if self.folder is not None:
            lines.append(f"records in {shorten(self.folder, 69)}")
        return "\n".join(line if len(line) <= LINE else line[: LINE - 1] + "…" for line in lines)

    def _repr_html_(self) -> str:
        parts: list[Markup | None] = [element("p", element("b", self._head), style="margin: 0 0 0.4em 0")]
        parts.append(tabulate_solvers(self.summaries[:SHOWN]).only(*COLUMNS_PRINTED).as_notebook())
        if self.certificates:
            parts.append(tabulate_certificates(self.certificates).without("passes", "s/text").as_notebook())
        if flipped := self.examples():
            parts.append(element("p", "Flipped texts, those with the fewest changes:"))
        parts += [Markup(flipped._repr_html_()), element("p", f"records in {self.folder}") if self.folder else None]
        return str(element("div", *parts))

    @property
    def _head(self) -> str:
        """What was attacked."""
        return f"{count_texts(self.summary.n, self.summary.data, 30)}, victim {shorten(self.summary.victim, 40)}"

    @property
    def summaries(self) -> list[Summary]:
        """The figures of every solver, a summary for each budget."""
        return self._run.summaries

    @property
    def summary(self) -> Summary:
        """The summary of the first budget."""
        return self.summaries[0]

    @property
    def accuracy(self) -> Estimate:
        """The accuracy under attack, a number with its 95 % interval in `low` and `high`.

        Of several solvers or budgets, the lowest: what the strongest attack of the run leaves. `summaries` has each.
        """
        self._check_records("measure")
        rows = [row for summary in self.summaries for row in summary.solvers.values()]
        return min(row.adversarial_accuracy for row in rows if row.adversarial_accuracy is not None)

    @property
    def certificates(self) -> list[Certificate]:
        """For each budget, between which accuracies the true worst case lies; empty unless made by `certify`."""
        return self._run.certificates

    @property
    def notes(self) -> list[str]:
        """What to know beside the figures: how much of the texts can change, ties, words the victim does not know."""
        budgets = self.settings["budgets"]
        return [
            f"budget {budget}: {note}" if len(budgets) > 1 else note
            for budget, summary in zip(budgets, self.summaries, strict=True)
            for note in coverage.notes(summary)
        ]

    def select(self, solver: str) -> list[Record]:
        """The records of one solver; ValueError if the run has none of that name."""
        known = list(self.settings["solvers"])
        if solver not in known:
            raise ValueError(f"the run has no solver {solver!r}; choose one of {', '.join(known)}")
        return [record for record in self.records if record.solver == solver]

    def examples(self, n: int = 3) -> FlippedTexts:
        """The n flipped texts with the fewest changes, as a list that shows the changed words.

        Each has the texts `before` and `after`, the classes `label` and `flipped_to`, and its `record`. Of texts with
        equally many changes those come first whose swaps people accept most easily.
        """
        return show_flipped(self.records, self._run.labels, check_whole("n", n, 1))

    def to_pandas(self) -> pd.DataFrame:
        """A data frame with one row a record. Needs pandas, which the extra `notebook` has.

        Beside the fields of a record: `label_name`, `predicted_name` and `adversarial_predicted_name`, `changed` (the
        number of changed words), and `succeeded`. `changes` is text, as in "old→new; old→new".
        """
        pandas = require("pandas", extra="notebook", reason="Result.to_pandas()")
        rows = list(flatten(self.records, self._run.labels))
        frame = {name: pandas.array([row[name] for row in rows], dtype=PANDAS[COLUMNS[name]]) for name in COLUMNS}
        frame["succeeded"] = pandas.array([record.succeeded for record in self.records], dtype="boolean")
        return pandas.DataFrame(frame)

    def report(self, path: str | Path | None = None) -> Path:
        """Write the HTML page that `discotext report` writes, and return where; in the run's folder by default."""
        from discotext.report.page import make_page  # which few results need

        if path is None and self.folder is None:
            raise ValueError('the run has no folder; say where the page goes, as in report("report.html")')
        self._check_records("report")
        target = Path(path) if path is not None else Path(self.folder or ".") / "report.html"
        write_atomically(target, make_page(self._run))
        return target

    def plot(self) -> Chart:
        """A picture of the run, which a notebook shows, and which `save("run.svg")` writes.

        Accuracy under attack by budget. Of a run with one budget: the share of texts that are right unless flipped with
        k changes or fewer.
        """
        from discotext.report.sections import plot_run  # which few results need

        self._check_records("plot")
        return plot_run(self._run)

    def _check_records(self, what: str) -> None:
        if not self.records:
            raise ValueError(f"the run has no records, so there is nothing to {what}")

    @cached_property
    def _run(self) -> Run:
        return Run(self.settings, self.records)

    def p_value(self, first: str, second: str, budget: float | None = None, accept: float | None = None) -> float:
        """The probability of so large a difference between two solvers by chance (McNemar's exact test).

        budget, accept: as `summaries` have them; needed only where there are several.
        """
        # A text under two budgets is not two texts: taken together they would make p too small.
        under = [
            text
            for text, summary in zip(self.settings["budgets"], self.summaries, strict=True)
            if budget in (None, summary.budget) and accept in (None, summary.accept)
        ]
        if len(under) != 1:
            known = "; ".join(self.settings["budgets"])
            raise ValueError(f"budget is {budget} and accept is {accept}; choose one budget of the run's: {known}")
        rows = [[row for row in self.select(solver) if str(row.run_budget) == under[0]] for solver in (first, second)]
        return mcnemar(*rows)
