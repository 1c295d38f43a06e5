"""Decoding a stream of networks: a few at a time, results as they come, resumed where a file of them ends."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

from discotext.decoding.decode import Decoder
from discotext.decoding.json_files import parse_json
from discotext.decoding.lines import InputError, Lines
from discotext.decoding.metrics import ErrorCounts
from discotext.decoding.network import Network
from discotext.decoding.result import Decoded
from discotext.support.files import write_atomically

AT_ONCE = 256  # networks that are held in memory
# What is read again of a result that was written before.
RESULT: dict[str, type] = {
    "id": str, "text": str, "status": str, "changes": list, "proved": bool, "words": int, "unknown": int
}  # fmt: skip


@dataclass
class Totals:
    """What a run has done so far."""

    networks: int = 0
    resumed: int = 0
    changed: int = 0
    proved: int = 0
    failed: int = 0
    words: int = 0
    unknown: int = 0
    errors: ErrorCounts = field(default_factory=ErrorCounts)

    def add(self, result: dict[str, Any]) -> None:
        """Count a result, as JSON."""
        self.networks += 1
        self.changed += bool(result["changes"])
        self.proved += result["proved"]
        self.failed += result["status"] == "failed"
        self.words += result["words"]
        self.unknown += result["unknown"]


def cut(networks: Iterable[Network], count: int = AT_ONCE) -> Iterator[list[Network]]:
    """Lists of so many networks."""
    left = iter(networks)
    while some := list(islice(left, count)):
        yield some


def check_words(networks: Iterator[Network], words: int | None) -> Iterator[Network]:
    """The same networks; ValueError if even the longest of the first ones has fewer positions than words may change."""
    first = list(islice(networks, AT_ONCE))
    longest = max(map(len, first), default=0)
    if words is not None and first and words > longest:
        where = f"network {first[0].id} has" if len(first) == 1 else "the longest network has"
        raise ValueError(f"--words is {words}, but {where} {longest} positions; choose 0 to {longest}")
    return chain(first, networks)


def run(
    decoder: Decoder,
    networks: Iterable[Network],
    totals: Totals,
    *,
    truth: Iterator[str] | None = None,
    out: ResultFile | None = None,
) -> Iterator[Decoded | None]:
    """Decode networks as they come; yields each result, or None for one that an earlier run has written to `out`.

    truth: the right texts, in the order of the networks.
    """
    for some in cut(networks):
        known = [] if out is None else [line for line in (out.take(network.id) for network in some) if line is not None]
        fresh = decoder(some[len(known) :])
        results = [*known, *(one.as_json() for one in fresh)]
        if out is not None:
            out.write(results[len(known) :])
        totals.resumed += len(known)
        for network, result in zip(some, results, strict=True):
            totals.add(result)
            if truth is not None:
                right = next(truth, None)
                if right is None:
                    raise ValueError(f"the truth ends before network {network.id}; give a line for each network")
                totals.errors.add(right, result["text"], network.text(network.original), network)
        yield from [None] * len(known)
        yield from fresh
    if truth is not None and next(truth, None) is not None:
        raise ValueError(f"the truth goes on after the last network; give a line for each of the {totals.networks}")


def read_truth(path: Path) -> Iterator[str]:
    """The right texts of a file: one on each line, or JSON lines {"id": …, "text": …}."""
    with path.open("rb") as stream:
        lines = Lines(stream, str(path))
        for line in lines:
            if not line.startswith("{"):
                yield line.rstrip("\r\n")
                continue
            try:
                value = parse_json(line)
            except InputError as error:
                raise lines.error(str(error)) from None
            if not isinstance(value.get("text"), str):
                raise lines.error('expected an object such as {"id": "1", "text": "a film"}')
            yield value["text"]


class ResultFile:
    """A file of results as JSON lines that a repeated command goes on with.

    settings: what the results depend on; a file that was written with others is refused. They are kept beside it, in a
    file with `.settings.json` added to the name.
    """

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        self.path = path
        beside = path.with_name(path.name + ".settings.json")
        self.old = self._read_old()
        if path.exists() and path.stat().st_size and beside.exists():
            known = self._read_settings(beside)
            self._compare(known, settings)
        elif path.exists() and path.stat().st_size:
            raise ValueError(f"{path} exists and is not a file of results; choose another file")
        else:
            write_atomically(beside, json.dumps(settings, ensure_ascii=False, indent=1) + "\n")

    def _compare(self, known: dict[str, Any], settings: dict[str, Any]) -> None:
        """Refuse to go on with other settings, or with files that have changed."""
        way_out = "choose another file, or delete it"
        for key in sorted({*known, *settings} - {"files"}):
            if known.get(key) != settings.get(key):
                raise ValueError(f"{self.path} was written with another {key} ({known.get(key)!r}); {way_out}")
        before, now = known.get("files", {}), settings.get("files", {})
        for name in sorted({*before, *now}):
            if before.get(name) != now.get(name):
                raise ValueError(f"{self.path} was written before {name} changed; {way_out}")

    def _read_settings(self, beside: Path) -> dict[str, Any]:
        try:
            known = parse_json(beside.read_bytes())
        except InputError as error:
            reason = str(error)
        else:
            if isinstance(known, dict) and isinstance(known.get("files", {}), dict):
                return known
            reason = "it has no settings"
        raise ValueError(f"{beside} is damaged: {reason}; delete it and {self.path}, or choose another file")

    def _read_old(self) -> Iterator[dict[str, Any]]:
        """The results that are there, one at a time; a line that was cut off is taken away."""
        if not self.path.exists():
            return
        with self.path.open("rb+") as file:
            end = 0
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n") and line.startswith(b"{"):
                    file.truncate(end)
                    return
                end += len(line)
                yield self._parse(number, line)

    def _parse(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            value = parse_json(line)
        except InputError as error:
            reason = str(error)
        else:
            if isinstance(value, dict) and all(isinstance(value.get(key), kind) for key, kind in RESULT.items()):
                return value
            reason = "it is not a result of decode"
        raise ValueError(f"{self.path}, line {number}: {reason}; delete the file, or choose another one")

    def take(self, name: str) -> dict[str, Any] | None:
        """The result of a network that was written before, or None if this one is new."""
        found = next(self.old, None)
        if found is not None and found["id"] != name:
            raise ValueError(
                f"{self.path} has the result of {found['id']} where {name} is due; was it written from another input? "
                "Choose another file, or delete it"
            )
        return found

    def write(self, results: Iterable[dict[str, Any]]) -> None:
        """Add results, and see to it that they are on the disk."""
        with self.path.open("a", encoding="utf-8") as file:
            for one in results:
                file.write(json.dumps(one, ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
