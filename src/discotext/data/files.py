"""Examples from files: `.csv`, `.tsv`, `.jsonl` and `.parquet`, and JSON lines from standard input.

The first three are read line by line, so that errors can name the line. The first line of a `.csv` or `.tsv` file names
the columns; a field that contains the separator, a quote or a line break is in quotes, with quotes in it doubled, as
spreadsheets and data frames write them.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from discotext.data.columns import choose_columns, pick
from discotext.data.examples import Examples
from discotext.support.extras import require

DATA_FORMATS = (".csv", ".tsv", ".jsonl", ".parquet")
MAX_FIELD_CHARACTERS = 2**31 - 1  # the most that fits a C long on every platform; the default of `csv` is 131,072

Chooser = Callable[[Sequence[str], str], Sequence[str]]


def read_examples(
    path: str | Path,
    text_column: str | None = None,
    label_column: str | None = None,
    names: Sequence[str] | None = None,
) -> Examples:
    """Read texts and labels from a file, or from standard input if the path is `-`.

    text_column, label_column: [default: found by their usual names, such as `text` and `label`].
    names: the class names, if they are known.
    """

    def choose(columns: Sequence[str], where: str) -> Sequence[str]:
        return choose_columns(columns, text_column, label_column, where)

    (texts, labels), lines = (
        _read_json(sys.stdin.buffer, choose, "standard input") if str(path) == "-" else read_columns(path, choose)
    )
    return Examples.of(texts, labels, names, str(path), lines)


def read_columns(path: str | Path, choose: Chooser) -> tuple[list[list[Any]], list[int] | None]:
    """Read columns of a file, and the line number of each row (None: the file has no lines).

    choose: called with the columns of the file and its name, returns those to be read.
    """
    path = Path(path)
    check_data_file(path)
    if path.suffix.lower() == ".parquet":
        return _read_parquet(path, choose), None
    with path.open("rb") as file:
        if path.suffix.lower() == ".jsonl":
            return _read_json(file, choose, str(path))
        return _read_csv(file, choose, str(path), "," if path.suffix.lower() == ".csv" else "\t")


def check_data_file(path: Path) -> None:
    """Raise an error if a file cannot be read, as far as can be seen without reading it."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; expected a file ending in {', '.join(DATA_FORMATS)}")
    if path.suffix.lower() not in DATA_FORMATS:
        ending = f"ends in {path.suffix!r}" if path.suffix else "has no extension"
        raise ValueError(f"{path} {ending}; examples are read from {', '.join(DATA_FORMATS)} files")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if not path.stat().st_size:
        raise ValueError(f"{path} is empty; expected a text and a label in each row")


def _decode(lines: Iterable[bytes], where: str) -> Iterator[str]:
    """Decode lines, with their ends; a byte order mark at the beginning is dropped."""
    for number, line in enumerate(lines, start=1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{where}, line {number}: not UTF-8 at byte {error.start + 1} of the line; save the file as UTF-8"
            ) from None
        if "\0" in text:
            raise ValueError(f"{where}, line {number}: there is a NUL byte; is this a file of another format?")
        yield text


def _read_csv(file: Iterable[bytes], choose: Chooser, where: str, separator: str) -> tuple[list[list[Any]], list[int]]:
    if csv.field_size_limit() < MAX_FIELD_CHARACTERS:
        csv.field_size_limit(MAX_FIELD_CHARACTERS)
    # Strict, since otherwise an unclosed quote would silently swallow the rest of the file.
    reader = csv.reader(_decode(file, where), delimiter=separator, strict=True)
    header: list[str] | None = None
    indices: list[int] = []
    columns: list[list[Any]] = []
    lines: list[int] = []
    while True:
        line = reader.line_num + 1  # where the row begins; it may span several lines
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise ValueError(f"{where}, line {line}: {_explain_csv_error(error)}") from None
        if row is None:
            break
        if not row:
            continue
        if header is None:
            header = [column.strip() for column in row]
            indices = [header.index(column) for column in choose(header, where)]
            columns = [[] for _ in indices]
            continue
        if len(row) != len(header):
            raise ValueError(
                f"{where}, line {line}: there are {len(row)} fields; expected {len(header)} as in the first line"
            )
        for column, index in zip(columns, indices, strict=True):
            column.append(row[index])
        lines.append(line)
    if not lines:
        raise ValueError(f"{where} has no rows; expected a line of column names, then a text and a label in each row")
    return columns, lines


def _explain_csv_error(error: csv.Error) -> str:
    if "new-line character" in str(error):
        return "a line ends in a carriage return alone; save the file with Unix or Windows line endings"
    return f"{error}; are the quotes of this row balanced?"


def _read_json(file: Iterable[bytes], choose: Chooser, where: str) -> tuple[list[list[Any]], list[int]]:
    chosen: Sequence[str] | None = None
    rows: list[list[Any]] = []
    lines: list[int] = []
    for number, line in enumerate(_decode(file, where), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(
                f"{where}, line {number}: not JSON at character {error.pos + 1} ({error.msg}); "
                "expected one object on each line"
            ) from None
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{where}, line {number}: this JSON cannot be parsed ({error})") from None
        if chosen is None:
            pick(record, (), f"{where}, line {number}")
            chosen = choose(list(record), where)
        rows.append(pick(record, chosen, f"{where}, line {number}"))
        lines.append(number)
    if chosen is None:
        raise ValueError(f'{where} is empty; expected an object such as {{"text": "…", "label": 1}} on each line')
    return [list(column) for column in zip(*rows, strict=True)], lines


def _read_parquet(path: Path, choose: Chooser) -> list[list[Any]]:
    parquet = require("pyarrow.parquet", extra="parquet", reason="a .parquet file")
    try:
        with parquet.ParquetFile(path) as file:
            columns = list(file.schema_arrow.names)
    except Exception as error:  # a damaged file raises many types of errors
        raise ValueError(f"{path} is not a valid .parquet file: {_summarise(error)}") from None
    chosen = choose(columns, str(path))
    try:
        table = parquet.read_table(path, columns=list(chosen), partitioning=None)
        return [table.column(column).to_pylist() for column in chosen]
    except Exception as error:
        raise ValueError(f"{path} is damaged: {_summarise(error)}") from None


def _summarise(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "a string is not UTF-8"
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
