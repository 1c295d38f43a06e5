"""discotext augment: training data from an attack."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="A .jsonl, .csv or .tsv file."
)
def command(run: Path, out: Path) -> None:
    """Write a run's texts and the texts that turned the victim, with their true labels, as data to train on."""
    from discotext.experiment.merging import augmented, write_examples

    rows = list(augmented(run))
    write_examples(rows, out)
    click.echo(f"{len(rows):,} texts with their true labels in {out}; discotext train {out} learns from them", err=True)
