"""Loading victims, and the examples that fit them, from what a user names or passes.

A victim is named by a folder, `hf:NAME`, `sklearn:FILE`, `py:module:function` or an http(s) address.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from discotext.core.objectives import predictions
from discotext.data.columns import AnyColumns, Columns
from discotext.data.examples import Examples, make_examples
from discotext.data.files import read_table
from discotext.data.registry import check_data, has_name, load_data
from discotext.victims.victim import AdaptedVictim, Victim, compute_scores

VICTIM_KINDS = (
    "a folder from `discotext train` or `harden`, hf:NAME_OR_FOLDER, sklearn:FILE, py:module:function, or http(s)://…"
)
NAMES_SHOWN = 8  # in an error message
TOGETHER = 512  # texts that are labelled in one call


def load_victim(given: Any, trust: bool = False) -> Victim:
    """Load a victim by name, or make one of a function or a model. A `Victim` is returned unchanged.

    trust: allow pickled scikit-learn files, which can execute code when they are loaded.

    >>> load_victim(lambda texts: [[0.0, 1.0] for _ in texts]).labels
    ('0', '1')
    """
    if isinstance(given, Path):
        given = str(given)
    if isinstance(given, str):
        return _load_named(given, trust)
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
    raise TypeError(
        f"a {type(given).__name__} cannot be used as a victim; pass {VICTIM_KINDS}, a function from texts to scores, "
        "a fitted scikit-learn pipeline, or a Victim"
    )


def load_victim_and_data(
    victim: Any,
    data: str,
    columns: AnyColumns = (None, None),
    limit: int | None = None,
    seed: int = 0,
    trust: bool = False,
) -> tuple[Victim, Examples]:
    """Load a victim and examples with its classes; of a named data set, the test split."""
    model = load_victim(victim, trust)
    examples = load_examples(model, data, columns)
    return model, examples if limit is None else examples.sample(limit, seed)


def load_examples(victim: Victim, data: Any, columns: AnyColumns = (None, None)) -> Examples:
    """Load examples whose classes are the victim's; raise ValueError unless it is certain which is which.

    Texts without labels, which are plain text, a list of strings, or whatever the user says are such, get the victim's
    own predictions for labels, and a warning that says so.
    """
    how = columns if isinstance(columns, Columns) else Columns(*columns)
    return _check_classes(victim, _read_examples(victim, data, how))


def _check_classes(victim: Victim, examples: Examples) -> Examples:
    """The examples; ValueError if they do not have as many classes as the victim."""
    if len(examples.names) != len(victim.labels):
        raise ValueError(
            f"{examples.source} has {len(examples.names)} classes ({', '.join(examples.names[:NAMES_SHOWN])}), but "
            f"{victim.name} has {len(victim.labels)} ({', '.join(victim.labels[:NAMES_SHOWN])}); "
            "use data with the victim's classes"
        )
    return examples


def load_texts(victim: Victim, data: str, columns: Columns) -> tuple[Examples, bool]:
    """Load texts where labels are not needed: examples, and whether their labels are those of the data."""
    if not has_name(data):
        check_data(data)
        table = read_table(data, columns.text, columns.label, labels=False)
        if table.labels is None:
            return Examples.of(table.texts, [0] * len(table.texts), victim.labels, table.source, table.rows), False
        return _check_classes(victim, table.check(victim.labels, columns.rename)), True
    return load_examples(victim, data, columns), True


def _read_examples(victim: Victim, data: Any, how: Columns) -> Examples:
    if isinstance(data, str | Path) and not has_name(data):
        check_data(data)
        table = read_table(data, how.text, how.label, labels=not how.unlabelled)
        if how.unlabelled or table.labels is None:
            return label_by_predictions(victim, table.texts, table.source, table.rows)
        return table.check(victim.labels, how.rename)
    if isinstance(data, list) and data and all(isinstance(one, str) for one in data):
        return label_by_predictions(victim, data)
    if not isinstance(data, str | Path):
        return make_examples(data, how.text, how.label, names=victim.labels)
    found = load_data(data, names=None if how.unlabelled else victim.labels, rename=how.rename)
    return label_by_predictions(victim, found.texts, found.source) if how.unlabelled else found


def label_by_predictions(
    victim: Victim, texts: Sequence[Any], source: str = "given", rows: Sequence[int | str] | None = None
) -> Examples:
    """Examples whose labels are what the victim predicts, so that an attack asks which predictions can be changed."""
    # Checked before the victim sees them; the labels do not matter yet.
    checked = Examples.of(texts, [0] * len(texts), victim.labels, source, rows)
    labels = np.concatenate(
        [
            predictions(compute_scores(victim, checked.texts[begin : begin + TOGETHER]))
            for begin in range(0, len(texts), TOGETHER)
        ]
    )
    without = "the text has no label" if len(texts) == 1 else f"the {len(texts):,} texts have no labels"
    warnings.warn(
        f"{without}: the victim's own predictions count as right, so its accuracy before an attack is 100 %",
        stacklevel=2,
    )
    return replace(checked, labels=labels, own=None)


def _load_named(given: str, trust: bool) -> Victim:
    loaders: dict[str, Callable[[], Victim]] = {
        "hf": lambda: _load_hugging_face(given.removeprefix("hf:")),
        "sklearn": lambda: _load_sklearn(given.removeprefix("sklearn:"), trust),
        "py": lambda: _load_function(given),
        "http": lambda: _connect(given),
        "https": lambda: _connect(given),
    }
    kind = given.partition(":")[0]
    if kind in loaders and ":" in given:
        return loaders[kind]()
    if not Path(given).exists():
        raise ValueError(f"there is no victim {given!r}; give {VICTIM_KINDS}")
    from discotext.victims.saved import load_saved

    return load_saved(given, trust)


# Each kind is imported on first use, because most need a library that others do not.


def _load_hugging_face(name: str) -> Victim:
    from discotext.victims.huggingface import HuggingFaceVictim

    return HuggingFaceVictim(name)


def _load_sklearn(path: str, trust: bool) -> Victim:
    from discotext.victims.scikit import load_sklearn

    return load_sklearn(path, trust=trust)


def _load_function(spec: str) -> Victim:
    from discotext.victims.function import load_function

    return load_function(spec)


def _connect(url: str) -> Victim:
    from discotext.victims.remote import HttpVictim

    return HttpVictim(url)
