"""A victim and its data from what a user names, fitted to each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discotext.data.examples import Examples, examples_from
from discotext.data.named import DATASETS, load_data
from discotext.victims.named import victim_from
from discotext.victims.victim import Victim


def victim_and_data(
    victim: Any,
    data: str,
    columns: tuple[str | None, str | None] = (None, None),
    limit: int | None = None,
    seed: int = 0,
    trust: bool = False,
) -> tuple[Victim, Examples]:
    """Load both, a named data set's test part, and check that they have the same number of classes."""
    model = victim_from(victim, trust)
    examples = examples_for(model, data, columns)
    return model, examples if limit is None else examples.sample(limit, seed)


def examples_for(victim: Victim, data: Any, columns: tuple[str | None, str | None] = (None, None)) -> Examples:
    """Examples whose classes are the victim's."""
    examples = _read(victim, data, columns)
    if len(examples.names) != len(victim.labels):
        raise ValueError(
            f"{examples.source} has {len(examples.names)} classes ({', '.join(examples.names[:8])}), but {victim.name} "
            f"has {len(victim.labels)} ({', '.join(victim.labels[:8])}); use data the victim was made for"
        )
    return examples


def _read(victim: Victim, data: Any, columns: tuple[str | None, str | None]) -> Examples:
    """Examples in terms of the victim's classes; only where its names are mere numbers may the data bring its own."""

    def read(names: Sequence[str] | None) -> Examples:
        if isinstance(data, str | Path):
            return load_data(data, "test" if str(data) in DATASETS else None, *columns, names=names)
        return examples_from(data, *columns, names=names)

    if not all(label.isdigit() for label in victim.labels):
        return read(victim.labels)
    try:
        return read(victim.labels)
    except ValueError as error:
        trouble = error.with_traceback(None)  # which would hold all that was read, while it is read again
    if data == "-":
        raise trouble
    found = read(None)
    if any(name.isdigit() for name in found.names):
        raise trouble  # a number that is none of the victim's classes
    return found
