"""Which column holds the text and which the label: as told, or where there is no doubt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discotext.data.labels import few, short

TEXT = ("text", "sentence", "review", "content", "question")
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}
LABEL = ("label", "labels", "class", "target", "category", "sentiment")


def choose_columns(
    columns: Sequence[str], text_column: str | None, label_column: str | None, where: str
) -> tuple[str, str]:
    """The columns of texts and of labels.

    >>> choose_columns(["id", "Review", "sentiment"], None, None, "reviews.csv")
    ('Review', 'sentiment')
    """
    seen: set[str] = set()
    for column in columns:
        if column in seen:
            raise ValueError(f"{where} has two columns called {short(column)}; rename one of them")
        seen.add(column)
    text = _choose(columns, text_column, TEXT, "text", where)
    label = _choose(columns, label_column, LABEL, "label", where)
    if text == label:
        raise ValueError(f"{where}: the column {text!r} is to be both text and label; name two columns")
    return text, label


def _choose(columns: Sequence[str], wanted: str | None, usual: Sequence[str], role: str, where: str) -> str:
    there = "its columns are " + few([short(column) for column in columns]) + _hint(columns)
    option = f"--{role}-column ({role}_column in Python)"
    if wanted is not None:
        if wanted in columns:
            return wanted
        found = [column for column in columns if column.lower() == wanted.lower()]
        if len(found) != 1:
            raise ValueError(f"{where} has no column {short(wanted)}; {there}: name one with {option}")
        return found[0]
    found = [column for column in columns if column.strip().lower() in usual]
    if not found:
        raise ValueError(f"{where} has no column with a usual name for the {role}; {there}: name one with {option}")
    if len(found) > 1:
        both = " and ".join(map(repr, found))
        raise ValueError(f"{where}: the columns {both} could all be the {role}; name one with {option}")
    return found[0]


def _hint(columns: Sequence[str]) -> str:
    """A single column that holds a separator is most likely several: in many countries spreadsheets put semicolons."""
    if len(columns) == 1:
        for sign, name in SEPARATORS.items():
            if sign in columns[0]:
                return f" (is it separated by {name}? In a .csv file expected are commas, in a .tsv file tabs)"
    return ""


def pick(record: Any, columns: Sequence[str], where: str) -> list[Any]:
    """The values that a record has in these columns."""
    if not isinstance(record, Mapping):
        kind = "null" if record is None else f"a {type(record).__name__}"
        raise ValueError(f'{where}: expected an object such as {{"text": "…", "label": 1}}, found {kind}')
    for column in columns:
        if column not in record:
            keys = few([short(key) for key in record]) or "nothing"
            raise ValueError(f"{where}: there is no {column!r}; this row has {keys}")
    return [record[column] for column in columns]
