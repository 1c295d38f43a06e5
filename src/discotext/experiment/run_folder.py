"""A run on disk: settings, and records that are only ever appended.

The files, in the order in which they are written:

    records.jsonl    empty at first, and locked: a second run in the folder would do, and write, the same
    surrogate.npz    what lends slopes to a victim without gradients, if that was learnt
    settings.json    what the run depends on; another job is refused
    records.jsonl    now one record a line, unit after unit, each line with a checksum of itself
    summary.json     what it all means, written at the end

The settings make the folder a run, and all that they speak of is there before them: without them, it counts as empty.
So a run can be killed at any moment and the same command resumes it. The records of a unit are written in one go. After
an interruption the records that are there are read and checked, and only then is an unfinished unit cut off, to be done
again; so at most the units in flight are lost, and a file that is damaged in any other way is left as it is.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from discotext.experiment.record import Record
from discotext.experiment.summary import Summary
from discotext.support.errors import describe_os_error
from discotext.support.files import describe_write_error, write_atomically

CHECKSUM = "sha256-16"  # the kind of checksum that settings name: the first 16 digits of a SHA-256
CHECKED = re.compile(rb', "check": "([0-9a-f]{16})"\}\n\Z')


def format_line(record: dict[str, Any]) -> bytes:
    """A record as a line whose last entry is a checksum of all before it."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    body = text.encode("utf-8", "surrogatepass")
    return body[:-1] + b', "check": "%s"}\n' % checksum(body).encode()


def has_checksum(line: bytes) -> bool:
    return CHECKED.search(line) is not None


def checksum(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:16]


def is_sound(line: bytes) -> bool:
    """Whether a line matches its checksum."""
    found = CHECKED.search(line)
    return found is not None and checksum(line[: found.start()] + b"}") == found[1].decode()


SETTINGS, RECORDS, SURROGATE = "settings.json", "records.jsonl", "surrogate.npz"


class RunFolder:
    """The folder of one run, held until it is closed. surrogate: the content of the file of that name, if any."""

    def __init__(self, path: str | Path, settings: dict[str, Any], surrogate: bytes | None = None) -> None:
        self.path = Path(path)
        check_folder(self.path)
        make_folder(self.path)
        try:
            # Without a buffer, so that nothing half written is left in one.
            self.file = self.records_path.open("a+b", buffering=0)
        except OSError as error:
            raise ValueError(describe_write_error(self.records_path, error)) from None
        try:
            if not lock(self.file):
                raise ValueError(
                    f"another run is using {self.path}; wait until it has finished, or choose another folder"
                )
            begun = self._match_settings(settings)
            if surrogate is not None and not (begun and (self.path / SURROGATE).exists()):
                write_atomically(self.path / SURROGATE, surrogate)
            if not begun:
                checked = {**settings, "check": settings_checksum(settings)}
                write_atomically(self.path / SETTINGS, json.dumps(checked, indent=2, ensure_ascii=False) + "\n")
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
        return self.path / RECORDS

    def _match_settings(self, settings: dict[str, Any]) -> bool:
        """Check that the folder has these settings; returns False if it has none yet."""
        begun = has_begun(self.path)
        if begun:
            before = read_settings(self.path)
            differ = [key for key in {**settings, **before} if before.get(key) != settings.get(key)]
            if "first_scores" in differ and _agree(before.get("first_scores"), settings.get("first_scores")):
                differ.remove("first_scores")
            if differ == ["first_scores"]:
                raise ValueError(
                    f"{self.path} holds a run with another victim: {settings['victim']} scores the first texts "
                    "differently now, so it has changed; choose another folder, or remove this one"
                )
            if differ:
                key = differ[0]
                raise ValueError(
                    f"{self.path} holds a run with other settings: {key} was {_short(before.get(key))} and is now "
                    f"{_short(settings.get(key))}; choose another folder, or remove this one"
                )
        return begun

    def is_empty(self) -> bool:
        """Whether nothing has been written yet."""
        return self.records_path.stat().st_size == 0

    def cut(self, lines: int) -> None:
        """Keep the first lines, which have been read and checked, and cut off what follows them."""
        at = 0
        with self.records_path.open("rb") as file:
            for _ in range(lines):
                at += len(file.readline())
        self.file.truncate(at)

    def append(self, records: Sequence[Record]) -> None:
        """Write the records of one unit, and see them on the disk."""
        self._write(b"".join(format_line(record.as_dict()) for record in records))

    def write_all(self, records: Sequence[Record]) -> None:
        """Write all records of a run; those that an earlier attempt at the same has written are not written again."""
        content = b"".join(format_line(record.as_dict()) for record in records)
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
                f"{self.records_path} cannot be written: {describe_os_error(error)}; earlier records are "
                "kept; free some space and run the same command again to resume"
            ) from None

    def finish(self, summaries: Sequence[Summary]) -> None:
        """Write the summaries."""
        lines = (json.dumps(summary.as_dict()) + "\n" for summary in summaries)
        write_atomically(self.path / "summary.json", "".join(lines))


def lock(file: BinaryIO) -> bool:
    """Lock a file until it is closed or the process ends; returns False if another process holds the lock."""
    try:
        fcntl = importlib.import_module("fcntl")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        pass  # some systems and some disks have no locks
    return True


def _agree(before: Any, now: Any) -> bool:
    """Whether two victims may be the same, by their scores of the first texts: one may have failed (None), or hung."""
    rows = isinstance(before, list) and isinstance(now, list) and len(before) == len(now)
    return rows and all(one == other for one, other in zip(before, now, strict=True) if None not in (one, other))


def check_folder(path: Path) -> None:
    """Raise ValueError if a run cannot go into a folder, as far as can be seen without writing."""
    if path.exists() and not path.is_dir():
        raise ValueError(f"{path} is a file; give a folder for the run")
    there = {file.name for file in path.iterdir()} if path.is_dir() else set()
    # What a run leaves that was killed before it had written its settings.
    left = {f"{SETTINGS}.new", f"{SURROGATE}.new"}
    if RECORDS in there and not (path / RECORDS).stat().st_size:
        left |= {RECORDS, SURROGATE}
    if there - left and SETTINGS not in there:
        raise ValueError(f"{path} is not empty and is not a run folder; choose another folder")
    nearest = next(one for one in (path, *path.absolute().parents) if one.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        trouble = "is not writable" if nearest.is_dir() else "is not a folder"
        raise ValueError(f"{path} cannot be created: {nearest} {trouble}; choose another place")


def has_begun(path: Path) -> bool:
    """Whether a folder holds a run."""
    return (path / SETTINGS).exists()


def make_folder(path: Path) -> None:
    """Make a folder; ValueError says why it cannot be made."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(describe_write_error(path, error)) from None


def read_settings(path: str | Path) -> dict[str, Any]:
    """The settings of the run in a folder; ValueError if there is none."""
    file = Path(path) / SETTINGS
    if not file.is_file():
        raise ValueError(f"{path} is not a run folder: it has no settings.json; give a folder that --out made")
    try:
        found: dict[str, Any] = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file} is not JSON: {_describe_json_error(error)}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{file} is not a run's settings; give a folder that --out made")
    check = found.pop("check", None)
    if check is not None and check != settings_checksum(found):
        raise ValueError(
            f"{file} has been changed (its checksum does not match); restore it from a copy, or run again in "
            "another folder"
        )
    return found


def settings_checksum(settings: dict[str, Any]) -> str:
    return checksum(json.dumps(settings, sort_keys=True).encode())


def read_lines(path: str | Path, with_checksums: bool = False) -> Iterator[Any]:
    """The lines of a run's records, one at a time, as JSON has them; a last line that was cut off is left out.

    with_checksums: whether a line without one is damaged; it is checked wherever there is one.
    """
    file = Path(path) / RECORDS
    if not file.is_file():
        raise ValueError(f"{path} has no records yet: there is no records.jsonl; has the run started?")
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                return
            if not is_sound(line) and (with_checksums or has_checksum(line)):
                raise ValueError(
                    f"{file}, line {number}: the line has been changed (its checksum does not match); restore the file "
                    "from a copy, or run again in another folder"
                )
            try:
                record = json.loads(line, parse_constant=_refuse_constant)
                if isinstance(record, dict):
                    record.pop("check", None)
                yield record
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{file}, line {number}: not a record: {_describe_json_error(error)}") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


def _describe_json_error(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start + 1} is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos + 1}"
    return str(error)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"
