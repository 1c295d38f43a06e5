"""The names of classes beside their numbers, for people who read results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def name_classes(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The names of a run's classes, and of its target if it has one.

    >>> name_classes({"labels": ["negative", "positive"], "target": 1})
    {'labels': ('negative', 'positive'), 'target': 'positive'}
    """
    labels, target = tuple(map(str, settings.get("labels", ()))), settings.get("target")
    return {"labels": labels, "target": None if target is None else labels[target]}


def name_class(number: int | None, labels: Sequence[str]) -> str | None:
    """The name of a class; None where the victim failed and named none, or the names are not known."""
    return labels[number] if labels and number is not None else None
