"""How much of a source is read, and which of its rows are held in memory.

A small file can unpack to any size, and standard input need not end. So whatever is read is counted as it is unpacked,
and refused above a maximum of bytes, which the environment variable DISCOTEXT_MAX_BYTES changes; a line, or a text, may
take a hundredth of it.

Where a sample is all that is wanted, memory does not grow with the file: of more rows than half a million, or two
hundred million characters, a random part is kept, from which the sample is then drawn. The first row of each label
stays, so that no class is lost, and so do rows with something wrong, so that an error is still found and named.
"""

from __future__ import annotations

import os
import warnings
from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import Any, overload

import numpy as np

from discotext.data.labels import is_missing, shorten

MAX_BYTES, VARIABLE = 10**9, "DISCOTEXT_MAX_BYTES"
LINES = 100  # a line, or a text, may take one part in so many of the maximum
HELD_ROWS, HELD_CHARACTERS = 2**19, 2 * 10**8  # beyond these, a part is kept to draw a sample from
PER_SAMPLE = 4  # rows held for each that is wanted, at least
BATCH = 2**16  # rows read before some are dropped
MANY_LABELS = 10_000  # different labels of which a row stays; more are no classes
ONE_TEXT = "a string: one text per example; pairs of texts, such as a premise and a hypothesis, are not supported"
BLANK_SHARE = 100  # one blank row in so many is skipped, more are an error


def get_max_bytes() -> int:
    """The most bytes that are read of a source, unpacked."""
    given = os.environ.get(VARIABLE, "") or str(MAX_BYTES)
    if not given.isdecimal() or not int(given):
        raise ValueError(f"{VARIABLE} is {shorten(given)}; set it to a number of bytes, such as {10 * MAX_BYTES}")
    return int(given)


def check_size(size: int, where: str) -> None:
    """Raise an error if a source has more bytes than are read, as far as they have been counted."""
    if size > (most := get_max_bytes()):
        raise ValueError(
            f"{where} has more than {most:,} bytes when unpacked, the most that is read; use a smaller file, or set "
            f"the environment variable {VARIABLE} to a larger number"
        )


def explain_length(what: str) -> str:
    """What to say about a line or a text that is too long."""
    most = get_max_bytes()
    return (
        f"{what} is longer than {most // LINES:,} characters, the most that is read of one; is this a file of another "
        f"format? Otherwise set the environment variable {VARIABLE} above {most:,}"
    )


def find_fault(text: Any, longest: int) -> str | None:
    """What is wrong with a text that is not blank; None if nothing is. longest: the most characters."""
    if not isinstance(text, str):
        expected = ONE_TEXT if isinstance(text, list | tuple | Mapping) else "a string"
        return f"the text is {shorten(text)}, of type {type(text).__name__}; expected {expected}"
    if len(text) > longest:
        return explain_length("the text")
    # JSON can express half a surrogate pair, but no record could contain it.
    if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
        return f"the text {shorten(text)} contains a lone surrogate, which is not valid Unicode"
    return None


def is_blank(text: Any) -> bool:
    """Whether a text is missing, or nothing but white space."""
    return not text.strip() if isinstance(text, str) else is_missing(text)


def report_blank(blank: int, total: int, first: str, where: str) -> None:
    """Warn of rows that are skipped since their texts are blank; raise an error if they are too many."""
    if not blank:
        return
    said = f"{where}, {first}: the text is blank or missing"
    said += f", as in {blank:,} of {total:,} rows" if blank > 1 else ""
    if blank == total or blank > max(1, total // BLANK_SHARE):
        many = f"; no more than 1 row in {BLANK_SHARE} is skipped" if blank > 1 else ""
        raise ValueError(f"{said}{many}; add the text, or remove the row")
    warnings.warn(f"{said}; {'the row is' if blank == 1 else 'these rows are'} skipped", stacklevel=3)


class Places(Sequence[str]):
    """Where each row is, in words: "line 7"."""

    def __init__(self, numbers: Sequence[int], word: str) -> None:
        self.numbers, self.word = numbers, word

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> Places: ...
    def __getitem__(self, row: int | slice) -> str | Places:
        if isinstance(row, slice):
            return Places(self.numbers[row], self.word)
        return f"{self.word} {self.numbers[row]}"


class Rows:
    """The rows of a source as they are read: values by column, the texts first and then the labels, if there are any.

    limit: how many will be drawn from them, if not all are wanted. word: what a row is called in messages.
    """

    def __init__(self, limit: int | None = None, seed: int = 0) -> None:
        self.limit, self.word = limit, "line"
        self.columns: list[list[Any]] = []
        self.read = 0  # rows so far, held or not
        self._numbers = array("q")
        self._blank, self._first = 0, 0
        self._full = BATCH
        # Of what has been looked at: a random number and the length of each row, and the labels of all.
        self._share, self._random = 1.0, np.random.default_rng((seed, 1))
        self._draws, self._lengths = np.zeros(0), np.zeros(0, dtype=np.int64)
        self._labels: set[tuple[type, Any]] = set()
        self._longest = get_max_bytes() // LINES

    @property
    def places(self) -> Places:
        return Places(self._numbers, self.word)

    def add(self, values: Sequence[Any], number: int) -> None:
        """Add a row, unless its text is blank."""
        self.read += 1
        if is_blank(values[0]):
            self._first = number if not self._blank else self._first
            self._blank += 1
            return
        if not self.columns:
            self.columns = [[] for _ in values]
        for column, value in zip(self.columns, values, strict=True):
            column.append(value)
        self._numbers.append(number)
        if self.limit is not None and len(self._numbers) >= self._full:
            self._thin(self.limit)

    def extend(self, several: Iterable[Sequence[Any]], word: str) -> Rows:
        """Add rows that are numbered from 1, and are called by this word."""
        self.word = word
        for number, values in enumerate(several, start=1):
            self.add(values, number)
        return self

    def finish(self, where: str) -> Rows:
        """The rows, after a warning of those that were skipped."""
        report_blank(self._blank, self.read, f"{self.word} {self._first}", where)
        return self

    def _thin(self, limit: int) -> None:
        """Drop rows at random where too many are held."""
        begin = len(self._draws)
        texts = self.columns[0][begin:]
        labels = self.columns[1][begin:] if len(self.columns) > 1 else [None] * len(texts)
        draws = self._random.random(len(texts))
        draws[[self._must_stay(text, label) for text, label in zip(texts, labels, strict=True)]] = 0
        self._draws = np.concatenate([self._draws, draws])
        self._lengths = np.concatenate([self._lengths, [len(text) if isinstance(text, str) else 0 for text in texts]])
        self._drop(self._draws[begin:] < self._share, begin)
        least = PER_SAMPLE * limit
        while len(self._draws) > max(HELD_ROWS, least) or (
            self._lengths.sum() > HELD_CHARACTERS and len(self._draws) > least
        ):
            self._share /= 2
            self._drop(self._draws < self._share, 0)
            if not self._draws.any():
                break
        self._full = len(self._numbers) + BATCH

    def _must_stay(self, text: Any, label: Any) -> bool:
        if find_fault(text, self._longest) is not None or not isinstance(label, str | int | float | None):
            return True
        key = (label.__class__, label)
        if key in self._labels or len(self._labels) >= MANY_LABELS:
            return False
        self._labels.add(key)
        return True

    def _drop(self, kept: Any, begin: int) -> None:
        """Keep these of the rows from here on."""
        mask: Iterable[bool] = kept.tolist()
        for column in self.columns:
            column[begin:] = compress(column[begin:], mask)
        self._numbers[begin:] = array("q", compress(self._numbers[begin:], mask))
        self._draws = np.concatenate([self._draws[:begin], self._draws[begin:][kept]])
        self._lengths = np.concatenate([self._lengths[:begin], self._lengths[begin:][kept]])
