"""discotext check: is a victim fit to be attacked?"""

from __future__ import annotations

from typing import Any

import click

from discotext.cli import options as shared
from discotext.cli.help import Count, GroupedCommand, data_option
from discotext.cli.output import make_console, make_table, write_json

MARKS = {"fine": ("✓", "green"), "note": ("!", "yellow"), "wrong": ("✗", "red")}


@click.command(cls=GroupedCommand)
@shared.victim_argument
@shared.data_argument("test")
@data_option("--limit", default=200, type=Count(2), help="Number of texts to check on.")
@shared.seed_option("Data")
@shared.reading_options
@shared.json_option("one JSON object instead of a table")
def command(victim: str, data: str, limit: int, seed: int, as_json: bool, **options: Any) -> None:
    """Check whether a classifier is fit to be attacked.

    Checks accuracy, the order of the labels, determinism, batching, scores (logits or probabilities), truncation,
    unknown words and gradients. Exits with status 1 if something is wrong.

    \b
    Examples:
      discotext check victim movie_reviews
      discotext check sklearn:model.skops reviews.csv --limit 500
      discotext check py:model.py:scores reviews.jsonl --json
    """
    model = shared.load_named(victim, options, data)
    from rich.text import Text

    from discotext.victims.check import check_victim
    from discotext.victims.examples import load_examples

    examples = load_examples(model, data, shared.pop_columns(options), limit, seed)
    with make_console(stderr=True).status(f"checking on {len(examples)} texts"):
        findings = check_victim(model, examples, seed=seed)
    fit = not any(one.verdict == "wrong" for one in findings)
    if as_json:
        report: dict[str, Any] = {"victim": victim, "data": data, "n": len(examples), "fit": fit}
        report["findings"] = [{"name": one.name, "verdict": one.verdict, "says": one.says} for one in findings]
        write_json(report)
    else:
        console = make_console()
        table = make_table()
        table.show_header = False
        for one in findings:
            mark, colour = MARKS[one.verdict]
            table.add_row(Text(mark, style=colour), Text(one.name, style="bold"), Text(one.says))
        console.print(table)
        console.print("fit to be attacked" if fit else "not fit to be attacked: fix what is marked ✗ first")
    if not fit:
        raise SystemExit(1)
