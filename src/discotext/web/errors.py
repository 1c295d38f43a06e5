"""Errors as the page shows them: one sentence."""

from __future__ import annotations

from discotext.support.redaction import escape_unprintable

LONGEST = 400  # characters of a message
EXPECTED = (ValueError, TypeError, OSError, RuntimeError, ImportError)  # raised with a message for the user


def describe_error(error: BaseException) -> str:
    """An error in one line, for the page."""
    message = escape_unprintable(" ".join(str(error).split()))
    if len(message) > LONGEST:
        message = f"{message[:LONGEST]}…"
    if isinstance(error, EXPECTED):
        return message or type(error).__name__
    if isinstance(error, MemoryError):
        return "not enough memory; try a shorter text"
    named = type(error).__name__ + (message and f": {message}")
    return (
        f"{named}; this is a fault of discotext, see the terminal" if is_fault(error) else f"the victim ended: {named}"
    )


def is_fault(error: BaseException) -> bool:
    """Whether an error is our own: those of the victim are reported as expected ones, or end the thread."""
    return isinstance(error, Exception) and not isinstance(error, (*EXPECTED, MemoryError))
