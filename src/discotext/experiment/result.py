"""The result of a run: its records, and what they say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discotext.experiment import coverage
from discotext.experiment.certificate import Certificate, make_certificates
from discotext.experiment.figures_text import describe_certificate, describe_summaries
from discotext.experiment.flipped import FlippedTexts, show_flipped
from discotext.experiment.html_view import view_result
from discotext.experiment.preflight import check_whole
from discotext.experiment.record import Record
from discotext.experiment.report.table import COLUMNS, flatten
from discotext.experiment.run import Run, count_expected
from discotext.experiment.summary import Estimate, Summary, mcnemar, summarise_run, under_budget
from discotext.support.extras import require
from discotext.support.files import write_atomically
from discotext.support.plain_text import shorten

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PROOFS = 2  # certificates that are printed
# As pandas calls columns in which a value may be missing.
PANDAS = {"int64": "Int64", "float64": "float64", "string": "string", "bool": "boolean"}
CLASSES = ("label", "predicted", "adversarial_predicted")


@dataclass(frozen=True, repr=False)
class Result:
    """Records of a run, and what they say together: `summary` for one budget, `summaries` for several.

    Printed, it is a table of a few lines; a notebook shows the table and three flipped texts.
    """

    settings: dict[str, Any]
    records: list[Record]
    folder: Path | None = None

    def __repr__(self) -> str:
        lines = describe_summaries("Result", [summary.as_dict() for summary in self.summaries])
        lines += [describe_certificate(one.as_dict()) for one in self.certificates[:PROOFS]]
        if len(self.certificates) > PROOFS:
            lines.append(f"… and {len(self.certificates) - PROOFS} more in .certificates")
        if self.folder is not None:
            lines.append(f"records in {shorten(self.folder, 69)}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        where = None if self.folder is None else str(self.folder)
        return view_result(self.summaries, self.certificates, self.examples(), where)

    @cached_property
    def summaries(self) -> list[Summary]:
        """The figures of every solver, a summary for each budget."""
        return summarise_run(self.settings, self.records)

    @property
    def summary(self) -> Summary:
        """The summary of the first budget."""
        return self.summaries[0]

    @property
    def accuracy(self) -> Estimate:
        """The accuracy under attack, a number with its 95 % interval in `low` and `high`.

        Of several solvers or budgets, the lowest: what the strongest attack of the run leaves. `summaries` has each.
        """
        rows = [row for summary in self.summaries for row in summary.solvers.values()]
        found = [row.adversarial_accuracy for row in rows if row.adversarial_accuracy is not None]
        if not found:
            raise ValueError("the run has no records, so there is no accuracy")
        return min(found)

    @cached_property
    def certificates(self) -> list[Certificate]:
        """For each budget, between which accuracies the true worst case lies; empty unless made by `certify`."""
        return make_certificates(self.settings, self.records)

    @property
    def notes(self) -> list[str]:
        """What to know beside the figures: how much of the texts can change, ties, words the victim does not know."""
        several = len(self.summaries) > 1
        budgets = self.settings["budgets"]
        return [
            f"budget {budget}: {note}" if several else note
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
        rows = list(flatten(self.records))
        columns = {name: [row[name] for row in rows] for name in COLUMNS}
        frame = {name: pandas.array(values, dtype=PANDAS[COLUMNS[name]]) for name, values in columns.items()}
        names = self._run.labels
        for name in CLASSES:
            listed = [None if number is None else names[number] for number in columns[name]]
            frame[f"{name}_name"] = pandas.array(listed, dtype="string")
        frame["succeeded"] = pandas.array([record.succeeded for record in self.records], dtype="boolean")
        return pandas.DataFrame(frame)

    def report(self, path: str | Path | None = None) -> Path:
        """Write the HTML page that `discotext report` writes, and return where; in the run's folder by default."""
        from discotext.experiment.report.page import make_page  # which few results need

        if path is None and self.folder is None:
            raise ValueError('the run has no folder; say where the page goes, as in report("report.html")')
        if not self.records:
            raise ValueError("the run has no records, so there is nothing to report")
        target = Path(path) if path is not None else Path(self.folder or ".") / "report.html"
        write_atomically(target, make_page(self._run))
        return target

    def plot(self, axes: Sequence[Axes] | None = None, *, ax: Axes | None = None) -> Figure:
        """A matplotlib figure of the run, with three panels. Needs matplotlib, which the extra `notebook` has.

        1. Accuracy under attack by budget. Of a run with one budget: the share of texts that are right unless flipped
           with k changes or fewer.
        2. Accuracy of each class, before and under the strongest attack.
        3. How many words were changed in flipped texts.

        axes: three axes to draw into. ax: or one, for the first panel alone. Nothing is shown and no backend is chosen.
        """
        require("matplotlib", extra="notebook", reason="Result.plot()")
        from discotext.experiment.plotting import plot_run

        return plot_run(self._run, axes, ax)

    @cached_property
    def _run(self) -> Run:
        return Run(self.settings, self.records, count_expected(self.settings))

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
