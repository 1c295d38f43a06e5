"""A run on disk: settings, and records that are only ever appended; how it is written, resumed, read and checked.

The files, in the order in which they are written:

    records.jsonl    empty at first, and locked: a second run in the folder would do, and write, the same
    surrogate.npz    what gives gradients for a victim without any, if that was learnt
    settings.json    what the run depends on; another job is refused
    records.jsonl    now one record a line, unit after unit, each line with a checksum of itself
    summary.json     what it all means, written at the end

The settings make the folder a run, and all that they speak of is there before them: without them, it counts as empty.
So a run can be killed at any moment and the same command resumes it. The records of a unit are written in one go. After
an interruption the records that are there are read and checked, and only then is an unfinished unit cut off, to be done
again; so at most the units in flight are lost, and a file that is damaged in any other way is left as it is.

A folder may be half written, edited by hand, or of another program altogether. Here that ends in one sentence; further
on it would end in a wrong page. So whatever is read is checked, and whatever comes after can trust it.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from discotext.runs.certificate import Certificate, make_certificates, take_back
from discotext.runs.record import LARGEST, Record
from discotext.runs.summary import Summary, list_classes, summarise_run
from discotext.support.files import describe_write_error, write_atomically
from discotext.support.plain_text import describe_os_error, shorten

SETTINGS, RECORDS, SURROGATE = "settings.json", "records.jsonl", "surrogate.npz"
CHECKSUM = "sha256-16"  # the kind of checksum that settings name: the first 16 digits of a SHA-256
CHECKED = re.compile(rb', "check": "([0-9a-f]{16})"\}\n\Z')
LEVEL = r"[01]|0\.[0-9]{1,99}|[0-9]E-[0-9]{1,9}"
SHARE = r"[01]|[01]?\.[0-9]{1,99}|[0-9](\.[0-9]{1,99})?e-[0-9]{1,18}"
BUDGET = re.compile(rf"([0-9]{{1,18}} words|{SHARE})(, accept ({LEVEL}))?")
SHARD = re.compile(r"[1-9][0-9]{0,8}/[1-9][0-9]{0,8}")


def checksum(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:16]


def format_line(record: dict[str, Any]) -> bytes:
    """A record as a line whose last entry is a checksum of all before it."""
    body = json.dumps(record, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass")
    return body[:-1] + b', "check": "%s"}\n' % checksum(body).encode()


def is_sound(line: bytes) -> bool:
    """Whether a line matches its checksum."""
    found = CHECKED.search(line)
    return found is not None and checksum(line[: found.start()] + b"}") == found[1].decode()


class RunFolder:
    """The folder of one run, held until it is closed. surrogate: the content of the file of that name, if any."""

    def __init__(self, path: str | Path, settings: dict[str, Any], surrogate: bytes | None = None) -> None:
        self.path = Path(path)
        self.records_path = self.path / RECORDS
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
            begun = has_begun(self.path)
            if begun:
                self._match_settings(settings)
            if surrogate is not None and not (begun and (self.path / SURROGATE).exists()):
                write_atomically(self.path / SURROGATE, surrogate)
            if not begun:
                checked = {**settings, "check": settings_checksum(settings)}
                write_atomically(self.path / SETTINGS, json.dumps(checked, indent=2, ensure_ascii=False) + "\n")
        except BaseException:
            self.file.close()
            raise

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *error: object) -> None:
        self.file.close()

    def _match_settings(self, settings: dict[str, Any]) -> None:
        """Check that the run in the folder has these settings."""
        before = read_settings(self.path)
        differ = [key for key in {**settings, **before} if before.get(key) != settings.get(key)]
        if "first_scores" in differ and _agree(before.get("first_scores"), settings.get("first_scores")):
            differ.remove("first_scores")
        if not differ:
            return
        if differ == ["first_scores"]:
            said = f"another victim: {settings['victim']} scores the first texts differently now, so it has changed"
        else:
            was, now = (shorten(json.dumps(one.get(differ[0]), ensure_ascii=False), 60) for one in (before, settings))
            said = f"other settings: {differ[0]} was {was} and is now {now}"
        raise ValueError(f"{self.path} holds a run with {said}; choose another folder, or remove this one")

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


def settings_checksum(settings: dict[str, Any]) -> str:
    return checksum(json.dumps(settings, sort_keys=True).encode())


def read_settings(path: str | Path) -> dict[str, Any]:
    """The settings of the run in a folder, not yet checked; ValueError if there is none."""
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


def load_settings(path: str | Path) -> dict[str, Any]:
    """The settings of the run in a folder, checked."""
    settings = read_settings(path)
    wrong = next((key for key, good in _check_settings(settings).items() if not good), None)
    if wrong is not None:
        trouble = f"{wrong!r} is {str(settings[wrong])[:40]!r}" if wrong in settings else f"there is no {wrong!r}"
        where = Path(path) / SETTINGS
        raise ValueError(f"{where} is not the settings of a run: {trouble}; give a folder that --out made")
    return settings


def _check_settings(settings: dict[str, Any]) -> dict[str, bool]:
    """Whether each setting is what it must be."""

    def is_whole(value: Any, least: int, limit: int) -> bool:
        return type(value) is int and least <= value < limit

    labels, solvers, proof = settings.get("labels"), settings.get("solvers"), settings.get("certify")
    called = settings.get("classes", labels)  # what the data calls the classes
    classes = len(labels) if isinstance(labels, list) else 0
    candidates, surrogate = (settings.get(key, {}) for key in ("candidates", "surrogate"))
    return {
        **{key: isinstance(settings.get(key), str) for key in ("version", "victim", "data")},
        "labels": classes > 0,
        "classes": isinstance(called, list) and len(called) == classes,
        "solvers": isinstance(solvers, dict) and bool(solvers),
        "budgets": _are_budgets(settings.get("budgets")),
        "n": is_whole(settings.get("n"), 0, LARGEST),
        "seed": is_whole(settings.get("seed"), 0, LARGEST),
        "chunk": is_whole(settings.get("chunk"), 1, LARGEST),
        "shard": SHARD.fullmatch(str(settings.get("shard"))) is not None,
        "target": settings.get("target") is None or is_whole(settings["target"], 0, classes),
        "candidates": isinstance(candidates, dict) and isinstance(candidates.get("accept"), int | float | None),
        "surrogate": isinstance(surrogate, dict) and isinstance(surrogate.get("queries"), int | None),
        "certify": proof is None
        or (isinstance(proof, dict) and isinstance(proof.get("passes"), int) and _are_budgets(proof.get("budgets"))),
    }


def _are_budgets(given: Any) -> bool:
    texts = isinstance(given, list) and all(isinstance(one, str) and BUDGET.fullmatch(one) for one in given)
    return texts and 0 < len(given) == len(set(given))


def count_expected(settings: dict[str, Any]) -> int:
    """How many records a finished run has: texts of this shard, times budgets, times solvers."""
    part, parts = map(int, settings["shard"].split("/"))
    n, chunk = int(settings["n"]), int(settings["chunk"])
    chunks = -(-n // chunk)
    mine = max(0, -(-(chunks - part + 1) // parts))
    # All chunks are full but the last of all, if it is ours.
    texts = mine * chunk - (chunks * chunk - n if mine and (chunks - part) % parts == 0 else 0)
    return texts * len(settings["budgets"]) * len(settings["solvers"])


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
            if not is_sound(line) and (with_checksums or CHECKED.search(line)):
                raise ValueError(
                    f"{file}, line {number}: the line has been changed (its checksum does not match); restore the file "
                    "from a copy, or run again in another folder"
                )
            try:
                record = json.loads(line, parse_constant=_refuse_constant)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{file}, line {number}: not a record: {_describe_json_error(error)}") from None
            if isinstance(record, dict):
                record.pop("check", None)
            yield record


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


def _describe_json_error(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start + 1} is not UTF-8"
    return f"{error.msg} at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else str(error)


def read_records(path: str | Path, settings: dict[str, Any]) -> Iterator[Record]:
    """The records of a run, one at a time, each checked; ValueError names the first line that is wrong."""
    seen = set()
    for number, raw in enumerate(read_lines(path, settings.get("checksum") == CHECKSUM), start=1):
        try:
            record = Record.from_dict(raw)
            check_record(record, settings)
            # As numbers, for every record has strings of its own, which would all be kept.
            budget = str(record.run_budget)
            which = record.id, list(settings["solvers"]).index(record.solver), settings["budgets"].index(budget)
            if which in seen:
                raise ValueError(f"text {record.id} has a record of {record.solver} under {budget} already")
            seen.add(which)
        except ValueError as error:
            where = f"{Path(path) / RECORDS}, line {number}"
            raise ValueError(f"{where}: not a record of this run: {error}") from None
        yield record


def check_record(record: Record, settings: dict[str, Any]) -> None:
    """Raise ValueError if a record contradicts itself or the settings of its run."""
    for key, value, known in (
        ("solver", record.solver, settings["solvers"]),
        ("budget", str(record.run_budget), settings["budgets"]),
    ):
        if value not in known:
            raise ValueError(f"its {key} {value[:40]!r} is not one of the run's")
    classes = len(settings["labels"])
    for key, number in (
        ("label", record.label),
        ("predicted", record.predicted),
        ("adversarial_predicted", record.adversarial_predicted),
    ):
        if number is not None and not 0 <= number < classes:
            raise ValueError(f"{key!r} is {number}, but there are {classes} classes")
    if record.space is not None and not 0 < len(record.space.encode("utf-8", "surrogatepass")) <= 16:
        raise ValueError(f"'space' is {record.space[:40]!r}, expected 16 digits")
    for change in record.changes:
        if record.text[change.start : change.end] != change.old or change.position >= record.words:
            raise ValueError(f"{change.old[:40]!r} is not in the text where its change says")
    if record.succeeded and not record.changes:
        raise ValueError("it was flipped without a change")
    if record.succeeded and record.adversarial_predicted in (None, record.label):
        raise ValueError("it is a success, but its last prediction is not a flipped label")


def read_all(path: str | Path, settings: dict[str, Any]) -> Iterator[Record]:
    """The records of a run; ValueError if it had finished and some are missing."""
    count, expected = 0, count_expected(settings)
    for record in read_records(path, settings):
        count += 1
        yield record
    if count < expected and (Path(path) / "summary.json").exists():
        raise ValueError(
            f"{Path(path) / RECORDS} has {count:,} of {expected:,} records, though the run had finished: lines are "
            "missing; restore the file from a copy, or run the same command again"
        )


@dataclass(frozen=True)
class Run:
    """Settings and records of a run, and what they say together."""

    settings: dict[str, Any] = field(repr=False)
    records: list[Record] = field(repr=False)

    @cached_property
    def expected(self) -> int:
        """How many records it will have when it is finished."""
        return count_expected(self.settings)

    @cached_property
    def summaries(self) -> list[Summary]:
        """One for each budget."""
        return summarise_run(self.settings, self.records)

    @cached_property
    def certificates(self) -> list[Certificate]:
        """For each budget that was asked about, what is proved; empty for runs that only attacked."""
        return make_certificates(self.settings, self.records)

    @cached_property
    def begun(self) -> list[tuple[str, Summary]]:
        """Budgets, as the settings write them, with the figures of the solvers that have records already."""
        found = []
        for budget, summary in zip(self.settings["budgets"], self.summaries, strict=True):
            rows = {name: row for name, row in summary.solvers.items() if row.original_accuracy is not None}
            if rows:
                found.append((budget, replace(summary, solvers=rows)))
        return found

    @cached_property
    def labels(self) -> list[str]:
        """The names of the classes."""
        return list(list_classes(self.settings))

    def label(self, number: int | None) -> str:
        """The name of a class; a victim that failed named none."""
        return "–" if number is None else self.labels[number]

    def select(self, budget: str, solver: str) -> list[Record]:
        """The records of one solver under one budget."""
        return [row for row in self.records if row.solver == solver and str(row.run_budget) == budget]

    def only(self, solvers: Sequence[str]) -> Run:
        """The same run, restricted to some of its solvers."""
        known = self.settings["solvers"]
        names = [name if name in known else name.replace("_", "-") for name in solvers]
        if unknown := [name for name in names if name not in known]:
            raise ValueError(f"the run has no solver {unknown[0]!r}; choose from {', '.join(known)}")
        kept = {name: how for name, how in known.items() if name in names}
        records = [row for row in self.records if row.solver in kept]
        if not records:
            raise ValueError(f"the run has no records of {' and '.join(kept)} yet")
        return Run({**self.settings, "solvers": kept}, records)


def read_run(path: str | Path, empty: bool = False) -> Run:
    """The run in a folder, in the order of its texts; ValueError if there is none. empty: it may have no records.

    Proofs about a victim that contradicts itself are taken back.
    """
    settings = load_settings(path)
    records = take_back(sorted(read_all(path, settings), key=lambda record: record.id))
    if not records and not empty:
        raise ValueError(f"{path} has no records yet: records.jsonl is empty; has the run started?")
    return Run(settings, records)
