"""What commands print: tables and JSON to standard output, messages to standard error.

rich is imported where it is used, so that help pages do without it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from discotext.experiment.certificate import Certificate
    from discotext.experiment.summary import Estimate, Summary, Tally

WIDTH = 160  # columns of tables that are not printed to a terminal
HEADINGS = ["accuracy before", "after", "(95 %)", "success", "words changed", "over all texts", "proved"]
HEADINGS += ["passes/text", "s/text"]


def make_console(*, stderr: bool = False) -> Console:
    """Make a console for results, or for messages; a table in a pipe or file has a width of its own."""
    from rich.console import Console

    if stderr:
        return Console(stderr=True)
    return Console(width=None if sys.stdout.isatty() else WIDTH)


def print_message(console: Console, message: str) -> None:
    """Print a line as it is: without colours for numbers, and not wrapped, so that paths can be copied."""
    console.print(message, highlight=False, markup=False, soft_wrap=True)


def make_table(*headings: str, left: Sequence[str] = (), title: str | None = None) -> Table:
    """Make a table without lines whose columns are aligned to the right, except those named in `left`."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="left" if heading in left else "right", no_wrap=True)
    return table


def write_json(value: Any) -> None:
    """Write one line of JSON to standard output."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # a file name that is not UTF-8 can only be written as escapes
        text = json.dumps(value)
    sys.stdout.write(text + "\n")


def percent(value: float | None, digits: int = 1) -> str:
    """Format a share.

    >>> percent(0.125), percent(None)
    ('12.5 %', '–')
    """
    return "–" if value is None else f"{100 * value:.{digits}f} %"


def interval(estimate: Estimate | None) -> str:
    """Format the interval of a share, in percent."""
    return "–" if estimate is None else f"{100 * estimate.low:.1f}–{100 * estimate.high:.1f}"


def print_summary(summary: Summary) -> None:
    """Print the table of one budget, with notes on how to read it."""
    from discotext.experiment.coverage import notes

    console = make_console()
    budget = summary.budget
    # One word may change in a short text, too.
    allowed = (
        f"{100 * budget:g} % of the words (or one)"
        if isinstance(budget, float)
        else f"{budget} word{'' if budget == 1 else 's'}"
    )
    accepted = "" if summary.accept is None else f", each swap accepted with probability ≥ {summary.accept:g}"
    title = f"{summary.data}, {summary.n} texts, at most {allowed} changed{accepted} (space {summary.space})"
    table = make_table("solver", *HEADINGS, left=["solver"], title=title)
    for name, row in summary.solvers.items():
        if row.original_accuracy is None:
            continue  # its first unit is not done yet
        tried = max(row.attacked, 1)
        table.add_row(
            name,
            percent(row.original_accuracy),
            percent(row.adversarial_accuracy),
            interval(row.adversarial_accuracy),
            percent(row.success_rate),
            percent(row.perturbation),
            percent(row.perturbation_all),
            percent(row.optimal),
            f"{(row.forwards + row.backwards) / tried:,.0f}",
            f"{row.seconds / tried:.3f}",
        )
    console.print(table)
    if len(summary.solvers) > 1 and any(row.success_by_queries for row in summary.solvers.values()):
        print_query_curve(summary)
    for note in notes(summary):
        console.print(note, highlight=False, markup=False)


def print_query_curve(summary: Summary) -> None:
    """Print what share of the attacked texts each solver had flipped after so many queries."""
    rows = {name: row for name, row in summary.solvers.items() if row.success_by_queries}
    steps = list(next(iter(rows.values())).success_by_queries)
    table = make_table("flipped within queries", *steps, "area", left=["flipped within queries"])
    for name, row in rows.items():
        shares = (percent(share) for share in row.success_by_queries.values())
        table.add_row(name, *shares, "–" if row.query_area is None else f"{row.query_area:.2f}")
    make_console().print(table)


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


def print_certificates(found: Sequence[Certificate], passes: int) -> None:
    """Print the brackets of all budgets, and how far the proofs reach."""
    console = make_console()
    first = found[0]
    title = f"{first.data}, {first.n} texts, accuracy {percent(first.original_accuracy)} (space {first.space})"
    levels = {one.accept for one in found}
    headings = [
        "at most changed",
        *(["accept"] if len(levels) > 1 else []),
        "certified",
        "(95 %)",
        "attacked",
        "(95 %) ",
    ]
    table = make_table(
        *headings, "bracket", "robust", "broken", "open", "passes/text", "s/text", left=["at most changed"], title=title
    )
    for one in found:
        allowed = f"{100 * one.budget:g} % of words" if isinstance(one.budget, float) else f"{one.budget} words"
        table.add_row(
            "1 word" if one.budget == 1 and isinstance(one.budget, int) else allowed,
            *([f"{one.accept:g}"] if len(levels) > 1 else []),
            percent(one.certified_accuracy),
            interval(one.certified_accuracy),
            percent(one.attacked_accuracy),
            interval(one.attacked_accuracy),
            "–" if one.bracket is None else f"{100 * one.bracket:.1f}",
            *(f"{number:,}" for number in (one.verdicts[name] for name in ("robust", "broken", "open"))),
            f"{(one.forwards + one.backwards + one.bounds) / max(one.n, 1):,.0f}",
            f"{one.seconds / max(one.n, 1):.3f}",
        )
    console.print(table)
    last = found[-1]
    reached = ", ".join(f"{radius}: {texts:,}" for radius, texts in last.radius.items())
    print_message(console, f"texts by the number of changed words up to which they are proved: {reached or '–'}")
    if any(one.open for one in found):
        print_message(
            console,
            f"{last.verdicts['open']:,} texts are open: {passes:,} passes did not suffice. Raise --passes, or lower "
            "the budget; `radius` in the records says up to which number of words each is proved",
        )
    print_message(console, last.scope)
