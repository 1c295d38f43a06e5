"""discotext report A B: two runs on the same texts, as a table, JSON and an HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from discotext.cli.output import make_console, make_table, percent, print_message, print_sentence, write_json

if TYPE_CHECKING:
    from rich.table import Table

    from discotext.experiment.pairing import Contingency, Pairing


def report_pair(folders: tuple[Path, Path], solvers: Sequence[str], html_file: Path | None, as_json: bool) -> None:
    """Compare two runs text by text, print the result and write the page."""
    from discotext.experiment.pairing import pair_runs
    from discotext.experiment.report.side_by_side import make_comparison_page
    from discotext.experiment.run import read_run
    from discotext.support.files import write_atomically

    first, second = (read_run(folder) for folder in folders)
    if solvers:
        first, second = first.only(solvers), second.only(solvers)
    found = pair_runs(first, second, (str(folders[0]), str(folders[1])))
    for warning in found.warnings:
        click.echo(f"discotext: {warning}", err=True)
    if as_json:
        for one in found.as_dicts():
            write_json(one)
    else:
        print_pairing(found)
    target = html_file or folders[1] / "compared.html"
    write_atomically(target, make_comparison_page(found))
    click.echo(f"wrote {target}", err=True)


def print_pairing(found: Pairing) -> None:
    """Print both runs side by side, budget by budget, and what the strongest attack shows."""
    from discotext.experiment.report.figures import format_budget
    from discotext.experiment.report.side_by_side import describe_difference

    console = make_console()
    for letter, name, run in zip("AB", found.names, found.runs, strict=True):
        print_message(console, f"{letter}  {name}: {run.settings['victim']} on {run.settings['data']}")
    both, first, second = found.texts
    print_sentence(console, f"{both:,} texts in both; {first:,} only in A and {second:,} only in B are left out")
    table = make_table("accuracy", "A", "B", "B − A", "(95 %)", "only A", "only B", "p", left=["accuracy"])
    add_row(table, "before", found.before)
    for attack in found.attacks:
        allowed = format_budget(attack.budget, "").replace("\u00a0", " ")
        add_row(table, f"{attack.solver}, {allowed}", attack.after)
    console.print(table)
    budget = format_budget(found.strongest.budget)
    print_sentence(console, describe_difference(found.strongest.after, budget).replace("\u00a0", " "))
    print_sentence(console, "B − A: percentage points, with Newcombe's interval for pairs; p: McNemar's exact test")


def add_row(table: Table, name: str, figures: Contingency) -> None:
    """Add one attack to the table."""
    from discotext.experiment.report.side_by_side import format_p, format_points

    one, other = figures.accuracies
    difference = figures.difference
    table.add_row(
        name,
        percent(one),
        percent(other),
        format_points(difference),
        f"{format_points(difference.low)} to {format_points(difference.high)}",
        f"{figures.first:,}",
        f"{figures.second:,}",
        format_p(figures.p, ""),
    )
