"""The progress of an attack on many texts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from discotext.support.progress import Bar, TerminalBar, make_bar, print_line

if TYPE_CHECKING:
    from rich.console import Console

    from discotext.experiment.record import Record

LOG_INTERVAL = 60.0  # seconds between lines of progress where there is no terminal


class AttackProgress:
    """A bar that also shows how many attacks have succeeded so far, how fast, and on which workers.

    console: of a command; without a terminal, as in the log of a cluster, it gets one line a minute.
    bar: what is drawn instead of a bar on the console.
    """

    def __init__(self, console: Console | None, units: int, bar: Bar | None = None) -> None:
        self.console = console
        self.bar = bar or TerminalBar(console)
        self.tried = self.succeeded = 0
        self.done, self.units, self.inside, self.queries = 0, units, 0.0, 0
        self.workers: str | None = None
        self.printed = time.monotonic()
        self._restart_clock()

    def __enter__(self) -> AttackProgress:
        self.bar.update("attacking", 0, self.units)
        self.bar.start()
        self._restart_clock()
        return self

    def __exit__(self, *error: Any) -> None:
        self.bar.stop()

    def _restart_clock(self) -> None:
        self.began, self.texts = time.monotonic(), 0

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
            self._restart_clock()  # records of an earlier run were only read, which is fast
        self.workers = workers
        self._refresh()

    @property
    def completed(self) -> float:
        """Units done, with the part of the next one."""
        return min(self.done + self.inside, float(self.units)) if self.units else 0.0

    def _refresh(self) -> None:
        description = f"{self.succeeded} of {self.tried} attacks succeeded" if self.tried else "attacking"
        if self.texts:
            description += f", {self.texts / max(time.monotonic() - self.began, 1.0):.1f} texts/s"
        if self.queries:
            description += f", {self.queries:,} queries for the current texts"
        if self.workers:
            description += f" ({self.workers})"
        self.bar.update(description, self.completed, self.units)
        if self.console is None or self.console.is_terminal:
            return
        if time.monotonic() - self.printed >= LOG_INTERVAL:
            self.printed = time.monotonic()
            print_line(self.console, f"{100 * self.completed / max(self.units, 1):.0f} %: {description}")


def show_attack(wanted: bool, units: int) -> AttackProgress:
    """The progress of an attack that was called from Python; nothing is shown where nobody would see it."""
    return AttackProgress(None, units, make_bar(wanted))
