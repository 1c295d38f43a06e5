"""discotext certify: what accuracy is proved to survive every attack, and what an attack leaves?"""

from __future__ import annotations

from typing import Any

import click

from discotext.cli.attack import run_attack
from discotext.cli.help import Count, GroupedCommand, option
from discotext.cli.options import attack_options, data_argument, solver_option, victim_argument


@click.command(cls=GroupedCommand)
@victim_argument
@data_argument("test")
@solver_option(text="Search method of the attack", default="auto")
@option(
    "--passes",
    section="Proof",
    type=Count(1),
    metavar="N",
    default=1000,
    help="Passes of the model, bounds included, that may be spent to prove a text. What needs more stays open.",
)
@attack_options
def command(victim: str, data: str, solver: str, **options: Any) -> None:
    """Certify a classifier: what accuracy is proved to survive, whatever words are exchanged?

    Prints a bracket for each budget: at least the certified accuracy survives (proved), at most the attacked accuracy
    does (shown by flipped texts). Several budgets are answered by one run.

    Bounds are used for scikit-learn pipelines that are linear after a word vectoriser, and for the models dan and wcnn
    of `discotext train`. For any other victim, all choices are tried where that takes at most --passes.

    \b
    Examples:
      discotext certify sklearn:model.skops reviews.csv --words 1 --words 2
      discotext certify victim movie_reviews --budget 0.1 --limit 200 --out run
      discotext certify py:model.py:scores data.csv --words 1 --passes 200
    """
    run_attack(victim, data, [solver], options)
