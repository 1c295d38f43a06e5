"""discotext merge: shards into one run."""

from __future__ import annotations

from pathlib import Path

import click

from discotext.cli.figures import print_summary
from discotext.cli.help import GroupedCommand, argument, option
from discotext.cli.options import RUN_FOLDER


@click.command(cls=GroupedCommand)
@argument(
    "runs", "The folders of all shards, written with --shard and --out.", nargs=-1, required=True, type=RUN_FOLDER
)
@option("--out", section="Output", required=True, type=RUN_FOLDER, metavar="FOLDER", help="Folder for the merged run.")
def command(runs: tuple[Path, ...], out: Path) -> None:
    """Merge the shards of an attack into one run.

    The result is the same as that of a run without --shard.

    \b
    Examples:
      discotext attack victim movie_reviews --shard 1/2 --out part1
      discotext attack victim movie_reviews --shard 2/2 --out part2
      discotext merge part1 part2 --out run
    """
    from discotext.runs.merge import merge

    for summary in merge(runs, out):
        print_summary(summary)
