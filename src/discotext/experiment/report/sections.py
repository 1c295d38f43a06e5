"""The sections of the page: the answer in words, all solvers in one table, curves, classes, words, and settings.

Every number of a run has its own place in the table of all solvers. Where a section can show one attack only, it is the
strongest: of the largest budget, the solver that leaves the least accuracy.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from discotext.experiment import coverage
from discotext.experiment.quality import MEASURES
from discotext.experiment.report.change_statistics import TAGGED, TENTHS, count_kinds, count_pairs, count_tenths
from discotext.experiment.report.curve import Point, draw_bars, draw_curve, draw_histogram
from discotext.experiment.report.figures import (
    Strongest,
    format_amount,
    format_budget,
    format_number,
    format_percent,
    format_share,
    make_table,
)
from discotext.experiment.report.legend import explain
from discotext.experiment.report.markup import Markup, element, escape, join
from discotext.experiment.run import Run
from discotext.experiment.summary import Estimate, Summary, mcnemar, summarise

OF = " of the words (or one)"  # of a short text, too, one word may change


def write_headline(attack: Strongest) -> Markup:
    """The answer in words."""
    row, run = attack.figures, attack.run
    before, after = format_percent(row.original_accuracy), format_percent(row.adversarial_accuracy)
    target = run.settings.get("target")
    if row.success_rate is None:
        said = f"No text could be attacked: the victim gets {before} of the texts right before any change."
    else:
        what = (
            "the texts that the victim had right" if target is None else f"the texts attacked into {run.label(target)}"
        )
        moved = f"accuracy falls from {before} to {after}" if before != after else f"accuracy stays at {after}"
        share = format_percent(row.success_rate, 0)
        allowed = format_budget(attack.budget, OF)
        comma = "," if "accept" in allowed else ""
        said = f"Changing at most {allowed}{comma} flips {share} of {what}: {moved}."
    return element("h1", said)


def write_lead(attack: Strongest) -> Markup:
    """What stands behind the answer: on how many texts, how exact, how acceptable, how much is proved."""
    row, run = attack.figures, attack.run
    assert row.adversarial_accuracy is not None  # there are records
    low, high = row.adversarial_accuracy.low, row.adversarial_accuracy.high
    more = [
        join(
            f"{attack.solver} on {attack.summary.n:,} texts of {run.settings['data']}; the accuracy after lies between "
            f"{100 * low:.1f} and {format_percent(high)} (",
            explain("95 % interval", "95\u00a0% interval"),
            ").",
        )
    ]
    if row.perturbation is not None:
        more.append(
            escape(f"Where it succeeds it changes {format_percent(row.perturbation)} of a text’s words on average.")
        )
    if row.acceptable is not None and row.accepted_accuracy is not None:
        more.append(
            join(
                "Most people are expected to ",
                explain("accept"),
                f" {format_percent(row.acceptable, 0)} of these swaps; counting only texts in which they accept every "
                f"swap, accuracy is {format_percent(row.accepted_accuracy)}.",
            )
        )
    if row.optimal == 1:
        more.append(join("This is the true worst case: every verdict is ", explain("proved"), "."))
    elif row.optimal:
        more.append(join(f"For {format_percent(row.optimal)} of the attacks the verdict is ", explain("proved"), "."))
    if (covered := coverage.describe(attack.summary)) is not None:
        more.append(escape(f"{covered[0].upper()}{covered[1:]}."))
    said = join(*(part for one in more for part in (one, " ")))
    return join(element("p", said, class_="lead"), warn_of_coverage(attack))


def warn_of_coverage(attack: Strongest) -> Markup | None:
    """A warning where too little can change for the figures to mean much."""
    source = attack.run.settings.get("candidates", {}).get("source", "")
    said = coverage.warn(attack.summary, [record.text for record in attack.records], source)
    return None if said is None else element("p", f"{said[0].upper()}{said[1:]}.", class_="note", role="note")


def warn_of_unfinished(run: Run) -> Markup | None:
    if len(run.records) >= run.expected:
        return None
    there = f"{len(run.records):,} of {run.expected:,} records are there"
    return element("p", f"The run is not finished: {there}, and this page is about them.", class_="note", role="note")


HEADINGS = ("solver", "accuracy before", "accuracy after", "success", "words changed", "over all texts", "proved",
            "failed", "passes per text", "seconds per text")  # fmt: skip


def list_solvers(attack: Strongest) -> Markup:
    """All solvers under all budgets."""
    bodies = []
    for budget, one in attack.run.begun:
        title = element("th", f"at most {format_budget(budget, OF)}", " ", element("small", f"{one.n:,} texts"),
                        colspan=len(HEADINGS), scope="rowgroup")  # fmt: skip
        rows = [element("tr", title, class_="group")]
        for name, row in one.solvers.items():
            tried = max(row.attacked, 1)
            passes, seconds = (row.forwards + row.backwards) / tried, row.seconds / tried
            shares = (row.original_accuracy, row.adversarial_accuracy, row.success_rate, row.perturbation,
                      row.perturbation_all, row.optimal)  # fmt: skip
            best = (budget, name) == (attack.budget, attack.solver)
            rows.append(element(
                "tr", element("th", name, scope="row"), *map(format_share, shares),
                element("td", format_number(row.failed, f"{row.failed:,}")),
                element("td", format_number(passes, f"{passes:,.0f}")),
                element("td", format_number(seconds, f"{seconds:.3f}")),
                class_="best" if best else None, data_budget=budget, data_solver=name,
            ))  # fmt: skip
        bodies.append(element("tbody", *rows))
    note = (
        "Small figures are 95\u00a0% intervals. Success is of the texts attacked; words changed is over successes. "
        "Proved: success, or a proof that no allowed text succeeds; of texts in which anything can change."
    )
    whole = make_table("Every solver under every budget", HEADINGS, *bodies)
    return join(
        whole,
        element("p", note, class_="fine"),
        list_notes(attack.run),
        compare_solvers(attack),
        compare_quality(attack.run),
    )


def list_notes(run: Run) -> Markup | None:
    """What to know beside the figures: how much can change, ties, words that the victim does not know."""
    several = len(run.begun) > 1
    said = [
        f"At most {format_budget(budget)}: {note}." if several else f"{note}."
        for budget, one in run.begun
        for note in coverage.notes(one)
    ]
    return element("ul", *(element("li", one) for one in said), class_="plain") if said else None


def compare_solvers(attack: Strongest) -> Markup | None:
    """How the strongest compares with each other solver on the same texts."""
    others = [name for name in attack.summary.solvers if name != attack.solver]
    if not others:
        return None
    rows = []
    for name in others:
        theirs = attack.run.select(attack.budget, name)
        both = {row.id for row in theirs} & {row.id for row in attack.records}
        mine, its = ([row for row in rows if row.id in both] for rows in (attack.records, theirs))
        p = mcnemar(mine, its)
        flipped, its_flipped = (sum(row.succeeded for row in rows) for rows in (mine, its))
        chance = f"p = {p:.2g} for a difference this large by chance alone (McNemar’s exact test)"
        both_flip = f"Of the same {len(both):,} texts {attack.solver} flips {flipped} and {name} {its_flipped}"
        rows.append(element("li", f"{both_flip}; {chance}."))
    # The strongest was found on the texts it is now compared on: so a small p is less surprising than it looks.
    caution = (
        f"{attack.solver} was picked as the strongest on these same texts; the p-values are not corrected for that"
    )
    more = "" if len(others) == 1 else f", nor for there being {len(others)} comparisons"
    return join(element("ul", *rows, class_="plain"), element("p", f"{caution}{more}.", class_="fine"))


def chart_accuracy(attack: Strongest) -> Markup:
    """Accuracy by budget, or before and after where there is one budget."""
    run = attack.run
    if len(run.begun) < 2:
        row = attack.figures
        bars = [("before", _point(0, row.original_accuracy))]
        bars += [
            (f"after, {name}", _point(0, other.adversarial_accuracy)) for name, other in attack.summary.solvers.items()
        ]
        return wrap_chart(draw_bars(bars))
    series: dict[str, list[Point]] = {}
    budgets = sorted(run.begun, key=lambda pair: pair[1].budget)
    levels = list(dict.fromkeys(one.accept for _, one in budgets))
    if len(levels) == len(budgets):
        return wrap_chart(draw_levels([one for _, one in budgets]))
    for _, one in budgets:
        for name, row in one.solvers.items():
            # With no budget at all, accuracy is what it was before.
            start = [_point(0, row.original_accuracy)] if one.budget > 0 else []
            name = name if len(levels) == 1 else f"{name}, accept ≥ {one.accept:g}"
            series.setdefault(name, start).append(_point(float(one.budget), row.adversarial_accuracy))
    shares = " words" not in attack.budget
    found = {float(one.budget): f"{100 * one.budget:g} %" if shares else str(one.budget) for _, one in budgets}
    ticks = [(0.0, "0 %" if shares else "0"), *(tick for tick in found.items() if tick[0] > 0)]
    axis = "share of words that may change" if shares else "words that may change"
    return wrap_chart(draw_curve(series, ticks, axis))


def chart_queries(attack: Strongest) -> Markup | None:
    """The share of attacked texts that each solver had flipped after so many queries; None if none was attacked."""
    rows = {name: row.success_by_queries for name, row in attack.summary.solvers.items() if row.success_by_queries}
    if not rows:
        return None
    # A step of the axis is one of the list, since ten queries more matter less the more there were.
    steps = list(next(iter(rows.values())))
    series = {
        name: [Point(number, curve[step], curve[step], curve[step]) for number, step in enumerate(steps, start=1)]
        for name, curve in rows.items()
    }
    note = element("p", "A ", explain("query"), " is a forward pass of the model for one text.", class_="fine")
    chart = draw_curve(
        series, [(n, step) for n, step in enumerate(steps, start=1)], "queries", "Share of texts flipped"
    )
    return join(wrap_chart(chart, "Share of attacked texts that were flipped"), note)


def draw_levels(summaries: Sequence[Summary]) -> Markup:
    """Accuracy by how acceptable each swap must be, under one budget."""
    series: dict[str, list[Point]] = {}
    for one in sorted(summaries, key=lambda one: one.accept or 0.0):
        for name, row in one.solvers.items():
            series.setdefault(name, []).append(_point(one.accept or 0.0, row.adversarial_accuracy))
    ticks = [(one.accept or 0.0, f"{one.accept:g}") for one in summaries]
    return draw_curve(series, ticks, "least probability that most people accept a swap")


def wrap_chart(chart: Markup, caption: str = "Accuracy of the victim, with 95\u00a0% intervals") -> Markup:
    return element("figure", element("figcaption", caption), chart)


def _point(x: float, estimate: Estimate | None) -> Point:
    assert estimate is not None  # only solvers with records are drawn
    return Point(x, estimate, estimate.low, estimate.high)


def compare_classes(attack: Strongest) -> Markup:
    """The same figures class by class."""
    rows = []
    for label, name in enumerate(attack.run.labels):
        mine = [row for row in attack.records if row.label == label]
        if mine:
            figures = summarise(mine, attack.run.settings["seed"])
            shares = (figures.original_accuracy, figures.adversarial_accuracy, figures.success_rate)
            cells = map(format_share, shares)
            rows.append(element("tr", element("th", name, scope="row"), element("td", f"{len(mine):,}"), *cells))
    headings = ("class", "texts", "accuracy before", "accuracy after", "success")
    return make_table(f"{attack}", headings, element("tbody", *rows))


def compare_quality(run: Run) -> Markup | None:
    """How flipped texts compare with their originals, where models were asked to judge them."""
    if not run.judges:
        return None
    shown = {name: how for judge in run.judges for name, how in MEASURES[judge].items()}
    headings = ("solver", *(heading for heading, _ in shown.values()))
    bodies = []
    for budget, one in run.begun:
        title = element("th", f"at most {format_budget(budget)}", colspan=len(headings), scope="rowgroup")
        rows = [
            element(
                "tr",
                element("th", solver, scope="row"),
                *(format_amount(row.quality[name], digits) for name, (_, digits) in shown.items()),
            )
            for solver, row in one.solvers.items()
        ]
        bodies.append(element("tbody", element("tr", title, class_="group"), *rows))
    note = ("What the swaps do to the texts, as judged by models: means over flipped texts, with 95\u00a0% intervals. "
            "Similarity is the cosine of both texts’ encodings, 1 where they are the same. Perplexity is how much a "
            "text surprises a language model.")  # fmt: skip
    whole = make_table("Flipped texts beside their originals", headings, *bodies)
    return join(element("p", note, class_="fine"), whole)


def list_swaps(attack: Strongest) -> Markup:
    """The swaps found in most flipped texts."""
    found = count_pairs(attack.records)
    flipped = sum(record.succeeded for record in attack.records)
    if not found:
        return element("p", "No text was flipped, so no swap did any damage.")
    rows = [
        element(
            "tr",
            element("th", element("del", pair.old), " → ", element("ins", pair.new), scope="row"),
            element("td", f"{pair.flipped:,}"),
            element("td", format_percent(pair.flipped / flipped)),
            element("td", f"{pair.used:,}"),
        )
        for pair in found
    ]
    headings = ("swap", "flipped texts", "share of them", "all texts with it")
    return make_table(f"{attack}; the {len(found)} most frequent", headings, element("tbody", *rows))


def show_positions(attack: Strongest) -> Markup:
    """Where in the text, and which parts of speech."""
    counts = count_tenths(attack.records)
    if not any(counts):
        return element("p", "No word was changed.")
    step = 100 // TENTHS
    names = [f"{step * place}–{step * (place + 1)}" for place in range(TENTHS)]
    figure = element(
        "figure",
        element("figcaption", "Words changed, by position"),
        draw_histogram(counts, names, "position in the text, from first word to last"),
    )
    found = count_kinds(attack.records)
    changed = sum(kind.changed for kind in found)
    rows = [
        element(
            "tr",
            element("th", kind.name, scope="row"),
            element("td", f"{kind.changed:,}"),
            element("td", format_percent(kind.changed / changed if changed else None)),
            element("td", format_percent(kind.changed / kind.words)),
        )
        for kind in found
    ]
    part = f", in the first {TAGGED:,} texts" if len(attack.records) > TAGGED else ""
    caption = f"Parts of speech of the original words{part}"
    headings = ("part of speech", "changed", "share of changes", "share of its words")
    return element("div", figure, make_table(caption, headings, element("tbody", *rows)), class_="pair")


def list_settings(run: Run) -> Markup:
    """Where the numbers come from."""
    settings = run.settings
    facts = [("victim", settings["victim"]), ("data", settings["data"]), ("seed", settings["seed"]),
             ("version", settings["version"]), ("records", f"{len(run.records):,} of {run.expected:,}")]  # fmt: skip
    facts += [(judge.replace("_", " "), name) for judge, name in run.judges.items()]
    facts += [(f"search space, {format_budget(budget)}", one.space) for budget, one in run.begun]
    listed = [element("div", element("dt", name), element("dd", value)) for name, value in facts]
    pretty = json.dumps(settings, indent=2, ensure_ascii=False)
    shown = element("details", element("summary", "All settings"), element("pre", pretty, tabindex="0"))
    return join(element("dl", *listed), shown)
