"""A run on disk: settings, and records that are only ever appended.

    settings.json    what the run depends on; another job is refused
    records.jsonl    one record a line, unit after unit, each line with a checksum of itself
    summary.json     what it all means, written at the end

A unit's records are written in one go. After an interruption the records that are there are read and checked, and only
then is a unit that was not finished cut off, to be done again; so a run can be killed at any moment and loses at most
the units in flight, and a file that is damaged in any other way is left as it is. While a run is at work, another is
kept out: both would do, and write, the same.
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

from discotext.experiment.lines import checksum, has_checksum, is_sound, line_of
from discotext.experiment.work import Record
from discotext.files import cannot_write, reason, write_whole

NAMES = ("settings.json", "records.jsonl", "summary.json")


class RunFolder:
    """The folder of one run, held until it is closed."""

    def __init__(self, path: str | Path, settings: dict[str, Any]) -> None:
        self.path = Path(path)
        look_at_folder(self.path)
        make_folder(self.path)
        try:
            # Without a buffer, so that nothing half written is left in one.
            self.file = self.records_path.open("a+b", buffering=0)
        except OSError as error:
            raise ValueError(cannot_write(self.records_path, error)) from None
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
        checked = {**settings, "check": settings_checksum(settings)}
        write_whole(there, json.dumps(checked, indent=2, ensure_ascii=False) + "\n")

    def cut(self, lines: int) -> None:
        """Keep the first lines, which have been read and checked, and cut off what follows them."""
        at = 0
        with self.records_path.open("rb") as file:
            for _ in range(lines):
                at += len(file.readline())
        self.file.truncate(at)

    def append(self, records: Sequence[Record]) -> None:
        """Write the records of one unit, and see them on the disk."""
        self._write(b"".join(map(line_of, records)))

    def write_all(self, records: Sequence[Record]) -> None:
        """Write all records of a run; those that an earlier attempt at the same has written are not written again."""
        content = b"".join(map(line_of, records))
        there = self.records_path.read_bytes()
        if not content.startswith(there):
            raise ValueError(f"{self.path} holds other records already; choose another folder")
        self._write(content[len(there) :])

    def _write(self, content: bytes) -> None:
        left = memoryview(content)
        before = self.file.seek(0, os.SEEK_END)
        try:
            while left:
                left = left[self.file.write(left) :]
            os.fsync(self.file.fileno())
        except OSError as error:
            with suppress(OSError):
                self.file.truncate(before)
            raise ValueError(
                f"{self.records_path} cannot be written: {reason(error)}; what was done before is kept: make room, and "
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
        raise ValueError(cannot_write(path, error)) from None


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
    check = found.pop("check", None)
    if check is not None and check != settings_checksum(found):
        raise ValueError(
            f"{file} is not what was written there (its checksum differs); restore it from a copy, or run again in "
            "another folder"
        )
    return found


def settings_checksum(settings: dict[str, Any]) -> str:
    return checksum(json.dumps(settings, sort_keys=True).encode())


def read_records(path: str | Path, with_checksums: bool = False) -> Iterator[Record]:
    """The records of a run, one at a time; a last line that was cut off is left out.

    with_checksums: whether a line without one is damaged; it is checked wherever there is one.
    """
    file = Path(path) / "records.jsonl"
    if not file.is_file():
        raise ValueError(f"{path} holds no records yet: there is no records.jsonl; has the run begun?")
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                return
            if not is_sound(line) and (with_checksums or has_checksum(line)):
                raise ValueError(
                    f"{file}, line {number}: it is not what was written there (its checksum differs); restore the file "
                    "from a copy, or run again in another folder"
                )
            try:
                record = json.loads(line, parse_constant=_no_number, object_pairs_hook=_same_keys)
                if isinstance(record, dict):
                    record.pop("check", None)
                yield record
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
