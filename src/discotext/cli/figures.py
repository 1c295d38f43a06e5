"""The figures of a run, as tables: what an attack left, and what is proved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from discotext.cli.output import interval, make_console, percent, print_sentence
from discotext.cli.tables import Column, print_columns
from discotext.experiment.figures_text import describe_budget

if TYPE_CHECKING:
    from rich.console import Console

    from discotext.experiment.certificate import Certificate
    from discotext.experiment.summary import Summary, Tally


def print_summary(summary: Summary, wide: bool = False) -> None:
    """Print the table of one budget, with notes on how to read it."""
    from discotext.experiment.coverage import notes

    # One word may change in a short text, too.
    allowed = describe_budget(summary.budget) + (" (or one)" if isinstance(summary.budget, float) else "")
    accepted = "" if summary.accept is None else f", each swap accepted with probability ≥ {summary.accept:g}"
    title = f"{summary.data}, {summary.n} texts, at most {allowed} changed{accepted}"
    title += f" (search space {summary.space})" if wide else ""
    # A solver whose first unit is not done yet has no figures.
    rows = {name: row for name, row in summary.solvers.items() if row.original_accuracy is not None}
    figures = rows.values()
    tried = [max(row.attacked, 1) for row in figures]
    passes = [(row.forwards + row.backwards) / texts for row, texts in zip(figures, tried, strict=True)]
    seconds = [row.seconds / texts for row, texts in zip(figures, tried, strict=True)]
    columns = [
        Column("solver", list(rows), left=True),
        Column("before", [percent(row.original_accuracy) for row in figures]),
        Column("after", [percent(row.adversarial_accuracy) for row in figures]),
        Column("(95 %)", [interval(row.adversarial_accuracy) for row in figures], 1),
        Column("success", [percent(row.success_rate) for row in figures], 3),
        Column("words", [percent(row.perturbation) for row in figures], 2),
        Column("words over all", [percent(row.perturbation_all) for row in figures], 8),
        Column("proved", [percent(row.optimal) for row in figures], 4),
        Column("passes", [f"{number:,.0f}" for number in passes], 5),
        Column("s/text", [f"{number:.3f}" for number in seconds], 7),
    ]
    print_columns(columns, title, wide)
    if len(summary.solvers) > 1 and any(row.success_by_queries for row in summary.solvers.values()):
        print_query_curve(summary, wide)
    console = make_console()
    print_hint(console)
    for note in notes(summary):
        print_sentence(console, note)


def print_query_curve(summary: Summary, wide: bool = False) -> None:
    """Print what share of the attacked texts each solver had flipped after so many queries."""
    rows = {name: row for name, row in summary.solvers.items() if row.success_by_queries}
    figures = rows.values()
    steps = list(next(iter(rows.values())).success_by_queries)
    columns = [Column("flipped within queries", list(rows), left=True)]
    columns += [
        # Every second one is left out before any other.
        Column(step, [percent(row.success_by_queries[step], 0) for row in figures], 2 if number % 2 else 1)
        for number, step in enumerate(steps)
    ]
    areas = ["–" if row.query_area is None else f"{row.query_area:.2f}" for row in figures]
    print_columns([*columns, Column("area", areas)], wide=wide)


def print_differences(tally: Tally, summary: Summary) -> None:
    """Print whether the first solver differs significantly from each of the others."""
    from discotext.experiment.summary import mcnemar_of_pairs

    first, *others = summary.solvers
    mine = tally.flipped(summary.budget, first, summary.accept)
    for other in others if mine else ():  # a shard may have no texts
        theirs = tally.flipped(summary.budget, other, summary.accept)
        p = mcnemar_of_pairs((won, theirs[number]) for number, won in mine.items())
        won, lost = sum(mine.values()), sum(theirs.values())
        click.echo(f"{first} flipped {won} texts, {other} {lost}: p = {p:.2g} (McNemar)")


def print_certificates(found: Sequence[Certificate], passes: int, wide: bool = False) -> None:
    """Print the brackets of all budgets, and how far the proofs reach."""
    console = make_console()
    first, last = found[0], found[-1]
    title = f"{first.data}, {first.n} texts, accuracy {percent(first.original_accuracy)}"
    title += f" (search space {first.space})" if wide else ""
    levels = [one.accept for one in found]
    columns = [
        Column("at most changed", [describe_budget(one.budget) for one in found], left=True),
        *([Column("accept", [f"{level:g}" for level in levels if level is not None])] if len(set(levels)) > 1 else []),
        Column("certified", [percent(one.certified_accuracy) for one in found]),
        Column("(95 %)", [interval(one.certified_accuracy) for one in found], 3),
        Column("attacked", [percent(one.attacked_accuracy) for one in found]),
        Column("(95 %) ", [interval(one.attacked_accuracy) for one in found], 4),
        Column("bracket", ["–" if one.bracket is None else f"{100 * one.bracket:.1f}" for one in found], 1),
        *(
            Column(name, [f"{one.verdicts[name]:,}" for one in found], 2 if name == "open" else 5)
            for name in ("robust", "broken", "open")
        ),
        Column("passes", [f"{(one.forwards + one.backwards + one.bounds) / max(one.n, 1):,.0f}" for one in found], 6),
        Column("s/text", [f"{one.seconds / max(one.n, 1):.3f}" for one in found], 7),
    ]
    print_columns(columns, title, wide)
    print_hint(console)
    reached = ", ".join(f"{radius}: {texts:,}" for radius, texts in last.radius.items())
    print_sentence(console, f"texts by the number of changed words up to which they are proved: {reached or '–'}")
    if last.unstable:
        print_sentence(
            console,
            f"nothing is certified: the victim answered differently when asked again on {last.unstable:,} of "
            f"{last.n:,} texts, and a proof rests on answers that stay the same",
        )
    elif any(one.open for one in found):
        print_sentence(
            console,
            f"{last.verdicts['open']:,} texts are open: {passes:,} passes did not suffice. Raise --passes, or lower "
            "the budget; `radius` in the records says up to which number of words each is proved",
        )
    print_sentence(console, last.scope)


def print_hint(console: Console) -> None:
    """Say to a reader at a terminal where the columns are explained."""
    if console.is_terminal:
        console.print("discotext terms explains the columns", style="dim", highlight=False)
