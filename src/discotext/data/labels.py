"""Labels as people write them, converted to class numbers.

A label is a *number* (0, 1.0, "2") or a *name* ("positive"); all labels of a data set are of one kind. Without class
names,

    numbers 0, 1, …, C − 1   are the class numbers, and the classes are named "0", "1", …
    other numbers            (1 to 5, or 0 and 2) are names: the classes are named "1", "2", …, in ascending order
    names                    are sorted

With class names, a name is looked up and a number is an index; but if the class names are numbers themselves, a number
is looked up like a name. So the class names found in one file can be used to read the next.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from discotext.core.arrays import Ints

# A number as spreadsheets and data frames write it. Longer runs of digits are identifiers, and treated as names.
WHOLE_NUMBER = re.compile(r"[+-]?\d{1,18}(\.\d*)?", re.ASCII)
NAMES_SHOWN = 8  # class names listed in a message

MakeError = Callable[[int | None, str], ValueError]


def is_missing(value: Any) -> bool:
    """Whether a value is missing: None, NaN, or pandas' NA or NaT (whose comparisons have no truth value)."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def list_some(names: Sequence[str]) -> str:
    """List names in a message, the first few of many."""
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + more


def shorten(value: Any) -> str:
    """Show a value in a message, shortened if it is long."""
    shown = repr(value.item() if isinstance(value, np.generic) else value)
    return shown if len(shown) <= 60 else shown[:57] + "…"


def read_label(value: Any) -> int | str:
    """Read a label as a number or a name; raise a ValueError that says what is wrong with it.

    >>> [read_label(value) for value in (2, 1.0, "3", "4.0", " sport ")]
    [2, 1, 3, 4, 'sport']
    """
    if isinstance(value, str):
        value = value.strip()
        if value.lower() in ("", "nan"):
            raise ValueError("the label is missing; add it, or remove the row")
        if not WHOLE_NUMBER.fullmatch(value):
            return str(value)
        whole, _, fraction = value.partition(".")
        if not fraction.strip("0"):
            return int(whole)
    elif is_missing(value):
        raise ValueError("the label is missing; add it, or remove the row")
    # True and False are integers in Python, but which class they mean should not be guessed.
    elif isinstance(value, int | np.integer) and not isinstance(value, bool):  # noqa: SIM114
        return int(value)
    elif isinstance(value, float | np.floating) and float(value).is_integer():
        return int(value)
    raise ValueError(f"the label is {shorten(value)}; expected a whole number or a name")


def find_own_names(labels: Sequence[Any], names: Sequence[str]) -> tuple[str, ...] | None:
    """The names that the data itself uses for the classes, if it has numbers and they have names; else None.

    >>> find_own_names([1, 0], ("negative", "positive")), find_own_names(["good"], ("bad", "good"))
    (('0', '1'), None)
    """
    if isinstance(read_label(labels[0]), str) or all(WHOLE_NUMBER.fullmatch(name) for name in names):
        return None
    return tuple(str(number) for number in range(len(names)))


def number_labels(
    labels: Sequence[Any], names: Sequence[str] | None, make_error: MakeError
) -> tuple[Ints, tuple[str, ...]]:
    """Convert labels to class numbers, and find the class names.

    make_error: makes the error for a row and a message (row None: about all rows).

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
            raise make_error(row, str(error)) from None
    kind = type(read[0])
    for row, label in enumerate(read):
        if type(label) is not kind:
            before = "numbers" if kind is int else "names"
            raise make_error(
                row,
                f"the label is {shorten(labels[row])}, but earlier labels are {before}, such as {shorten(labels[0])}; "
                "use either numbers or names for all",
            )
        # Published data sets mark rows without a known label by −1.
        if kind is int and label < 0:
            raise make_error(row, f"the label is {label}, which is negative; classes are counted from 0")
    if names is None:
        distinct = sorted(set(read))
        if len(distinct) < 2:
            only = str(distinct[0])
            raise make_error(None, f"all {len(read)} rows are of one class, {only!r}; at least two classes are needed")
        number_of = {label: number for number, label in enumerate(distinct)}
        names = tuple(str(label) for label in distinct)
    elif kind is int and not all(WHOLE_NUMBER.fullmatch(name) for name in names):
        number_of = {number: number for number in range(len(names))}
    else:
        number_of = {read_label(name): number for number, name in enumerate(names)}
    for row, label in enumerate(read):
        if label not in number_of:
            raise make_error(
                row,
                f"the label is {shorten(labels[row])}, which is not one of the {len(names)} classes; "
                f"expected 0 to {len(names) - 1}, or {list_some(names)}",
            )
    return np.array([number_of[label] for label in read], dtype=np.int64), tuple(names)
