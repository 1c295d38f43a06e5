"""A run as a figure: accuracy by what may change, class by class, and how many words it took.

Nothing is shown and no state of matplotlib is touched: no backend is chosen, no figure is registered with pyplot.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from discotext.experiment.estimate import Estimate
from discotext.experiment.figures_text import describe_budget
from discotext.experiment.record import Record
from discotext.experiment.report.figures import Strongest
from discotext.experiment.run import Run
from discotext.experiment.summary import make_lines
from discotext.support.extras import require
from discotext.support.plain_text import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

CLASSES = 12  # classes that have room
PANELS = 3


def plot_run(run: Run, axes: Sequence[Axes] | None = None, ax: Axes | None = None) -> Figure:
    """Draw all panels, into the three axes that are given; or the first panel alone, into `ax`."""
    if axes is not None and ax is not None:
        raise ValueError("both axes and ax were given; give three axes, or one for the first panel alone")
    if not run.records:
        raise ValueError("the run has no records, so there is nothing to plot")
    if ax is not None:
        draw_accuracy(ax, run)
        return _figure_of(ax)
    if axes is None:
        figure = _make_figure()
        places = list(figure.subplots(1, PANELS))
    else:
        places = list(np.ravel(np.asarray(axes, dtype=object)))
        if len(places) != PANELS:
            raise ValueError(
                f"{len(places)} axes were given; give {PANELS}, as plt.subplots(1, {PANELS})[1] makes them"
            )
        figure = _figure_of(places[0])
    attack = Strongest.of(run)
    draw_accuracy(places[0], run)
    draw_classes(places[1], attack)
    draw_changes(places[2], attack)
    return figure


def draw_accuracy(ax: Axes, run: Run) -> None:
    """Accuracy under attack by budget, with 95 % intervals; of a run with one budget, by the number of changes.

    The second curve is what the flips that were found say: a text that was flipped with k changes counts as right where
    fewer may change, though another search might flip it there.
    """
    budgets = {summary.budget for _, summary in run.begun}
    if len(budgets) > 1:
        _draw_by_budget(ax, run)
    else:
        _draw_by_changes(ax, run)
    ax.set_ylim(0, 1.02)
    ax.set_ylabel("accuracy under attack")
    if len(ax.get_legend_handles_labels()[1]) > 1:
        ax.legend(fontsize="small")


def _draw_by_budget(ax: Axes, run: Run) -> None:
    series: dict[str, list[tuple[float, Estimate]]] = {}
    levels = len({summary.accept for _, summary in run.begun}) > 1
    shares = False
    for _, summary in run.begun:
        shares = isinstance(summary.budget, float)
        for name, row in summary.solvers.items():
            if row.adversarial_accuracy is None or row.original_accuracy is None:
                continue
            label = f"{name}, accept ≥ {summary.accept:g}" if levels and summary.accept is not None else name
            # Where nothing may change, the accuracy is the original one.
            points = series.setdefault(label, [(0.0, row.original_accuracy)] if summary.budget else [])
            points.append((100 * summary.budget if shares else summary.budget, row.adversarial_accuracy))
    for name, points in series.items():
        ordered = sorted(points, key=lambda point: point[0])
        x, y = [at for at, _ in ordered], [float(value) for _, value in ordered]
        ends = [[value - value.low for _, value in ordered], [value.high - value for _, value in ordered]]
        ax.errorbar(x, y, yerr=ends, marker="o", capsize=3, label=shorten(name, 40))
    ax.set_xlabel("words that may change (%)" if shares else "words that may change")
    ax.set_title("Accuracy by budget (95 % intervals)", fontsize="medium")


def _draw_by_changes(ax: Axes, run: Run) -> None:
    for budget, summary in run.begun:
        for name in summary.solvers:
            records = run.select(budget, name)
            level = "" if len(run.begun) == 1 or summary.accept is None else f", accept ≥ {summary.accept:g}"
            curve = accuracy_by_changes(records)
            ax.step(range(len(curve)), curve, where="post", marker="o", label=shorten(f"{name}{level}", 40))
    allowed = describe_budget(run.begun[0][1].budget)
    ax.set_xlabel("k, changes in a text")
    _count_along(ax.xaxis)
    ax.set_title(f"Right unless flipped with ≤ k changes\n(search within {allowed})", fontsize="medium")


def accuracy_by_changes(records: Sequence[Record]) -> list[float]:
    """For k = 0, 1, …: the share of texts that are right before the attack and not flipped with k changes or fewer."""
    lines = make_lines(records)
    before, lost = lines["right_before"], lines["right_before"] & ~lines["right_after"]
    counts = np.bincount(lines["changes"][lost], minlength=2)
    return [(int(before.sum()) - int(gone)) / len(records) for gone in np.cumsum(counts)]


def draw_classes(ax: Axes, attack: Strongest) -> None:
    """Accuracy of the texts of each class, before and under the strongest attack; of many classes, the largest."""
    sizes = Counter(record.label for record in attack.records)
    shown = sorted(label for label, _ in sizes.most_common(CLASSES))
    of_class = [make_lines([record for record in attack.records if record.label == label]) for label in shown]
    before, after = ([float(np.mean(one[name])) for one in of_class] for name in ("right_before", "right_after"))
    places = np.arange(len(shown))
    ax.bar(places - 0.2, before, 0.4, label="before")
    ax.bar(places + 0.2, after, 0.4, label="under attack")
    names = [shorten(attack.run.label(label), 14) for label in shown]
    ax.set_xticks(places, [f"{name} ({sizes[label]:,})" for name, label in zip(names, shown, strict=True)])
    if len(shown) > 3:
        ax.tick_params(axis="x", rotation=60)
    ax.set_ylim(0, 1.02)
    ax.set_ylabel("accuracy")
    ax.set_xlabel("class (texts)" if len(shown) == len(sizes) else f"class (texts), the {CLASSES} largest")
    ax.set_title(f"Class by class\n{_name(attack)}", fontsize="medium")
    ax.legend(fontsize="small")


def draw_changes(ax: Axes, attack: Strongest) -> None:
    """How many words were changed in the flipped texts."""
    counts = Counter(len(record.changes) for record in attack.records if record.succeeded)
    most = max(counts, default=1)
    ax.bar(range(1, most + 1), [counts[k] for k in range(1, most + 1)])
    ax.set_xlabel("words changed")
    ax.set_ylabel("flipped texts")
    ax.set_xlim(0.4, max(most, 4) + 0.6)
    _count_along(ax.xaxis)
    _count_along(ax.yaxis)
    ax.set_title(f"{sum(counts.values()):,} flipped texts\n{_name(attack)}", fontsize="medium")


def _count_along(axis: Axis) -> None:
    """Whole numbers only at the ticks."""
    ticker = require("matplotlib.ticker", extra="notebook", reason="Result.plot()")
    axis.set_major_locator(ticker.MaxNLocator(integer=True))


def _name(attack: Strongest) -> str:
    return shorten(f"{attack.solver}, at most {describe_budget(attack.summary.budget)}", 50)


def _figure_of(ax: Any) -> Figure:
    found: Figure = ax.figure
    return found


@cache
def _figure_class() -> Any:
    figures = require("matplotlib.figure", extra="notebook", reason="Result.plot()")

    class RunFigure(figures.Figure):  # type: ignore[name-defined, misc]
        """A figure that a notebook shows although pyplot does not know it."""

        def _repr_png_(self) -> bytes:
            content = io.BytesIO()
            self.savefig(content, format="png", dpi=100)
            return content.getvalue()

    return RunFigure


def _make_figure() -> Figure:
    made: Figure = _figure_class()(figsize=(13, 4), layout="constrained")
    return made
