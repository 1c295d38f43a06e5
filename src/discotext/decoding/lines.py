"""Lines of a text file, read one at a time, whatever the file turns out to be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

LONGEST = 32_000_000  # bytes of a line; a longer one is not a network but a file without line breaks


class InputError(ValueError):
    """Input that cannot be read. The message begins with the file and the line."""


@dataclass
class Lines:
    """The lines of a binary stream as text, with their numbers from 1.

    name: how messages call it. watch: called with the bytes read so far.
    """

    stream: IO[bytes]
    name: str
    watch: Callable[[int], None] | None = None
    number: int = 0
    read: int = 0

    def __iter__(self) -> Iterator[str]:
        while line := self.stream.readline(LONGEST + 1):
            self.number += 1
            self.read += len(line)
            if len(line) > LONGEST:
                raise self.error(f"it has more than {LONGEST // 1_000_000} MB; is this one record a line?")
            if self.watch is not None:
                self.watch(self.read)
            yield self._decode(line)

    def _decode(self, line: bytes) -> str:
        if b"\0" in line:
            raise self.error("it contains a zero byte; this is a binary file, and text was expected")
        try:
            return line.decode("utf-8-sig" if self.number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise self.error(
                f"byte {error.start + 1} is not UTF-8 ({line[error.start]:#04x}); is it a binary file, or in another "
                "encoding?"
            ) from None

    def error(self, message: str) -> InputError:
        """An error about the line that was read last."""
        return InputError(f"{self.name}, line {self.number}: {message}")
