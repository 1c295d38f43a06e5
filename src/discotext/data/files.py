"""Examples from files, folders and standard input.

`read_table` finds out the format and reads texts and labels as they are; `Table.check` makes `Examples` of them. What
comes from standard input is recognised by its first line: a JSON object, a line of column names, or else plain text.
"""

from __future__ import annotations

import difflib
import gzip
import itertools
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discotext.data.columns import LABEL_NAMES, TEXT_NAMES, choose_columns, choose_text_and_label
from discotext.data.examples import SOURCE_NAMES, Examples
from discotext.data.folders import (
    check_folder,
    find_split,
    is_saved,
    read_class_folders,
    read_saved,
    read_saved_class_names,
)
from discotext.data.rows import Rows
from discotext.data.tables import (
    Chooser,
    decode_lines,
    read_class_names,
    read_csv,
    read_excel,
    read_json,
    read_json_lines,
    read_parquet,
)

LINE_FORMATS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
DATA_FORMATS = (*LINE_FORMATS, *(f"{ending}.gz" for ending in LINE_FORMATS), ".parquet", ".xlsx")
PLAIN = ".txt"  # texts without labels, one on each line
SHOWN_FORMATS = ".csv, .tsv, .jsonl, .ndjson, .json (each also with .gz), .parquet, .xlsx"
COLUMN_NAME = re.compile(r"[\w .:/()-]{1,60}")


@dataclass(frozen=True)
class Table:
    """Texts and labels as they were read, not yet checked.

    labels: None if there are none. rows: where each is, for messages. classes: the names of the classes, where the data
    has them beside labels that are numbers. plain: whether it is plain text, which has no place for labels.
    """

    texts: list[Any]
    labels: list[Any] | None
    source: str
    rows: Sequence[int | str] | None = None
    classes: tuple[str, ...] | None = None
    plain: bool = False

    def check(self, names: Sequence[str] | None = None, rename: Mapping[str, str] | None = None) -> Examples:
        """Make examples. names: the class names, if they are known. rename: see `Examples.of`."""
        if self.labels is None:
            where = SOURCE_NAMES.get(self.source, self.source)
            raise ValueError(f"{where} is plain text without labels; expected a table with texts and labels")
        if self.classes is not None:
            found = Examples.of(self.texts, self.labels, self.classes, self.source, self.rows)
            return found.match(names, rename)
        return Examples.of(self.texts, self.labels, names, self.source, self.rows, rename)


def read_examples(
    path: str | Path,
    text_column: str | None = None,
    label_column: str | None = None,
    names: Sequence[str] | None = None,
) -> Examples:
    """Read texts and labels from a file or folder, or from standard input if the path is `-`.

    text_column, label_column: [default: found by their usual names, such as `text` and `label`].
    names: the class names, if they are known.
    """
    return read_table(path, text_column, label_column).check(names)


def read_table(
    spec: str | Path,
    text_column: str | None = None,
    label_column: str | None = None,
    split: str = "test",
    labels: bool = True,
    limit: int | None = None,
    seed: int = 0,
) -> Table:
    """Read texts and labels as they are, from a file or folder, or from standard input if it is `-`.

    split: of a folder with several. labels: whether they are needed; if not, a table without a label column will do.
    limit: how many rows will be drawn from the table, if not all are wanted; of very many, a part is then kept.
    """
    chosen: list[str] = []

    def choose(columns: Sequence[str], where: str) -> Sequence[str]:
        choose_both = choose_columns if labels else choose_text_and_label
        chosen.extend(choose_both(columns, text_column, label_column, where))
        return chosen

    source, path = str(spec), Path(spec)
    classes, plain = None, False
    rows = Rows(limit, seed)
    if source != "-" and path.is_dir():
        check_folder(path)
        path = find_split(path, split)
        source = str(path)
        if not is_saved(path):
            texts, own, places = read_class_folders(path)
            return Table(texts, own, source, places)
        read_saved(path, choose, rows)
        classes = read_saved_class_names(path, chosen[1]) if len(chosen) > 1 else None
    elif source == "-":
        plain = _read_standard_input(choose, (text_column, label_column), rows)
    elif find_format(path) == PLAIN:
        check_data_file(path)
        plain = True
        with path.open("rb") as file:
            _read_lines(decode_lines(file, source), source, rows)
    else:
        read_columns(path, choose, rows)
        if find_format(path) == ".parquet" and len(chosen) > 1:
            classes = read_class_names(path, chosen[1])
    rows.finish(SOURCE_NAMES.get(source, source))
    columns = rows.columns or [[] for _ in chosen]
    return Table(columns[0], columns[1] if len(columns) > 1 else None, source, rows.places, classes, plain)


def suggest_neighbour(path: Path) -> str:
    """A hint at a file beside it whose name is nearly the same, or nothing."""
    beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
    near = difflib.get_close_matches(path.name, beside, n=1, cutoff=0.75)
    return f"; did you mean {path.with_name(near[0])}?" if near else ""


def find_format(path: Path) -> str:
    """The ending of a file that tells its format, in lower case, with .gz where there is one."""
    endings = [ending.lower() for ending in path.suffixes[-2:]]
    return "".join(endings) if endings[1:] == [".gz"] else "".join(endings[-1:])


def read_columns(path: str | Path, choose: Chooser, rows: Rows | None = None) -> Rows:
    """Read columns of a file.

    choose: called with the columns of the file and its name, returns those to be read, that of the texts first.
    rows: what they are added to.
    """
    path, rows = Path(path), rows or Rows()
    check_data_file(path)
    ending = find_format(path)
    if ending == ".parquet":
        return read_parquet(path, choose, rows)
    if ending == ".xlsx":
        return read_excel(path, choose, rows)
    with closing(gzip.open(path, "rb") if ending.endswith(".gz") else path.open("rb")) as file:
        ending = ending.removesuffix(".gz")
        lines = decode_lines(file, str(path), whole=ending == ".json")
        if ending in (".jsonl", ".ndjson"):
            return read_json_lines(lines, choose, str(path), rows)
        if ending == ".json":
            return read_json(lines, choose, str(path), rows)
        return read_csv(lines, choose, str(path), "," if ending == ".csv" else "\t", rows)


def check_data_file(path: Path) -> None:
    """Raise an error if a file or folder cannot be read, as far as can be seen without reading it."""
    if path.is_dir():
        check_folder(path)
        return
    if find_format(path) not in (*DATA_FORMATS, PLAIN):
        ending = f"ends in {path.suffix!r}" if path.suffix else "has no extension"
        raise ValueError(
            f"{path} {ending}; examples are read from {SHOWN_FORMATS} files, and texts without labels also from .txt"
        )
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}{suggest_neighbour(path)}")
    if not path.stat().st_size:
        raise ValueError(f"{path} is empty; expected a text and a label in each row")


def _read_standard_input(choose: Chooser, given: Sequence[str | None], rows: Rows) -> bool:
    """Read what the first line that is not blank promises; returns whether it is plain text.

    given: columns that the user named.
    """
    where = SOURCE_NAMES["-"]
    lines = decode_lines(sys.stdin.buffer, where)
    begun: list[str] = []
    for line in lines:
        begun.append(line)
        if line.strip():
            break
    first, whole = "".join(begun).strip(), itertools.chain(begun, lines)
    if not first:
        raise ValueError(f"{where} is empty; expected JSON lines, a table with commas or tabs, or lines of text")
    if first.startswith("{"):
        read_json_lines(whole, choose, where, rows)
    elif first == "[" or first.startswith("[{"):
        read_json(whole, choose, where, rows)
    elif (separator := find_separator(first, given)) is not None:
        read_csv(whole, choose, where, separator, rows)
    else:
        _read_lines(whole, where, rows)
        return True
    return False


def find_separator(first: str, given: Sequence[str | None] = ()) -> str | None:
    r"""The separator of a table whose first line this is; None if it is a line of plain text.

    >>> find_separator("id\tText\tlabel"), find_separator("text,label"), find_separator("A fine text, really")
    ('\t', ',', None)
    """
    wanted = [column.lower() for column in given if column]
    known = {*TEXT_NAMES, *LABEL_NAMES, *wanted}
    for separator in ("\t", ",", ";", "|"):
        fields = [field.strip().strip('"').lower() for field in first.split(separator)]
        usual = any(field in known for field in fields) and all(map(COLUMN_NAME.fullmatch, fields))
        if usual and (len(fields) > 1 or separator == ","):
            return separator if separator == "\t" else ","  # the error of a table with semicolons says what it needs
    return ("\t" if "\t" in first else ",") if wanted else None


def _read_lines(lines: Iterable[str], where: str, rows: Rows) -> None:
    """Plain text: a text on each line that is not blank."""
    for number, line in enumerate(lines, start=1):
        if text := line.strip():
            rows.add((text,), number)
    if not rows.read:
        raise ValueError(f"{where} is empty; expected a text on each line")
