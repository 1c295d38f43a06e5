"""Writing files whole: a reader sees what was there before or all that is new, never a half.

A new file is written beside the old one and takes its place at once. What is no ordinary file keeps its nature: a link
is followed, and its target replaced; a device or a pipe is written to as it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def whole_file(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of the one at `path` when all of it is written."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with open(target, "wb") as file:
            yield file
        return
    new = target.with_name(target.name + ".new")
    try:
        with open(new, "wb") as file:
            yield file
        os.replace(new, target)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file whole, or say in a sentence why not."""
    try:
        with whole_file(path) as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
    except OSError as error:
        raise ValueError(cannot_write(path, error)) from None


def cannot_write(path: str | Path, error: OSError) -> str:
    return f"{path} cannot be written: {reason(error)}; choose a place that you may write to and that has room"


def reason(error: OSError) -> str:
    """What the operating system says, for the middle of a sentence."""
    said: Any = error.strerror or str(error)
    return str(said).lower()
