"""Networks from files: what kind of file it is, its beginning tells."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from discotext.decoding.hocr_file import read_hocr
from discotext.decoding.json_files import Lists, Scale, read_json_networks
from discotext.decoding.lines import InputError, Lines
from discotext.decoding.network import Network
from discotext.decoding.slf_file import read_slf

LATTICES = ("*.slf", "*.lat")


def read_networks(
    source: str | Path,
    *,
    lists: Lists = "rescore",
    scale: Scale = "log",
    watch: Callable[[int], None] | None = None,
) -> Iterator[Network]:
    """The networks of a file, of a folder of lattices (.slf, .lat), or of standard input (-), one at a time.

    lists: what to make of n-best lists, see `lists`. scale: what the scores in JSON are. watch: called with the bytes
    read so far.
    """
    path = Path(source)
    if str(source) != "-" and path.is_dir():
        files = sorted(file for pattern in LATTICES for file in path.glob(pattern))
        if not files:
            raise InputError(f"{source} is a folder without lattices; expected files {' or '.join(LATTICES)}")
        for file in files:
            yield from read_networks(file, lists=lists, scale=scale)
        return
    with ExitStack() as stack:
        stream: Any = sys.stdin.buffer if str(source) == "-" else stack.enter_context(path.open("rb"))
        buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)
        lines = Lines(buffered, "standard input" if str(source) == "-" else str(source), watch)
        first = buffered.peek(4096)[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
        if not first:
            raise InputError(f"{lines.name} is empty; expected networks")
        if first.startswith(b"{"):
            yield from read_json_networks(lines, lists, scale)
        elif first.startswith(b"<"):
            yield from read_hocr(lines)
        elif b"=" in first.split(b"\n", 1)[0] or first.startswith(b"#"):
            yield from read_slf(lines)
        else:
            # Whatever is wrong with the first line is said first.
            for line in lines:
                raise lines.error(
                    f"{line.strip()[:40]!r} is none of JSON lines, a lattice (VERSION=1.0) or hOCR (<html>); for plain "
                    "text give --source spelling"
                )
