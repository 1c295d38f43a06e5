"""Texts and their true classes: what victims are trained on, and what is attacked.

However data comes, as a file, a data frame, or lists, it ends as `Examples`, and the checks are made here, once: every
text is a text, every label a class, and a mistake is told with its row. What follows need not look again.

Parts are *stratified*: each class has the share in the part that it has in the whole, as nearly as whole rows allow.
Which rows are taken depends on the seed and on nothing else, and they stay in their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discotext.data.columns import choose_columns, pick
from discotext.data.labels import missing, number_labels, own_names, short
from discotext.segments import Ints

CALLED = {"-": "standard input", "given": "the examples"}  # sources, as messages call them


def quotas(counts: Ints, total: int, least: int) -> Ints:
    """How many rows of each class make a part of `total` rows: shares by largest remainder, exactly.

    least: as many at least of each class that has them, where the total allows; 0 or 1.

    >>> quotas(np.array([50, 30, 20]), 7, least=1)
    array([4, 2, 1])
    >>> quotas(np.array([98, 1, 1]), 10, least=1)
    array([8, 1, 1])
    """
    whole, rest = np.divmod(counts * total, max(int(counts.sum()), 1))
    # Ties go to the larger class: so the only row of a class is not the first to leave it.
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
    """Texts, a class number for each, the names of the classes, and what the user calls it all.

    labels: (N,). Make it with `Examples.of`, which checks, or `examples_from`.
    own: what the data itself calls the classes, where the names are a victim's and the data has numbers.

    >>> some = Examples.of(["fine film", "dull film", "good film"], ["positive", "negative", "positive"])
    >>> len(some), some.names, some.labels
    (3, ('negative', 'positive'), array([1, 0, 1]))
    """

    texts: tuple[str, ...]
    labels: Ints
    names: tuple[str, ...]
    source: str = "given"
    own: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        labels: Sequence[Any] | Ints,
        names: Sequence[str] | None = None,
        source: str = "given",
        rows: Sequence[int] | None = None,
    ) -> Examples:
        """Check texts and labels (see `discotext.data.labels`).

        names: the classes, where they are known already, as a victim's are; then one class may be all there is.
        rows: the line of each row, for messages; without, rows are counted from 1.
        """
        texts, labels = as_list(texts), as_list(labels)
        where = CALLED.get(source, source)

        def say(row: int | None, what: str) -> ValueError:
            if row is None:
                return ValueError(f"{where}: {what}")
            return ValueError(f"{where}, {f'row {row + 1}' if rows is None else f'line {rows[row]}'}: {what}")

        if len(texts) != len(labels):
            raise say(None, f"there are {len(texts)} texts, but {len(labels)} labels; give each text one label")
        if not texts:
            raise say(None, "there are no rows; expected a text and a label in each")
        for row, text in enumerate(texts):
            if missing(text):
                raise say(row, "the text is missing; fill it in, or leave the row out")
            if not isinstance(text, str):
                raise say(row, f"the text is {short(text)}, a {type(text).__name__}; expected a string")
            if not text.strip():
                raise say(row, "the text is blank; fill it in, or leave the row out")
            # Half a surrogate pair, which JSON can spell, could never be written to a record.
            if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
                raise say(row, f"the text {short(text)} holds half a character, which is not Unicode")
        numbers, classes = number_labels(labels, names, say)
        return cls(tuple(texts), numbers, classes, source, own_names(labels, classes))

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def counts(self) -> Ints:
        """How many rows each class has."""
        return np.asarray(np.bincount(self.labels, minlength=len(self.names)), dtype=np.int64)

    def take(self, rows: Sequence[int] | Ints) -> Examples:
        """These rows, in this order; the classes stay, also those of which nothing is left."""
        chosen = np.asarray(rows, dtype=np.int64)
        texts = tuple(self.texts[row] for row in chosen)
        return Examples(texts, self.labels[chosen], self.names, self.source, self.own)

    def sample(self, limit: int, seed: int = 0) -> Examples:
        """At most so many rows, stratified, with one of each class at least where there is room for it.

        >>> whole = Examples.of([f"text {n}" for n in range(10)], [0, 0, 0, 0, 1] * 2)
        >>> whole.sample(5).counts
        array([4, 1])
        """
        if limit < 1:
            raise ValueError(f"the limit is {limit}; choose 1 or more rows")
        return self if limit >= len(self) else self.take(self._chosen(limit, seed, least=1))

    def split(self, share: float, seed: int = 0) -> tuple[Examples, Examples]:
        """Two parts, stratified: the larger share 1 − `share` to keep, and `share` to hold out; neither is empty.

        A class with very few rows stays in the first part, for a model must have seen it.

        >>> kept, held = Examples.of([f"text {n}" for n in range(10)], [0, 1] * 5).split(0.2)
        >>> kept.counts, held.counts
        (array([4, 4]), array([1, 1]))
        """
        if not 0 < share < 1:
            raise ValueError(f"the share held out is {share}; choose one between 0 and 1")
        if len(self) < 2:
            raise ValueError(f"{CALLED.get(self.source, self.source)}: one row cannot be split in two")
        held = self._chosen(min(max(round(share * len(self)), 1), len(self) - 1), seed, least=0)
        return self.take(np.setdiff1d(np.arange(len(self)), held)), self.take(held)

    def _chosen(self, total: int, seed: int, least: int) -> Ints:
        """The rows of a stratified part, in order: the first of each class in an order that the seed shuffles."""
        order = np.random.default_rng(seed).permutation(len(self))
        wanted = quotas(self.counts, total, least)
        parts = [order[self.labels[order] == label][:quota] for label, quota in enumerate(wanted)]
        return np.asarray(np.sort(np.concatenate(parts)), dtype=np.int64)


def as_list(values: Any) -> list[Any]:
    """A list of Python's own values, from an array, a series or any other sequence."""
    if isinstance(values, str | bytes):
        raise TypeError(f"expected a sequence of texts or labels, found the single {short(values)}")
    return list(values.tolist() if hasattr(values, "tolist") else values)


def examples_from(
    thing: Any,
    text_column: str | None = None,
    label_column: str | None = None,
    names: Sequence[str] | None = None,
    source: str = "given",
) -> Examples:
    """Examples from whatever holds them.

        (texts, labels)                       a tuple of two sequences
        [{"text": …, "label": …}, …]          records
        [(text, label), …]                    a list of pairs (a list: a tuple of two is always texts and labels)
        {"text": […], "label": […]}           columns: also a pandas DataFrame
        a `datasets.Dataset`                  one split; the names of its classes are used

    >>> examples_from([("fine film", "positive"), ("dull film", "negative")]).labels
    array([1, 0])
    """
    where = CALLED.get(source, source)
    if isinstance(thing, Examples):
        return thing
    if isinstance(thing, str | bytes):
        raise TypeError(f"{short(thing)} is a string, not examples; `load_data` reads files and named data sets")
    columns = getattr(thing, "column_names", None)
    if isinstance(columns, Mapping):
        raise ValueError(f"{where}: these are several splits, {', '.join(map(repr, columns))}; give one of them")
    if columns is None:
        columns = thing.keys() if isinstance(thing, Mapping) else getattr(thing, "columns", None)
    if columns is not None:
        # A column may be called by a number; in messages and options it is called by its digits.
        called = {str(column): column for column in columns}
        text, label = choose_columns([str(column) for column in columns], text_column, label_column, where)
        feature = (getattr(thing, "features", None) or {}).get(label) if hasattr(thing, "column_names") else None
        return Examples.of(thing[called[text]], thing[called[label]], names or getattr(feature, "names", None), source)
    if isinstance(thing, tuple) and len(thing) == 2:
        return Examples.of(thing[0], thing[1], names, source)
    rows = list(thing)
    if rows and isinstance(rows[0], Mapping):
        chosen = choose_columns(list(rows[0]), text_column, label_column, where)
        pairs = [pick(row, chosen, f"{where}, row {number}") for number, row in enumerate(rows, start=1)]
    else:
        pairs = rows
        for number, row in enumerate(rows, start=1):
            if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != 2:
                raise ValueError(f"{where}, row {number}: expected a text and a label, found {short(row)}")
    return Examples.of([pair[0] for pair in pairs], [pair[1] for pair in pairs], names, source)
