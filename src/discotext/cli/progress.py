"""Progress bars, on standard error."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from discotext.experiment.progress import AttackProgress as AttackProgress
from discotext.support.progress import StageProgress as StageProgress
from discotext.support.progress import make_progress as make_progress

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from discotext.victims.neural.training import TrainingState

DELAY = 2.0  # seconds before a delayed bar is shown


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
