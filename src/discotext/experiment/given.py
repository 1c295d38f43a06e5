"""What a user gives to an attack, looked at before anything is loaded.

A wrong budget, a name that is no solver's, a file that is not there: none of that needs a model to be seen, and nobody
should wait for one to be told.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from numbers import Integral
from pathlib import Path
from typing import Any

from discotext.data.named import look_for_data
from discotext.experiment.folder import look_at_folder
from discotext.experiment.job import Budget
from discotext.solvers import solver_named
from discotext.text.words import budget_for
from discotext.victims.named import KINDS


def whole(name: str, value: Any, least: int) -> int:
    """A setting that counts something."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} is {value!r}; choose {least} or more, as a whole number")
    return int(value)


def budgets_of(share: Any, words: Any) -> tuple[Budget, ...]:
    """Budgets from shares, or from numbers of words; a share is written one way, however it was given.

    >>> [str(budget) for budget in budgets_of([0.3, ".50", "1e-1"], None)]
    ['0.3', '0.5', '0.1']
    """
    if words is not None:
        found = [Budget(words=whole("words", number, 0)) for number in _several(words)]
    elif share is None:
        raise ValueError("budget and words are both None; give a share of the words such as 0.2, or a number of them")
    else:
        found = [Budget(share=_normal(one)) for one in _several(share)]
    for number, budget in enumerate(found):
        if budget in found[:number]:
            raise ValueError(f"the budget {budget} is given twice; give each once")
    return tuple(found)


def _several(given: Any) -> list[Any]:
    return list(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else [given]


def _normal(share: Any) -> str:
    budget_for(1, share)  # says what is wrong with it
    # As few digits as say it, so that .3 and 0.30 go on with a run of 0.3.
    return str(Decimal(str(share)).normalize()).lower()


def shard_of(given: str | None) -> tuple[int, int] | None:
    """(i, n) of 'i/n'."""
    if given is None:
        return None
    first, mark, last = given.partition("/")
    digits = all(half.isascii() and half.isdigit() and len(half) < 10 for half in (first, last))
    if not mark or not digits or not 1 <= int(first) <= int(last):
        raise ValueError(f"the shard is {given!r}; give part i of n as 'i/n', such as 1/4")
    return int(first), int(last)


def look_first(
    victim: str,
    data: str,
    solvers: Sequence[str],
    *,
    budget: Sequence[str] = (),
    words: Sequence[int] = (),
    shard: str | None = None,
    out: Path | None = None,
) -> None:
    """Say what is wrong with a command line, as far as can be seen without loading a model or reading data."""
    budgets_from_options(budget, words)
    shard_of(shard)
    names = [name.replace("_", "-") for name in solvers]
    for number, name in enumerate(names):
        if name != "auto":
            solver_named(name)
        if name in names[:number]:
            raise ValueError(f"the solver {name!r} is given twice; give each once")
    if out is not None:
        look_at_folder(out)
    look_for(victim, data)


def look_for(victim: str, data: str) -> None:
    """Say that a victim or data are not there, as far as can be seen from outside."""
    look_for_victim(victim)
    look_for_data(data)


def budgets_from_options(budget: Sequence[str], words: Sequence[int]) -> tuple[Budget, ...]:
    """The budgets of a command line."""
    if budget and words:
        raise ValueError("--budget and --words are both given; a budget is a share of the words or a number of them")
    return budgets_of(list(budget) or 0.2, list(words) or None)


def is_network(victim: str) -> bool:
    """Whether what names a victim names one that runs on PyTorch: a folder, or a model of Hugging Face."""
    return victim.partition(":")[0] not in ("sklearn", "py", "http", "https")


def look_for_victim(given: str) -> None:
    """Say that a victim is not there, if it is one that would be in a file or a folder."""
    kind, mark, rest = given.partition(":")
    if mark and kind == "sklearn":
        if not Path(rest).is_file():
            raise ValueError(f"there is no file {rest!r}; give sklearn:FILE with a pipeline saved by skops")
    elif mark and kind in ("hf", "py", "http", "https"):
        return  # those find out soon enough
    elif not given or not Path(given).exists():
        raise ValueError(f"there is no victim {given!r}; give {KINDS}")
    elif not (Path(given) / "settings.json").is_file():
        raise ValueError(
            f"{given} is no victim of `discotext train`: it has no settings.json (hf:{given} loads a Hugging Face "
            "folder)"
        )
