"""A run on disk: settings, and records that are only ever appended.

    settings.json    what the run depends on; another job is refused
    records.jsonl    one record a line, unit after unit
    summary.json     what it all means, written at the end

A unit's records are written in one go. After an interruption, whatever follows the last whole unit is cut off and done
again; so a run can be killed at any moment and loses at most the unit in flight.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from discotext.experiment.work import Record

NAMES = ("settings.json", "records.jsonl", "summary.json")


class RunFolder:
    """The folder of one run. sizes: how many records each unit has, in order."""

    def __init__(self, path: str | Path, settings: dict[str, Any], sizes: Sequence[int]) -> None:
        self.path, self.sizes = Path(path), list(sizes)
        self._open(settings)

    @property
    def records_path(self) -> Path:
        return self.path / "records.jsonl"

    def _open(self, settings: dict[str, Any]) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(f"{self.path} is a file; give a folder for the run")
        there = self.path / "settings.json"
        if there.exists():
            before = read_settings(self.path)
            differ = [key for key in {**settings, **before} if before.get(key) != settings.get(key)]
            if differ:
                key = differ[0]
                raise ValueError(
                    f"{self.path} holds a run with other settings: {key} was {_short(before.get(key))} and is now "
                    f"{_short(settings.get(key))}; choose another folder, or remove this one"
                )
            return
        if self.path.is_dir() and any(self.path.iterdir()):
            raise ValueError(f"{self.path} is not empty and holds no run; choose another folder")
        self.path.mkdir(parents=True, exist_ok=True)
        write_whole(there, json.dumps(settings, indent=2, ensure_ascii=False) + "\n")

    def resume(self) -> int:
        """How many units are done; what was written beyond them is cut off."""
        if not self.records_path.exists():
            return 0
        with self.records_path.open("r+b") as file:
            units = lines = whole = at = 0
            for line in file:
                at += len(line)
                if not line.endswith(b"\n") or units == len(self.sizes):
                    break
                lines += 1
                if lines == self.sizes[units]:
                    units, lines, whole = units + 1, 0, at
            file.truncate(whole)
            return units

    def records(self) -> list[Record]:
        """What is written."""
        return list(read_records(self.path)) if self.records_path.exists() else []

    def append(self, records: Sequence[Record]) -> None:
        """Write the records of one unit, and see them on the disk."""
        text = "".join(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in records)
        with self.records_path.open("ab") as file:
            file.write(text.encode("utf-8", "surrogatepass"))
            file.flush()
            os.fsync(file.fileno())

    def finish(self, summaries: Sequence[dict[str, Any]]) -> None:
        """Write what the run means."""
        write_whole(self.path / "summary.json", "".join(json.dumps(one) + "\n" for one in summaries))


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, path)


def read_settings(path: str | Path) -> dict[str, Any]:
    """The settings of a run, or a sentence that there is none."""
    file = Path(path) / "settings.json"
    if not file.is_file():
        raise ValueError(f"{path} holds no run: there is no settings.json; give a folder that --out made")
    try:
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{file} is not JSON: {error}") from None
    return found


def read_records(path: str | Path) -> Iterator[Record]:
    """The records of a run, one at a time; a last line that was cut off is left out."""
    file = Path(path) / "records.jsonl"
    if not file.is_file():
        raise ValueError(f"{path} holds no records yet: there is no records.jsonl; has the run begun?")
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                yield json.loads(line)
            except (json.JSONDecodeError, UnicodeDecodeError) as error:
                raise ValueError(f"{file}, line {number}: not a record: {error}") from None


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"
