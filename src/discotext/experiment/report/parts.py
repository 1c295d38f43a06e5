"""The first sections of the page: the answer in words, all solvers in one table, accuracy by budget.

Every number of a run has its own place in the table of all solvers. Where a section can show one attack only, it is the
strongest: of the largest budget, the solver that leaves the least accuracy.
"""

from __future__ import annotations

from typing import Any

from discotext.experiment import coverage
from discotext.experiment.metrics import mcnemar, succeeded
from discotext.experiment.report.curve import Point, before_after, curve
from discotext.experiment.report.details import quality
from discotext.experiment.report.figures import Strongest, allowed, cell, number, percent, table
from discotext.experiment.report.markup import Markup, element, joined
from discotext.experiment.report.reading import Run

OF = " of the words (or one)"  # of a short text, too, one word may change


def headline(attack: Strongest) -> Markup:
    """The answer in words."""
    row, run = attack.figures, attack.run
    before, after = percent(row["original_accuracy"]), percent(row["adversarial_accuracy"])
    target = run.settings.get("target")
    if row["success_rate"] is None:
        said = f"No text could be attacked: the victim gets {before} of the texts right before any change."
    else:
        what = (
            "the texts that the victim had right" if target is None else f"the texts attacked into {run.label(target)}"
        )
        moved = f"accuracy falls from {before} to {after}" if before != after else f"accuracy stays at {after}"
        share = percent(row["success_rate"], 0)
        said = f"Changing at most {allowed(attack.budget, OF)} turns {share} of {what}: {moved}."
    low, high = row["adversarial_accuracy_low"], row["adversarial_accuracy_high"]
    more = [
        f"{attack.solver} on {attack.summary['n']:,} texts of {run.settings['data']}; "
        f"the accuracy after lies between {100 * low:.1f} and {percent(high)} (95\u00a0% interval)."
    ]
    if row["perturbation"] is not None:
        more.append(f"Where it succeeds it changes {percent(row['perturbation'])} of a text’s words on average.")
    if row["optimal"] == 1:
        more.append("This is the true worst case: every verdict is proved.")
    elif row["optimal"]:
        more.append(f"For {percent(row['optimal'])} of the attacks the verdict is proved.")
    if (covered := coverage.describe(attack.summary)) is not None:
        more.append(f"{covered[0].upper()}{covered[1:]}.")
    return joined(element("h1", said), element("p", " ".join(more), class_="lead"), little(attack))


def little(attack: Strongest) -> Markup | None:
    """A warning where too little can change for the figures to mean much."""
    said = coverage.warn(attack.summary, [record["text"] for record in attack.records])
    return None if said is None else element("p", f"{said[0].upper()}{said[1:]}.", class_="note", role="note")


def unfinished(run: Run) -> Markup | None:
    if len(run.records) >= run.expected:
        return None
    there = f"{len(run.records):,} of {run.expected:,} records are there"
    return element("p", f"The run is not finished: {there}, and this page is about them.", class_="note", role="note")


HEADINGS = ("solver", "accuracy before", "accuracy after", "success", "words changed", "over all texts", "proved",
            "failed", "passes per text", "seconds per text")  # fmt: skip


def summary(attack: Strongest) -> Markup:
    """All solvers under all budgets."""
    bodies = []
    for budget, one in attack.run.begun:
        title = element("th", f"at most {allowed(budget, OF)}", " ", element("small", f"{one['n']:,} texts"),
                        colspan=len(HEADINGS), scope="rowgroup")  # fmt: skip
        rows = [element("tr", title, class_="group")]
        for name, row in one["solvers"].items():
            tried = max(row["attacked"], 1)
            passes, seconds = (row["forwards"] + row["backwards"]) / tried, row["seconds"] / tried
            shares = (
                "original_accuracy",
                "adversarial_accuracy",
                "success_rate",
                "perturbation",
                "perturbation_all",
                "optimal",
            )
            best = (budget, name) == (attack.budget, attack.solver)
            rows.append(element(
                "tr", element("th", name, scope="row"), *(cell(row, share) for share in shares),
                element("td", number(row["failed"], f"{row['failed']:,}")),
                element("td", number(passes, f"{passes:,.0f}")), element("td", number(seconds, f"{seconds:.3f}")),
                class_="best" if best else None, data_budget=budget, data_solver=name,
            ))  # fmt: skip
        bodies.append(element("tbody", *rows))
    note = (
        "Small figures are 95\u00a0% intervals. Success is of the texts attacked; words changed is over successes. "
        "Proved: success, or a proof that no allowed text succeeds; of texts in which anything can change."
    )
    whole = table("Every solver under every budget", HEADINGS, *bodies)
    return joined(whole, element("p", note, class_="fine"), beside(attack.run), rivals(attack), quality(attack.run))


def beside(run: Run) -> Markup | None:
    """What to know beside the figures: how much can change, ties, words that the victim does not know."""
    said = [f"At most {allowed(budget)}: {note}." for budget, one in run.begun for note in coverage.notes(one)]
    return element("ul", *(element("li", one) for one in said), class_="plain") if said else None


def rivals(attack: Strongest) -> Markup | None:
    """How the strongest compares with each other solver on the same texts."""
    others = [name for name in attack.summary["solvers"] if name != attack.solver]
    if not others:
        return None
    rows = []
    for name in others:
        theirs = attack.run.of(attack.budget, name)
        both = {row["id"] for row in theirs} & {row["id"] for row in attack.records}
        mine, its = ([row for row in rows if row["id"] in both] for rows in (attack.records, theirs))
        p = mcnemar(mine, its)
        turned = f"Of the same {len(both):,} texts {attack.solver} turns {sum(map(succeeded, mine))}"
        chance = f"p = {p:.2g} for a difference as large by chance alone (McNemar’s exact test)"
        rows.append(element("li", f"{turned} and {name} {sum(map(succeeded, its))}; {chance}."))
    # The strongest was found on the texts it is now compared on: a small p is easier to come by than it looks.
    caution = f"{attack.solver} was picked as the strongest on these same texts; the p are not corrected for that"
    more = "" if len(others) == 1 else f", nor for there being {len(others)} comparisons"
    return joined(element("ul", *rows, class_="plain"), element("p", f"{caution}{more}.", class_="fine"))


def accuracy(attack: Strongest) -> Markup:
    """Accuracy by budget, or before and after where there is one budget."""
    run = attack.run
    if len(run.begun) < 2:
        row = attack.figures
        bars = [("before", _point(0, row, "original_accuracy"))]
        bars += [
            (f"after, {name}", _point(0, of, "adversarial_accuracy")) for name, of in attack.summary["solvers"].items()
        ]
        return drawing(before_after(bars))
    series: dict[str, list[Point]] = {}
    budgets = sorted(run.begun, key=lambda pair: pair[1]["budget"])
    for _, one in budgets:
        for name, row in one["solvers"].items():
            # With no budget at all, accuracy is what it was before.
            start = [_point(0, row, "original_accuracy")] if one["budget"] > 0 else []
            series.setdefault(name, start).append(_point(float(one["budget"]), row, "adversarial_accuracy"))
    shares = not attack.budget.endswith(" words")
    ticks = [
        (float(one["budget"]), f"{100 * one['budget']:g} %" if shares else str(one["budget"])) for _, one in budgets
    ]
    ticks = [(0.0, "0 %" if shares else "0"), *(tick for tick in ticks if tick[0] > 0)]
    axis = "share of words that may change" if shares else "words that may change"
    return drawing(curve(series, ticks, axis))


def drawing(chart: Markup) -> Markup:
    caption = "Accuracy of the victim, with 95\u00a0% intervals"
    return element("figure", element("figcaption", caption), chart)


def _point(x: float, row: dict[str, Any], name: str) -> Point:
    return Point(x, row[name], row[f"{name}_low"], row[f"{name}_high"])
