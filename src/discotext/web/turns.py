"""Turns at the model: one thread at a time, in the order of asking."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """A lock that is handed on in the order of asking.

    Between two calls of the model, an attack lets those go first who wait (`give_way`): so a keystroke in one tab is
    answered while an attack runs in another. A plain lock would often go back to the thread that has just released it.

    >>> turns = Turns()
    >>> with turns.take():
    ...     turns.give_way()
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._queue: deque[object] = deque()

    @contextmanager
    def take(self) -> Iterator[None]:
        """Wait for a turn, and hold it."""
        self._wait()
        try:
            yield
        finally:
            self._end()

    def give_way(self) -> None:
        """End the turn, and wait for the next one behind all who wait already."""
        self._end()
        self._wait()

    def _wait(self) -> None:
        ticket = object()
        with self._changed:
            self._queue.append(ticket)
            self._changed.wait_for(lambda: self._queue[0] is ticket)

    def _end(self) -> None:
        with self._changed:
            self._queue.popleft()
            self._changed.notify_all()
