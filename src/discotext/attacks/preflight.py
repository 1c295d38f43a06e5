"""Checks of what a user asks for, before anything is loaded.

A wrong budget, an unknown solver, a missing file: none of these needs a model to be seen, so they are reported before
one is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Integral
from pathlib import Path
from typing import Any

from discotext.data.registry import check_data
from discotext.runs.folder import check_folder
from discotext.runs.record import Budget
from discotext.solvers import make_solver
from discotext.text.words import compute_budget
from discotext.victims.registry import find_kind

MODEL_FILES = (".skops", ".joblib", ".pkl", ".pickle", ".safetensors", ".pt", ".onnx")
DEFAULT = 0.2  # share of the words that may change


@dataclass(frozen=True)
class Request:
    """The budgets, the shard and the levels of acceptance of a command line, parsed."""

    budgets: tuple[Budget, ...]
    shard: tuple[int, int]
    levels: tuple[str, ...] = ()


def preflight(
    victim: str,
    data: str,
    solvers: Sequence[str],
    *,
    budget: Sequence[str] = (),
    words: Sequence[int] = (),
    accept: Sequence[float] = (),
    shard: str | None = None,
    out: Path | None = None,
) -> Request:
    """Parse and check a command line, as far as that needs neither a model nor data."""
    if budget and words:
        raise ValueError("--budget and --words are both given; give a share of the words or a number of them, not both")
    levels = parse_accept(accept)
    budgets = at_levels(parse_budgets(list(budget) or DEFAULT, list(words) or None), levels)
    request = Request(budgets, parse_shard(shard), levels)
    names = [name.replace("_", "-") for name in solvers]
    for number, name in enumerate(names):
        if name != "auto":
            make_solver(name)
        if name in names[:number]:
            raise ValueError(f"the solver {name!r} is given twice; give each once")
    if out is not None:
        check_folder(out)
    check_inputs(victim, data)
    return request


def check_inputs(victim: str, data: str) -> None:
    """Raise ValueError if a victim or data are not there, as far as can be seen without loading them."""
    if Path(data).suffix.lower() in MODEL_FILES:
        raise ValueError(f"{data} is a model, but DATA is expected there; give VICTIM first, then DATA")
    check_victim_path(victim)
    check_data(data)


def check_victim_path(given: str) -> None:
    """Raise ValueError if a victim that would be a file or a folder is not there."""
    kind = find_kind(given)
    if kind == "sklearn" and not Path(given.removeprefix("sklearn:")).is_file():
        raise ValueError(
            f"there is no file {given.removeprefix('sklearn:')!r}; give sklearn:FILE with a pipeline saved by skops"
        )
    if kind == "folder" and not (Path(given) / "settings.json").is_file():
        raise ValueError(
            f"{given} is not a victim: it has no settings.json, as folders of `discotext train` have, and no "
            "config.json, as Hugging Face folders have"
        )


def is_network(victim: str) -> bool:
    """Whether a victim's name means one that runs on PyTorch: a folder, or a Hugging Face model."""
    return find_kind(victim) in ("folder", "hf")


def parse_budgets(share: Any, words: Any) -> tuple[Budget, ...]:
    """Budgets from shares, or from numbers of words; a share is written one way, however it was given.

    >>> [str(budget) for budget in parse_budgets([0.3, ".50", "1e-1"], None)]
    ['0.3', '0.5', '0.1']
    """
    if words is not None:
        if share is not None and _as_list(share) not in ([DEFAULT], [str(DEFAULT)]):
            raise ValueError(f"budget is {share!r} and words is {words!r}; give a share or a number of words, not both")
        found = [Budget(words=check_whole("words", number, 0)) for number in _as_list(words)]
    elif share is None:
        raise ValueError("budget and words are both None; give a share of the words such as 0.2, or a number of them")
    else:
        found = [Budget(share=_normalise(one)) for one in _as_list(share)]
    for number, budget in enumerate(found):
        if budget in found[:number]:
            raise ValueError(f"the budget {budget} is given twice; give each once")
    return tuple(found)


def parse_accept(given: Any) -> tuple[str, ...]:
    """Levels of acceptance from probabilities, each written one way, strictest last; none if none is given.

    >>> parse_accept([0.80, "0.5"]), parse_accept(None)
    (('0.5', '0.8'), ())
    """
    found = []
    for one in () if given is None else _as_list(given):
        try:
            level = Decimal(str(one))
        except ArithmeticError:
            level = Decimal("nan")
        if level.is_nan() or not 0 <= level <= 1:
            raise ValueError(f"accept is {one!r}; choose a probability, from 0 to 1")
        found.append(level)
    if len(set(found)) < len(found):
        raise ValueError(f"accept is given as {', '.join(map(str, found))}; give each probability once")
    return tuple(str(level.normalize()) for level in sorted(found))


def at_levels(budgets: Sequence[Budget], levels: Sequence[str]) -> tuple[Budget, ...]:
    """Each budget at each level of acceptance; a single level is that of the candidates, and not said twice."""
    if len(levels) < 2:
        return tuple(budgets)
    return tuple(replace(budget, accept=level) for budget in budgets for level in levels)


def _as_list(given: Any) -> list[Any]:
    return list(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else [given]


def _normalise(share: Any) -> str:
    compute_budget(1, share)  # raises if it is not a share
    # As few digits as possible, so that .3 and 0.30 resume a run of 0.3.
    return str(Decimal(str(share)).normalize()).lower()


def parse_shard(given: str | None) -> tuple[int, int]:
    """(i, n) of 'i/n'; without one, the whole.

    >>> parse_shard("2/4"), parse_shard(None)
    ((2, 4), (1, 1))
    """
    if given is None:
        return 1, 1
    first, mark, last = given.partition("/")
    digits = all(half.isascii() and half.isdigit() and len(half) < 10 for half in (first, last))
    if not mark or not digits or not 1 <= int(first) <= int(last):
        raise ValueError(f"the shard is {given!r}; give part i of n as 'i/n', such as 1/4")
    return int(first), int(last)


def check_whole(name: str, value: Any, least: int) -> int:
    """A whole number that is not below the least, or ValueError."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} is {value!r}; choose a whole number, {least} or more")
    return int(value)
