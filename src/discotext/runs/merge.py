"""Merging the shards of a run, and making training data of its records."""

from __future__ import annotations

import csv
import io
import json
import warnings
from collections.abc import Sequence
from pathlib import Path

from discotext.runs.certificate import take_back
from discotext.runs.folder import RunFolder, count_expected, load_settings, read_all, read_run
from discotext.runs.summary import Summary, summarise_run
from discotext.support.files import write_atomically

Rows = list[tuple[str, str]]
SEPARATORS = {".jsonl": "", ".csv": ",", ".tsv": "\t"}  # by the suffix of a file


def merge(parts: Sequence[str | Path], out: str | Path) -> list[Summary]:
    """Put the shards of one job together into the run that one machine would have made; returns its summaries."""
    if not parts:
        raise ValueError("there is nothing to merge; give the folders of the shards")
    runs = [read_run(path, empty=True) for path in parts]
    whole = {**runs[0].settings, "shard": "1/1"}
    for path, run in zip(parts, runs, strict=True):
        other = {**run.settings, "shard": "1/1"}
        differ = sorted(key for key in {*whole, *other} if whole.get(key) != other.get(key))
        if differ:
            raise ValueError(f"{path} is of another job than {parts[0]}: {differ[0]} differs; merge shards of one job")
    shards = [run.settings["shard"] for run in runs]
    count = shards[0].rpartition("/")[2]
    if set(shards) != {f"{number}/{count}" for number in range(1, len(runs) + 1)} or len(runs) != int(count):
        raise ValueError(
            f"{', '.join(map(str, parts))} are the shards {', '.join(shards)}; give each from 1/{count} to "
            f"{count}/{count} once"
        )
    for path, run in zip(parts, runs, strict=True):
        if len(run.records) != run.expected:
            there = f"{len(run.records):,} of {run.expected:,} records"
            raise ValueError(f"{path} has {there}; run the shards to their end first")
    records = take_back(sorted((record for run in runs for record in run.records), key=lambda one: one.unit))
    with RunFolder(out, whole) as folder:
        folder.write_all(records)
        found = summarise_run(whole, records)
        folder.finish(found)
    return found


def collect_examples(path: str | Path) -> tuple[Rows, Rows]:
    """(text, label) pairs: every text of a run once, and every flipped text with its true label, none of them twice.

    Labels are written as the data wrote them, so that old and new data can be trained on together.
    """
    settings = load_settings(path)
    names = [str(name) for name in settings.get("classes", settings["labels"])]
    found: list[tuple[int, str, str | None, str]] = []
    for record in read_all(path, settings):
        new = record.adversarial_text if record.succeeded else None
        found.append((record.id, record.text, new, names[record.label]))
    if len(found) < (expected := count_expected(settings)):
        warnings.warn(f"the run is not finished: {len(found):,} of {expected:,} records so far", stacklevel=2)
    found.sort(key=lambda one: one[0])  # the file has them in the order of the work
    texts: dict[str, str] = {}
    flipped: dict[str, str] = {}
    for _, text, new, label in found:
        texts.setdefault(text, label)
        if new is not None:
            flipped.setdefault(new, label)
    if not texts:
        raise ValueError(f"{path} has no records yet: records.jsonl is empty; has the run started?")
    return list(texts.items()), [(text, label) for text, label in flipped.items() if text not in texts]


def write_examples(rows: Sequence[tuple[str, str]], path: str | Path) -> None:
    """Write texts and labels in the format of the file's suffix, ready for `train`."""
    path = Path(path)
    check_suffix(path)
    text = io.StringIO()
    if path.suffix == ".jsonl":
        for one, label in rows:
            text.write(json.dumps({"text": one, "label": label}, ensure_ascii=False) + "\n")
    else:
        csv.writer(text, delimiter=SEPARATORS[path.suffix]).writerows([("text", "label"), *rows])
    write_atomically(path, text.getvalue())


def check_suffix(path: Path) -> None:
    """Raise ValueError if examples cannot be written to such a file."""
    if path.suffix not in SEPARATORS:
        raise ValueError(f"{path} ends in {path.suffix!r}; choose a .jsonl, .csv or .tsv file")
