"""discotext check: is a victim fit to be attacked?"""

from __future__ import annotations

import json
import sys
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from discotext.cli.options import Count, data_options, trust_option

MARKS = {"fine": ("✓", "green"), "note": ("!", "yellow"), "wrong": ("✗", "red")}


@click.command()
@click.argument("victim")
@click.argument("data")
@click.option("--limit", default=200, show_default=True, type=Count(2), help="How many texts are looked at.")
@click.option("--seed", default=0, show_default=True, type=Count(0), help="Which texts.")
@data_options
@trust_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    victim: str,
    data: str,
    limit: int,
    seed: int,
    text_column: str | None,
    label_column: str | None,
    trust: bool,
    as_json: bool,
) -> None:
    """Tell whether a victim is fit to be attacked: accuracy, determinism, gradients, logits or probabilities.

    Ends with status 1 if something is wrong.
    """
    from discotext.experiment.given import look_for

    look_for(victim, data)
    from discotext.victims.check import check_victim
    from discotext.victims.loading import victim_and_data

    model, examples = victim_and_data(victim, data, (text_column, label_column), limit, seed, trust)
    with Console(stderr=True).status(f"asking about {len(examples)} texts"):
        findings = check_victim(model, examples, seed=seed)
    fit = not any(one.verdict == "wrong" for one in findings)
    if as_json:
        report: dict[str, Any] = {"victim": victim, "data": data, "n": len(examples), "fit": fit}
        report["findings"] = [{"name": one.name, "verdict": one.verdict, "says": one.says} for one in findings]
        sys.stdout.write(json.dumps(report, ensure_ascii=False) + "\n")
    else:
        console = Console(width=None if sys.stdout.isatty() else 160)
        table = Table(box=None, pad_edge=False, show_header=False)
        for one in findings:
            mark, colour = MARKS[one.verdict]
            table.add_row(Text(mark, style=colour), Text(one.name, style="bold"), Text(one.says))
        console.print(table)
        console.print("fit to be attacked" if fit else "not fit to be attacked: mend what is marked ✗ first")
    if not fit:
        raise SystemExit(1)
