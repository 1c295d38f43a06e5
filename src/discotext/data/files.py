"""Examples from files: `.csv`, `.tsv`, `.jsonl` and `.parquet`, and JSON lines from standard input.

The first three are read line by line, so that a mistake can be told with its line. The first line of a `.csv` or `.tsv`
names the columns; a field that holds the separator, a quote or a line break stands in quotes, and a quote in it is
doubled, as every spreadsheet and data frame writes it.
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
from discotext.extras import need

FORMATS = (".csv", ".tsv", ".jsonl", ".parquet")
LONGEST = 2**31 - 1  # characters in a field: the most that fits everywhere; csv's own limit is 131,072

Chooser = Callable[[Sequence[str], str], Sequence[str]]


def read_examples(
    path: str | Path,
    text_column: str | None = None,
    label_column: str | None = None,
    names: Sequence[str] | None = None,
) -> Examples:
    """Read texts and labels from a file, or from standard input where the path is `-`.

    Columns are found by their usual names (`text`, `label` and others) unless they are given.
    names: the classes, where they are known already.
    """

    def choose(columns: Sequence[str], where: str) -> Sequence[str]:
        return choose_columns(columns, text_column, label_column, where)

    (texts, labels), lines = (
        _read_json(sys.stdin.buffer, choose, "standard input") if str(path) == "-" else read_columns(path, choose)
    )
    return Examples.of(texts, labels, names, str(path), lines)


def read_columns(path: str | Path, choose: Chooser) -> tuple[list[list[Any]], list[int] | None]:
    """Read columns of a file, and the line of each row (None: the file has no lines).

    choose: is given the columns there are and the name of the file, and answers with those to be read.
    """
    path = Path(path)
    look_for_file(path)
    if path.suffix.lower() == ".parquet":
        return _read_parquet(path, choose), None
    with path.open("rb") as file:
        if path.suffix.lower() == ".jsonl":
            return _read_json(file, choose, str(path))
        return _read_csv(file, choose, str(path), "," if path.suffix.lower() == ".csv" else "\t")


def look_for_file(path: Path) -> None:
    """Say what keeps a file from being read, as far as can be seen without reading it."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; expected a file that ends in {', '.join(FORMATS)}")
    if path.suffix.lower() not in FORMATS:
        ending = f"ends in {path.suffix!r}" if path.suffix else "has no ending"
        raise ValueError(f"{path} {ending}; examples are read from {', '.join(FORMATS)} files")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if not path.stat().st_size:
        raise ValueError(f"{path} is empty; expected a text and a label in each row")


def _decoded(lines: Iterable[bytes], where: str) -> Iterator[str]:
    """Lines as text, with their ends; a byte order mark at the beginning is no part of the text."""
    for number, line in enumerate(lines, start=1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{where}, line {number}: not UTF-8 at byte {error.start + 1} of the line; save the file as UTF-8"
            ) from None
        if "\0" in text:
            raise ValueError(f"{where}, line {number}: there is a NUL byte; is this a file of another kind?")
        yield text


def _read_csv(file: Iterable[bytes], choose: Chooser, where: str, separator: str) -> tuple[list[list[Any]], list[int]]:
    if csv.field_size_limit() < LONGEST:
        csv.field_size_limit(LONGEST)
    # Strict: else a quote that is never closed would swallow the rest of the file without a word.
    reader = csv.reader(_decoded(file, where), delimiter=separator, strict=True)
    header: list[str] | None = None
    places: list[int] = []
    columns: list[list[Any]] = []
    lines: list[int] = []
    while True:
        line = reader.line_num + 1  # where the row begins; it may go over several lines
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise ValueError(f"{where}, line {line}: {_csv_trouble(error)}") from None
        if row is None:
            break
        if not row:
            continue
        if header is None:
            header = [column.strip() for column in row]
            places = [header.index(column) for column in choose(header, where)]
            columns = [[] for _ in places]
            continue
        if len(row) != len(header):
            raise ValueError(
                f"{where}, line {line}: there are {len(row)} fields, expected {len(header)} as in the first line"
            )
        for column, place in zip(columns, places, strict=True):
            column.append(row[place])
        lines.append(line)
    if not lines:
        raise ValueError(f"{where} has no rows; expected the names of the columns, then a text and a label in each row")
    return columns, lines


def _csv_trouble(error: csv.Error) -> str:
    if "new-line character" in str(error):
        return "a line ends in a carriage return alone; save the file with the line ends of today"
    return f"{error}; are the quotes of this row balanced?"


def _read_json(file: Iterable[bytes], choose: Chooser, where: str) -> tuple[list[list[Any]], list[int]]:
    chosen: Sequence[str] | None = None
    rows: list[list[Any]] = []
    lines: list[int] = []
    for number, line in enumerate(_decoded(file, where), start=1):
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
            raise ValueError(f"{where}, line {number}: JSON that cannot be read ({error})") from None
        if chosen is None:
            pick(record, (), f"{where}, line {number}")
            chosen = choose(list(record), where)
        rows.append(pick(record, chosen, f"{where}, line {number}"))
        lines.append(number)
    if chosen is None:
        raise ValueError(f'{where} is empty; expected an object such as {{"text": "…", "label": 1}} on each line')
    return [list(column) for column in zip(*rows, strict=True)], lines


def _read_parquet(path: Path, choose: Chooser) -> list[list[Any]]:
    parquet = need("pyarrow.parquet", extra="parquet", reason="a .parquet file")
    try:
        with parquet.ParquetFile(path) as file:
            there = list(file.schema_arrow.names)
    except Exception as error:  # a damaged file can be wrong in ways that have each a class of their own
        raise ValueError(f"{path} is not a whole .parquet file: {_first_line(error)}") from None
    chosen = choose(there, str(path))
    try:
        table = parquet.read_table(path, columns=list(chosen), partitioning=None)
        return [table.column(column).to_pylist() for column in chosen]
    except Exception as error:
        raise ValueError(f"{path} is damaged: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "what should be text is not UTF-8"
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
