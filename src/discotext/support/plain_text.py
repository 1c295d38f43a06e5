"""Short plain text for people: one line of whatever was given, safe to print; columns that stand below each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

LINE = 80  # characters of a line that fits any terminal
# Control characters but for line ends and tabs, half characters, separators of lines, and those that change the
# direction of the text after them, which can make a line read as a different one.
HARMFUL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]"
)


def escape_unprintable(text: str) -> str:
    """Return the text with control characters and changes of text direction written as escape codes.

    >>> escape_unprintable("a\\x1b[31mred")
    'a\\\\x1b[31mred'
    """
    return HARMFUL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def shorten(text: object, most: int = LINE) -> str:
    """A text as one line of so many characters at most, without anything that a terminal would obey.

    >>> shorten("one\\ntwo  three", 9), shorten("a\\x1b[31m")
    ('one two …', 'a\\\\x1b[31m')
    """
    # Only the beginning is needed, and a text may have millions of characters.
    line = escape_unprintable(" ".join(str(text)[: 4 * most].split()))
    return line if len(line) <= most and len(str(text)) <= 4 * most else line[: most - 1] + "…"


def align(rows: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    """Rows of cells as lines with columns, the first `left` of them aligned to the left, the others to the right.

    >>> align([["solver", "n"], ["disco", "12"]])
    ['solver   n', 'disco   12']
    """
    listed = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*listed, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in listed
    ]


def count_texts(number: int, source: str = "given", most: int = 30) -> str:
    """How many texts there are, and where they are from, unless they were passed in Python.

    >>> count_texts(1), count_texts(1200, "imdb")
    ('1 text', '1,200 texts of imdb')
    """
    texts = "1 text" if number == 1 else f"{number:,} texts"
    return texts if source == "given" else f"{texts} of {shorten(source, most)}"


def percent(share: float | None, digits: int = 1) -> str:
    """A share in percent.

    >>> percent(0.125), percent(None)
    ('12.5 %', '–')
    """
    return "–" if share is None else f"{100 * share:.{digits}f} %"


def describe_error(error: BaseException) -> str:
    """Return an error's type and message on one line.

    >>> describe_error(ValueError("too\\nlong"))
    'ValueError: too long'
    """
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def describe_os_error(error: OSError) -> str:
    """Return the operating system's message in lower case.

    >>> describe_os_error(OSError(2, "No such file or directory"))
    'no such file or directory'
    """
    return str(error.strerror or error).lower()


def interval(value: Any) -> str:
    """The 95 % interval of a share that has `low` and `high`, in percent."""
    return "–" if value is None else f"{100 * value.low:.1f}–{100 * value.high:.1f}"
