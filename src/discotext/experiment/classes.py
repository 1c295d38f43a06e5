"""The names of classes beside their numbers, for people who read results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def list_classes(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """What the classes of a run are called: as the victim calls them, or where it only counts them, as the data does.

    >>> list_classes({"labels": ["0", "1"], "classes": ["bad", "good"]}), list_classes({"labels": ["neg", "pos"]})
    (('bad', 'good'), ('neg', 'pos'))
    """
    own = tuple(map(str, settings.get("labels", ())))
    given = settings.get("classes")
    return tuple(map(str, given)) if given and all(name.isdigit() for name in own) else own


def name_classes(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The names of a run's classes, and of its target if it has one.

    >>> name_classes({"labels": ["negative", "positive"], "target": 1})
    {'labels': ('negative', 'positive'), 'target': 'positive'}
    """
    labels, target = list_classes(settings), settings.get("target")
    return {"labels": labels, "target": None if target is None else labels[target]}


def name_class(number: int | None, labels: Sequence[str]) -> str | None:
    """The name of a class; None where the victim failed and named none, or the names are not known."""
    return labels[number] if labels and number is not None else None
