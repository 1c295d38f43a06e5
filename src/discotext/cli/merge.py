"""discotext merge: shards into one run."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The folder of the whole run.")
def command(runs: tuple[Path, ...], out: Path) -> None:
    """Put the shards of one attack together into one run."""
    from discotext.cli.attacking import show
    from discotext.experiment.merging import merge

    for summary in merge(runs, out):
        show(summary)
