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
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from discotext.data.columns import pick
from discotext.data.labels import shorten
from discotext.data.rows import LINES, Rows, check_size, explain_length, get_max_bytes
from discotext.support.extras import require

PIECE = 1 << 20  # bytes of a line that are read at once
BATCH_BYTES = 1 << 28  # of a .parquet file that are unpacked at once
ROW_BYTES = 16  # of a row of a .parquet file, beside its text

Chooser = Callable[[Sequence[str], str], Sequence[str]]  # from the columns of a file, and its name, to those to be read


def decode_lines(file: IO[bytes] | gzip.GzipFile, where: str, whole: bool = False) -> Iterator[str]:
    """Decode lines, with their ends; a byte order mark at the beginning is dropped.

    whole: whether all may be on one line, as in a .json file; on its first line, what begins with [ may be so anyway.
    """
    number, read, most = 0, 0, get_max_bytes()
    while True:
        number += 1
        try:
            line = file.readline(PIECE)
            if not line:
                return
            if len(line) == PIECE and not line.endswith(b"\n"):
                whole = whole or (number == 1 and line.lstrip(b"\xef\xbb\xbf \t").startswith(b"["))
                line = _read_rest(file, line, most if whole else most // LINES, f"{where}, line {number}")
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
            raise _explain_nul(f"{where}, line {number}")
        read += len(line)
        if read > most:
            check_size(read, where)
        yield text


def _read_rest(file: IO[bytes] | gzip.GzipFile, begun: bytes, longest: int, place: str) -> bytes:
    """The whole of a long line; an error as soon as it is too long, or is not text."""
    pieces, length = [begun], len(begun)
    while pieces[-1] and not pieces[-1].endswith(b"\n"):
        if b"\0" in pieces[-1]:
            raise _explain_nul(place)
        if length > longest:
            raise ValueError(f"{place}: {explain_length('the line')}")
        pieces.append(file.readline(PIECE))
        length += len(pieces[-1])
    return b"".join(pieces)


def _explain_nul(place: str) -> ValueError:
    return ValueError(f"{place}: there is a NUL byte; is this a file of another format?")


def read_csv(lines: Iterable[str], choose: Chooser, where: str, separator: str, rows: Rows) -> Rows:
    """Read lines of fields with a separator."""
    limit = csv.field_size_limit(get_max_bytes() // LINES)  # of the whole process; 131,072 as a rule
    try:
        return _read_csv(lines, choose, where, separator, rows)
    finally:
        csv.field_size_limit(limit)


def _read_csv(lines: Iterable[str], choose: Chooser, where: str, separator: str, rows: Rows) -> Rows:
    # Strict, since otherwise an unclosed quote would silently swallow the rest of the file.
    reader = csv.reader(lines, delimiter=separator, strict=True)
    header: list[str] | None = None
    indices: list[int] = []
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
            continue
        if len(row) != len(header):
            raise ValueError(
                f"{where}, line {line}: there are {len(row)} fields; expected {len(header)} as in the first line"
            )
        rows.add([row[index] for index in indices], line)
    if not rows.read:
        raise ValueError(f"{where} has no rows; expected a line of column names, then a text and a label in each row")
    return rows


def _explain_csv_error(error: csv.Error) -> str:
    if "new-line character" in str(error):
        return "a line ends in a carriage return alone; save the file with Unix or Windows line endings"
    if "field larger" in str(error):
        return f"{explain_length('a field')}; are the quotes of this row balanced?"
    return f"{error}; are the quotes of this row balanced?"


def read_json_lines(lines: Iterable[str], choose: Chooser, where: str, rows: Rows) -> Rows:
    """Read one JSON object on each line."""
    chosen: Sequence[str] | None = None
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
        rows.add(pick(record, chosen, f"{where}, line {number}"), number)
    if chosen is None:
        raise ValueError(f'{where} is empty; expected an object such as {{"text": "…", "label": 1}} on each line')
    return rows


def read_json(lines: Iterable[str], choose: Chooser, where: str, rows: Rows) -> Rows:
    """Read a whole JSON file: a list of objects, {"data": [objects]}, or an object of columns.

    A column is a list or, as pandas writes it, an object of values by row. A file with one object on each line is read
    as JSON lines.
    """
    kept = list(lines)
    try:
        value = json.loads("".join(kept))
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and error.lineno > 1:
            return read_json_lines(kept, choose, where, rows)
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
        found = (pick(record, chosen, f"{where}, item {number}") for number, record in enumerate(value, start=1))
        return rows.extend(found, "item")
    if isinstance(value, Mapping) and value and all(isinstance(one, list | dict) for one in value.values()):
        return _read_json_columns(value, choose, where, rows)
    if isinstance(value, Mapping) and value:
        return read_json_lines(["".join(kept).replace("\n", " ")], choose, where, rows)  # one object: one row
    expected = 'a list of objects such as [{"text": "…", "label": 1}], or an object of columns'
    raise ValueError(f"{where} holds no rows; expected {expected}")


def _read_json_columns(value: Mapping[str, Any], choose: Chooser, where: str, rows: Rows) -> Rows:
    chosen = choose(list(value), where)
    found = [value[column] for column in chosen]
    for column, other in zip(found, chosen, strict=True):
        first = found[0]
        same = type(column) is type(first) and len(column) == len(first)
        if not same or (isinstance(column, dict) and list(column) != list(first)):
            raise ValueError(
                f"{where}: the columns {shorten(chosen[0])} and {shorten(other)} do not have the same rows"
            )
    columns = [column.values() if isinstance(column, dict) else column for column in found]
    return rows.extend(zip(*columns, strict=True), "item")


def read_parquet(path: Path, choose: Chooser, rows: Rows) -> Rows:
    """Read a table of columns, some rows at a time: a small file may hold a value that is repeated very often."""
    parquet = require("pyarrow.parquet", extra="parquet", reason="a .parquet file")
    try:
        with parquet.ParquetFile(path) as file:
            columns, metadata = list(file.schema_arrow.names), file.metadata
    except Exception as error:  # a damaged file raises many types of errors
        raise ValueError(f"{path} is not a valid .parquet file: {summarise(error)}") from None
    chosen = choose(columns, str(path))
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    packed = [group.column(at) for group in groups for at in range(metadata.num_columns)]
    sizes = [one.total_uncompressed_size for one in packed if one.path_in_schema.partition(".")[0] in chosen]
    check_size(max(sum(sizes), metadata.num_rows * ROW_BYTES), str(path))
    # A value that the file holds once may be repeated in every row, and be as large as all of a row group.
    together = min(max(BATCH_BYTES // max(sizes, default=1), 16), 256)

    def unpack() -> Iterator[tuple[Any, ...]]:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(together, columns=list(chosen)):
                yield from zip(*(batch.column(column).to_pylist() for column in chosen), strict=True)

    return rows.extend(limit_size(guard(unpack(), f"{path} is damaged"), str(path)), "row")


def limit_size(rows: Iterable[tuple[Any, ...]], where: str) -> Iterator[tuple[Any, ...]]:
    """The same rows; an error when they have taken more bytes than are read."""
    size, most = 0, get_max_bytes()
    for row in rows:
        size += ROW_BYTES + (len(row[0]) if isinstance(row[0], str) else 0)
        if size > most:
            check_size(size, where)
        yield row


def guard(rows: Iterator[tuple[Any, ...]], what: str) -> Iterator[tuple[Any, ...]]:
    """The same rows; an error of the library that reads them becomes one sentence."""
    while True:
        try:
            row = next(rows, None)
        except Exception as error:  # a damaged file raises many types of errors
            raise ValueError(f"{what}: {summarise(error)}") from None
        if row is None:
            return
        yield row


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


def read_excel(path: Path, choose: Chooser, rows: Rows) -> Rows:
    """Read the first sheet of a workbook, whose first row names the columns."""
    openpyxl = require("openpyxl", extra="excel", reason="an .xlsx file")
    invalid = f"{path} is not a valid .xlsx file"
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(one.file_size for one in packed.infolist())
    except Exception as error:  # a damaged file raises many types of errors
        raise ValueError(f"{invalid}: {summarise(error)}") from None
    check_size(size, str(path))
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        names = [sheet.title for sheet in book.worksheets]
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # some programs write a wrong size, and rows would be missing
    except Exception as error:
        raise ValueError(f"{invalid}: {summarise(error)}") from None
    where = f"{path}, sheet {names[0]!r}"
    if len(names) > 1:
        warnings.warn(f"{path} has {len(names)} sheets; only the first, {names[0]!r}, is read", stacklevel=2)
    rows.word = f"sheet {names[0]!r}, row"
    header: list[str] | None = None
    indices: list[int] = []
    with closing(book):
        for number, cells in enumerate(guard(sheet.iter_rows(values_only=True), invalid), start=1):
            if all(cell is None for cell in cells):
                continue
            if header is None:
                header = ["" if cell is None else str(cell).strip() for cell in cells]
                indices = [header.index(column) for column in choose([name for name in header if name], where)]
                continue
            rows.add([cells[index] if index < len(cells) else None for index in indices], number)
    if not rows.read:
        raise ValueError(f"{where} has no rows; expected a row of column names, then a text and a label in each row")
    return rows


def summarise(error: Exception) -> str:
    """The first line of a library's error."""
    if isinstance(error, UnicodeDecodeError):
        return "a string is not UTF-8"
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
