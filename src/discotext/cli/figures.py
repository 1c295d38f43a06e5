"""What is printed of a run: tables of what an attack left and of what is proved, two runs beside each other, texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from discotext.cli.output import make_console, print_message, print_sentence, print_table
from discotext.support.plain_text import percent

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from discotext.runs.certificate import Certificate
    from discotext.runs.pairing import Pairing
    from discotext.runs.record import Record
    from discotext.runs.summary import Summary, Tally

OLD, NEW = "red strike", "bold green"  # the style of changed words


def print_summary(summary: Summary) -> None:
    """Print the table of one budget, with notes on how to read it."""
    from discotext.report.figures import tabulate_queries, tabulate_solvers
    from discotext.runs.coverage import notes
    from discotext.runs.record import describe_budget

    # One word may change in a short text, too.
    allowed = describe_budget(summary.budget) + (" (or one)" if isinstance(summary.budget, float) else "")
    accepted = "" if summary.accept is None else f", each swap accepted with probability ≥ {summary.accept:g}"
    title = f"{summary.data}, {summary.n} texts, at most {allowed} changed{accepted}"
    print_table(tabulate_solvers([summary]).without("budget"), title)
    if len(summary.solvers) > 1 and (curve := tabulate_queries(summary)) is not None:
        print_table(curve)
    console = make_console()
    print_hint(console)
    for note in notes(summary):
        print_sentence(console, note)


def print_differences(tally: Tally, budget: str) -> None:
    """Print whether the first solver differs significantly from each of the others."""
    from discotext.runs.summary import mcnemar_of_pairs

    first, *others = tally.settings["solvers"]
    mine = tally.flipped(budget, first)
    for other in others if mine else ():  # a shard may have no texts
        theirs = tally.flipped(budget, other)
        p = mcnemar_of_pairs((won, theirs[number]) for number, won in mine.items())
        won, lost = sum(mine.values()), sum(theirs.values())
        click.echo(f"{first} flipped {won} texts, {other} {lost}: p = {p:.2g} (McNemar)")


def print_certificates(found: Sequence[Certificate], passes: int) -> None:
    """Print the brackets of all budgets, and how far the proofs reach."""
    from discotext.report.figures import describe_bracket, tabulate_certificates

    first, last = found[0], found[-1]
    title = f"{first.data}, {first.n} texts, accuracy {percent(first.original_accuracy)}"
    print_table(tabulate_certificates(found), title)
    console = make_console()
    print_hint(console)
    reached = ", ".join(f"{radius}: {texts:,}" for radius, texts in last.radius.items())
    print_sentence(console, f"texts by the number of changed words up to which they are proved: {reached or '–'}")
    print_sentence(console, describe_bracket(last))
    if last.open and not last.unstable:
        print_sentence(console, f"{passes:,} passes did not suffice for all; raise --passes, or lower the budget")
    print_sentence(console, last.scope)


def print_pairing(found: Pairing) -> None:
    """Print two runs side by side, and what the strongest attack shows."""
    from discotext.report.figures import describe_difference, tabulate_pairing

    console = make_console()
    for letter, name, run in zip("AB", found.names, found.runs, strict=True):
        print_message(console, f"{letter}  {name}: {run.settings['victim']} on {run.settings['data']}")
    (both, first, second), strongest = found.texts, found.strongest
    print_sentence(console, f"{both:,} texts in both; {first:,} only in A and {second:,} only in B are left out")
    print_table(tabulate_pairing(found))
    print_sentence(console, describe_difference(strongest.after, strongest.budget.describe()))
    print_sentence(console, "B − A: percentage points, with Newcombe's interval for pairs; p: McNemar's exact test")


def print_hint(console: Console) -> None:
    """Say to a reader at a terminal where the columns are explained."""
    if console.is_terminal:
        console.print("discotext terms explains the columns", style="dim", highlight=False)


def print_flipped(records: Sequence[Record], labels: Sequence[str]) -> None:
    """Print flipped texts, with the class before and after; of a long one, what stands around the changes."""
    from discotext.report.flipped import cut_pieces, show_flipped

    if not records:
        return
    console = make_console()
    print_message(console, "\nflipped texts, those with fewest changes:" if len(records) > 1 else "\na flipped text:")
    for one in show_flipped(records, labels, len(records)):
        console.print(one.heading, style="bold", highlight=False, markup=False)
        console.print(paint(cut_pieces(one.record), colour=console.color_system is not None), highlight=False)


def paint(pieces: Iterable[tuple[str, str]], *, colour: bool = True) -> Text:
    """Pieces of a text, as `cut_pieces` gives them, with old and new words in colour; without colour, as [old → new].

    >>> str(paint([("kept", "An "), ("old", "awful"), ("new", "bad"), ("kept", " film")], colour=False))
    'An [awful → bad] film'
    """
    from rich.text import Text

    from discotext.report.flipped import make_harmless, write_plainly

    if not colour:
        return Text(write_plainly(pieces))
    shown = Text()
    for kind, text in pieces:
        shown.append(make_harmless(text), {"old": OLD, "new": NEW}.get(kind, ""))
        shown.append(" " if kind == "old" else "")
    return shown
