"""The progress of an attack on many texts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from discotext.support.progress import Progress

if TYPE_CHECKING:
    from rich.console import Console

    from discotext.runs.record import Record


class AttackProgress:
    """A bar that also says how many attacks have succeeded so far, how fast, and on which workers.

    console, wanted: see `Progress`.
    """

    def __init__(self, console: Console | None, units: int, wanted: bool = True) -> None:
        self.bar = Progress(console, wanted)
        self.done, self.units, self.inside = 0, units, 0.0
        self.tried = self.succeeded = self.texts = self.queries = 0
        self.workers: str | None = None
        self.began = time.monotonic()

    def __enter__(self) -> AttackProgress:
        self.bar.__enter__()
        self._refresh()
        return self

    def __exit__(self, *error: Any) -> None:
        self.bar.__exit__(*error)

    def update(self, done: int, units: int, records: Sequence[Record]) -> None:
        """Count the records of a unit. done, units: units done, and in all."""
        self.tried += sum(record.attacked for record in records)
        self.succeeded += sum(record.succeeded for record in records)
        self.texts += len(records)
        self.done, self.units, self.inside, self.queries = done, units, 0.0, 0
        self._refresh()

    def update_inside(self, done: int, total: int, queries: int = 0) -> None:
        """Show how many texts of a unit are finished, of how many, and what was asked, before its records are there."""
        self.queries = queries
        # The unit itself is done only when its records are; and a bar must not go back.
        share = min(done / total, 0.99) if total > 0 else 0.0
        self.inside = max(self.inside, share)
        self._refresh()

    def update_workers(self, workers: str) -> None:
        """Show which workers are running."""
        if self.workers is None:
            self.began, self.texts = time.monotonic(), 0  # records of an earlier run were only read, which is fast
        self.workers = workers
        self._refresh()

    def _refresh(self) -> None:
        description = f"{self.succeeded} of {self.tried} attacks succeeded" if self.tried else "attacking"
        if self.texts:
            description += f", {self.texts / max(time.monotonic() - self.began, 1.0):.1f} texts/s"
        if self.queries:
            description += f", {self.queries:,} queries for the current texts"
        if self.workers:
            description += f" ({self.workers})"
        self.bar.update(description, min(self.done + self.inside, self.units), self.units)
