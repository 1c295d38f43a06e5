"""discotext compare: several solvers on the same texts, candidates and budget."""

from __future__ import annotations

from typing import Any

import click

from discotext.cli.attack import run_attack
from discotext.cli.help import GroupedCommand
from discotext.cli.options import attack_options, data_argument, solver_option, victim_argument


@click.command(cls=GroupedCommand)
@victim_argument
@data_argument("test")
@solver_option("solvers", text="Search method. Repeatable. One of", multiple=True, required=True)
@attack_options
def command(victim: str, data: str, solvers: tuple[str, ...], **options: Any) -> None:
    """Compare solvers on the same texts, candidates and budgets.

    Prints one table per budget, and McNemar's test of the first solver against each of the others.

    \b
    Examples:
      discotext compare victim movie_reviews --solver disco --solver greedy
      discotext compare victim trec --solver greedy --solver exact --words 2
      discotext compare victim trec --solver disco --solver beam --out run
    """
    run_attack(victim, data, solvers, options)
