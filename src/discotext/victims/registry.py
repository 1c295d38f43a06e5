"""Loading victims, and the examples that fit them, from what a user names or passes.

A victim is named by a folder, a file `model.skops`, `hf:NAME`, `sklearn:FILE`, `py:module:name` or an http(s) address.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from discotext.core.objectives import predictions
from discotext.data.columns import AnyColumns, Columns
from discotext.data.examples import Examples, list_texts, make_examples
from discotext.data.files import read_table
from discotext.data.labels import are_numbers, are_unnamed, have_numbers, list_some, rename_labels
from discotext.data.registry import check_data, has_name, load_data
from discotext.victims.held import adopt, refuse
from discotext.victims.victim import Ask, Evaluation, Victim, check_distinct, compute_scores
from discotext.victims.wrapped import AdaptedVictim

VICTIM_KINDS = (
    "a folder from `discotext train` or `harden`, hf:NAME_OR_FOLDER, sklearn:FILE or FILE.skops, py:module:function, "
    "or http(s)://…"
)
TOGETHER = 512  # texts that are labelled in one call


def load_victim(given: Any, trust: bool = False, service: Mapping[str, Any] | None = None) -> Victim:
    """Load a victim by name, or make one of a function or a model. A `Victim` is returned unchanged.

    trust: allow pickled scikit-learn files, which can execute code when they are loaded.
    service: further arguments of `HttpVictim`, if an address is given.

    >>> load_victim(lambda texts: [[0.0, 1.0] for _ in texts]).labels
    ('0', '1')
    """
    if isinstance(given, Path):
        given = str(given)
    if isinstance(given, str):
        return _load_named(given, trust, service or {})
    if isinstance(given, Victim):
        return given
    if hasattr(given, "scores") and hasattr(given, "name"):
        return AdaptedVictim(given)
    held = adopt(given)
    if held is not None:
        return held
    if callable(given):
        from discotext.victims.function import FunctionVictim

        return FunctionVictim(given)
    raise refuse(given, VICTIM_KINDS)


def load_victim_and_data(
    victim: Any,
    data: str,
    columns: AnyColumns = (None, None),
    limit: int | None = None,
    seed: int = 0,
    trust: bool = False,
    service: Mapping[str, Any] | None = None,
) -> tuple[Victim, Examples]:
    """Load a victim and examples with its classes; of a named data set, the test split."""
    model = load_victim(victim, trust, service)
    return model, load_examples(model, data, columns, limit, seed)


def load_examples(
    victim: Victim,
    data: Any,
    columns: AnyColumns = (None, None),
    limit: int | None = None,
    seed: int = 0,
    most_queries: int | None = None,
    label: bool = True,
) -> Examples:
    """Load examples whose classes are the victim's; raise ValueError unless it is certain which is which.

    Texts without labels, which are plain text, a list or a series of strings, or whatever the user says are such, get
    the victim's own predictions for labels, and a warning that says so.

    limit: take a sample of so many; of texts without labels, it is taken before the victim is asked.
    most_queries: raise ValueError, and ask nothing, if more texts than this have no labels.
    label: whether texts without labels get them here; otherwise `asked` counts them, and they are all of class 0 until
        `label_by_predictions` is called.
    """
    how = columns if isinstance(columns, Columns) else Columns(*columns)
    check_distinct(victim.labels, victim.name)
    found, unlabelled = _read_examples(victim, data, how, limit, seed)
    examples = _check_classes(victim, found, how.rename)
    if limit is not None:
        examples = examples.sample(limit, seed)
    if not unlabelled:
        # A victim may have been asked about these examples before, but not for this run.
        return replace(examples, asked=0) if examples.asked else examples
    if most_queries is not None and len(examples) > most_queries:
        raise ValueError(
            f"{most_queries:,} queries in all are too few for {len(examples):,} texts without labels, which take one "
            "each to be labelled by the victim's predictions; allow more, or attack fewer texts (limit)"
        )
    examples = replace(examples, asked=len(examples))
    return label_by_predictions(partial(_evaluate_all, victim), examples) if label else examples


def _check_classes(victim: Victim, examples: Examples, rename: Mapping[str, str] | None) -> Examples:
    """The examples; ValueError if they do not have as many classes as the victim, or count those that it names."""
    if len(examples.names) != len(victim.labels):
        raise ValueError(
            f"{examples.source} has {len(examples.names)} classes ({list_some(examples.names)}), but "
            f"{victim.name} has {len(victim.labels)} ({list_some(victim.labels)}); "
            "use data with the victim's classes"
        )
    called = [str(name) for name in rename_labels(examples.own or examples.names, rename or {})]
    counted = are_numbers(called) or are_unnamed(called)
    if counted and not victim.capabilities.ordered and not have_numbers(victim.labels):
        raise ValueError(
            f"the labels of {examples.source} are numbers, but {victim.name} names its classes "
            f"({list_some(victim.labels)}) and has no order of them, so which number means which is not "
            "certain; say so for each, as --map-label 0=CLASS, or use names in the data (in Python, pass "
            "FunctionVictim(function, labels=[…]) with the names in the order of the numbers)"
        )
    return examples


def load_texts(
    victim: Victim, data: str, columns: Columns, limit: int | None = None, seed: int = 0
) -> tuple[Examples, bool]:
    """Load texts where labels are not needed: examples, and whether their labels are those of the data.

    limit: how many will be drawn from them, if not all are wanted.
    """
    if not has_name(data):
        check_data(data)
        table = read_table(data, columns.text, columns.label, labels=False, limit=limit, seed=seed)
        if table.labels is None:
            return Examples.of(table.texts, [0] * len(table.texts), victim.labels, table.source, table.rows), False
        return _check_classes(victim, table.check(victim.labels, columns.rename), columns.rename), True
    return load_examples(victim, data, columns), True


def _read_examples(victim: Victim, data: Any, how: Columns, limit: int | None, seed: int) -> tuple[Examples, bool]:
    """Examples, and whether they have no labels, so that class 0 stands for them all."""
    if isinstance(data, str | Path) and not has_name(data):
        check_data(data)
        table = read_table(data, how.text, how.label, labels=not how.unlabelled, limit=limit, seed=seed)
        if how.unlabelled or table.labels is None:
            return _without_labels(victim, table.texts, table.source, table.rows), True
        return table.check(victim.labels, how.rename), False
    if isinstance(data, str | Path):
        found = load_data(data, names=None if how.unlabelled else victim.labels, rename=how.rename)
        return (_without_labels(victim, found.texts, found.source), True) if how.unlabelled else (found, False)
    texts = list_texts(data)
    if texts is not None:
        return _without_labels(victim, texts), True
    return make_examples(data, how.text, how.label, names=victim.labels), False


def _without_labels(
    victim: Victim, texts: Sequence[Any], source: str = "given", rows: Sequence[int | str] | None = None
) -> Examples:
    """Texts, checked before the victim sees them; the labels do not matter yet."""
    return replace(Examples.of(texts, [0] * len(texts), victim.labels, source, rows), own=None)


def label_by_predictions(ask: Ask, examples: Examples) -> Examples:
    """Examples whose labels are what the victim predicts, so that an attack asks which predictions can be changed.

    Texts without an answer stay as they are.
    """
    many, labels = len(examples), examples.labels.copy()
    for begin in range(0, many, TOGETHER):
        scores = ask(examples.texts[begin : begin + TOGETHER]).scores
        answered = np.flatnonzero(np.isfinite(scores).all(axis=1))
        labels[begin + answered] = predictions(scores[answered])
    without = "the text has no label" if many == 1 else f"the {many:,} texts have no labels"
    warnings.warn(
        f"{without}: the victim's own predictions count as right, so its accuracy before an attack is 100 %",
        stacklevel=2,
    )
    return replace(examples, labels=labels)


def _evaluate_all(victim: Victim, texts: Sequence[str]) -> Evaluation:
    """The scores of texts; raises if the victim fails on one."""
    return Evaluation(compute_scores(victim, texts), [None] * len(texts), np.ones(len(texts), dtype=np.int64))


def find_kind(given: str) -> str:
    """Return what a victim's name means: hf, sklearn, py, http, or folder; raise ValueError if there is no such thing.

    A bare file is a scikit-learn pipeline, and a folder is a Hugging Face model if it has a config.json and no
    settings.json.

    >>> find_kind("py:model.py:scores"), find_kind("https://example.org/model")
    ('py', 'http')
    """
    prefix, mark, _ = given.partition(":")
    if mark and prefix in ("hf", "sklearn", "py", "http", "https"):
        return prefix.removesuffix("s")
    path = Path(given)
    if not given or not path.exists():
        raise ValueError(f"there is no victim {given!r}; give {VICTIM_KINDS}")
    if path.is_file():
        return "sklearn"
    return "hf" if (path / "config.json").is_file() and not (path / "settings.json").is_file() else "folder"


def _load_named(given: str, trust: bool, service: Mapping[str, Any]) -> Victim:
    loaders: dict[str, Callable[[], Victim]] = {
        "hf": lambda: _load_hugging_face(given.removeprefix("hf:")),
        "sklearn": lambda: _load_sklearn(given.removeprefix("sklearn:"), trust),
        "py": lambda: _load_object(given),
        "http": lambda: _connect(given, service),
        "folder": lambda: _load_folder(given, trust),
    }
    kind = find_kind(given)
    if service and kind != "http":
        raise ValueError(f"{given} is not a service (http://… or https://…), so that it has no {', '.join(service)}")
    return loaders[kind]()


# Each kind is imported on first use, because most need a library that others do not.


def _load_hugging_face(name: str) -> Victim:
    from discotext.victims.huggingface import HuggingFaceVictim

    return HuggingFaceVictim(name)


def _load_sklearn(path: str, trust: bool) -> Victim:
    from discotext.victims.scikit import load_sklearn

    return load_sklearn(path, trust=trust)


def _load_object(spec: str) -> Victim:
    """Load what `py:module:name` names: a function, or any object that can be a victim."""
    from discotext.victims.function import FunctionVictim, find_object, wrap_function

    found = find_object(spec)
    if isinstance(found, Victim):
        held: Victim | None = found
    else:
        held = None if isinstance(found, type) else adopt(found)
    if held is None:
        return wrap_function(found, spec)
    if isinstance(held, FunctionVictim):
        held.score_reader.name = spec
    held.name = spec
    return held


def _load_folder(path: str, trust: bool) -> Victim:
    from discotext.victims.saved import load_saved

    return load_saved(path, trust)


def _connect(url: str, service: Mapping[str, Any]) -> Victim:
    from discotext.victims.remote import HttpVictim

    return HttpVictim(url, **service)
