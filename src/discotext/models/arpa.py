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
import math
import re
import sys
import zlib
from array import array
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import IO

import numpy as np

from discotext.core.arrays import Ints
from discotext.models.kneser_ney import NEVER
from discotext.models.ngram import BEGIN, MARKS, MAX_ORDER, BackoffModel, find_links
from discotext.support.files import atomic_file, describe_write_error

LN_10 = float(np.log(10))
LONGEST_LINE = 1 << 16  # bytes; a longer one is not an n-gram
HEADER = re.compile(r"ngram\s+(\d+)\s*=\s*(\d+)$")


def read_arpa(path: str | Path) -> BackoffModel:
    """Read a model from an ARPA file, gzipped or not."""
    with open(path, "rb") as probe:
        packed = probe.read(2) == b"\x1f\x8b"
    with closing(gzip.open(path, "rb") if packed else open(path, "rb")) as file:
        return _Reader(str(path), file).read()


class _Reader:
    """Builds the arrays of a model while it goes through the sections of a file. line: The number of the last one."""

    def __init__(self, where: str, file: IO[bytes] | gzip.GzipFile) -> None:
        self.where, self.file, self.line = where, file, 0
        self.number: dict[str, int] = {}  # of each word
        self.keys = np.zeros(0, np.int64)
        self.probs, self.backoffs = [np.zeros(1)], [np.zeros(1)]
        self.starts = [1]

    def read(self) -> BackoffModel:
        counts, heading = self._read_header()
        for order, count in enumerate(counts, start=1):
            if heading != f"\\{order}-grams:":
                raise self._error(f"expected \\{order}-grams:, found {heading[:40]!r}")
            self._read_section(order, count)
            heading = self._next()
        if heading != "\\end\\":
            raise self._error(f"expected \\end\\ after the last section, found {heading[:40]!r}")
        logs, bows = (np.concatenate(parts).astype(np.float32) for parts in (self.probs, self.backoffs))
        links = find_links(self.keys, len(self.number), self.starts)
        return BackoffModel(list(self.number), self.keys, logs, bows, links, self.where)

    def _next(self) -> str:
        """The next line that is not blank."""
        while True:
            self.line += 1
            try:
                line = self.file.readline(LONGEST_LINE)
                text = line.decode("utf-8").strip(" \t\r\n")
            except UnicodeDecodeError as error:
                raise self._error(f"not UTF-8 at byte {error.start + 1} of the line; save the file as UTF-8") from None
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise self._error(f"the compressed file is damaged or incomplete ({error})") from None
            if not line:
                raise self._error("the file ends before \\end\\; it is incomplete, copy or write it again")
            if b"\0" in line or (len(line) == LONGEST_LINE and not line.endswith(b"\n")):
                raise self._error(f"a NUL byte, or more than {LONGEST_LINE:,} bytes; is this an ARPA file?")
            if text:
                return text

    def _error(self, what: str, line: int | None = None) -> ValueError:
        return ValueError(f"{self.where}, line {self.line if line is None else line}: {what}")

    def _read_header(self) -> tuple[list[int], str]:
        """How many n-grams there are of each order, and the heading of the first section."""
        first = self._next()
        while first != "\\data\\":
            if self.line > 1000 or first.startswith("\\"):
                raise self._error(f"expected \\data\\, found {first[:40]!r}; is this an ARPA file?")
            first = self._next()
        counts: list[int] = []
        while not (line := self._next()).endswith("-grams:"):
            found = HEADER.match(line)
            if found is None or int(found[1]) != len(counts) + 1:
                raise self._error(f"expected `ngram {len(counts) + 1}=COUNT`, found {line[:40]!r}")
            counts.append(int(found[2]))
        if not 1 <= len(counts) <= MAX_ORDER:
            raise self._error(f"the model is of order {len(counts)}; orders 1 to {MAX_ORDER} can be read")
        return counts, line

    def _read_section(self, order: int, count: int) -> None:
        ids, lines, probs, backoffs = array("q"), array("q"), array("d"), array("d")
        for left in range(count, 0, -1):
            text = self._next()
            if text[0] == "\\":
                raise self._error(f"{left:,} of {count:,} {order}-grams are missing")
            row = text.split()
            if len(row) not in (order + 1, order + 2):
                raise self._error(f"{len(row)} fields; expected log₁₀ p, {order} words and perhaps a backoff")
            probs.append(self._parse(row[0], 0.0))
            backoffs.append(self._parse(row[-1]) if len(row) == order + 2 else 0.0)
            ids.extend(self._find_word(word, order) for word in row[1 : order + 1])
            lines.append(self.line)
        if order == 1:
            # The marks that a file lacks. An unknown word is a tenth as likely as the least likely known one.
            least = min((prob for prob in probs if prob > NEVER), default=0.0) - LN_10
            for mark in MARKS:
                if mark not in self.number:
                    ids.append(self._find_word(mark, 1))
                    lines.append(0)
                    probs.append(NEVER if mark == BEGIN else least)
                    backoffs.append(0.0)
        keys = self._make_keys(np.array(ids, dtype=np.int64).reshape(-1, order), lines)
        arrange = np.argsort(keys, kind="stable")
        keys = keys[arrange]
        twice = np.flatnonzero(np.diff(keys) == 0)
        if len(twice):
            second = lines[int(arrange[twice[0] + 1])]
            raise self._error("this n-gram was there before; each may stand in the file once", second)
        self.keys = np.concatenate([self.keys, keys])
        self.probs.append(np.array(probs)[arrange])
        self.backoffs.append(np.array(backoffs)[arrange])
        self.starts.append(self.starts[-1] + len(keys))

    def _find_word(self, word: str, order: int) -> int:
        """The id of a word, which the first section gives."""
        if order == 1:
            return self.number.setdefault(word.lower() if word.lower() in MARKS else word, len(self.number))
        found = self.number.get(word, self.number.get(word.lower()))
        if found is None:
            raise self._error(f"{word[:40]!r} is not among the 1-grams, but an n-gram holds it")
        return found

    def _parse(self, text: str, most: float = sys.float_info.max) -> float:
        """A base-10 logarithm as a natural one. −∞ and what tools write for it (−99) become the same number."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not value <= most:
            raise self._error(f"{text[:40]!r} is no number of at most {most:g}; expected a base-10 logarithm")
        return max(value * LN_10, NEVER)

    def _make_keys(self, table: Ints, lines: Sequence[int]) -> Ints:
        """The keys of n-grams, given as rows of word ids."""
        size, parents = len(self.number), np.zeros(len(table), dtype=np.int64)
        for column in table.T[:-1]:
            wanted = parents * size + column
            place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
            parents = place + 1
            lacking = np.flatnonzero(self.keys[place] != wanted)
            if len(lacking):
                raise self._error("the beginning of this n-gram is not in the section before", lines[lacking[0]])
        return parents * size + table[:, -1]


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
    before, below = [""], 0  # the n-grams of the order below, as text, and their first node
    for order, count in enumerate(model.counts, start=1):
        nodes = slice(first, first + count)
        parents, words = np.divmod(model.keys[first - 1 : first + count - 1], size)
        pairs = zip((parents - below).tolist(), words.tolist(), strict=True)
        texts = [f"{before[parent]} {model.words[word]}".lstrip(" ") for parent, word in pairs]
        probs, backoffs = (
            (one[nodes].astype(np.float64) / LN_10).tolist() for one in (model.node_log_probs, model.backoffs)
        )
        file.write(f"\n\\{order}-grams:\n".encode())
        for p, text, b in zip(probs, texts, backoffs, strict=True):
            file.write((f"{p:.7g}\t{text}\n" if order == model.order else f"{p:.7g}\t{text}\t{b:.7g}\n").encode())
        before, below, first = texts, first, first + count
    file.write(b"\n\\end\\\n")
