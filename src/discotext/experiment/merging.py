"""Shards put together, and records turned into training data."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discotext.experiment.folder import RunFolder
from discotext.experiment.metrics import succeeded, summaries
from discotext.experiment.report.reading import all_records, checked_settings, read_run
from discotext.files import write_whole

Rows = list[tuple[str, str]]
WRITTEN = {".jsonl": "", ".csv": ",", ".tsv": "\t"}  # endings, and what is between fields


def merge(parts: Sequence[str | Path], out: str | Path) -> list[dict[str, Any]]:
    """Put the shards of one job together into the run that one machine would have made; returns its summaries."""
    if not parts:
        raise ValueError("there is nothing to merge; give the folders of the shards")
    runs = [read_run(path, empty=True) for path in parts]
    settings = [run.settings for run in runs]
    first = _without_shard(settings[0])
    count = int(settings[0]["shard"].split("/")[1])
    shards: dict[int, str] = {}
    for path, one in zip(parts, settings, strict=True):
        other = _without_shard(one)
        differ = sorted(key for key in {*first, *other} if first.get(key) != other.get(key))
        if differ:
            raise ValueError(f"{path} is of another job than {parts[0]}: {differ[0]} differs; merge shards of one job")
        number, of = map(int, one["shard"].split("/"))
        if number in shards:
            raise ValueError(f"{path} is shard {number}/{of}, and so is {shards[number]}; give each once")
        shards[number] = str(path)
        if number > of or of != count:
            raise ValueError(f"{path} is shard {number}/{of}, but {parts[0]} is one of {count}; give shards of one job")
    # Counted up, for a damaged folder may say that it is one of a thousand million.
    missing = next((number for number in range(1, count + 1) if number not in shards), None)
    if missing is not None:
        raise ValueError(f"shard {missing}/{count} is missing; give all {count}")
    for path, run in zip(parts, runs, strict=True):
        if len(run.records) != run.expected:
            there = f"{len(run.records):,} of {run.expected:,} records"
            raise ValueError(f"{path} has {there}; run the shards to their end first")
    records = sorted((record for run in runs for record in run.records), key=lambda one: int(one.get("unit", 0)))
    whole = {**settings[0], "shard": "1/1"}
    with RunFolder(out, whole) as folder:
        folder.write_all(records)
        found = summaries(whole, records)
        folder.finish(found)
    return found


def _without_shard(settings: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if key != "shard"}


def augmented(path: str | Path) -> Rows:
    """(text, label): every text of a run once, then every text that an attack turned, each with its true label."""
    texts, turned = texts_and_turned(path)
    return texts + turned


def texts_and_turned(path: str | Path) -> tuple[Rows, Rows]:
    """The texts of a run, and those that turned the victim, none of them twice.

    Labels are written as the data wrote them, so that old and new data can be learnt from together.
    """
    settings = checked_settings(path)
    names = [str(name) for name in settings.get("classes", settings["labels"])]
    found: list[tuple[int, str, str | None, str]] = []
    for record in all_records(path, settings):
        new = record["adversarial_text"] if succeeded(record) else None
        found.append((record["id"], record["text"], new, names[record["label"]]))
    found.sort(key=lambda one: one[0])  # the file has them as they were done
    texts: dict[str, str] = {}
    turned: dict[str, str] = {}
    for _, text, new, label in found:
        texts.setdefault(text, label)
        if new is not None:
            turned.setdefault(new, label)
    if not texts:
        raise ValueError(f"{path} holds no records yet: records.jsonl is empty; has the run begun?")
    return list(texts.items()), [(text, label) for text, label in turned.items() if text not in texts]


def write_examples(rows: Sequence[tuple[str, str]], path: str | Path) -> None:
    """Write texts and labels in the format that the ending tells, ready for `train`."""
    path = Path(path)
    check_ending(path)
    text = io.StringIO()
    if path.suffix == ".jsonl":
        for one, label in rows:
            text.write(json.dumps({"text": one, "label": label}, ensure_ascii=False) + "\n")
    else:
        csv.writer(text, delimiter=WRITTEN[path.suffix]).writerows([("text", "label"), *rows])
    write_whole(path, text.getvalue())


def check_ending(path: Path) -> None:
    """Say that examples cannot be written to such a file."""
    if path.suffix not in WRITTEN:
        raise ValueError(f"{path} ends in {path.suffix!r}; examples are written to .jsonl, .csv and .tsv files")
