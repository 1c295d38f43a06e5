"""Tables in files of many formats, read into columns; an error names the file and the line.

`.csv`, `.tsv` and JSON lines are read line by line. The first line of a `.csv` or `.tsv` file names the columns; a
field that contains the separator, a quote or a line break is in quotes, with quotes in it doubled, as spreadsheets and
data frames write them. Nothing here runs code that a file contains: no pickle, no macro, no loading script.
"""

from __future__ import annotations

import csv
import gzip
import json
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from discotext.data.columns import pick
from discotext.support.extras import require

MAX_FIELD_CHARACTERS = 2**31 - 1  # the most that fits a C long on every platform; the default of `csv` is 131,072

Chooser = Callable[[Sequence[str], str], Sequence[str]]  # from the columns of a file, and its name, to those to be read
Rows = list[int] | list[str]  # where each row is: the number of its line, or words
Read = tuple[list[list[Any]], Rows | None]


def decode_lines(lines: Iterable[bytes], where: str) -> Iterator[str]:
    """Decode lines, with their ends; a byte order mark at the beginning is dropped."""
    number, source = 0, iter(lines)
    while True:
        number += 1
        try:
            line = next(source, None)
            if line is None:
                return
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(
                f"{where}, line {number}: the compressed file is damaged or incomplete ({error})"
            ) from None
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{where}, line {number}: not UTF-8 at byte {error.start + 1} of the line; save the file as UTF-8"
            ) from None
        if "\0" in text:
            raise ValueError(f"{where}, line {number}: there is a NUL byte; is this a file of another format?")
        yield text


def read_csv(lines: Iterable[str], choose: Chooser, where: str, separator: str) -> Read:
    """Read lines of fields with a separator."""
    if csv.field_size_limit() < MAX_FIELD_CHARACTERS:
        csv.field_size_limit(MAX_FIELD_CHARACTERS)
    # Strict, since otherwise an unclosed quote would silently swallow the rest of the file.
    reader = csv.reader(lines, delimiter=separator, strict=True)
    header: list[str] | None = None
    indices: list[int] = []
    columns: list[list[Any]] = []
    numbers: list[int] = []
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
        numbers.append(line)
    if not numbers:
        raise ValueError(f"{where} has no rows; expected a line of column names, then a text and a label in each row")
    return columns, numbers


def _explain_csv_error(error: csv.Error) -> str:
    if "new-line character" in str(error):
        return "a line ends in a carriage return alone; save the file with Unix or Windows line endings"
    return f"{error}; are the quotes of this row balanced?"


def read_json_lines(lines: Iterable[str], choose: Chooser, where: str) -> Read:
    """Read one JSON object on each line."""
    chosen: Sequence[str] | None = None
    rows: list[list[Any]] = []
    numbers: list[int] = []
    for number, line in enumerate(lines, start=1):
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
        numbers.append(number)
    if chosen is None:
        raise ValueError(f'{where} is empty; expected an object such as {{"text": "…", "label": 1}} on each line')
    return [list(column) for column in zip(*rows, strict=True)], numbers


def read_json(lines: Iterable[str], choose: Chooser, where: str) -> Read:
    """Read a whole JSON file: a list of objects, {"data": [objects]}, or an object of columns.

    A column is a list or, as pandas writes it, an object of values by row. A file with one object on each line is read
    as JSON lines.
    """
    kept = list(lines)
    try:
        value = json.loads("".join(kept))
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and error.lineno > 1:
            return read_json_lines(kept, choose, where)
        raise ValueError(
            f"{where}, line {error.lineno}: not JSON at character {error.colno} of the line ({error.msg})"
        ) from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: this JSON cannot be parsed ({error})") from None
    if isinstance(value, Mapping) and isinstance(value.get("data"), list):
        value = value["data"]
    if isinstance(value, list) and value:
        pick(value[0], (), f"{where}, item 1")
        chosen = choose(list(value[0]), where)
        rows = [pick(record, chosen, f"{where}, item {number}") for number, record in enumerate(value, start=1)]
        return [list(column) for column in zip(*rows, strict=True)], [f"item {at + 1}" for at in range(len(rows))]
    if isinstance(value, Mapping) and value and all(isinstance(one, list | dict) for one in value.values()):
        return _read_json_columns(value, choose, where)
    if isinstance(value, Mapping) and value:
        return read_json_lines(["".join(kept).replace("\n", " ")], choose, where)  # one object: one row
    expected = 'a list of objects such as [{"text": "…", "label": 1}], or an object of columns'
    raise ValueError(f"{where} holds no rows; expected {expected}")


def _read_json_columns(value: Mapping[str, Any], choose: Chooser, where: str) -> Read:
    chosen = choose(list(value), where)
    found = [value[column] for column in chosen]
    for column, other in zip(found, chosen, strict=True):
        first = found[0]
        same = type(column) is type(first) and len(column) == len(first)
        if not same or (isinstance(column, dict) and list(column) != list(first)):
            raise ValueError(f"{where}: the columns {chosen[0]!r} and {other!r} do not have the same rows")
    columns = [list(column.values()) if isinstance(column, dict) else column for column in found]
    return columns, [f"item {at + 1}" for at in range(len(columns[0]))]


def read_parquet(path: Path, choose: Chooser) -> Read:
    """Read a table of columns."""
    parquet = require("pyarrow.parquet", extra="parquet", reason="a .parquet file")
    try:
        with parquet.ParquetFile(path) as file:
            columns = list(file.schema_arrow.names)
    except Exception as error:  # a damaged file raises many types of errors
        raise ValueError(f"{path} is not a valid .parquet file: {summarise(error)}") from None
    chosen = choose(columns, str(path))
    try:
        table = parquet.read_table(path, columns=list(chosen), partitioning=None)
        return [table.column(column).to_pylist() for column in chosen], None
    except Exception as error:
        raise ValueError(f"{path} is damaged: {summarise(error)}") from None


def read_class_names(path: Path, column: str) -> tuple[str, ...] | None:
    """The class names that `datasets` keeps in a .parquet file for a column of numbers; None if there are none."""
    parquet = require("pyarrow.parquet", extra="parquet", reason="a .parquet file")
    with parquet.ParquetFile(path) as file:
        return parse_class_names((file.schema_arrow.metadata or {}).get(b"huggingface"), column)


def parse_class_names(metadata: bytes | None, column: str) -> tuple[str, ...] | None:
    """The names in the metadata that `datasets` writes into an Arrow schema."""
    try:
        names = json.loads(metadata or b"{}")["info"]["features"][column]["names"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if isinstance(names, list) and len(names) > 1 and all(isinstance(name, str) and name.strip() for name in names):
        return tuple(names)
    return None


def read_excel(path: Path, choose: Chooser) -> Read:
    """Read the first sheet of a workbook, whose first row names the columns."""
    openpyxl = require("openpyxl", extra="excel", reason="an .xlsx file")
    try:
        with closing(openpyxl.load_workbook(path, read_only=True, data_only=True)) as book:
            names = [sheet.title for sheet in book.worksheets]
            sheet = book.worksheets[0]
            sheet.reset_dimensions()  # some programs write a wrong size, and rows would be missing
            rows = [list(row) for row in sheet.iter_rows(values_only=True)]
    except Exception as error:  # a damaged file raises many types of errors
        raise ValueError(f"{path} is not a valid .xlsx file: {summarise(error)}") from None
    where = f"{path}, sheet {names[0]!r}"
    if len(names) > 1:
        warnings.warn(f"{path} has {len(names)} sheets; only the first, {names[0]!r}, is read", stacklevel=2)
    filled = [(number, row) for number, row in enumerate(rows, start=1) if any(cell is not None for cell in row)]
    if len(filled) < 2:
        raise ValueError(f"{where} has no rows; expected a row of column names, then a text and a label in each row")
    _, titles = filled.pop(0)
    header = ["" if cell is None else str(cell).strip() for cell in titles]
    chosen = choose([column for column in header if column], where)
    width = len(header)
    columns = [[(row + [None] * width)[header.index(column)] for _, row in filled] for column in chosen]
    return columns, [f"sheet {names[0]!r}, row {number}" for number, _ in filled]


def summarise(error: Exception) -> str:
    """The first line of a library's error."""
    if isinstance(error, UnicodeDecodeError):
        return "a string is not UTF-8"
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
