"""A limit on requests per second that all threads of a process share."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any


class RateLimit:
    """Lets through so many requests per second, evenly spaced; None for no limit.

    Threads that share it wait for each other's requests, and so do copies of what holds it. Another process, to which
    it is sent, has a limit of its own.

    >>> now, slept = 0.0, []
    >>> limit = RateLimit(2, clock=lambda: now, sleep=slept.append)
    >>> limit.wait(), limit.wait(), limit.wait()
    (None, None, None)
    >>> slept
    [0.5, 1.0]
    """

    def __init__(self, per_second: float | None, clock: Callable[[], float], sleep: Callable[[float], object]) -> None:
        self.per_second, self._clock, self._sleep = per_second, clock, sleep
        self._next = -math.inf  # when the next request may be sent
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Wait until a request may be sent."""
        if self.per_second is None:
            return
        with self._lock:
            now = self._clock()
            mine = max(now, self._next)
            self._next = mine + 1 / self.per_second
        if mine > now:
            self._sleep(mine - now)

    def __deepcopy__(self, memo: dict[int, Any]) -> RateLimit:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # A lock cannot be sent, and another process has a clock of its own.
        return RateLimit, (self.per_second, self._clock, self._sleep)
