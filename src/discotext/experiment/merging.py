"""Shards put together, and records turned into training data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from discotext.experiment.folder import RunFolder, read_records, read_settings
from discotext.experiment.metrics import succeeded, summaries
from discotext.experiment.work import Record


def merge(parts: Sequence[str | Path], out: str | Path) -> list[dict[str, Any]]:
    """Put the shards of one job together into the run that one machine would have made; returns its summaries."""
    if not parts:
        raise ValueError("there is nothing to merge; give the folders of the shards")
    settings = [read_settings(path) for path in parts]
    first = _without_shard(settings[0])
    shards: dict[int, str] = {}
    for path, one in zip(parts, settings, strict=True):
        other = _without_shard(one)
        differ = sorted(key for key in {*first, *other} if first.get(key) != other.get(key))
        if differ:
            raise ValueError(f"{path} is of another job than {parts[0]}: {differ[0]} differs; merge shards of one job")
        number, of = (int(half) for half in one.get("shard", "1/1").split("/"))
        if number in shards:
            raise ValueError(f"{path} is shard {number}/{of}, and so is {shards[number]}; give each once")
        shards[number] = str(path)
    count = int(settings[0].get("shard", "1/1").split("/")[1])
    missing = sorted({*range(1, count + 1)} - shards.keys())
    if missing:
        raise ValueError(f"shard {missing[0]}/{count} is missing; give all {count}")
    records = sorted((record for path in parts for record in read_records(path)), key=lambda one: one["unit"])
    expected = settings[0]["n"] * len(settings[0]["solvers"]) * len(settings[0]["budgets"])
    if len(records) != expected:
        raise ValueError(f"there are {len(records)} records of {expected}; run the shards to their end first")
    whole = {**settings[0], "shard": "1/1"}
    folder = RunFolder(out, whole, [len(records)])
    if folder.records_path.exists():
        raise ValueError(f"{out} holds records already; choose another folder")
    folder.append(records)
    found = summaries(whole, records, whole["seed"])
    folder.finish(found)
    return found


def _without_shard(settings: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if key != "shard"}


def augmented(run: str | Path) -> Iterator[tuple[str, str]]:
    """(text, label): every text of a run once, then every text that an attack turned, each with its true label."""
    names = read_settings(run)["labels"]
    seen: set[str] = set()
    turned: list[Record] = []
    for record in read_records(run):
        if record["text"] not in seen:
            seen.add(record["text"])
            yield record["text"], names[record["label"]]
        if succeeded(record):
            turned.append(record)
    for record in turned:
        if record["adversarial_text"] not in seen:
            seen.add(record["adversarial_text"])
            yield record["adversarial_text"], names[record["label"]]


def write_examples(rows: Sequence[tuple[str, str]], path: str | Path) -> None:
    """Write texts and labels in the format that the ending tells, ready for `train`."""
    import csv

    path = Path(path)
    if path.suffix == ".jsonl":
        lines = (json.dumps({"text": text, "label": label}, ensure_ascii=False) + "\n" for text, label in rows)
        path.write_text("".join(lines), encoding="utf-8")
    elif path.suffix in (".csv", ".tsv"):
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter="," if path.suffix == ".csv" else "\t")
            writer.writerows([("text", "label"), *rows])
    else:
        raise ValueError(f"{path} ends in {path.suffix!r}; examples are written to .jsonl, .csv and .tsv files")
