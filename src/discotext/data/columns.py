"""Which columns contain the texts and the labels: as given, or by their usual names if that is unambiguous."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from discotext.data.labels import list_some, show

USUAL_NAMES = {
    "text": ("text", "sentence", "review", "content", "question"),
    "label": ("label", "labels", "class", "target", "category", "sentiment"),
}
# What else may be done where no column has a usual name.
OTHERWISE = {
    "text": "; pairs of texts are not supported, one is read of a row",
    "label": ", or, to attack texts without labels, use --unlabelled (in Python, pass a list of the texts alone)",
}


class Columns(NamedTuple):
    """How a user wants data to be read.

    text, label: the columns of the texts and the labels, if given. rename: other labels for some of those in the data.
    unlabelled: whether a victim's predictions are the labels.
    """

    text: str | None = None
    label: str | None = None
    rename: Mapping[str, str] | None = None
    unlabelled: bool = False


AnyColumns = Columns | tuple[str | None, str | None]


def parse_renames(given: Sequence[str]) -> dict[str, str]:
    """Labels of the data and what they are to be called, from "OLD=NEW"; the last "=" divides the two.

    >>> parse_renames(["-1=negative", "1=positive"])
    {'-1': 'negative', '1': 'positive'}
    """
    found: dict[str, str] = {}
    for one in given:
        old, mark, new = (half.strip() for half in one.rpartition("="))
        if not mark or not old or not new:
            raise ValueError(f"--map-label is {one!r}; give a label of the data and a class, such as good=positive")
        if found.setdefault(old, new) != new:
            raise ValueError(f"--map-label gives {old!r} two classes, {found[old]} and {new}; give one")
    return found


def choose_columns(
    columns: Sequence[str], text_column: str | None, label_column: str | None, where: str, labels: bool = True
) -> tuple[str, ...]:
    """Choose the column of the texts and the column of the labels.

    labels: whether they are needed; if not, the column of the texts alone will do.

    >>> choose_columns(["id", "Review", "sentiment"], None, None, "reviews.csv")
    ('Review', 'sentiment')
    >>> choose_columns(["id", "Review"], None, None, "reviews.csv", labels=False)
    ('Review',)
    """
    if twice := [column for column, times in Counter(columns).items() if times > 1]:
        raise ValueError(f"{where} has two columns named {show(twice[0])}; rename one of them")
    text = choose_column(columns, text_column, "text", where)
    if not labels and label_column is None and not _find_usual(columns, "label"):
        return (text,)
    label = choose_column(columns, label_column, "label", where)
    if text == label:
        raise ValueError(f"{where}: the column {text!r} is given for both the text and the label; choose two columns")
    return text, label


def choose_column(columns: Sequence[str], wanted: str | None, role: Literal["text", "label"], where: str) -> str:
    """Choose the column with this role: the one wanted, in any case, or the only one with a usual name."""
    if wanted in columns:
        return str(wanted)
    if wanted is None:
        found, what = _find_usual(columns, role), f"column with a usual name for the {role}"
    else:
        found, what = [one for one in columns if one.lower() == wanted.lower()], f"column {show(wanted)}"
    if len(found) == 1:
        return found[0]
    listed = list_some([show(column) for column in found or columns])
    option = f"choose one with --{role}-column ({role}_column in Python)"
    if found:
        raise ValueError(f"{where}: the columns {listed} could each be the {role}; {option}")
    # In many countries spreadsheets write semicolons.
    hint = " (a .csv file has commas between its columns, a .tsv file tabs)" if len(columns) == 1 else ""
    otherwise = "" if wanted else OTHERWISE[role]
    raise ValueError(f"{where} has no {what}; its columns are {listed}{hint}: {option}{otherwise}")


def _find_usual(columns: Sequence[str], role: str) -> list[str]:
    return [column for column in columns if column.strip().lower() in USUAL_NAMES[role]]


def pick(record: Any, columns: Sequence[str], where: str) -> list[Any]:
    """The values of a record in these columns."""
    if not isinstance(record, Mapping):
        kind = "null" if record is None else f"a {type(record).__name__}"
        raise ValueError(f'{where}: expected an object such as {{"text": "…", "label": 1}}, found {kind}')
    for column in columns:
        if column not in record:
            keys = list_some([show(key) for key in record]) or "no values"
            raise ValueError(f"{where}: {column!r} is missing; this row has {keys}")
    return [record[column] for column in columns]
