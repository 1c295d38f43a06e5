"""Examples from files and standard input; an error names the file and the line.

    .csv, .tsv                the first line names the columns; a field that contains the separator, a quote or a line
                              break is in quotes, with quotes in it doubled, as spreadsheets and data frames write them
    .jsonl, .ndjson, .json    an object on each line; .json may also be a list of objects
    .parquet                  a table of columns
    .txt                      texts without labels, one on each line

Files of lines may be gzipped. Standard input (`-`) is JSON lines. `read_table` reads texts and labels as they are;
`FileTable.check` makes `Examples` of them. Nothing here runs code that a file contains: no pickle, no macro, no loading
script.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import gzip
import json
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from discotext.data.columns import choose_columns, pick
from discotext.data.examples import LINES, SOURCE_NAMES, Examples, check_size, explain_length, get_max_bytes
from discotext.support.extras import require

LINE_FORMATS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
DATA_FORMATS = (*LINE_FORMATS, *(f"{ending}.gz" for ending in LINE_FORMATS), ".parquet")
PLAIN = ".txt"  # texts without labels, one on each line
SHOWN_FORMATS = ".csv, .tsv, .jsonl, .ndjson, .json (each also with .gz), .parquet"
BATCH_BYTES = 1 << 28  # of a .parquet file that are unpacked at once
ROW_BYTES = 16  # of a row of a .parquet file, beside its text

Chooser = Callable[[Sequence[str], str], Sequence[str]]  # from the columns of a file, and its name, to those to be read
Bytes = IO[bytes] | gzip.GzipFile
Rows = Iterator[tuple[str, Sequence[Any]]]  # where each row is, such as "line 7", and its values in the chosen columns


@dataclass(frozen=True)
class FileTable:
    """Texts and labels as they were read, not yet checked.

    labels: None if there are none. place: says where a row is, for messages. classes: the names of the classes, where
    the data has them beside labels that are numbers.
    """

    texts: list[Any]
    labels: list[Any] | None
    source: str
    place: Callable[[int], str]
    classes: tuple[str, ...] | None = None

    def check(self, names: Sequence[str] | None = None, rename: Mapping[str, str] | None = None) -> Examples:
        """Make examples. names: the class names, if they are known. rename: see `Examples.of`."""
        if self.labels is None:
            where = SOURCE_NAMES.get(self.source, self.source)
            raise ValueError(f"{where} is plain text without labels; expected a table with texts and labels")
        if self.classes is not None:
            found = Examples.of(self.texts, self.labels, self.classes, self.source, self.place)
            return found.match(names, rename)
        return Examples.of(self.texts, self.labels, names, self.source, self.place, rename)


def read_table(
    spec: str | Path, text_column: str | None = None, label_column: str | None = None, labels: bool = True
) -> FileTable:
    """Read texts and labels as they are, from a file, or from standard input if it is `-`.

    text_column, label_column: [default: found by their usual names, such as `text` and `label`].
    labels: whether they are needed; if not, a table without a label column will do.
    """
    source, path = str(spec), Path(spec)
    chosen: list[str] = []

    def choose(columns: Sequence[str], where: str) -> Sequence[str]:
        chosen.extend(choose_columns(columns, text_column, label_column, where, labels))
        return chosen

    rows = list(read_rows(spec, choose))
    if not rows:
        raise ValueError(f"{SOURCE_NAMES.get(source, source)} has no rows; expected a text and a label in each")
    labelled = len(chosen) > 1
    classes = find_class_names(path, chosen[1]) if labelled and find_format(path) == ".parquet" else None
    found = [row[1] for _, row in rows] if labelled else None
    return FileTable([row[0] for _, row in rows], found, source, lambda row: rows[row][0], classes)


def find_format(path: Path) -> str:
    """The ending of a file that tells its format, in lower case, with .gz where there is one."""
    endings = [ending.lower() for ending in path.suffixes[-2:]]
    return "".join(endings) if endings[1:] == [".gz"] else "".join(endings[-1:])


def check_data_file(path: Path) -> None:
    """Raise an error if a file cannot be read, as far as can be seen without reading it."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file ending in {SHOWN_FORMATS}")
    if find_format(path) not in (*DATA_FORMATS, PLAIN):
        ending = f"ends in {path.suffix!r}" if path.suffix else "has no extension"
        raise ValueError(
            f"{path} {ending}; examples are read from {SHOWN_FORMATS} files, and texts without labels also from .txt"
        )
    if not path.exists():
        beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
        near = difflib.get_close_matches(path.name, beside, n=1, cutoff=0.75)
        hint = f"; did you mean {path.with_name(near[0])}?" if near else ""
        raise FileNotFoundError(f"there is no file {path}{hint}")


def read_rows(spec: str | Path, choose: Chooser) -> Rows:
    """Yield the rows of a file, or of standard input if it is `-`.

    choose: called with the columns of the file and its name, returns those to be read, that of the texts first.
    """
    if str(spec) == "-":
        where = SOURCE_NAMES["-"]
        yield from read_json_lines(decode_lines(sys.stdin.buffer, where), choose, where)
        return
    path, where = Path(spec), str(spec)
    check_data_file(path)
    ending = find_format(path)
    if ending == ".parquet":
        yield from read_parquet(path, choose)
        return
    with closing(gzip.open(path, "rb") if ending.endswith(".gz") else path.open("rb")) as file:
        ending = ending.removesuffix(".gz")
        yield from READERS[ending](decode_lines(file, where, whole=ending == ".json"), choose, where)


# --- lines


def decode_lines(file: Bytes, where: str, whole: bool = False) -> Iterator[str]:
    """Decode lines, with their ends; a byte order mark at the beginning is dropped.

    whole: whether all may be on one line, as in a .json file.
    """
    read, most = 0, get_max_bytes()
    longest = most if whole else most // LINES
    for number, line, size in _read_pieces(file, where, longest + 1):
        read += size
        if read > most:
            check_size(read, where)
        if size > longest:
            raise ValueError(f"{where}, line {number}: {explain_length('the line')}")
        yield line


def read_file(path: str | Path, keep_mark: bool = False) -> Iterator[str]:
    """Yield the lines of a plain text file, gzipped or not. keep_mark: see `read_lines`."""
    with open(path, "rb") as probe:
        packed = probe.read(2) == b"\x1f\x8b"
    with closing(gzip.open(path, "rb") if packed else open(path, "rb")) as file:
        yield from read_lines(file, str(path), keep_mark)


def read_lines(file: Bytes, where: str, keep_mark: bool = False, longest: int = 1 << 16) -> Iterator[str]:
    """Yield lines with their ends; longer ones in pieces that end at white space, if there is any.

    So a text of any size, even on a single line, takes little memory. longest: bytes of a line that are read at once.
    keep_mark: keep a byte order mark at the start, which is left out otherwise.
    """
    left = ""
    for _, more, size in _read_pieces(file, where, longest, "utf-8" if keep_mark else "utf-8-sig"):
        piece, left = left + more, ""
        if size == longest and not more.endswith("\n"):
            cut = max(piece.rfind(" "), piece.rfind("\t")) + 1 or len(piece)
            piece, left = piece[:cut], piece[cut:]
        yield piece
    if left:
        yield left


def _read_pieces(file: Bytes, where: str, size: int, encoding: str = "utf-8-sig") -> Iterator[tuple[int, str, int]]:
    """Yield lines, in pieces of so many bytes where they are longer, each with its line's number and its bytes."""
    decoder, number, piece = codecs.getincrementaldecoder(encoding)(), 1, b"more"
    while piece:
        try:
            piece = file.readline(size)
            text = decoder.decode(piece, final=not piece)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            damaged = f"the compressed file is damaged or incomplete ({error})"
            raise ValueError(f"{where}, line {number}: {damaged}") from None
        except UnicodeDecodeError as error:
            bad = f"not UTF-8 at byte {error.start + 1} of the line; save the file as UTF-8"
            raise ValueError(f"{where}, line {number}: {bad}") from None
        if "\0" in text:
            raise ValueError(f"{where}, line {number}: there is a NUL byte; if this is text, save the file as UTF-8")
        if text:
            yield number, text, len(piece)
        number += piece.endswith(b"\n")


# --- tables


def read_plain(lines: Iterable[str], choose: Chooser, where: str) -> Rows:
    """Plain text: a text on each line that is not blank."""
    for number, line in enumerate(lines, start=1):
        if text := line.strip():
            yield f"line {number}", (text,)


def read_csv(lines: Iterable[str], choose: Chooser, where: str, separator: str = ",") -> Rows:
    """Read lines of fields with a separator."""
    # Strict, since otherwise an unclosed quote would silently swallow the rest of the file.
    reader = csv.reader(lines, delimiter=separator, strict=True)
    header: list[str] = []
    indices: list[int] = []
    limit = csv.field_size_limit(get_max_bytes() // LINES)  # of the whole process; 131,072 as a rule
    line = 1
    try:
        for row in reader:
            place, line = line, reader.line_num + 1  # where the row begins; it may span several lines
            if row and not header:
                header = [column.strip() for column in row]
                indices = [header.index(column) for column in choose(header, where)]
            elif row and len(row) != len(header):
                fields = f"there are {len(row)} fields; expected {len(header)} as in the first line"
                raise ValueError(f"{where}, line {place}: {fields}")
            elif row:
                yield f"line {place}", [row[index] for index in indices]
    except csv.Error as error:
        what = explain_length("a field") if "field larger" in str(error) else str(error).partition(" - ")[0]
        advice = "are the quotes of this row balanced, and do lines end as on Unix or Windows?"
        raise ValueError(f"{where}, line {line}: {what}; {advice}") from None
    finally:
        csv.field_size_limit(limit)


def read_json_lines(lines: Iterable[str], choose: Chooser, where: str) -> Rows:
    """Read one JSON object on each line."""
    numbered = ((f"line {number}", line.strip()) for number, line in enumerate(lines, start=1) if line.strip())
    expected = "; expected one object on each line"
    return _pick_rows(((at, _parse_json(line, f"{where}, {at}", expected)) for at, line in numbered), choose, where)


def _pick_rows(records: Iterable[tuple[str, Any]], choose: Chooser, where: str) -> Rows:
    """The values of records in the columns that are chosen by the first of them."""
    chosen: Sequence[str] | None = None
    for place, record in records:
        if chosen is None:
            pick(record, (), f"{where}, {place}")
            chosen = choose(list(record), where)
        yield place, pick(record, chosen, f"{where}, {place}")


def _parse_json(text: str, where: str, expected: str = "") -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = f", line {error.lineno}" if error.lineno > 1 else ""
        raise ValueError(f"{where}{line}: not JSON at character {error.colno} ({error.msg}){expected}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: this JSON cannot be parsed ({error})") from None


def read_json(lines: Iterable[str], choose: Chooser, where: str) -> Rows:
    """Read a list of objects, or else one object on each line."""
    kept = list(lines)
    if next((line for line in kept if line.strip()), "").lstrip().startswith("["):
        records = enumerate(_parse_json("".join(kept), where), start=1)
        return _pick_rows(((f"item {number}", one) for number, one in records), choose, where)
    return read_json_lines(kept, choose, where)


READERS: dict[str, Callable[[Iterable[str], Chooser, str], Rows]] = {
    ".csv": read_csv,
    ".tsv": partial(read_csv, separator="\t"),
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".json": read_json,
    PLAIN: read_plain,
}


def read_parquet(path: Path, choose: Chooser) -> Rows:
    """Read a table of columns, some rows at a time: a small file may hold a value that is repeated very often."""
    parquet = require("pyarrow.parquet", extra="parquet", reason="a .parquet file")

    def attempt(read: Callable[[], Any]) -> Any:
        try:
            return read()
        except Exception as error:  # a damaged file raises many types of errors
            raise ValueError(f"{path} is not a valid .parquet file: {summarise(error)}") from None

    with attempt(lambda: parquet.ParquetFile(path)) as file:
        names, metadata = attempt(lambda: (list(file.schema_arrow.names), file.metadata))
        chosen = list(choose(names, str(path)))
        groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
        packed = [group.column(at) for group in groups for at in range(metadata.num_columns)]
        sizes = [one.total_uncompressed_size for one in packed if one.path_in_schema.partition(".")[0] in chosen]
        check_size(max(sum(sizes), metadata.num_rows * ROW_BYTES), str(path))
        # A value that the file holds once may be repeated in every row, and be as large as all of a row group.
        together = min(max(BATCH_BYTES // max(sizes, default=1), 16), 256)
        batches = file.iter_batches(together, columns=chosen)

        def read_columns() -> list[list[Any]] | None:
            batch = next(batches, None)
            return None if batch is None else [batch.column(name).to_pylist() for name in chosen]

        size, number = 0, 0
        while (columns := attempt(read_columns)) is not None:
            for row in zip(*columns, strict=True):
                number += 1
                size += ROW_BYTES + (len(row[0]) if isinstance(row[0], str) else 0)
                check_size(size, str(path))
                yield f"row {number}", row


def find_class_names(path: Path, column: str) -> tuple[str, ...] | None:
    """The class names that `datasets` keeps in a .parquet file for a column of numbers; None if there are none."""
    parquet = require("pyarrow.parquet", extra="parquet", reason="a .parquet file")
    try:
        names = json.loads(parquet.read_schema(path).metadata[b"huggingface"])["info"]["features"][column]["names"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if isinstance(names, list) and len(names) > 1 and all(isinstance(name, str) and name.strip() for name in names):
        return tuple(names)
    return None


def summarise(error: Exception) -> str:
    """The first line of a library's error."""
    if isinstance(error, UnicodeDecodeError):
        return "a string is not UTF-8"
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
