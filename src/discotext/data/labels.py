"""Labels as people write them, turned into class numbers.

A label is a *number* (0, 1.0, "2") or a *name* ("positive"); all labels of a set are of one kind. Without given names

    numbers 0, 1, …, C − 1   are the class numbers, and the classes are called "0", "1", …
    other numbers            (1 to 5, or 0 and 2) are names: the classes are called "1", "2", …, in their order
    names                    are sorted

With given names a name is looked up, and a number is a place in the list; but where the given names are numbers
themselves, a number is looked up like a name. So what was read without names from one file fits the next file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from discotext.segments import Ints

# A number as spreadsheets and data frames write it into text. Longer runs of digits are names: they are ids.
WHOLE = re.compile(r"[+-]?\d{1,18}(\.\d*)?", re.ASCII)
SHOWN = 8  # class names in a message

Say = Callable[[int | None, str], ValueError]


def missing(value: Any) -> bool:
    """Whether there is nothing: None, NaN, or what pandas has for it (whose comparisons have no truth value)."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def few(names: Sequence[str]) -> str:
    """Names for a message, not too many of them."""
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def short(value: Any) -> str:
    """A value for a message, not too long."""
    shown = repr(value.item() if isinstance(value, np.generic) else value)
    return shown if len(shown) <= 60 else shown[:57] + "…"


def read_label(value: Any) -> int | str:
    """A label as a number or a name; else a ValueError that says what is wrong with it.

    >>> [read_label(value) for value in (2, 1.0, "3", "4.0", " sport ")]
    [2, 1, 3, 4, 'sport']
    """
    if isinstance(value, str):
        value = value.strip()
        if value.lower() in ("", "nan"):
            raise ValueError("the label is missing; fill it in, or leave the row out")
        if not WHOLE.fullmatch(value):
            return str(value)
        whole, _, fraction = value.partition(".")
        if not fraction.strip("0"):
            return int(whole)
    elif missing(value):
        raise ValueError("the label is missing; fill it in, or leave the row out")
    # True and False are whole numbers to Python, but which class is meant should not be guessed.
    elif isinstance(value, int | np.integer) and not isinstance(value, bool):  # noqa: SIM114
        return int(value)
    elif isinstance(value, float | np.floating) and float(value).is_integer():
        return int(value)
    raise ValueError(f"the label is {short(value)}; expected a whole number or a name")


def own_names(labels: Sequence[Any], names: Sequence[str]) -> tuple[str, ...] | None:
    """What labels that were numbered call the classes, if it is not their names.

    >>> own_names([1, 0], ("negative", "positive")), own_names(["good"], ("bad", "good"))
    (('0', '1'), None)
    """
    if isinstance(read_label(labels[0]), str) or all(WHOLE.fullmatch(name) for name in names):
        return None
    return tuple(str(number) for number in range(len(names)))


def number_labels(labels: Sequence[Any], names: Sequence[str] | None, say: Say) -> tuple[Ints, tuple[str, ...]]:
    """The class number of each label, and the names of the classes. say: makes the error about a row (None: about all).

    >>> number_labels(["good", "bad", "good"], None, lambda row, what: ValueError(what))
    (array([1, 0, 1]), ('bad', 'good'))
    >>> number_labels([1, 5, 1], None, lambda row, what: ValueError(what))
    (array([0, 1, 0]), ('1', '5'))
    >>> number_labels([1, 0], ("negative", "positive"), lambda row, what: ValueError(what))
    (array([1, 0]), ('negative', 'positive'))
    """
    read: list[Any] = []
    for row, label in enumerate(labels):
        try:
            read.append(read_label(label))
        except ValueError as error:
            raise say(row, str(error)) from None
    kind = type(read[0])
    for row, label in enumerate(read):
        if type(label) is not kind:
            before = "numbers" if kind is int else "names"
            raise say(
                row,
                f"the label is {short(labels[row])}, but those before are {before}, such as {short(labels[0])}; "
                "write all as numbers or all as names",
            )
        # −1 is how published sets mark a row whose label is not known.
        if kind is int and label < 0:
            raise say(row, f"the label is {label}, which is negative; classes are counted from 0")
    if names is None:
        distinct = sorted(set(read))
        if len(distinct) < 2:
            raise say(None, f"only one class, {str(distinct[0])!r}, among {len(read)} rows; two or more are needed")
        place = {label: number for number, label in enumerate(distinct)}
        names = tuple(str(label) for label in distinct)
    elif kind is int and not all(WHOLE.fullmatch(name) for name in names):
        place = {number: number for number in range(len(names))}
    else:
        place = {read_label(name): number for number, name in enumerate(names)}
    for row, label in enumerate(read):
        if label not in place:
            raise say(
                row,
                f"the label is {short(labels[row])}, which is none of the {len(names)} classes; "
                f"expected 0 to {len(names) - 1}, or {few(names)}",
            )
    return np.array([place[label] for label in read], dtype=np.int64), tuple(names)
