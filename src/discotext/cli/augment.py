"""discotext augment: training data from an attack."""

from __future__ import annotations

from pathlib import Path

import click

from discotext.cli.help import GroupedCommand, argument, option
from discotext.cli.options import OUTPUT_FILE, RUN_FOLDER


@click.command(cls=GroupedCommand)
@argument("run", "A folder written by attack, compare or merge.", type=RUN_FOLDER)
@option("--out", section="Output", required=True, type=OUTPUT_FILE, metavar="FILE", help="A .jsonl, .csv or .tsv file.")
@option("--overwrite", section="Output", is_flag=True, help="Replace an existing file.")
def command(run: Path, out: Path, overwrite: bool) -> None:
    """Write a run's texts and its successful attacks as training data.

    Every text has its true label, so that a classifier can be trained on the file to become more robust.

    \b
    Examples:
      discotext augment run --out more.jsonl
      discotext train more.jsonl --out hardened
    """
    from discotext.runs.merge import check_suffix, collect_examples, write_examples

    check_suffix(out)
    if out.exists() and not overwrite:
        raise ValueError(f"{out} already exists; choose another file or use --overwrite")
    texts, flipped = collect_examples(run)
    write_examples(texts + flipped, out)
    click.echo(
        f"wrote {len(texts):,} texts and {len(flipped):,} successful attacks, with their true labels, to {out}; train "
        f"on them with `discotext train {out}`",
        err=True,
    )
