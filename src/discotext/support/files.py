"""Atomic writes: a reader sees either the old file or the complete new one.

The content goes to a new file in the same folder, which then replaces the old one. A symbolic link is followed and its
target replaced; a device or a pipe is written to directly.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from discotext.support.plain_text import describe_os_error


@contextmanager
def atomic_file(path: str | Path, suffix: str = ".new") -> Iterator[IO[bytes]]:
    """Open a file for writing that replaces the one at `path` when the block ends without an error.

    suffix: of the new file's name. What a killed process leaves is written over by the next; where several processes
    may write the same file, it must be a different one in each.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with open(target, "wb") as file:
            yield file
        return
    new = target.with_name(target.name + suffix)
    try:
        with open(new, "wb") as file:
            yield file
            # On the disk before it replaces anything, or a power cut could leave an empty file in its place.
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, target)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Write a file atomically; a ValueError says why it cannot be written."""
    try:
        with atomic_file(path) as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
    except OSError as error:
        raise ValueError(describe_write_error(path, error)) from None


def describe_write_error(path: str | Path, error: OSError) -> str:
    """Return the error message for a file that cannot be written."""
    return f"{path} cannot be written: {describe_os_error(error)}; choose a writable location with enough free space"


def describe_files(paths: Iterable[str | Path]) -> dict[str, list[int]]:
    """The size in bytes and the time of the last change, in nanoseconds, of files, by their names.

    Of a folder, the sum and the latest of the files in it; what does not exist is left out.
    """
    found = {}
    for one in paths:
        path = Path(one).expanduser()
        try:
            inside = sorted(path.iterdir()) if path.is_dir() else [path]
            about = [file.stat() for file in inside if file.is_file()]
        except (OSError, ValueError):  # a text or a name of a model may be no name of a file at all
            continue
        if about:
            found[str(one)] = [sum(one.st_size for one in about), max(one.st_mtime_ns for one in about)]
    return found
