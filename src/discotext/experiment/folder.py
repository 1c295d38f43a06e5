"""A run on disk: settings, and records that are only ever appended.

    settings.json    what the run depends on; another job is refused
    records.jsonl    one record a line, unit after unit
    summary.json     what it all means, written at the end

A unit's records are written in one go. After an interruption, whatever follows the last whole unit is cut off and done
again; so a run can be killed at any moment and loses at most the units in flight. While a run is at it, another is kept
out: both would do, and write, the same.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from discotext.experiment.work import Record

NAMES = ("settings.json", "records.jsonl", "summary.json")


class RunFolder:
    """The folder of one run, held until it is closed. sizes: how many records each unit has, in order."""

    def __init__(self, path: str | Path, settings: dict[str, Any], sizes: Sequence[int]) -> None:
        self.path, self.sizes = Path(path), list(sizes)
        look_at_folder(self.path)
        make_folder(self.path)
        try:
            # Without a buffer, so that nothing half written is left in one.
            self.file = self.records_path.open("a+b", buffering=0)
        except OSError as error:
            raise ValueError(_cannot(self.records_path, error)) from None
        try:
            if not hold(self.file):
                raise ValueError(
                    f"another run is at work in {self.path}; wait until it is done, or choose another folder"
                )
            self._settle(settings)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self.file.close()

    @property
    def records_path(self) -> Path:
        return self.path / "records.jsonl"

    def _settle(self, settings: dict[str, Any]) -> None:
        """See that these are the settings of the folder, or make them so."""
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
        write_whole(there, json.dumps(settings, indent=2, ensure_ascii=False) + "\n")

    def resume(self) -> int:
        """How many units are done; what was written beyond them is cut off."""
        units = lines = whole = at = 0
        with self.records_path.open("rb") as file:
            for line in file:
                at += len(line)
                if not line.endswith(b"\n") or units == len(self.sizes):
                    break
                lines += 1
                if lines == self.sizes[units]:
                    units, lines, whole = units + 1, 0, at
        self.file.truncate(whole)
        return units

    def append(self, records: Sequence[Record]) -> None:
        """Write the records of one unit, and see them on the disk."""
        text = "".join(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in records)
        left = memoryview(text.encode("utf-8", "surrogatepass"))
        before = self.file.seek(0, os.SEEK_END)
        try:
            while left:
                left = left[self.file.write(left) :]
            os.fsync(self.file.fileno())
        except OSError as error:
            with suppress(OSError):
                self.file.truncate(before)
            raise ValueError(
                f"{self.records_path} cannot be written: {_said(error)}; what was done before is kept: make room, and "
                "the same goes on where it stopped"
            ) from None

    def finish(self, summaries: Sequence[dict[str, Any]]) -> None:
        """Write what the run means."""
        write_whole(self.path / "summary.json", "".join(json.dumps(one) + "\n" for one in summaries))


def hold(file: BinaryIO) -> bool:
    """Keep others out of a file until it is closed, or the process ends; whether nobody else does so already."""
    try:
        fcntl = importlib.import_module("fcntl")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        pass  # some systems and some disks have no locks
    return True


def look_at_folder(path: Path) -> None:
    """Say that a run cannot go into a folder, as far as can be seen without writing."""
    if path.exists() and not path.is_dir():
        raise ValueError(f"{path} is a file; give a folder for the run")
    # A run that was killed as it began may have left half of its settings, or only the file for its records.
    there = {file.name for file in path.iterdir()} - {"settings.json.new"} if path.is_dir() else set()
    if there == {"records.jsonl"} and not (path / "records.jsonl").stat().st_size:
        there = set()
    if there and "settings.json" not in there:
        raise ValueError(f"{path} is not empty and holds no run; choose another folder")
    nearest = next(one for one in (path, *path.absolute().parents) if one.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        trouble = "may not be written to" if nearest.is_dir() else "is no folder"
        raise ValueError(f"{path} cannot be made: {nearest} {trouble}; choose another place")


def make_folder(path: Path) -> None:
    """Make a folder, or say in a sentence why not."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(_cannot(path, error)) from None


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all."""
    new = path.with_name(path.name + ".new")
    try:
        new.write_text(text, encoding="utf-8", newline="")
        os.replace(new, path)
    except OSError as error:
        raise ValueError(_cannot(path, error)) from None


def _cannot(path: Path, error: OSError) -> str:
    return f"{path} cannot be written: {_said(error)}; choose a place that you may write to and that has room"


def _said(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def read_settings(path: str | Path) -> dict[str, Any]:
    """The settings of a run, or a sentence that there is none."""
    file = Path(path) / "settings.json"
    if not file.is_file():
        raise ValueError(f"{path} holds no run: there is no settings.json; give a folder that --out made")
    try:
        found: dict[str, Any] = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file} is not JSON: {_json_trouble(error)}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{file} holds no settings of a run; give a folder that --out made")
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
                yield json.loads(line, parse_constant=_no_number, object_pairs_hook=_same_keys)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{file}, line {number}: not a record: {_json_trouble(error)}") from None


def _same_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are the same strings in every line: its own would be the larger half of a record."""
    return {sys.intern(key): value for key, value in pairs}


def _no_number(name: str) -> None:
    raise ValueError(f"there is {name}, which is no number")


def _json_trouble(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start + 1} is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos + 1}"
    return str(error)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"
