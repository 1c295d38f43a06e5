"""discotext compare: several solvers on the same texts, candidates and budget."""

from __future__ import annotations

from typing import Any

import click

from discotext.cli.attacking import attack_options, attacked


@click.command()
@click.argument("victim")
@click.argument("data")
@click.option("--solver", "solvers", multiple=True, required=True, help="How to search; repeatable.")
@attack_options
def command(victim: str, data: str, solvers: tuple[str, ...], **options: Any) -> None:
    """Compare solvers on the same texts, candidates and budget, in one table."""
    attacked(victim, data, solvers, options)
