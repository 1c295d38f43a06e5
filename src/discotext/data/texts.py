"""Texts without labels, one at a time: lines of plain text, the texts of a table, or of a named data set.

Plain text is read in pieces of at most 64 kilobytes, so that a file of any size, even on a single line, takes little
memory.
"""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import IO

from discotext.data.catalogue import DATASETS
from discotext.data.columns import choose_text_column
from discotext.data.files import DATA_FORMATS, find_format, read_columns
from discotext.data.registry import load_split

LONGEST = 1 << 16  # bytes of a line that are read at once


def read_texts(spec: str | Path, text_column: str | None = None) -> Iterator[str]:
    """Yield the texts of a source.

    spec: a named data set (its train split), a table in one of the `DATA_FORMATS`, any other file as plain text (a
    sentence or a paragraph on each line, gzipped or not), or - for plain text on standard input.
    """
    text = str(spec)
    if text.replace("-", "_") in DATASETS:
        yield from load_split(text, "train").texts
    elif text == "-":
        yield from read_lines(sys.stdin.buffer, "standard input")
    elif find_format(Path(text)) in DATA_FORMATS:

        def choose(columns: Sequence[str], where: str) -> Sequence[str]:
            return (choose_text_column(columns, text_column, where),)

        yield from (one for column in read_columns(text, choose).columns for one in column if isinstance(one, str))
    else:
        yield from read_file(text)


def check_texts(spec: str | Path) -> None:
    """Raise an error if a source is not there, as far as can be seen without reading it."""
    text = str(spec)
    if text == "-" or text.replace("-", "_") in DATASETS:
        return
    path = Path(text)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; expected a file with texts")
    if not path.exists():
        raise FileNotFoundError(
            f"{text!r} is neither a data set ({', '.join(DATASETS)}) nor a file; name a file with texts, or - for "
            "standard input"
        )


def read_file(path: str | Path, keep_mark: bool = False) -> Iterator[str]:
    """Yield the lines of a plain text file, gzipped or not. keep_mark: see `read_lines`."""
    with open(path, "rb") as probe:
        packed = probe.read(2) == b"\x1f\x8b"
    with closing(gzip.open(path, "rb") if packed else open(path, "rb")) as file:
        yield from read_lines(file, str(path), keep_mark)


def read_lines(file: IO[bytes] | gzip.GzipFile, where: str, keep_mark: bool = False) -> Iterator[str]:
    """Yield lines with their ends; longer ones than 64 kilobytes in pieces that end at white space, if there is any.

    keep_mark: keep a byte order mark at the start, which is left out otherwise.
    """
    first = not keep_mark
    number, left = 1, b""
    while True:
        try:
            more = file.readline(LONGEST)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(
                f"{where}, line {number}: the compressed file is damaged or incomplete ({error})"
            ) from None
        piece, left = left + more, b""
        if not piece:
            return
        whole = piece.endswith(b"\n") or not more
        if not whole and len(more) == LONGEST:
            cut = max(piece.rfind(b" "), piece.rfind(b"\t"))
            # Without white space the piece is cut between two characters: no byte that begins 10 follows the cut.
            cut = (
                cut + 1 if cut >= 0 else max(at for at in range(len(piece) - 3, len(piece)) if piece[at] & 0xC0 != 0x80)
            )
            piece, left = piece[:cut], piece[cut:]
        yield _decode(piece, where, number, "utf-8-sig" if first else "utf-8")
        first = False
        number += piece.endswith(b"\n")


def _decode(piece: bytes, where: str, number: int, encoding: str) -> str:
    if b"\0" in piece:
        raise ValueError(f"{where}, line {number}: there is a NUL byte; expected plain text, found a binary file")
    try:
        return piece.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{where}, line {number}: not UTF-8 at byte {error.start + 1} of the line; save the file as UTF-8"
        ) from None
