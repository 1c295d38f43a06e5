"""Examples from files, folders and standard input; an error names the file and the line.

    .csv, .tsv                the first line names the columns; a field that contains the separator, a quote or a line
                              break is in quotes, with quotes in it doubled, as spreadsheets and data frames write them
    .jsonl, .ndjson, .json    an object on each line; a list of objects, or an object of columns
    .parquet                  a table of columns
    .txt                      texts without labels, one on each line
    folder/CLASS/*.txt        a text in each file; the folder's name is its label
    folder                    what `Dataset.save_to_disk` wrote, read without `datasets`
    folder/train, folder/test either of these for each split

Files of lines may be gzipped. What comes from standard input is recognised by its first line: a JSON object, a line of
column names, or else plain text. `read_table` reads texts and labels as they are; `Table.check` makes `Examples` of
them. Nothing here runs code that a file contains: no pickle, no macro, no loading script.
"""

from __future__ import annotations

import csv
import difflib
import gzip
import itertools
import json
import re
import sys
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from discotext.data.columns import USUAL_NAMES, choose_columns, choose_text_and_label, pick
from discotext.data.examples import SOURCE_NAMES, Examples
from discotext.data.labels import list_some, show
from discotext.data.rows import LINES, Rows, check_size, explain_length, get_max_bytes
from discotext.support.extras import require

LINE_FORMATS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
DATA_FORMATS = (*LINE_FORMATS, *(f"{ending}.gz" for ending in LINE_FORMATS), ".parquet")
PLAIN = ".txt"  # texts without labels, one on each line
SHOWN_FORMATS = ".csv, .tsv, .jsonl, .ndjson, .json (each also with .gz), .parquet"
COLUMN_NAME = re.compile(r"[\w .:/()-]{1,60}")
PIECE = 1 << 20  # bytes of a line that are read at once
BATCH_BYTES = 1 << 28  # of a .parquet file that are unpacked at once
ROW_BYTES = 16  # of a row of a .parquet file, beside its text
STATE, SPLITS = "state.json", "dataset_dict.json"  # files of `save_to_disk`
UNLABELLED = "unsup"  # a folder without labels beside those of the classes, as in the IMDB reviews
USUAL_SPLITS = ("train", "test", "validation", "valid", "dev")

Chooser = Callable[[Sequence[str], str], Sequence[str]]  # from the columns of a file, and its name, to those to be read
Bytes = IO[bytes] | gzip.GzipFile


@dataclass(frozen=True)
class Table:
    """Texts and labels as they were read, not yet checked.

    labels: None if there are none. place: says where a row is, for messages. classes: the names of the classes, where
    the data has them beside labels that are numbers. plain: whether it is plain text, which has no place for labels.
    """

    texts: list[Any]
    labels: list[Any] | None
    source: str
    place: Callable[[int], str]
    classes: tuple[str, ...] | None = None
    plain: bool = False

    def check(self, names: Sequence[str] | None = None, rename: Mapping[str, str] | None = None) -> Examples:
        """Make examples. names: the class names, if they are known. rename: see `Examples.of`."""
        if self.labels is None:
            where = SOURCE_NAMES.get(self.source, self.source)
            raise ValueError(f"{where} is plain text without labels; expected a table with texts and labels")
        if self.classes is not None:
            found = Examples.of(self.texts, self.labels, self.classes, self.source, self.place)
            return found.match(names, rename)
        return Examples.of(self.texts, self.labels, names, self.source, self.place, rename)


def read_examples(path: str | Path, names: Sequence[str] | None = None) -> Examples:
    """Read texts and labels from a file or folder, or from standard input if the path is `-`."""
    return read_table(path).check(names)


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

    text_column, label_column: [default: found by their usual names, such as `text` and `label`].
    split: of a folder with several. labels: whether they are needed; if not, a table without a label column will do.
    limit: how many rows will be drawn from the table, if not all are wanted; of very many, a part is then kept.
    """
    chosen: list[str] = []

    def choose(columns: Sequence[str], where: str) -> Sequence[str]:
        choose_both = choose_columns if labels else choose_text_and_label
        chosen.extend(choose_both(columns, text_column, label_column, where))
        return chosen

    source, path = str(spec), Path(spec)
    rows, plain = Rows(limit, seed), False
    if source == "-":
        plain = _read_standard_input(choose, (text_column, label_column), rows)
    elif path.is_dir():
        check_data_file(path)
        path = find_split(path, split)
        source = str(path)
        if not (path / STATE).is_file():
            return read_class_folders(path)
        read_saved(path, choose, rows)
    elif find_format(path) == PLAIN:
        check_data_file(path)
        plain = True
        with path.open("rb") as file:
            _read_plain(decode_lines(file, source), source, rows)
    else:
        read_columns(path, choose, rows)
    rows.finish(SOURCE_NAMES.get(source, source))
    columns = rows.columns or [[] for _ in chosen]
    classes = find_class_names(rows.schema, chosen[1]) if len(chosen) > 1 else None
    return Table(columns[0], columns[1] if len(columns) > 1 else None, source, rows.find_place, classes, plain)


def suggest_neighbour(path: Path) -> str:
    """A hint at a file beside it whose name is nearly the same, or nothing."""
    beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
    near = difflib.get_close_matches(path.name, beside, n=1, cutoff=0.75)
    return f"; did you mean {path.with_name(near[0])}?" if near else ""


def find_format(path: Path) -> str:
    """The ending of a file that tells its format, in lower case, with .gz where there is one."""
    endings = [ending.lower() for ending in path.suffixes[-2:]]
    return "".join(endings) if endings[1:] == [".gz"] else "".join(endings[-1:])


def check_data_file(path: Path) -> None:
    """Raise an error if a file or folder cannot be read, as far as can be seen without reading it."""
    if path.is_dir():
        if not (_is_split(path) or list_splits(path)):
            raise IsADirectoryError(
                f"{path} is a folder without examples; expected a folder of .txt files for each class, such as "
                f"{path / 'positive'}, or a data set written by `save_to_disk`"
            )
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


def read_columns(path: str | Path, choose: Chooser, rows: Rows) -> None:
    """Read columns of a file.

    choose: called with the columns of the file and its name, returns those to be read, that of the texts first.
    """
    path, where = Path(path), str(path)
    check_data_file(path)
    ending = find_format(path)
    if ending == ".parquet":
        read_parquet(path, choose, rows)
        return
    with closing(gzip.open(path, "rb") if ending.endswith(".gz") else path.open("rb")) as file:
        ending = ending.removesuffix(".gz")
        lines = decode_lines(file, where, whole=ending == ".json")
        if ending in (".jsonl", ".ndjson"):
            read_json_lines(lines, choose, where, rows)
        elif ending == ".json":
            read_json(lines, choose, where, rows)
        else:
            read_csv(lines, choose, where, "," if ending == ".csv" else "\t", rows)


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
        _read_plain(whole, where, rows)
        return True
    return False


def find_separator(first: str, given: Sequence[str | None] = ()) -> str | None:
    r"""The separator of a table whose first line this is; None if it is a line of plain text.

    >>> find_separator("id\tText\tlabel"), find_separator("text,label"), find_separator("A fine text, really")
    ('\t', ',', None)
    """
    wanted = [column.lower() for column in given if column]
    known = {*USUAL_NAMES["text"], *USUAL_NAMES["label"], *wanted}
    for separator in ("\t", ",", ";", "|"):
        fields = [field.strip().strip('"').lower() for field in first.split(separator)]
        usual = any(field in known for field in fields) and all(map(COLUMN_NAME.fullmatch, fields))
        if usual and (len(fields) > 1 or separator == ","):
            return separator if separator == "\t" else ","  # the error of a table with semicolons says what it needs
    return ("\t" if "\t" in first else ",") if wanted else None


# --- lines


def decode_lines(file: Bytes, where: str, whole: bool = False) -> Iterator[str]:
    """Decode lines, with their ends; a byte order mark at the beginning is dropped.

    whole: whether all may be on one line, as in a .json file; on its first line, what begins with [ may be so anyway.
    """
    number, read, most = 0, 0, get_max_bytes()
    while True:
        number += 1
        line = _read_piece(file, PIECE, where, number)
        if not line:
            return
        if len(line) == PIECE and not line.endswith(b"\n"):
            whole = whole or (number == 1 and line.lstrip(b"\xef\xbb\xbf \t").startswith(b"["))
            line = _read_rest(file, line, most if whole else most // LINES, where, number)
        read += len(line)
        if read > most:
            check_size(read, where)
        yield _decode(line, where, number, "utf-8-sig" if number == 1 else "utf-8")


def _read_rest(file: Bytes, begun: bytes, longest: int, where: str, number: int) -> bytes:
    """The whole of a long line; an error as soon as it is too long, or is not text."""
    pieces, length = [begun], len(begun)
    while pieces[-1] and not pieces[-1].endswith(b"\n"):
        _check_text(pieces[-1], where, number)
        if length > longest:
            raise ValueError(f"{where}, line {number}: {explain_length('the line')}")
        pieces.append(_read_piece(file, PIECE, where, number))
        length += len(pieces[-1])
    return b"".join(pieces)


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
    encoding, number, left = "utf-8" if keep_mark else "utf-8-sig", 1, b""
    while True:
        more = _read_piece(file, longest, where, number)
        piece, left = left + more, b""
        if not piece:
            return
        if len(more) == longest and not piece.endswith(b"\n"):
            cut = max(piece.rfind(b" "), piece.rfind(b"\t")) + 1
            # Without white space the piece is cut between two characters: no byte that begins 10 follows the cut.
            cut = cut or max(at for at in range(len(piece) - 3, len(piece)) if piece[at] & 0xC0 != 0x80)
            piece, left = piece[:cut], piece[cut:]
        yield _decode(piece, where, number, encoding)
        encoding = "utf-8"
        number += piece.endswith(b"\n")


def _read_piece(file: Bytes, size: int, where: str, number: int) -> bytes:
    try:
        return file.readline(size)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{where}, line {number}: the compressed file is damaged or incomplete ({error})") from None


def _check_text(piece: bytes, where: str, number: int) -> None:
    if b"\0" in piece:
        raise ValueError(f"{where}, line {number}: there is a NUL byte; if this is text, save the file as UTF-8")


def _decode(piece: bytes, where: str, number: int, encoding: str) -> str:
    _check_text(piece, where, number)
    try:
        return piece.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{where}, line {number}: not UTF-8 at byte {error.start + 1} of the line; save the file as UTF-8"
        ) from None


def _read_plain(lines: Iterable[str], where: str, rows: Rows) -> None:
    """Plain text: a text on each line that is not blank."""
    for number, line in enumerate(lines, start=1):
        if text := line.strip():
            rows.add((text,), number)
    if not rows.read:
        raise ValueError(f"{where} is empty; expected a text on each line")


# --- tables


def read_csv(lines: Iterable[str], choose: Chooser, where: str, separator: str, rows: Rows) -> None:
    """Read lines of fields with a separator."""
    limit = csv.field_size_limit(get_max_bytes() // LINES)  # of the whole process; 131,072 as a rule
    try:
        _read_csv(lines, choose, where, separator, rows)
    finally:
        csv.field_size_limit(limit)
    if not rows.read:
        raise ValueError(f"{where} has no rows; expected a line of column names, then a text and a label in each row")


def _read_csv(lines: Iterable[str], choose: Chooser, where: str, separator: str, rows: Rows) -> None:
    # Strict, since otherwise an unclosed quote would silently swallow the rest of the file.
    reader = csv.reader(lines, delimiter=separator, strict=True)
    header: list[str] = []
    indices: list[int] = []
    while True:
        line = reader.line_num + 1  # where the row begins; it may span several lines
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise ValueError(f"{where}, line {line}: {_explain_csv_error(error)}") from None
        if row is None:
            return
        if row and not header:
            header = [column.strip() for column in row]
            indices = [header.index(column) for column in choose(header, where)]
        elif row and len(row) != len(header):
            fields = f"there are {len(row)} fields; expected {len(header)} as in the first line"
            raise ValueError(f"{where}, line {line}: {fields}")
        elif row:
            rows.add([row[index] for index in indices], line)


def _explain_csv_error(error: csv.Error) -> str:
    if "new-line character" in str(error):
        return "a line ends in a carriage return alone; save the file with Unix or Windows line endings"
    what = explain_length("a field") if "field larger" in str(error) else str(error)
    return f"{what}; are the quotes of this row balanced?"


def read_json_lines(lines: Iterable[str], choose: Chooser, where: str, rows: Rows) -> None:
    """Read one JSON object on each line."""
    chosen: Sequence[str] | None = None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        record = _parse_json(line.strip(), f"{where}, line {number}", "; expected one object on each line")
        if chosen is None:
            pick(record, (), f"{where}, line {number}")
            chosen = choose(list(record), where)
        rows.add(pick(record, chosen, f"{where}, line {number}"), number)
    if chosen is None:
        raise ValueError(f'{where} is empty; expected an object such as {{"text": "…", "label": 1}} on each line')


def _parse_json(text: str, where: str, expected: str = "") -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = f", line {error.lineno}" if error.lineno > 1 else ""
        raise ValueError(f"{where}{line}: not JSON at character {error.colno} ({error.msg}){expected}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: this JSON cannot be parsed ({error})") from None


def read_json(lines: Iterable[str], choose: Chooser, where: str, rows: Rows) -> None:
    """Read a whole JSON file: a list of objects, {"data": [objects]}, or an object of columns.

    A column is a list or, as pandas writes it, an object of values by row. A file with one object on each line is read
    as JSON lines.
    """
    kept = list(lines)
    first, second = ([line.strip() for line in kept if line.strip()] + ["", ""])[:2]
    if first.endswith("}") and second.startswith("{"):  # which no single value of JSON has
        read_json_lines(kept, choose, where, rows)
        return
    value = _parse_json("".join(kept), where)
    if isinstance(value, Mapping) and isinstance(value.get("data"), list):
        value = value["data"]
    if isinstance(value, Mapping) and value and all(isinstance(one, list | dict) for one in value.values()):
        rows.extend(_read_json_columns(value, choose, where), "item")
        return
    value = [value] if isinstance(value, Mapping) and value else value  # one object: one row
    if not isinstance(value, list) or not value:
        expected = 'a list of objects such as [{"text": "…", "label": 1}], or an object of columns'
        raise ValueError(f"{where} holds no rows; expected {expected}")
    pick(value[0], (), f"{where}, item 1")
    chosen = choose(list(value[0]), where)
    found = (pick(record, chosen, f"{where}, item {number}") for number, record in enumerate(value, start=1))
    rows.extend(found, "item")


def _read_json_columns(value: Mapping[str, Any], choose: Chooser, where: str) -> Iterator[tuple[Any, ...]]:
    chosen = choose(list(value), where)
    found = [value[column] for column in chosen]
    keys = [list(column) if isinstance(column, dict) else len(column) for column in found]
    for number, own in enumerate(keys):
        if own != keys[0]:
            names = f"{show(chosen[0])} and {show(chosen[number])}"
            raise ValueError(f"{where}: the columns {names} do not have the same rows")
    yield from zip(*(column.values() if isinstance(column, dict) else column for column in found), strict=True)


def read_parquet(path: Path, choose: Chooser, rows: Rows) -> None:
    """Read a table of columns, some rows at a time: a small file may hold a value that is repeated very often."""
    parquet = require("pyarrow.parquet", extra="parquet", reason="a .parquet file")
    try:
        with parquet.ParquetFile(path) as file:
            rows.schema, metadata = file.schema_arrow, file.metadata
    except Exception as error:  # a damaged file raises many types of errors
        raise ValueError(f"{path} is not a valid .parquet file: {summarise(error)}") from None
    chosen = choose(list(rows.schema.names), str(path))
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    packed = [group.column(at) for group in groups for at in range(metadata.num_columns)]
    sizes = [one.total_uncompressed_size for one in packed if one.path_in_schema.partition(".")[0] in chosen]
    check_size(max(sum(sizes), metadata.num_rows * ROW_BYTES), str(path))
    # A value that the file holds once may be repeated in every row, and be as large as all of a row group.
    together = min(max(BATCH_BYTES // max(sizes, default=1), 16), 256)

    def iterate() -> Iterator[Any]:
        with parquet.ParquetFile(path) as file:
            yield from file.iter_batches(together, columns=list(chosen))

    rows.extend(_unpack(iterate(), chosen, str(path)), "row")


def read_saved(path: Path, choose: Chooser, rows: Rows) -> None:
    """Read columns of a data set that `save_to_disk` wrote."""
    arrow = require("pyarrow", extra="parquet", reason="a folder written by save_to_disk")
    files = [path / name for name in _list_arrow_files(path)]

    def open_stream(file: Path) -> Any:
        return arrow.ipc.open_stream(arrow.memory_map(str(file), "r"))

    try:
        with open_stream(files[0]) as batches:
            rows.schema = batches.schema
    except Exception as error:  # a damaged file raises many types of errors
        raise ValueError(f"{files[0]} is not a valid Arrow file: {summarise(error)}") from None
    chosen = choose(list(rows.schema.names), str(path))

    def iterate() -> Iterator[Any]:
        for file in files:
            with open_stream(file) as batches:
                yield from batches

    rows.extend(_unpack(iterate(), chosen, str(path)), "row")


def _list_arrow_files(path: Path) -> Sequence[str]:
    try:
        state = json.loads((path / STATE).read_bytes())
        names = [one["filename"] for one in state["_data_files"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError(f"{path / STATE} is not what `save_to_disk` writes; save the data set again") from None
    # A name from a file must not lead out of the folder.
    if not names or any(not isinstance(name, str) or Path(name).name != name for name in names):
        raise ValueError(f"{path / STATE} names no files in this folder; save the data set again")
    if state.get("_indices_data_files") or state.get("_indices_files"):
        raise ValueError(f"{path} was saved by an old version of `datasets`; save it again with a newer one")
    return names


def _unpack(batches: Iterator[Any], columns: Sequence[str], where: str) -> Iterator[tuple[Any, ...]]:
    """The rows of Arrow batches; an error when they have taken more bytes than are read, or the file is damaged."""
    size, most = 0, get_max_bytes()
    while True:
        try:
            batch = next(batches, None)
            found = [] if batch is None else [batch.column(column).to_pylist() for column in columns]
        except Exception as error:  # a damaged file raises many types of errors
            raise ValueError(f"{where} is damaged: {summarise(error)}") from None
        if batch is None:
            return
        for row in zip(*found, strict=True):
            size += ROW_BYTES + (len(row[0]) if isinstance(row[0], str) else 0)
            if size > most:
                check_size(size, where)
            yield row


def find_class_names(schema: Any, column: str) -> tuple[str, ...] | None:
    """The class names that `datasets` keeps in an Arrow schema for a column of numbers; None if there are none."""
    try:
        names = json.loads(schema.metadata[b"huggingface"])["info"]["features"][column]["names"]
    except (AttributeError, ValueError, KeyError, TypeError, RecursionError):
        return None
    if isinstance(names, list) and len(names) > 1 and all(isinstance(name, str) and name.strip() for name in names):
        return tuple(names)
    return None


def summarise(error: Exception) -> str:
    """The first line of a library's error."""
    if isinstance(error, UnicodeDecodeError):
        return "a string is not UTF-8"
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


# --- folders


def _is_split(path: Path) -> bool:
    """Whether a folder has examples itself: of `save_to_disk`, or text files by class."""
    return (path / STATE).is_file() or bool(list_classes(path))


def list_classes(path: Path) -> list[str]:
    """The names of the folders with text files in a folder, sorted."""
    return sorted(one.name for one in _list_folders(path) if any(one.glob("*.txt")))


def list_splits(path: Path) -> list[str]:
    """The splits in a folder; none if it is a split itself."""
    if _is_split(path):
        return []
    named = (path / SPLITS).is_file()
    return sorted(one.name for one in _list_folders(path) if (named or one.name in USUAL_SPLITS) and _is_split(one))


def _list_folders(path: Path) -> list[Path]:
    return [one for one in path.iterdir() if one.is_dir() and not one.name.startswith((".", "__"))]


def find_split(path: Path, split: str) -> Path:
    """The folder to read: the one given, or its split of this name if it has several."""
    splits = list_splits(path)
    if len(splits) < 2:
        return path / splits[0] if splits else path
    if split not in splits:
        raise ValueError(f"{path} has the splits {list_some(splits)}; choose one, such as {path / splits[0]}")
    warnings.warn(f"{path} has the splits {list_some(splits)}; {split} is read ({path / split})", stacklevel=2)
    return path / split


def read_class_folders(path: Path) -> Table:
    """Read the text files in the folders of the classes."""
    classes = list_classes(path)
    if UNLABELLED in classes:
        classes.remove(UNLABELLED)
        warnings.warn(f"the texts in {path / UNLABELLED} have no labels, and are left out", stacklevel=2)
    texts, labels, places = [], [], []
    others = size = 0
    for name in classes:
        files = sorted(one for one in (path / name).iterdir() if one.is_file() and not one.name.startswith("."))
        for file in files:
            if file.suffix.lower() != ".txt":
                others += 1
                continue
            size += file.stat().st_size
            check_size(size, str(path))
            try:
                texts.append(file.read_bytes().decode("utf-8-sig").rstrip("\r\n"))
            except UnicodeDecodeError as error:
                raise ValueError(f"{file}: not UTF-8 at byte {error.start + 1}; save the file as UTF-8") from None
            labels.append(name)
            places.append(f"file {name}/{file.name}")
    if others:
        warnings.warn(f"{path}: {others:,} files do not end in .txt, and are left out", stacklevel=2)
    return Table(texts, labels, str(path), places.__getitem__)
