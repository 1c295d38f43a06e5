"""A misspelt keyword argument is answered with the nearest one that exists."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


def suggest_keywords(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Let a function answer an unknown keyword with a suggestion; its signature stays as it is.

    >>> @suggest_keywords
    ... def attack(*, budget=0.2): ...
    >>> attack(bugdet=0.1)
    Traceback (most recent call last):
    TypeError: attack() has no parameter 'bugdet'; did you mean 'budget'?
    """
    known = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*positional: Parameters.args, **named: Parameters.kwargs) -> Returned:
        check_keywords(function.__name__, named, known)
        return function(*positional, **named)

    return call


def check_keywords(function: str, named: Iterable[str], known: Sequence[str]) -> None:
    """Raise TypeError, with a suggestion, for a keyword that is not one of a function's parameters."""
    for name in named:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"its parameters are {', '.join(known)}"
            raise TypeError(f"{function}() has no parameter {name!r}; {hint}")
