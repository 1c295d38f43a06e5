"""A victim and its data from what a user names, fitted to each other."""

from __future__ import annotations

from typing import Any

from discotext.data.examples import Examples
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
    # Names that are mere numbers say nothing about the data's.
    names = None if all(label.isdigit() for label in model.labels) else model.labels
    examples = load_data(data, "test" if data in DATASETS else None, *columns, names=names)
    if len(examples.names) != len(model.labels):
        raise ValueError(
            f"{data} has {len(examples.names)} classes ({', '.join(examples.names[:8])}), but {model.name} has "
            f"{len(model.labels)} ({', '.join(model.labels[:8])}); use data the victim was made for"
        )
    return model, examples if limit is None else examples.sample(limit, seed)
