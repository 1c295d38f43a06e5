"""ARPA files: the exchange format of n-gram models (SRILM, KenLM, CMU), plain or gzipped.

    \\data\\
    ngram 1=4
    ngram 2=3

    \\1-grams:
    -1.2	film	-0.3
    …
    \\end\\

Each line holds log₁₀ of a probability, the words, and log₁₀ of a backoff factor if n-grams begin with these words. What
is malformed is refused with the number of its line; a file that ends early is not a model. Where a file lacks <s>, </s>
or <unk>, they are added.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.models.kneser_ney import NEVER
from discotext.models.ngram import BEGIN, MARKS, MAX_ORDER, BackoffModel, Reals, find_links
from discotext.support.files import atomic_file, describe_write_error

LN_10 = float(np.log(10))
LONGEST_LINE = 1 << 16  # bytes; a longer one is not an n-gram
LINES_AT_ONCE = 1 << 17
HEADER = re.compile(r"ngram\s+(\d+)\s*=\s*(\d+)$")
SECTION = re.compile(r"\\(\d+)-grams:$")


class _Lines:
    """The lines of a file, one at a time, with the number of the last."""

    def __init__(self, path: str | Path, file: IO[bytes] | gzip.GzipFile) -> None:
        self.where, self.file, self.number = str(path), file, 0

    def __iter__(self) -> Iterator[str]:
        while True:
            self.number += 1
            try:
                line = self.file.readline(LONGEST_LINE)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise self.error(f"the compressed file is damaged or incomplete ({error})") from None
            if not line:
                return
            if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                raise self.error(f"the line has more than {LONGEST_LINE:,} bytes; is this an ARPA file?")
            if b"\0" in line:
                raise self.error("there is a NUL byte; this is a binary file, expected a text file in the ARPA format")
            try:
                yield line.decode("utf-8").strip(" \t\r\n")
            except UnicodeDecodeError as error:
                raise self.error(f"not UTF-8 at byte {error.start + 1} of the line; save the file as UTF-8") from None

    def error(self, what: str, number: int | None = None) -> ValueError:
        return ValueError(f"{self.where}, line {self.number if number is None else number}: {what}")


def read_arpa(path: str | Path) -> BackoffModel:
    """Read a model from an ARPA file, gzipped or not."""
    with open(path, "rb") as probe:
        packed = probe.read(2) == b"\x1f\x8b"
    with closing(gzip.open(path, "rb") if packed else open(path, "rb")) as file:
        lines = _Lines(path, file)
        return _Reader(lines).read()


class _Reader:
    """Builds the arrays of a model while it goes through the sections of a file."""

    def __init__(self, lines: _Lines) -> None:
        self.lines, self.stream = lines, iter(lines)
        self.words: list[str] = []
        self.number: dict[str, int] = {}
        self.keys = np.zeros(0, np.int64)
        self.probs: list[Floats] = []
        self.backoffs: list[Floats] = []
        self.starts = [1]

    def read(self) -> BackoffModel:
        counts = self._read_header()
        for order, count in enumerate(counts, start=1):
            self._read_section(order, count)
        ending = self._next()
        if ending != "\\end\\":
            raise self.lines.error(f"expected \\end\\ after the last section, found {ending[:40]!r}")
        size = len(self.words)
        logs = np.concatenate([np.zeros(1), *self.probs]).astype(np.float32)
        bows = np.concatenate([np.zeros(1), *self.backoffs]).astype(np.float32)
        links = find_links(self.keys, size, self.starts)
        return BackoffModel(self.words, self.keys, logs, bows, links, self.lines.where)

    def _next(self) -> str:
        """The next line that is not blank."""
        for line in self.stream:
            if line:
                return line
        raise self.lines.error("the file ends before \\end\\; it is incomplete, copy or write it again")

    def _read_header(self) -> list[int]:
        first = self._next()
        while first != "\\data\\":
            if self.lines.number > 1000 or first.startswith("\\"):
                raise self.lines.error(f"expected \\data\\, found {first[:40]!r}; is this an ARPA file?")
            first = self._next()
        counts: list[int] = []
        while True:
            line = self._next()
            if SECTION.match(line):
                break
            found = HEADER.match(line)
            if found is None or int(found[1]) != len(counts) + 1:
                raise self.lines.error(f"expected `ngram {len(counts) + 1}=COUNT`, found {line[:40]!r}")
            counts.append(int(found[2]))
        if not 1 <= len(counts) <= MAX_ORDER:
            raise self.lines.error(f"the model is of order {len(counts)}; orders 1 to {MAX_ORDER} can be read")
        self.heading = line
        return counts

    def _read_section(self, order: int, count: int) -> None:
        heading = self.heading if order == 1 else self._next()
        if heading != f"\\{order}-grams:":
            raise self.lines.error(f"expected \\{order}-grams:, found {heading[:40]!r}")
        keys: list[Ints] = []
        probs: list[Floats] = []
        backoffs: list[Floats] = []
        numbers: list[Ints] = []
        left = count
        while left:
            rows: list[list[str]] = []
            places: list[int] = []
            for line in self.stream:
                if line:
                    if line[0] == "\\":
                        raise self.lines.error(f"{left - len(rows):,} of {count:,} {order}-grams are missing")
                    rows.append(line.split())
                    places.append(self.lines.number)
                    if len(rows) == min(left, LINES_AT_ONCE):
                        break
            if not rows:
                raise self.lines.error(f"the file ends, but {left:,} of {count:,} {order}-grams are missing")
            left -= len(rows)
            key, prob, backoff, number = self._parse(order, rows, np.array(places))
            keys.append(key)
            probs.append(prob)
            backoffs.append(backoff)
            numbers.append(number)
        if order == 1:
            self._add_marks(keys, probs, backoffs, numbers)
        together = np.concatenate(keys) if keys else np.zeros(0, np.int64)
        arrange = np.argsort(together, kind="stable")
        together = together[arrange]
        twice = np.flatnonzero(np.diff(together) == 0)
        if len(twice):
            second = int(np.concatenate(numbers)[arrange[twice[0] + 1]])
            raise self.lines.error("this n-gram was there before; each may stand in the file once", second)
        self.keys = np.concatenate([self.keys, together])
        self.probs.append(np.concatenate(probs)[arrange] if probs else np.zeros(0))
        self.backoffs.append(np.concatenate(backoffs)[arrange] if backoffs else np.zeros(0))
        self.starts.append(self.starts[-1] + len(together))

    def _parse(self, order: int, rows: list[list[str]], places: Ints) -> tuple[Ints, Floats, Floats, Ints]:
        """The keys, log-probabilities, backoffs and line numbers of some n-grams."""
        for row, place in zip(rows, places, strict=True):
            if len(row) != order + 1 and len(row) != order + 2:
                raise self.lines.error(
                    f"there are {len(row)} fields; expected log₁₀ p, {order} words and perhaps a backoff", int(place)
                )
        probs = self._numbers([row[0] for row in rows], places, "log₁₀ of a probability")
        above = np.flatnonzero(probs > 0)
        if len(above):
            raise self.lines.error(
                f"{rows[above[0]][0]} is above 0; expected log₁₀ of a probability", int(places[above[0]])
            )
        backoffs = self._numbers([row[-1] if len(row) > order + 1 else "0" for row in rows], places, "a backoff")
        if order == 1:
            ids = np.empty(len(rows), np.int64)
            for place, row in enumerate(rows):
                word = row[1].lower() if row[1].lower() in MARKS else row[1]
                ids[place] = self.number.setdefault(word, len(self.number))
                if ids[place] == len(self.words):
                    self.words.append(word)
            return ids, probs, backoffs, places
        number, size = self.number, len(self.words)
        table = np.array(
            [number.get(word, number.get(word.lower(), -1)) for row in rows for word in row[1 : order + 1]], np.int64
        ).reshape(-1, order)
        parents = table[:, 0] + 1
        for column in range(1, order - 1):
            parents = self._find(parents, table[:, column], size)
        lacking = np.flatnonzero((table < 0).any(axis=1) | (parents <= 0))
        if len(lacking):
            row = rows[lacking[0]]
            unknown = [word for word in row[1 : order + 1] if word not in number]
            what = (
                f"{unknown[0]!r} is not among the 1-grams"
                if unknown
                else f"{' '.join(row[1:order])!r} is not among the {order - 1}-grams"
            )
            raise self.lines.error(f"{what}, but an n-gram begins with it or holds it", int(places[lacking[0]]))
        return parents * size + table[:, -1], probs, backoffs, places

    def _find(self, parents: Ints, words: Ints, size: int) -> Ints:
        wanted = parents * size + words
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where((self.keys[place] == wanted) & (parents > 0), place + 1, 0)

    def _numbers(self, texts: list[str], places: Ints, what: str) -> Floats:
        """Base-10 logarithms as natural ones. −∞ and what tools write for it (−99) become the same number."""
        try:
            values = np.array(texts, dtype=np.float64)
        except ValueError:
            for text, place in zip(texts, places, strict=True):
                try:
                    float(text)
                except ValueError:
                    raise self.lines.error(f"{text[:40]!r} is not a number; expected {what}", int(place)) from None
            raise
        wrong = np.flatnonzero(np.isnan(values) | (values == np.inf))
        if len(wrong):
            raise self.lines.error(f"{texts[wrong[0]]} is not finite; expected {what}", int(places[wrong[0]]))
        return np.maximum(values * LN_10, NEVER)

    def _add_marks(self, keys: list[Ints], probs: list[Floats], backoffs: list[Floats], numbers: list[Ints]) -> None:
        """Add the marks that a file lacks. An unknown word is a tenth as likely as the least likely known one."""
        real = np.concatenate(probs) if probs else np.zeros(0)
        least = float(real[real > NEVER].min(initial=0.0)) - LN_10
        for mark in MARKS:
            if mark not in self.number:
                self.number[mark] = len(self.words)
                keys.append(np.array([len(self.words)]))
                probs.append(np.array([NEVER if mark == BEGIN else least]))
                backoffs.append(np.zeros(1))
                numbers.append(np.zeros(1, np.int64))
                self.words.append(mark)


def write_arpa(model: BackoffModel, path: str | Path) -> None:
    """Write a model as an ARPA file; gzipped if the name ends in .gz."""
    try:
        with atomic_file(path) as raw:
            if str(path).endswith(".gz"):
                with gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as packed:
                    _write(model, packed)
            else:
                _write(model, raw)
    except OSError as error:
        raise ValueError(describe_write_error(path, error)) from None


def _write(model: BackoffModel, file: IO[bytes] | gzip.GzipFile) -> None:
    counts = "".join(f"ngram {order}={count}\n" for order, count in enumerate(model.counts, start=1))
    file.write(f"\\data\\\n{counts}".encode())
    first, size = 1, len(model.words)
    before = [""]  # the n-grams of the order below, as text
    below = 0  # their first node
    for order, count in enumerate(model.counts, start=1):
        last = first + count
        parents, words = np.divmod(model.keys[first - 1 : last - 1], size)
        texts = [
            f"{before[parent]} {model.words[word]}" if order > 1 else model.words[word]
            for parent, word in zip((parents - below).tolist(), words.tolist(), strict=True)
        ]
        probs = _to_log10(model.node_log_probs[first:last])
        file.write(f"\n\\{order}-grams:\n".encode())
        if order == model.order:
            rows = [f"{prob:.7g}\t{text}\n" for prob, text in zip(probs, texts, strict=True)]
        else:
            backoffs = _to_log10(model.backoffs[first:last])
            rows = [f"{p:.7g}\t{text}\t{b:.7g}\n" for p, text, b in zip(probs, texts, backoffs, strict=True)]
        for start in range(0, len(rows), LINES_AT_ONCE):
            file.write("".join(rows[start : start + LINES_AT_ONCE]).encode())
        before, below, first = texts, first, last
    file.write(b"\n\\end\\\n")


def _to_log10(values: Reals) -> list[float]:
    found: list[float] = (values.astype(np.float64) / LN_10).tolist()
    return found
