"""The model behind the page: looks and attacks, each in its thread, with one call of the model at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from discotext.attacks.observation import CancelledError, Step
from discotext.attacks.one_text import TextAttacker
from discotext.core.oracle import RelaxedOracle
from discotext.solvers import SOLVERS, make_solver
from discotext.support.plain_text import shorten
from discotext.web.messages import MOST_SOLVERS, Asked, write_look, write_outcome, write_step

SendEvent = Callable[[str, dict[str, Any]], None]  # gets a name and an object
AT_ONCE = 16  # requests that may wait for the model; more are refused
EVERY = 0.1  # seconds between two steps in which nothing but the number of queries changes
COMPARED = ("disco", "greedy", "beam", "left-to-right")  # what is compared unless another choice is made
WARM_UP = "They purchased a good film, and the story is great."
LONGEST = 400  # characters of a message
EXPECTED = (ValueError, TypeError, OSError, RuntimeError, ImportError, MemoryError)  # with a message for the user


class SharedModel:
    """A victim with candidates, for many threads. `closing` ends every attack at its next call of the model.

    Between two calls of the model, an attack lets others go first who wait: so a keystroke in one tab is answered
    while an attack runs in another. A lock alone would often go back to the thread that has just released it, so
    whoever wants it must be the next one first.
    """

    def __init__(self, attacker: TextAttacker) -> None:
        self.attacker = attacker
        self.closing = False
        self._lock, self._next = threading.Lock(), threading.Lock()
        self._places = threading.BoundedSemaphore(AT_ONCE)

    def _acquire(self) -> None:
        with self._next:
            self._lock.acquire()

    @contextmanager
    def _take_turn(self) -> Iterator[None]:
        if not self._places.acquire(blocking=False):
            raise RuntimeError(f"{AT_ONCE} requests wait for the model already; close other tabs, or try again")
        self._acquire()
        try:
            yield
        finally:
            self._lock.release()
            self._places.release()

    def warm_up(self) -> None:
        """Load what is loaded on first use, so that the first answer is as quick as the others.

        The victim of a service is asked nothing: a query may be paid for.
        """
        self.attacker.find(WARM_UP)
        if self.attacker.victim.capabilities.gradients:
            self.attacker.attack(WARM_UP, words=2)

    def describe(self) -> dict[str, Any]:
        """What the page says of the victim, and lets its user choose."""
        victim, needed = self.attacker.victim, {name: make_solver(name).needs for name in SOLVERS}
        solvers = [name for name, needs in needed.items() if needs is RelaxedOracle or victim.supports(needs)]
        return {
            "victim": victim.name,
            "solvers": ["auto", *solvers],
            "compared": [name for name in COMPARED if name in solvers],
            "most_solvers": MOST_SOLVERS,
            "bounds": victim.explain_bounds(),
        }

    def look(self, asked: Asked) -> dict[str, Any]:
        """Look at a text."""
        with self._take_turn():
            if self.closing:
                raise CancelledError("the server is ending")
            return write_look(self.attacker.look(asked.text, words=asked.words))

    def attack(self, asked: Asked, send: SendEvent, cancelled: threading.Event) -> None:
        """Attack a text by one solver after the other, and send what happens.

        begin: a solver begins. step: the best choice so far. outcome: how it ended. refusal: why it cannot attack this
        text, where others can.
        """
        with self._take_turn():
            for solver in asked.solvers:
                send("begin", {"solver": solver})
                try:
                    self._attack(asked, solver, send, cancelled)
                except ValueError as error:
                    # Exact search, for one, refuses a text with too many choices.
                    if len(asked.solvers) == 1:
                        raise
                    send("refusal", {"solver": solver, "message": describe_error(error)})

    def _attack(self, asked: Asked, solver: str, send: SendEvent, cancelled: threading.Event) -> None:
        began = time.perf_counter()
        sent = -1.0

        def watch(step: Step) -> None:
            nonlocal sent
            # What is better is shown at once; that nothing is better yet, now and then.
            if not step.final and (step.improved or step.seconds - sent >= EVERY):
                sent = step.seconds
                send("step", write_step(step, solver))

        def is_cancelled() -> bool:
            self._lock.release()
            self._acquire()
            return self.closing or cancelled.is_set()

        wanted: dict[str, Any] = {name: vars(asked)[name] for name in ("words", "target", "seed", "passes")}
        outcome = self.attacker.attack(asked.text, solver, **wanted, watch=watch, cancelled=is_cancelled)
        send("outcome", write_outcome(outcome, solver, time.perf_counter() - began))


def describe_error(error: BaseException) -> str:
    """An error in one sentence, for the page."""
    message = shorten(error, LONGEST)
    if isinstance(error, EXPECTED):
        return message or type(error).__name__
    named = type(error).__name__ + (message and f": {message}")
    return (
        f"{named}; this is a fault of discotext, see the terminal" if is_fault(error) else f"the victim ended: {named}"
    )


def is_fault(error: BaseException) -> bool:
    """Whether an error is our own: those of the victim are reported as expected ones, or end the thread."""
    return isinstance(error, Exception) and not isinstance(error, EXPECTED)
