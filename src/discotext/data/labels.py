"""Labels as people write them, converted to class numbers.

A label is a *number* (0, 1.0, "2", −1) or a *name* ("positive", true); all labels of a data set are of one kind.
Without class names,

    numbers 0, 1, …, C − 1   are the class numbers, and the classes are named "0", "1", …
    other numbers            (1 to 5, 0 and 2, −1 and 1) are names: the classes are "1", "2", …, in ascending order
    names                    are sorted

A negative number is otherwise an error, since published data sets mark texts without a label by −1.

With class names, such as a victim's, `match_labels` looks a name up, and a number is a position; but if the class names
are numbers themselves, a number is looked up like a name. What is not certain is an error that says how to rename the
labels, because labels that are assigned to the wrong classes make every later figure wrong without a sign of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from discotext.core.arrays import Ints
from discotext.support.plain_text import shorten

# A number as spreadsheets and data frames write it. Longer runs of digits are identifiers, and treated as names.
WHOLE_NUMBER = re.compile(r"[+-]?\d{1,18}(\.\d*)?", re.ASCII)
UNNAMED = re.compile(r"(?:label_)?(\d{1,9})", re.ASCII | re.IGNORECASE)  # what nameless classes are called by libraries
NAMES_SHOWN = 8  # class names listed in a message
LONGEST_SHOWN = 60  # characters of a name or a label in a message
# Labels that are as long and as distinct as this are texts, where no class names are known.
TEXT_LENGTH, TEXTS_DISTINCT, TEXTS_LEAST = 30, 0.9, 10
NEGATIVE = "which is negative: published data sets mark texts without a label so"
SHORT = {"neg": "negative", "pos": "positive"}  # the only abbreviations that are understood
# Pairs whose order is part of their meaning, so that −1 and 1, or false and true, are matched with them.
OPPOSITES = (("negative", "positive"), ("no", "yes"), ("false", "true"))

Label = int | str


class LabelError(ValueError):
    """What is wrong with a label, and its row if it is not about all of them."""

    def __init__(self, what: str, row: int | None = None) -> None:
        super().__init__(what)
        self.row = row


def is_missing(value: Any) -> bool:
    """Whether a value is missing: None, NaN, or pandas' NA or NaT (whose comparisons have no truth value)."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def list_some(names: Sequence[str]) -> str:
    """List names in a message, the first few of many, each shortened if it is long."""
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(shorten(name, LONGEST_SHOWN) for name in names[:NAMES_SHOWN]) + more


def show(value: Any) -> str:
    """A value as it is written in a message, shortened if it is long."""
    return shorten(repr(value.item() if isinstance(value, np.generic) else value), LONGEST_SHOWN)


def read_label(value: Any) -> Label:
    """Read a label as a number or a name; raise a ValueError that says what is wrong with it.

    >>> [read_label(value) for value in (2, 1.0, "3", "4.0", " sport ", True)]
    [2, 1, 3, 4, 'sport', 'True']
    """
    value = value.item() if isinstance(value, np.generic) else value
    value = value.strip() if isinstance(value, str) else value
    if is_missing(value) or str(value).lower() in ("", "nan"):
        raise ValueError("the label is missing; add it, or remove the row")
    # True and False are integers in Python, but as labels they are names.
    if isinstance(value, bool) or (isinstance(value, str) and not WHOLE_NUMBER.fullmatch(value)):
        return str(value)
    whole, _, rest = value.partition(".") if isinstance(value, str) else (value, "", "")
    if not rest.strip("0") and (isinstance(whole, str | int) or (isinstance(whole, float) and whole.is_integer())):
        return int(whole)
    raise ValueError(f"the label is {show(value)}; expected a whole number or a name")


def fold(name: str) -> str:
    """A name as it is compared with others: without regard to case and blanks around it."""
    folded = name.strip().casefold()
    return SHORT.get(folded, folded)


def find_name(wanted: str, names: Sequence[str]) -> list[int]:
    """Where a name is among others: where it is spelt exactly so, or else where it differs in case only.

    >>> find_name("spam", ("Spam", "spam ")), find_name("SPAM", ("Spam", "spam")), find_name("Ham", ("ham", "spam"))
    ([1], [0, 1], [0])
    """
    exact = [number for number, name in enumerate(names) if name.strip() == wanted.strip()]
    return exact or [number for number, name in enumerate(names) if fold(name) == fold(wanted)]


def are_unnamed(names: Sequence[str]) -> bool:
    """Whether classes have no names but their numbers: 0, 1, …, or LABEL_0, LABEL_1, …, as Hugging Face writes them.

    >>> are_unnamed(("0", "1")), are_unnamed(("LABEL_0", "LABEL_1")), are_unnamed(("1", "2"))
    (True, True, False)
    """
    found = [UNNAMED.fullmatch(name.strip()) for name in names]
    return all(match is not None and int(match[1]) == number for number, match in enumerate(found))


def are_numbers(names: Sequence[str]) -> bool:
    """Whether the names of classes are numbers, in any order."""
    return all(WHOLE_NUMBER.fullmatch(name.strip()) for name in names)


def match_labels(labels: Iterable[Label], names: Sequence[str]) -> dict[Label, int]:
    """The class of each label that is certain; the others are left out. labels: of one kind, see `read_label`.

    >>> match_labels(["Positive"], ("negative", "positive")), match_labels([-1, 1], ("0", "1"))
    ({'Positive': 1}, {-1: 0, 1: 1})
    >>> match_labels([-1, 1], ("ham", "spam"))
    {}
    """
    wanted = set(labels)
    if all(isinstance(label, int) for label in wanted):
        found: Mapping[Label, int | None] = _match_numbers(wanted, names)
    else:
        found = {label: _match_name(str(label), names) for label in wanted}
    return {label: number for label, number in found.items() if label in wanted and number is not None}


def _match_numbers(wanted: set[Label], names: Sequence[str]) -> Mapping[Label, int]:
    numeric = {read_label(name): number for number, name in enumerate(names)} if are_numbers(names) else {}
    # A data set of −1 alone has no labels; −1 beside 1 is the other of two classes.
    if wanted == {-1, 1} and -1 not in numeric:
        first, second = _order_two(names)
        return {} if first == second else {-1: first, 1: second}
    if set(numeric) == {-1, 1} and wanted <= {0, 1}:
        return {0: numeric[-1], 1: numeric[1]}
    if [fold(name) for name in names] == ["true", "false"]:
        return {}  # 1 may be the second class, or mean True
    return numeric or {number: number for number in range(len(names))}


def _match_name(label: str, names: Sequence[str]) -> int | None:
    if places := find_name(label, names):
        return places[0] if len(places) == 1 else None
    own, unnamed, number = fold(label), are_unnamed(names), UNNAMED.fullmatch(label)
    if unnamed and number:
        return int(number[1]) if int(number[1]) < len(names) else None
    # The positive class is 1. But what a model calls LABEL_1 may be anything, and only true is the same as 1.
    pair = next((pair for pair in OPPOSITES if own in pair), None)
    first, second = _order_two(names)
    if pair and first != second and (are_numbers(names) or (unnamed and pair == OPPOSITES[-1])):
        return (first, second)[pair.index(own)]
    return None


def _order_two(names: Sequence[str]) -> tuple[int, int]:
    """Which of two classes is the negative and which the positive one; (0, 0) where that is not certain."""
    folded = [fold(name) for name in names]
    if len(names) == 2 and (are_unnamed(names) or [read_label(name) for name in names] == [-1, 1]):
        return 0, 1
    for pair in OPPOSITES:
        if sorted(folded) == sorted(pair):
            return folded.index(pair[0]), folded.index(pair[1])
    return 0, 0


def match_classes(own: Sequence[str], names: Sequence[str]) -> list[int]:
    """For each class of some data, the class of a victim: by name, or by number if either has no names.

    >>> match_classes(("neg", "pos"), ("POSITIVE", "NEGATIVE")), match_classes(("World", "Sports"), ("0", "1"))
    ([1, 0], [0, 1])
    """
    if tuple(own) == tuple(names) or are_unnamed(own) or are_unnamed(names):
        return list(range(len(own)))
    read = [read_label(name) for name in own]
    found = match_labels(read, names) if len({type(label) for label in read}) == 1 else {}
    if len(set(found.values())) < len(own):
        raise ValueError(
            f"the classes of the data are {list_some(own)}, those of the victim {list_some(names)}, and which is which "
            f"is not certain; {_explain_mapping(own[0], names)}"
        )
    return [found[label] for label in read]


def find_class(given: Any, names: Sequence[str]) -> int:
    """The number of a class that is given by its name, in any case, or its number.

    Where the classes are named by numbers, a number is a name, as it is in data.

    >>> find_class("Positive", ("negative", "positive")), find_class(0, ("no", "yes")), find_class("5", ("1", "5"))
    (1, 0, 1)
    """
    try:
        label = read_label(given)
    except ValueError:
        label = str(given)
    found = match_labels([label], names)
    # A name must be one of the names here; what "positive" means of classes 0 and 1 is for labels in data to say.
    if label not in found or (isinstance(label, str) and fold(label) not in map(fold, names)):
        listed = list_some([name if are_numbers(names) else f"{name} ({number})" for number, name in enumerate(names)])
        raise ValueError(f"there is no class {show(given)}; choose one of {listed}")
    return found[label]


def number_labels(
    labels: Sequence[Any], names: Sequence[str] | None, rename: Mapping[str, str] | None = None
) -> tuple[Ints, tuple[str, ...], tuple[str, ...] | None]:
    """Convert labels to class numbers; also find the class names, and what the data calls the classes if that differs.

    rename: other labels for some of those in the data, by their names.

    >>> number_labels(["good", "bad", "good"], None)
    (array([1, 0, 1]), ('bad', 'good'), None)
    >>> number_labels([1, 0], ("negative", "positive"))
    (array([1, 0]), ('negative', 'positive'), ('0', '1'))
    """
    original: list[Label] = []
    for row, label in enumerate(labels):
        try:
            original.append(read_label(label))
        except ValueError as error:
            raise LabelError(str(error), row) from None
    read = rename_labels(original, rename or {})

    def refuse(row: int, why: str, way_out: str) -> LabelError:
        return LabelError(f"the label is {show(labels[row])}, {why}; {way_out}", row)

    for row, label in enumerate(read):
        if type(label) is not type(read[0]):
            raise refuse(row, f"but the first is {show(labels[0])}", "use either numbers or names for all")
    if names is None:
        number_of = _name_classes(read, refuse)
        names = tuple(map(str, number_of))
    else:
        number_of = match_labels(read, names)
    for row, label in enumerate(read):
        if label not in number_of:
            missing = isinstance(label, int) and label < 0 and set(read) != {-1, 1}
            unknown = f"and which of the {len(names)} classes it means is not certain"
            raise refuse(row, NEGATIVE if missing else unknown, _explain_mapping(original[row], names))
    # What the data calls each class; a class without rows would be called by its position if others are.
    by_position = isinstance(read[0], int) and not are_numbers(names)
    own = [str(number) if by_position else name for number, name in enumerate(names)]
    for label, written in reversed(list(zip(read, original, strict=True))):
        own[number_of[label]] = str(written)
    numbers = np.array([number_of[label] for label in read], dtype=np.int64)
    return numbers, tuple(names), None if tuple(own) == tuple(names) else tuple(own)


def rename_labels(labels: Sequence[Label], rename: Mapping[str, str]) -> list[Label]:
    """Labels with new names for some; ValueError if it is not certain which of two new names is meant.

    >>> rename_labels(["Ham", "spam", 1], {"ham": "0", "1": "good"})
    [0, 'spam', 'good']
    """
    old, new = [str(read_label(one)) for one in rename], [read_label(one) for one in rename.values()]
    found: dict[Label, Label] = {}
    for label in dict.fromkeys(labels):
        places = find_name(str(label), old)
        if len({new[place] for place in places}) > 1:
            listed = " and ".join(show(old[place]) for place in places)
            raise LabelError(f"--map-label names {listed}, and the label {show(label)} could be either; spell it so")
        found[label] = new[places[0]] if places else label
    return [found[label] for label in labels]


def _name_classes(read: Sequence[Label], refuse: Callable[[int, str, str], LabelError]) -> dict[Label, int]:
    """The classes of data that nobody has named: each label with its number, in their order."""
    distinct = sorted(set(read))
    if isinstance(distinct[0], int) and distinct[0] < 0 and distinct != [-1, 1]:
        row = next(row for row, label in enumerate(read) if isinstance(label, int) and label < 0)
        raise refuse(row, NEGATIVE, "remove the row, or name the classes (only −1 and 1 alone are read as two)")
    if len(distinct) < 2:
        only = show(str(distinct[0]))
        raise LabelError(f"all {len(read)} rows are of one class, {only}; at least two classes are needed")
    long = sum(isinstance(label, str) and len(label) >= TEXT_LENGTH for label in read)
    if len(read) >= TEXTS_LEAST and 2 * long >= len(read) and len(distinct) >= TEXTS_DISTINCT * len(read):
        raise LabelError(
            f"there are {len(distinct):,} different labels in {len(read):,} rows; are texts and labels swapped? Choose "
            "the columns with --text-column and --label-column (text_column and label_column in Python)"
        )
    spellings: dict[str, Label] = {}
    for label in distinct:
        other = spellings.setdefault(str(label).casefold(), label)
        if other != label:
            raise refuse(read.index(label), f"but other rows have {show(other)}", "write a class one way")
    return {label: number for number, label in enumerate(distinct)}


def _explain_mapping(label: Label, names: Sequence[str]) -> str:
    """How to say which class a label means. The class is left open: a guess that is copied could be wrong."""
    classes = list(map(str, range(len(names)))) if are_unnamed(names) else names
    return (
        f"say which class is meant by --map-label '{shorten(label, LONGEST_SHOWN)}=CLASS' for each label, with CLASS "
        f"one of {list_some(classes)} (in Python, rename the labels first)"
    )


def have_numbers(names: Sequence[str]) -> bool:
    """Whether the names of classes themselves say which number means which.

    >>> have_numbers(("LABEL_0", "LABEL_1")), have_numbers(("negative", "positive")), have_numbers(("World", "Sports"))
    (True, True, False)
    """
    return are_numbers(names) or are_unnamed(names) or _order_two(names) == (0, 1)
