"""Progress bars: one implementation for commands, for Python in a terminal, and for notebooks.

Commands always have a bar and, where there is no terminal, lines in a log. Functions called from Python are guests in
somebody else's program: their bar appears only in a terminal or a notebook, only if the work takes more than a second,
and disappears when it is done.

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
    from rich.progress import Progress

DELAY = 1.0  # seconds before a function called from Python shows a bar
INTERVAL = 0.2  # seconds between two states of a bar in a notebook


def make_progress(console: Console | None = None) -> Progress:
    """Make a bar with a description, a percentage and the time left; it disappears when it is done."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %"),
        TimeRemainingColumn(),
        console=console or Console(stderr=True),
        transient=True,
    )


def print_line(console: Console, line: str) -> None:
    """Print a line as it is: without colours for numbers, and not wrapped."""
    console.print(line, highlight=False, markup=False, soft_wrap=True)


def is_notebook() -> bool:
    """Whether this is the kernel of a notebook: Jupyter, Colab, Databricks."""
    ipython = sys.modules.get("IPython")  # without it there is none
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None:
        return False
    kind = type(shell)
    return (
        kind.__name__ == "ZMQInteractiveShell"
        or kind.__module__.startswith("google.colab")
        or "DATABRICKS_RUNTIME_VERSION" in os.environ
    )


def is_watched() -> bool:
    """Whether somebody looks on who can see a bar: in a notebook, or at a terminal that can move its cursor."""
    if is_notebook():
        return True
    # Not rich's opinion, which a variable such as FORCE_COLOR changes in the logs of CI.
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")


class Bar:
    """A bar that is not drawn; those that derive from it are, each in its own place."""

    def __enter__(self) -> Bar:
        self.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.stop()

    def start(self) -> None:
        """Show it, unless it is shown already."""

    def stop(self) -> None:
        """Let it disappear."""

    def restart(self) -> None:
        """Begin something new: the time that is left is estimated afresh."""

    def update(self, description: str, done: float, total: float) -> None:
        """Say how far the work has come."""


class TerminalBar(Bar):
    """A bar in a terminal. delay: seconds before it is shown."""

    def __init__(self, console: Console | None = None, delay: float = 0.0) -> None:
        self.progress = make_progress(console)
        self.task = self.progress.add_task("", total=None)
        self.delay = delay
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()
        self._ended = False

    def start(self) -> None:
        if not self.delay:
            self._show()
        elif self._timer is None:
            # The first news may come after minutes, and the bar should be there by then.
            self._timer = threading.Timer(self.delay, self._show)
            self._timer.daemon = True
            self._timer.start()

    def _show(self) -> None:
        with self._lock:
            if not self._ended:
                self.progress.start()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._ended = True
            self.progress.stop()

    def restart(self) -> None:
        self.progress.reset(self.task)

    def update(self, description: str, done: float, total: float) -> None:
        self.progress.update(self.task, description=description, completed=done, total=total)


class NotebookBar(Bar):
    """A bar in the output of a notebook's cell, shown with the first news after a delay.

    It is drawn by the notebook itself: rich would need ipywidgets.
    """

    def __init__(self, delay: float = 0.0) -> None:
        self.delay = delay
        self._began = self._drawn = time.monotonic()
        self._handle: Any = None

    def start(self) -> None:
        self._began = time.monotonic()

    def update(self, description: str, done: float, total: float) -> None:
        from IPython.display import display

        now = time.monotonic()
        if now - self._began < self.delay or (self._handle is None and done >= total):
            return
        if self._handle is None:
            self._handle = display(NotebookView(description, done, total), display_id=True)
        elif now - self._drawn >= INTERVAL:
            self._handle.update(NotebookView(description, done, total))
        else:
            return
        self._drawn = now

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.update(NotebookView("", 0, 0))
            self._handle = None


class NotebookView:
    """One state of a bar, for a notebook; nothing if the description is empty and the total is 0."""

    def __init__(self, description: str, done: float, total: float) -> None:
        self.description, self.share = description, done / total if total else 0.0
        self.gone = not description and not total

    def __repr__(self) -> str:
        return "" if self.gone else f"{100 * self.share:.0f} % {self.description}"

    def _repr_html_(self) -> str:
        """The bar as HTML.

        >>> NotebookView("1 < 2", 1, 4)._repr_html_()
        '<div><progress value="0.250" max="1"></progress> 25 % 1 &lt; 2</div>'
        """
        if self.gone:
            return "<div></div>"
        return f'<div><progress value="{self.share:.3f}" max="1"></progress> {escape(repr(self))}</div>'


def make_bar(wanted: bool = True, delay: float = DELAY) -> Bar:
    """The bar for a function that was called from Python; one that is not drawn where nobody would see it."""
    if not wanted or not is_watched():
        return Bar()
    return NotebookBar(delay) if is_notebook() else TerminalBar(delay=delay)


class StageProgress:
    """A bar for one stage of a long piece of work after another.

    console: of a command; without a terminal, it gets a line for each stage. bar: what is drawn instead of its bar.
    """

    def __init__(self, console: Console | None, bar: Bar | None = None) -> None:
        self.console = console
        self.bar = bar or TerminalBar(console)
        self.stage = ""

    def __enter__(self) -> StageProgress:
        self.bar.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.bar.stop()

    def update(self, activity: str, done: float) -> None:
        """Show how much of an activity is done. What stands before a colon names the stage."""
        stage = activity.partition(": ")[0] if activity[:1].isdigit() else activity
        if stage != self.stage:
            self.stage = stage
            self.bar.restart()
            if self.console is not None and not self.console.is_terminal:
                print_line(self.console, stage)
        self.bar.update(activity, done, 1.0)
