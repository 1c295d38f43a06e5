"""Progress bars, on standard error."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from discotext.cli.output import make_console, print_message

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from discotext.experiment.record import Record
    from discotext.victims.neural.training import TrainingState

LOG_INTERVAL = 60.0  # seconds between lines of progress where there is no terminal
DELAY = 2.0  # seconds before a delayed bar is shown


def make_progress(console: Console | None = None) -> Progress:
    """Make a bar with a description, a percentage and the time left; it disappears when it is done."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %"),
        TimeRemainingColumn(),
        console=console or make_console(stderr=True),
        transient=True,
    )


class AttackProgress:
    """A bar that also shows how many attacks have succeeded so far, how fast, and on which workers.

    Without a terminal, as in the log of a cluster, it prints one line a minute.
    """

    def __init__(self, console: Console, units: int) -> None:
        self.console = console
        self.progress = make_progress(console)
        self.task = self.progress.add_task("attacking", total=units)
        self.tried = self.succeeded = 0
        self.workers: str | None = None
        self.printed = time.monotonic()

    def __enter__(self) -> AttackProgress:
        self.progress.__enter__()
        self._restart_clock()
        return self

    def __exit__(self, *error: Any) -> None:
        self.progress.__exit__(*error)

    def _restart_clock(self) -> None:
        self.began, self.texts = time.monotonic(), 0

    def update(self, done: int, units: int, records: Sequence[Record]) -> None:
        """Count the records of a unit. done, units: units done, and in all."""
        self.tried += sum(record.attacked for record in records)
        self.succeeded += sum(record.succeeded for record in records)
        self.texts += len(records)
        self.progress.update(self.task, completed=done, total=units)
        self._refresh()

    def update_workers(self, workers: str) -> None:
        """Show which workers are running."""
        if self.workers is None:
            self._restart_clock()  # records of an earlier run were only read, which is fast
        self.workers = workers
        self._refresh()

    def _refresh(self) -> None:
        description = f"{self.succeeded} of {self.tried} attacks succeeded"
        if self.texts:
            description += f", {self.texts / max(time.monotonic() - self.began, 1.0):.1f} texts/s"
        if self.workers:
            description += f" ({self.workers})"
        self.progress.update(self.task, description=description)
        if not self.console.is_terminal and time.monotonic() - self.printed >= LOG_INTERVAL:
            self.printed = time.monotonic()
            print_message(self.console, f"{self.progress.tasks[0].percentage:.0f} %: {description}")


class DelayedProgress:
    """Bars that are shown only if the work takes more than two seconds."""

    def __init__(self) -> None:
        self.progress = make_progress()
        self.began = time.perf_counter()
        self.tasks: dict[str, TaskID] = {}

    def __enter__(self) -> DelayedProgress:
        return self

    def __exit__(self, *error: Any) -> None:
        self.progress.stop()

    def update(self, activity: str, done: int, total: int) -> None:
        """Show how much of an activity is done; each has a bar of its own."""
        if activity not in self.tasks:
            self.tasks[activity] = self.progress.add_task(activity, total=total)
        self.progress.update(self.tasks[activity], completed=done)
        if time.perf_counter() - self.began > DELAY:
            self.progress.start()  # which does nothing once it has started


class StageProgress:
    """A bar for one stage of a long piece of work after another; without a terminal, a line for each stage."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.progress = make_progress(console)
        self.task = self.progress.add_task("", total=1.0)
        self.stage = ""

    def __enter__(self) -> StageProgress:
        self.progress.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.progress.__exit__(*error)

    def update(self, activity: str, done: float) -> None:
        """Show how much of an activity is done. What stands before a colon names the stage."""
        stage = activity.partition(": ")[0] if activity[:1].isdigit() else activity
        if stage != self.stage:
            self.stage = stage
            self.progress.reset(self.task, total=1.0)
            if not self.console.is_terminal:
                print_message(self.console, stage)
        self.progress.update(self.task, completed=done, description=activity)


class TrainingProgress:
    """A bar that also shows the epoch, the loss and the best held-out accuracy of training.

    It appears with the first update and disappears when training is done, so that other bars can follow.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = console
        self.progress: Progress | None = None

    def __enter__(self) -> TrainingProgress:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stop()

    def update(self, state: TrainingState) -> None:
        """Show how far training has come."""
        if state.stage == "done":
            self._stop()
            return
        if self.progress is None:
            self.progress = make_progress(self.console)
            self.progress.add_task("", total=None)
            self.progress.start()
        description = {"reading": f"reading {state.texts:,} texts", "testing": "testing"}.get(state.stage)
        if description is None:
            best = f", held-out accuracy {100 * state.best:.1f} %" if state.history else ""
            description = f"epoch {state.epoch}/{state.epochs}, loss {state.loss:.3f}{best}"
        task = self.progress.tasks[0].id
        self.progress.update(task, total=state.steps or None, completed=state.step, description=description)

    def _stop(self) -> None:
        if self.progress is not None:
            self.progress.stop()
            self.progress = None
