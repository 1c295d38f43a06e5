"""Victims by what a user writes: a folder, `hf:NAME`, `sklearn:FILE`, `py:module:callable`, or an address."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from discotext.extras import need
from discotext.victims.victim import AdaptedVictim, Victim

KINDS = "a folder from `discotext train`, hf:NAME_OR_FOLDER, sklearn:FILE, py:module:callable, or http(s)://…"


def victim_from(given: Any, trust: bool = False) -> Victim:
    """A victim from what names it, or from a function or model; a victim is returned as it is.

    trust: a pickled scikit-learn file is loaded, which runs whatever it holds.

    >>> victim_from(lambda texts: [[0.0, 1.0] for _ in texts]).labels
    ('0', '1')
    """
    if isinstance(given, Path):
        given = str(given)
    if isinstance(given, str):
        return _from_text(given, trust)
    if isinstance(given, Victim):
        return given
    if hasattr(given, "scores") and hasattr(given, "name"):
        return AdaptedVictim(given)
    if hasattr(given, "predict_proba") or hasattr(given, "decision_function"):
        from discotext.victims.scikit import SklearnVictim

        return SklearnVictim(given)
    if callable(given):
        from discotext.victims.function import FunctionVictim

        return FunctionVictim(given)
    raise TypeError(f"a {type(given).__name__} is no victim; give {KINDS}, or a function from texts to scores")


def _from_text(given: str, trust: bool) -> Victim:
    makers: dict[str, Callable[[], Victim]] = {
        "hf": lambda: _hugging_face(given.removeprefix("hf:")),
        "sklearn": lambda: _sklearn(given.removeprefix("sklearn:"), trust),
        "py": lambda: _function(given),
        "http": lambda: _remote(given),
        "https": lambda: _remote(given),
    }
    kind = given.partition(":")[0]
    if kind in makers and ":" in given:
        return makers[kind]()
    if not Path(given).exists():
        raise ValueError(f"there is no victim {given!r}; give {KINDS}")
    need("torch", extra="torch", reason="a trained network")
    from discotext.victims.neural.store import load_victim

    return load_victim(given)


def _hugging_face(name: str) -> Victim:
    from discotext.victims.huggingface import HuggingFaceVictim

    return HuggingFaceVictim(name)


def _sklearn(path: str, trust: bool) -> Victim:
    from discotext.victims.scikit import sklearn_from

    return sklearn_from(path, trust=trust)


def _function(spec: str) -> Victim:
    from discotext.victims.function import function_from

    return function_from(spec)


def _remote(url: str) -> Victim:
    from discotext.victims.remote import HttpVictim

    return HttpVictim(url)
