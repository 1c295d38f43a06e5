"""Errors from elsewhere, as one line for use inside a message."""

from __future__ import annotations


def describe_error(error: BaseException) -> str:
    """Return an error's type and message on one line.

    >>> describe_error(ValueError("too\\nlong"))
    'ValueError: too long'
    """
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def describe_os_error(error: OSError) -> str:
    """Return the operating system's message in lower case.

    >>> describe_os_error(OSError(2, "No such file or directory"))
    'no such file or directory'
    """
    return str(error.strerror or error).lower()
