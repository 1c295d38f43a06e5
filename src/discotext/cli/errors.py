"""How a command ends when something goes wrong: one sentence on standard error, and an exit status.

    1     a mistake of the user's, or trouble with a file, a model or a service
    2     a wrong command line (reported by click)
    3     a run that finished, but in which the victim failed on most texts
    4     a run that finished, and found less accuracy under attack than `--fail-under` asks for
    130   Ctrl-C

Warnings are printed in the same form, without the line of code that issued them.
"""

from __future__ import annotations

import errno
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from discotext.support.plain_text import escape_unprintable

# Raised with a message for the user. Anything else is a bug in this package, and shows a traceback.
EXPECTED = (ValueError, TypeError, OSError, RuntimeError, ImportError, MemoryError, OverflowError)
# These always write to a folder, and resume from it.
RESUMABLE = ("demo", "harden", "reproduce")
LONGEST_MESSAGE = 4000  # characters, whatever a file or a service has put into it
LONGEST_WORD = 300  # characters; longer ones, such as some paths, are shortened
RESUME = "repeat the command to resume"


class CommandError(click.ClickException):
    """An error that is reported in one sentence."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.exit_code = status  # type: ignore[misc]  # which click sets for a whole class

    def show(self, file: Any = None) -> None:
        click.echo(f"discotext: {self.format_message()}", file=file, err=True)


class InterruptError(CommandError):
    """Ctrl-C, and what it means for the work done so far."""

    def __init__(self, message: str) -> None:
        super().__init__(message, 130)

    def show(self, file: Any = None) -> None:
        # The terminal has just printed ^C on this line.
        click.echo(file=file, err=True)
        super().show(file)


@contextmanager
def report_errors(context: click.Context) -> Iterator[None]:
    """Report whatever is raised inside in one sentence."""
    with warnings.catch_warnings():
        usual = warnings.showwarning
        warnings.showwarning = lambda message, category, *more: (
            click.echo(f"discotext: {one_line(message)}", err=True)
            if category is UserWarning
            else usual(message, category, *more)
        )
        try:
            yield
        except (click.exceptions.Exit, click.Abort):
            raise  # these are RuntimeErrors, too, but click uses them to exit
        except KeyboardInterrupt:
            saved = f"; completed work is saved: {RESUME}" if context.invoked_subcommand in RESUMABLE else ""
            raise InterruptError(f"interrupted{saved}") from None
        except EXPECTED as error:
            # A reader that closes the pipe early, such as `head`, is no error; click handles it.
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise
            raise CommandError(describe_error(error)) from error
        except BaseException as error:
            # Libraries written in Rust raise this for some damaged files; it is not an `Exception`.
            if type(error).__name__ != "PanicException":
                raise
            raise CommandError(f"a model file is damaged: {one_line(error)}") from error


def describe_saved(out: Path | None) -> str:
    """What is saved of a run that ends before its time; it continues a sentence."""
    if out is None:
        return "; nothing is saved without --out: name a folder to be able to resume"
    records = out / "records.jsonl"
    if not records.exists() or not records.stat().st_size:
        return f" before the first record was saved in {out}; repeat the command to start again"
    return f"; completed work is saved in {out}: {RESUME}"


def describe_error(error: BaseException) -> str:
    """Describe an error in one line; those of the operating system without their numbers.

    >>> describe_error(PermissionError(13, "Permission denied", "/proc/x"))
    '/proc/x cannot be used: permission denied'
    """
    if isinstance(error, OSError) and error.strerror:
        reason = error.strerror[:1].lower() + error.strerror[1:]
        return f"{one_line(error.filename)} cannot be used: {reason}" if error.filename else reason
    if isinstance(error, MemoryError):
        details = f" ({one_line(error)})" if str(error) else ""
        return f"not enough memory{details}; try fewer texts at a time"
    if isinstance(error, UnicodeEncodeError):
        broken = error.object[error.start : error.end][:20]
        return f"{broken!r} is not a complete character and cannot be written; was a file name or text truncated?"
    message = one_line(error)
    if message.startswith("embedded null") or message.endswith("has an empty name"):
        return "a file name is empty, names a folder or contains a NUL character; give the name of a file"
    return message or type(error).__name__


def one_line(message: object) -> str:
    """Put a message on one line, and shorten very long words, and a very long message, in the middle."""
    words = (word if len(word) <= LONGEST_WORD else f"{word[:100]}…{word[-50:]}" for word in str(message).split())
    line, half = " ".join(words), LONGEST_MESSAGE // 2
    return escape_unprintable(line if len(line) <= LONGEST_MESSAGE else f"{line[:half]} … {line[-half:]}")
