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
import random
import warnings
from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import Any

from discotext.data.labels import is_missing, show

MAX_BYTES, VARIABLE = 10**9, "DISCOTEXT_MAX_BYTES"
LINES = 100  # a line, or a text, may take one part in so many of the maximum
HELD_ROWS, HELD_CHARACTERS = 2**19, 2 * 10**8  # beyond these, a part is kept to draw a sample from
PER_SAMPLE = 4  # rows held for each that is wanted, at least
MANY_LABELS = 10_000  # different labels of which a row stays; more are no classes
ONE_TEXT = "a string: one text per example; pairs of texts, such as a premise and a hypothesis, are not supported"
BLANK_SHARE = 100  # one blank row in so many is skipped, more are an error


def get_max_bytes() -> int:
    """The most bytes that are read of a source, unpacked."""
    given = os.environ.get(VARIABLE, "") or str(MAX_BYTES)
    if not given.isdecimal() or not int(given):
        raise ValueError(f"{VARIABLE} is {show(given)}; set it to a number of bytes, such as {10 * MAX_BYTES}")
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
        return f"the text is {show(text)}, of type {type(text).__name__}; expected {expected}"
    if len(text) > longest:
        return explain_length("the text")
    # JSON can express half a surrogate pair, but no record could contain it.
    if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
        return f"the text {show(text)} contains a lone surrogate, which is not valid Unicode"
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


class Rows:
    """The rows of a source as they are read: values by column, the texts first and then the labels, if there are any.

    limit: how many will be drawn from them, if not all are wanted. word: what a row is called in messages. schema: that
    of an Arrow file.
    """

    def __init__(self, limit: int | None = None, seed: int = 0) -> None:
        self.limit, self.word = limit, "line"
        self.columns: list[list[Any]] = []
        self.schema: Any = None
        self.read = 0  # rows so far, held or not
        self._numbers = array("q")
        self._blank, self._first = 0, 0
        # Where a sample is wanted, each row draws a number; those below the share are held, and the share is halved
        # whenever they are too many.
        self._share, self._random, self._draws = 1.0, random.Random(seed), array("d")
        self._most_rows, self._most_characters = max(HELD_ROWS, PER_SAMPLE * (limit or 0)), HELD_CHARACTERS
        self._characters = 0
        self._labels: set[tuple[type, Any]] = set()
        self._longest = get_max_bytes() // LINES

    def find_place(self, row: int) -> str:
        """Where a row is, in words: "line 7"."""
        return f"{self.word} {self._numbers[row]}"

    def add(self, values: Sequence[Any], number: int) -> None:
        """Add a row, unless its text is blank."""
        self.read += 1
        if is_blank(values[0]):
            self._first = number if not self._blank else self._first
            self._blank += 1
            return
        if self.limit is not None:
            draw = 0.0 if self._must_stay(*values[:2]) else self._random.random()
            if draw >= self._share:
                return
            self._draws.append(draw)
            self._characters += len(values[0]) if isinstance(values[0], str) else 0
        if not self.columns:
            self.columns = [[] for _ in values]
        for column, value in zip(self.columns, values, strict=True):
            column.append(value)
        self._numbers.append(number)
        too_many = len(self._numbers) > self._most_rows or self._characters > self._most_characters
        if self.limit is not None and too_many and len(self._numbers) > PER_SAMPLE * self.limit:
            self._halve()

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

    def _must_stay(self, text: Any, label: Any = None) -> bool:
        if find_fault(text, self._longest) is not None or not isinstance(label, str | int | float | None):
            return True
        key = (label.__class__, label)
        if key in self._labels or len(self._labels) >= MANY_LABELS:
            return False
        self._labels.add(key)
        return True

    def _halve(self) -> None:
        """Drop about half of the rows at random."""
        self._share /= 2
        kept = [draw < self._share for draw in self._draws]
        for column in self.columns:
            column[:] = compress(column, kept)
        self._numbers = array("q", compress(self._numbers, kept))
        self._draws = array("d", compress(self._draws, kept))
        self._characters = sum(len(text) for text in self.columns[0] if isinstance(text, str))
        # Where most rows must stay, twice as many are read before the next attempt.
        self._most_rows = max(self._most_rows, 2 * len(self._numbers) if all(kept) else 0)
        self._most_characters = max(self._most_characters, 2 * self._characters if all(kept) else 0)
