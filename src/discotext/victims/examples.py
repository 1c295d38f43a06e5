"""Examples for a victim: texts whose labels are its classes, or that it labels itself."""

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
from discotext.victims.victim import Ask, Evaluation, Victim, check_distinct, compute_scores

TOGETHER = 512  # texts that are labelled in one call


def load_examples(
    victim: Victim,
    data: Any,
    columns: AnyColumns = (None, None),
    limit: int | None = None,
    seed: int = 0,
    max_queries: int | None = None,
    label: bool = True,
) -> Examples:
    """Load examples whose classes are the victim's; raise ValueError unless it is certain which is which.

    Texts without labels, which are plain text, a list or a series of strings, or whatever the user says are such, get
    the victim's own predictions for labels, and a warning that says so.

    limit: take a sample of so many; of texts without labels, it is taken before the victim is asked.
    max_queries: raise ValueError, and ask nothing, if more texts than this have no labels.
    label: whether texts without labels get them here; otherwise `asked` counts them, and they are all of class 0 until
        `label_by_predictions` is called.
    """
    how = columns if isinstance(columns, Columns) else Columns(*columns)
    check_distinct(victim.labels, victim.name)
    found, unlabelled = _read_examples(victim, data, how)
    examples = check_classes(victim, found, how.rename)
    if limit is not None:
        examples = examples.sample(limit, seed)
    if not unlabelled:
        # A victim may have been asked about these examples before, but not for this run.
        return replace(examples, asked=0) if examples.asked else examples
    if max_queries is not None and len(examples) > max_queries:
        raise ValueError(
            f"{max_queries:,} queries in all are too few for {len(examples):,} texts without labels, which take one "
            "each to be labelled by the victim's predictions; allow more, or attack fewer texts (limit)"
        )
    examples = replace(examples, asked=len(examples))
    return label_by_predictions(partial(_evaluate_all, victim), examples) if label else examples


def check_classes(victim: Victim, examples: Examples, rename: Mapping[str, str] | None) -> Examples:
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


def load_texts(victim: Victim, data: str, columns: Columns) -> tuple[Examples, bool]:
    """Load texts where labels are not needed: examples, and whether their labels are those of the data."""
    found, unlabelled = _read_examples(victim, data, columns, labels_needed=False)
    return (found if unlabelled else check_classes(victim, found, columns.rename)), not unlabelled


def _read_examples(victim: Victim, data: Any, how: Columns, labels_needed: bool = True) -> tuple[Examples, bool]:
    """Examples, and whether they have no labels, so that class 0 stands for them all."""
    if isinstance(data, str | Path) and not has_name(data):
        check_data(data)
        table = read_table(data, how.text, how.label, labels=labels_needed and not how.unlabelled)
        if how.unlabelled or table.labels is None:
            return _without_labels(victim, table.texts, table.source, table.place), True
        return table.check(victim.labels, how.rename), False
    if isinstance(data, str | Path):
        found = load_data(data, names=None if how.unlabelled else victim.labels, rename=how.rename)
        return (_without_labels(victim, found.texts, found.source), True) if how.unlabelled else (found, False)
    texts = list_texts(data)
    if texts is not None:
        return _without_labels(victim, texts), True
    return make_examples(data, how.text, how.label, names=victim.labels), False


def _without_labels(
    victim: Victim, texts: Sequence[Any], source: str = "given", place: Callable[[int], str] | None = None
) -> Examples:
    """Texts, checked before the victim sees them; the labels do not matter yet."""
    return replace(Examples.of(texts, [0] * len(texts), victim.labels, source, place), own=None)


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
