"""Progress: one bar for commands, for Python in a terminal, and for notebooks.

A command that has a console shows its bar at once and, where there is no terminal, writes lines to its log. Functions
called from Python are guests in somebody else's program: their bar appears only in a terminal or a notebook, only if
the work takes more than a second, and disappears when it is done.

rich is imported where it is used, so that help pages do without it.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

DELAY = 1.0  # seconds before a bar is shown where no console is given
INTERVAL = 0.2  # seconds between two states of a bar in a notebook
LOG_INTERVAL = 60.0  # seconds between lines of progress where there is no terminal


class Progress:
    """How far some work has come.

    console: of a command. Without a terminal, as in the log of a cluster, it gets a line for each stage, and one a
        minute.
    wanted: False draws nothing.
    """

    def __init__(self, console: Console | None = None, wanted: bool = True) -> None:
        self.console, self.stage = console, ""
        self.delay = DELAY if console is None else 0.0
        self._bar = _make_bar(console) if wanted else None
        self._timer = threading.Timer(self.delay, self._show)
        self._timer.daemon = True
        self._lock, self._ended = threading.Lock(), False
        self._began = self._printed = time.monotonic()

    def __enter__(self) -> Progress:
        if self.delay == 0:
            self._show()
        elif self._bar is not None and not isinstance(self._bar, NotebookBar):
            # The first news may come after minutes, and the bar should be there by then. A notebook takes no output
            # of another thread.
            self._timer.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._timer.cancel()
        with self._lock:
            self._ended = True
            if self._bar is not None:
                self._bar.stop()

    def _show(self) -> None:
        with self._lock:
            if self._bar is not None and not self._ended:
                self._bar.start()

    def update(self, description: str, done: float, total: float = 1.0) -> None:
        """Show how much of something is done. A total of 0 is unknown."""
        if self._bar is not None:
            self._bar.update(0, description=description, completed=done, total=total or None)
            if time.monotonic() - self._began >= self.delay:
                self._show()
        elif time.monotonic() - self._printed >= LOG_INTERVAL:
            self._log(f"{100 * done / (total or 1):.0f} %: {description}")

    def update_stage(self, activity: str, done: float) -> None:
        """Show how much of an activity is done; with each stage, the time that is left is estimated afresh.

        The stage is the activity or, where it begins with a number, what stands before the colon: "1/6 plain: fitting".
        """
        stage = activity.partition(": ")[0] if activity[:1].isdigit() else activity
        if stage != self.stage:
            self.stage = stage
            if self._bar is not None:
                self._bar.reset(0)
            self._log(stage)
        self.update(activity, done)

    def _log(self, line: str) -> None:
        if self._bar is None and self.console is not None:
            self._printed = time.monotonic()
            self.console.print(line, highlight=False, markup=False, soft_wrap=True)


def _make_bar(console: Console | None) -> Any:
    """A bar with one task, or None where nobody would see it."""
    if console is None and is_notebook():
        return NotebookBar()
    if not (console.is_interactive if console is not None else is_terminal()):
        return None
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %"),
        TimeRemainingColumn(),
        console=console or Console(stderr=True),
        transient=True,
    )
    bar.add_task("", total=None)
    return bar


def is_terminal() -> bool:
    """Whether standard error is a terminal that can move its cursor."""
    # Not rich's opinion, which a variable such as FORCE_COLOR changes in the logs of CI.
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")


def is_notebook() -> bool:
    """Whether this is the kernel of a notebook: Jupyter, Colab, Databricks."""
    ipython = sys.modules.get("IPython")  # without it there is none
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and (
        type(shell).__name__ == "ZMQInteractiveShell"
        or type(shell).__module__.startswith("google.colab")
        or "DATABRICKS_RUNTIME_VERSION" in os.environ
    )


class NotebookBar:
    """A bar in the output of a notebook's cell, with the methods of rich's `Progress`, which would need ipywidgets.

    >>> bar = NotebookBar()
    >>> bar.update(0, "1 < 2", 1, 4)
    >>> bar, bar._repr_html_()
    (25 % 1 < 2, '<div><progress value="0.250" max="1"></progress> 25 % 1 &lt; 2</div>')
    """

    def __init__(self) -> None:
        self.text, self.share = "", 0.0
        self._handle: Any = None
        self._drawn = 0.0

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        bar = f'<progress value="{self.share:.3f}" max="1"></progress> {escape(self.text)}' if self.text else ""
        return f"<div>{bar}</div>"

    def start(self) -> None:
        if self._handle is None and self.text and self.share < 1:
            from IPython.display import display

            self._handle = display(self, display_id=True)

    def reset(self, task: int) -> None:
        """There is no estimate of the time left to begin afresh."""

    def update(self, task: int, description: str, completed: float, total: float | None) -> None:
        self.share = completed / total if total else 0.0
        self.text = f"{100 * self.share:.0f} % {description}"
        if self._handle is not None and time.monotonic() - self._drawn >= INTERVAL:
            self._handle.update(self)
            self._drawn = time.monotonic()

    def stop(self) -> None:
        if self._handle is not None:
            self.text = ""
            self._handle.update(self)
