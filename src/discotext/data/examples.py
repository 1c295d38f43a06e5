"""Labelled texts: what victims are trained on, and what is attacked.

All data, whether from a file, a data frame or lists, becomes `Examples`, which are checked once, here: every text is a
string, every label a class, and an error names the row.

A small file can unpack to any size, and standard input need not end. So whatever is read is counted as it is unpacked,
and refused above a maximum of bytes, which the environment variable DISCOTEXT_MAX_BYTES changes; a line, or a text, may
take a hundredth of it.

Samples and splits are *stratified*: each class has the same share as in the whole, as nearly as whole rows allow. Which
rows are chosen depends only on the seed, and they stay in their original order.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discotext.core.arrays import Ints
from discotext.data.columns import choose_columns, pick
from discotext.data.labels import (
    LabelError,
    are_unnamed,
    is_missing,
    list_some,
    match_classes,
    number_labels,
    rename_labels,
    show,
)

SOURCE_NAMES = {"-": "standard input", "given": "the examples"}  # how messages refer to these sources
MAX_BYTES, VARIABLE = 10**9, "DISCOTEXT_MAX_BYTES"
LINES = 100  # a line, or a text, may take one part in so many of the maximum
BLANK_SHARE = 100  # one blank row in so many is skipped, more are an error
ONE_TEXT = "a string: one text per example; pairs of texts, such as a premise and a hypothesis, are not supported"


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
        return f"the text is {show(text)}, of type {type(text).__name__}; expected {ONE_TEXT}"
    if len(text) > longest:
        return explain_length("the text")
    try:
        text.encode()
    except UnicodeEncodeError:  # JSON can express half a surrogate pair, but no record could contain it
        return f"the text {show(text)} contains a lone surrogate, which is not valid Unicode"
    return None


def compute_quotas(counts: Ints, total: int, least: int) -> Ints:
    """How many of `total` rows each class gets: its share, rounded exactly by largest remainder.

    least: the minimum for each class that has any rows, if the total allows; 0 or 1.

    >>> compute_quotas(np.array([50, 30, 20]), 7, least=1)
    array([4, 2, 1])
    >>> compute_quotas(np.array([98, 1, 1]), 10, least=1)
    array([8, 1, 1])
    """
    whole, rest = np.divmod(counts * total, max(int(counts.sum()), 1))
    # Ties go to the larger class, so that a class with a single row is not the first to lose it.
    order = np.lexsort((-counts, -rest))
    whole[order[: total - int(whole.sum())]] += 1
    present = counts > 0
    if least and total >= present.sum():
        for empty in np.flatnonzero(present & (whole == 0)):
            whole[np.argmax(whole)] -= 1
            whole[empty] += 1
    return np.asarray(whole)


@dataclass(frozen=True, eq=False)
class Examples:
    """Texts, their class numbers, and the names of the classes. Use `Examples.of` or `make_examples`, which check them.

    labels: (N,). source: the file or data set, for messages.
    own: the names that the data itself uses for the classes, where they are others.
    asked: the number of texts that a victim was asked about to label these, for what a run costs.

    >>> some = Examples.of(["fine film", "dull film", "good film"], ["positive", "negative", "positive"])
    >>> len(some), some.names, some.labels
    (3, ('negative', 'positive'), array([1, 0, 1]))
    """

    texts: tuple[str, ...]
    labels: Ints
    names: tuple[str, ...]
    source: str = "given"
    own: tuple[str, ...] | None = None
    asked: int = 0

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        labels: Sequence[Any] | Ints,
        names: Sequence[str] | None = None,
        source: str = "given",
        place: Callable[[int], str] | None = None,
        rename: Mapping[str, str] | None = None,
    ) -> Examples:
        """Make examples from texts and labels (see `discotext.data.labels`), and check them.

        names: the class names if they are known, such as a victim's; then all rows may be of one class.
        place: says where a row is, for messages [default: "row 1", …].
        rename: other labels for some of those given, such as {"good": "positive"}.
        """
        texts, labels = to_list(texts), to_list(labels)
        where = SOURCE_NAMES.get(source, source)

        def make_error(row: int | None, what: str) -> ValueError:
            at = "" if row is None else f", {place(row) if place else f'row {row + 1}'}"
            return ValueError(f"{where}{at}: {what}")

        if len(texts) != len(labels):
            raise make_error(None, f"there are {len(texts)} texts, but {len(labels)} labels; give one label per text")
        if not texts:
            raise make_error(None, "there are no rows; expected a text and a label in each")
        blank = [row for row, text in enumerate(texts) if is_missing(text) or not str(text).strip()]
        filled = sorted({*range(len(texts))} - {*blank})
        if blank:
            error = make_error(blank[0], f"the text is blank or missing, as in {len(blank):,} of {len(texts):,} rows")
            if len(blank) > max(1, len(texts) // BLANK_SHARE) or not filled:
                raise ValueError(f"{error}; no more than 1 row in {BLANK_SHARE} is skipped: add the text, or remove it")
            warnings.warn(f"{error}, which are skipped", stacklevel=2)
        longest = get_max_bytes() // LINES
        for row in filled:
            if fault := find_fault(texts[row], longest):
                raise make_error(row, fault)
        try:
            numbers, classes, own = number_labels([labels[row] for row in filled], names, rename)
        except LabelError as error:
            raise make_error(None if error.row is None else filled[error.row], str(error)) from None
        return cls(tuple(texts[row] for row in filled), numbers, classes, source, own)

    def match(self, names: Sequence[str] | None, rename: Mapping[str, str] | None = None) -> Examples:
        """The same examples with the classes of a victim: matched by name, or by number if either has no names.

        names: those classes [default: none; only rename]. rename: other names for some of the classes of the data.

        >>> Examples.of(["fine", "dull"], ["pos", "neg"]).match(("POSITIVE", "NEGATIVE")).labels
        array([0, 1])
        """
        try:
            called = [str(name) for name in rename_labels(self.names, rename or {})]
            if names is None:
                return replace(self, names=tuple(called), own=self.own or (self.names if rename else None))
            found = match_classes(called, names)
        except ValueError as error:
            raise ValueError(f"{SOURCE_NAMES.get(self.source, self.source)}: {error}") from None
        if found == list(range(len(names))) or len(found) > len(names) or are_unnamed(called) or are_unnamed(names):
            # By number; their numbers may differ, which is for others to say.
            return replace(self, names=tuple(called), own=None if tuple(called) == self.names else self.names)
        own = list(names)
        for name, number in zip(self.names, found, strict=True):
            own[number] = name
        return replace(self, labels=np.array(found, dtype=np.int64)[self.labels], names=tuple(names), own=tuple(own))

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def counts(self) -> Ints:
        """The number of rows of each class."""
        return np.asarray(np.bincount(self.labels, minlength=len(self.names)), dtype=np.int64)

    def __repr__(self) -> str:
        classes = [f"{name}: {count:,}" for name, count in zip(self.names, self.counts.tolist(), strict=True)]
        return f"Examples({len(self):,} texts of {str(self.source)[:60]}; {list_some(classes)})"

    def take(self, rows: Sequence[int] | Ints) -> Examples:
        """These rows, in this order; all classes remain, even those without rows."""
        chosen = np.asarray(rows, dtype=np.int64)
        return replace(self, texts=tuple(self.texts[row] for row in chosen), labels=self.labels[chosen])

    def sample(self, limit: int, seed: int = 0) -> Examples:
        """A stratified sample of at most `limit` rows, with at least one of each class if there is room.

        >>> whole = Examples.of([f"text {n}" for n in range(10)], [0, 0, 0, 0, 1] * 2)
        >>> whole.sample(5).counts
        array([4, 1])
        """
        if limit < 1:
            raise ValueError(f"the limit is {limit}; choose 1 or more rows")
        return self if limit >= len(self) else self.take(self._choose_rows(limit, seed, least=1))

    def split(self, share: float, seed: int = 0) -> tuple[Examples, Examples]:
        """Split into two stratified parts: a share 1 − `share` to keep, and `share` to hold out; neither is empty.

        Rounding favours large classes, so that one with few rows mostly stays in the first part, to be trained on.

        >>> kept, held = Examples.of([f"text {n}" for n in range(10)], [0, 1] * 5).split(0.2)
        >>> kept.counts, held.counts
        (array([4, 4]), array([1, 1]))
        """
        if not 0 < share < 1:
            raise ValueError(f"the share to hold out is {share}; choose a number between 0 and 1")
        if len(self) < 2:
            raise ValueError(f"{SOURCE_NAMES.get(self.source, self.source)}: one row cannot be split in two")
        held = self._choose_rows(min(max(round(share * len(self)), 1), len(self) - 1), seed, least=0)
        return self.take(np.setdiff1d(np.arange(len(self)), held)), self.take(held)

    def _choose_rows(self, total: int, seed: int, least: int) -> Ints:
        """The rows of a stratified sample, in order: the first of each class after shuffling by the seed."""
        order = np.random.default_rng(seed).permutation(len(self))
        wanted = compute_quotas(self.counts, total, least)
        parts = [order[self.labels[order] == label][:quota] for label, quota in enumerate(wanted)]
        return np.asarray(np.sort(np.concatenate(parts)), dtype=np.int64)


def to_list(values: Any) -> list[Any]:
    """Convert an array, a series or any other sequence to a list of Python values."""
    found = values.tolist() if hasattr(values, "tolist") else values
    if isinstance(found, str | bytes):
        raise TypeError(f"expected a sequence of texts or labels, found a single string, {show(found)}")
    return list(found)


def list_texts(thing: Any) -> list[Any] | None:
    """Texts without labels: a list, a tuple, an array or a series of strings; None if it is something else.

    Values that are missing or numbers may be among them, so that an error can name their rows.

    >>> list_texts(np.array(["fine film", "dull film"])), list_texts([("fine film", 1)])
    (['fine film', 'dull film'], None)
    """
    if not isinstance(thing, Collection) or isinstance(thing, str | bytes | Set) or _find_columns(thing) is not None:
        return None
    found = to_list(thing)
    if not any(isinstance(one, str) for one in found):
        return None
    if not all(isinstance(one, str | int | float) or is_missing(one) for one in found):
        return None
    if isinstance(thing, tuple) and len(thing) == 2:
        pair = f"{show(found[0])} and {show(found[1])}"
        raise ValueError(f"the data is a pair of {pair}; give two lists, ([text], [label]), or a list of texts")
    return found


def _find_columns(thing: Any) -> Iterable[Any] | None:
    """The columns of a mapping, a data frame or a `datasets.Dataset`; None for everything else."""
    if isinstance(thing, Mapping):
        return thing.keys()
    found = (getattr(thing, name, None) for name in ("column_names", "columns"))
    return next((columns for columns in found if columns is not None), None)


def make_examples(
    thing: Any,
    text_column: str | None = None,
    label_column: str | None = None,
    names: Sequence[str] | None = None,
    source: str = "given",
) -> Examples:
    """Make examples from Python objects.

        (texts, labels)                       a tuple of two sequences
        [{"text": …, "label": …}, …]          records
        [(text, label), …]                    a list of pairs (not a tuple: a tuple of two is always texts and labels)
        {"text": […], "label": […]}           columns, such as a pandas DataFrame
        a `datasets.Dataset`                  a single split; its class names are used

    >>> make_examples([("fine film", "positive"), ("dull film", "negative")]).labels
    array([1, 0])
    """
    where = SOURCE_NAMES.get(source, source)
    if isinstance(thing, Examples):
        return thing if names is None else thing.match(names)
    if isinstance(thing, str | bytes):
        raise TypeError(f"{show(thing)} is a string, not examples; `load_data` reads files and named data sets")
    if isinstance(thing, Mapping) and thing and all(_find_columns(one) is not None for one in thing.values()):
        raise ValueError(f"{where}: there are several splits, {list_some([*map(repr, thing)])}; choose one of them")
    columns = _find_columns(thing)
    if columns is not None:
        # A column name may be a number; messages and options refer to it as a string.
        original = {str(column): column for column in columns}
        text, label = choose_columns(list(map(str, columns)), text_column, label_column, where)
        texts, labels = thing[original[text]], thing[original[label]]
        datasets = sys.modules.get("datasets")
        if datasets and not isinstance(thing, Mapping) and isinstance(thing, datasets.Dataset):
            feature = thing.features[label]
            if isinstance(feature, datasets.ClassLabel):
                found = Examples.of(texts, labels, feature.names, source)
                return found if names is None else found.match(names)
        return Examples.of(texts, labels, names, source)
    if isinstance(thing, tuple) and len(thing) == 2:
        return Examples.of(*thing, names, source)
    rows = list(thing)
    if rows and isinstance(rows[0], Mapping):
        chosen = choose_columns(list(rows[0]), text_column, label_column, where)
        rows = [pick(row, chosen, f"{where}, row {number}") for number, row in enumerate(rows, start=1)]
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != 2:
            raise ValueError(
                f"{where}, row {number}: expected a text and a label, found {show(row)}; a text is {ONE_TEXT}"
            )
    return Examples.of([row[0] for row in rows], [row[1] for row in rows], names, source)
