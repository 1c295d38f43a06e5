"""How a command ends when it does not end well: one sentence on standard error, and a status.

    1     a mistake of the user's, or trouble with a file, a model or a service
    2     a wrong command line (which click finds)
    3     a run that is done, but in which the victim failed on most texts
    130   Ctrl-C

Warnings are told in the same voice: to who sits at a terminal, the line of code that gave one says nothing.
"""

from __future__ import annotations

import errno
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from discotext.redaction import printable

# What is raised with a sentence for the user. Anything else is a mistake of ours and shows where it happened.
EXPECTED = (ValueError, TypeError, OSError, RuntimeError, ImportError, MemoryError, OverflowError)
# These have a folder whether one is named or not, and go on in it.
GO_ON = ("demo", "reproduce")
LONGEST = 300  # characters in a row that a sentence may hold; the paths of some are long
AGAIN = "the same command goes on where it stopped"


class Mistake(click.ClickException):
    """One sentence, and status 1."""

    def show(self, file: Any = None) -> None:
        click.echo(f"discotext: {self.format_message()}", file=file, err=True)


class MostFailed(Mistake):
    """The run is done, and its figures mean little; status 3."""

    exit_code = 3


class Stopped(Mistake):
    """Ctrl-C, and what it means for the work so far."""

    exit_code = 130

    def show(self, file: Any = None) -> None:
        # The terminal has just written ^C.
        click.echo(file=file, err=True)
        super().show(file)


@contextmanager
def ending_well(context: click.Context) -> Iterator[None]:
    """Whatever is raised within ends in a sentence."""
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
            raise  # how click leaves; to Python they are RuntimeErrors
        except KeyboardInterrupt:
            kept = f"; what is done is kept, and {AGAIN}" if context.invoked_subcommand in GO_ON else ""
            raise Stopped(f"stopped{kept}") from None
        except EXPECTED as error:
            # A reader that has had enough, such as `head`, is no trouble; click knows what to do.
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise
            raise Mistake(sentence(error)) from error
        except BaseException as error:
            # What libraries written in Rust raise where a damaged file leads them astray, and no `Exception`.
            if type(error).__name__ != "PanicException":
                raise
            raise Mistake(f"a file of a model is damaged: {one_line(error)}") from error


def stopped(out: Path | None) -> Stopped:
    """What Ctrl-C means for a run that keeps its records in a folder, or in none."""
    if out is None:
        return Stopped(
            "stopped; nothing is kept without --out: name a folder, and the same command can go on where it stopped"
        )
    if not (out / "settings.json").exists():
        return Stopped(f"stopped before the first record was in {out}; the same command begins anew")
    return Stopped(f"stopped; what is done is kept in {out}, and {AGAIN}")


def sentence(error: BaseException) -> str:
    """What an error says, on one line; what the operating system says, without its numbers.

    >>> sentence(PermissionError(13, "Permission denied", "/proc/x"))
    '/proc/x cannot be used: permission denied'
    """
    if isinstance(error, OSError) and error.strerror:
        said = error.strerror[:1].lower() + error.strerror[1:]
        return f"{one_line(error.filename)} cannot be used: {said}" if error.filename else said
    if isinstance(error, MemoryError):
        return f"there is not enough memory ({one_line(error) or 'nothing more is known'}); try fewer texts at a time"
    if isinstance(error, UnicodeEncodeError):
        broken = error.object[error.start : error.end][:20]
        return f"{broken!r} is half a character, which cannot be read or written; was a name or a text cut?"
    said = one_line(error)
    if said.startswith("embedded null"):
        return "a name of a file holds a NUL character, which no file can have"
    if said.endswith("has an empty name"):
        return "a name of a file is empty or that of a folder; give the name of a file"
    return said or type(error).__name__


def one_line(said: object) -> str:
    """Without breaks, and what nobody would read to its end cut in the middle."""
    words = (word if len(word) <= LONGEST else f"{word[:100]}…{word[-50:]}" for word in str(said).split())
    return printable(" ".join(words))
