"""discotext augment: training data from an attack."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="A .jsonl, .csv or .tsv file."
)
@click.option("--overwrite", is_flag=True, help="Replace a file that is there.")
def command(run: Path, out: Path, overwrite: bool) -> None:
    """Write a run's texts and the texts that turned the victim, with their true labels, as data to train on."""
    from discotext.experiment.merging import check_ending, texts_and_turned, write_examples

    check_ending(out)
    if out.exists() and not overwrite:
        raise ValueError(f"{out} is there already; choose another file, or --overwrite")
    texts, turned = texts_and_turned(run)
    write_examples(texts + turned, out)
    said = f"{len(texts):,} texts and {len(turned):,} that turned the victim, with their true labels, in {out}"
    click.echo(f"{said}; discotext train {out} learns from them", err=True)
