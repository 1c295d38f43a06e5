"""Records of a run: one line per cell, search and text, append-only.

settings.json    settings of all records; a run with other settings is refused
sessions.jsonl   machine, versions and date of every start; a record names its session
records.jsonl    the records; the last one for a cell, search and text counts
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

Record = dict[str, Any]
Key = tuple[str, str, int]


def key(record: Record) -> Key:
    return record["cell"], record["search"], record["id"]


class Folder:
    """The folder of a run, ignored by version control."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def begin(self, settings: dict[str, Any]) -> None:
        """Create the folder, or resume one with the same settings."""
        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / ".gitignore").write_text("*\n")
        there = self.path / "settings.json"
        if there.exists():
            before = json.loads(there.read_text())
            differ = [name for name in {**settings, **before} if before.get(name) != settings.get(name)]
            if differ:
                name = differ[0]
                raise ValueError(
                    f"{self.path} holds a run whose {name} is {before.get(name)}, not {settings.get(name)}; "
                    "choose another folder with --out"
                )
        else:
            there.write_text(json.dumps(settings, indent=2) + "\n")

    def begin_session(self, session: dict[str, Any]) -> int:
        """Record machine and versions for the following records; returns the number of the session."""
        number = len(self._lines("sessions.jsonl"))
        self._append("sessions.jsonl", [session])
        return number

    @property
    def settings(self) -> dict[str, Any]:
        there = self.path / "settings.json"
        if not there.is_file():
            raise ValueError(f"{self.path} holds no run; start one with python -m benchmarks.peers --out {self.path}")
        found: dict[str, Any] = json.loads(there.read_text())
        return found

    def sessions(self) -> list[Record]:
        return self._lines("sessions.jsonl")

    def records(self) -> dict[Key, Record]:
        return {key(record): record for record in self._lines("records.jsonl")}

    def append(self, records: Iterable[Record]) -> None:
        self._append("records.jsonl", records)

    def drop(self, cells: Collection[str], searches: Collection[str]) -> int:
        """Discard the records of these searches in these cells; returns their number."""
        kept, dropped = [], 0
        for record in self._lines("records.jsonl"):
            gone = record["cell"] in cells and record["search"] in searches
            dropped += gone
            if not gone:
                kept.append(record)
        new = self.path / "records.jsonl.new"
        new.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in kept), encoding="utf-8")
        os.replace(new, self.path / "records.jsonl")
        return dropped

    def _append(self, name: str, records: Iterable[Record]) -> None:
        """Append in one write and sync. A line truncated by a crash is ended first; it is skipped when read."""
        text = "".join(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in records)
        with (self.path / name).open("a+b") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    file.write(b"\n")
            file.write(text.encode("utf-8", "surrogatepass"))
            file.flush()
            os.fsync(file.fileno())

    def _lines(self, name: str) -> list[Record]:
        path = self.path / name
        found = []
        for line in path.read_bytes().split(b"\n") if path.exists() else []:
            try:
                found.append(json.loads(line))
            except (json.JSONDecodeError, UnicodeDecodeError):
                continue  # truncated
        return found
