"""The model behind the page: looks and attacks, each in a thread of its own, with one call of the model at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from discotext.core.oracle import RelaxedOracle
from discotext.experiment.observation import CancelledError, Step
from discotext.experiment.one_text import TextAttacker
from discotext.solvers import SOLVERS, make_solver
from discotext.version import __version__
from discotext.web.errors import describe_error
from discotext.web.messages import (
    MOST_CHARACTERS,
    MOST_SOLVERS,
    MOST_WORDS,
    AttackRequest,
    LookRequest,
    write_look,
    write_outcome,
    write_step,
)
from discotext.web.turns import Turns

Send = Callable[[str, dict[str, Any]], None]
EVERY = 0.1  # seconds between two steps in which nothing but the number of queries changes
COMPARED = ("disco", "greedy", "beam", "left-to-right")  # what is compared unless another choice is made
WARM_UP = "They purchased a good film, and the story is great."


class SharedModel:
    """A victim with candidates, for many threads. `closing` ends every attack at its next call of the model."""

    def __init__(self, attacker: TextAttacker) -> None:
        self.attacker = attacker
        self.closing = False
        self._turns = Turns()

    def warm_up(self) -> None:
        """Load what is loaded on first use, so that the first answer is as quick as the others.

        The victim of a service is asked nothing: a query may be paid for.
        """
        victim = self.attacker.victim
        self.attacker.find(WARM_UP)
        if victim.capabilities.gradients:
            self.attacker.attack(WARM_UP, words=2)

    def describe(self) -> dict[str, Any]:
        """What the page says of the victim, and lets its user choose."""
        victim = self.attacker.victim
        solvers = [
            name for name in SOLVERS if (needs := make_solver(name).needs) is RelaxedOracle or victim.supports(needs)
        ]
        return {
            "victim": victim.name,
            "gradients": victim.capabilities.gradients,
            "solvers": ["auto", *solvers],
            "compared": [name for name in COMPARED if name in solvers],
            "most_solvers": MOST_SOLVERS,
            "most_words": MOST_WORDS,
            "most_characters": MOST_CHARACTERS,
            "bounds": victim.explain_bounds(),
            "version": __version__,
        }

    def look(self, asked: LookRequest, cancelled: threading.Event) -> dict[str, Any]:
        """Look at a text; CancelledError if nobody waits for the answer any more."""
        with self._turns.take():
            if self.closing or cancelled.is_set():
                raise CancelledError("nobody waits for this answer")
            return write_look(self.attacker.look(asked.text, words=asked.words))

    def attack(self, asked: AttackRequest, send: Send, cancelled: threading.Event) -> None:
        """Attack a text by one solver after the other, and send what happens.

        begin: a solver begins. step: the best choice so far. outcome: how it ended. refusal: why it cannot attack this
        text, where others can.
        """
        with self._turns.take():
            for solver in asked.solvers:
                send("begin", {"solver": solver})
                try:
                    self._attack(asked, solver, send, cancelled)
                except ValueError as error:
                    # Exact search, for one, refuses a text with too many choices.
                    if len(asked.solvers) == 1:
                        raise
                    send("refusal", {"solver": solver, "message": describe_error(error)})

    def _attack(self, asked: AttackRequest, solver: str, send: Send, cancelled: threading.Event) -> None:
        began = time.perf_counter()
        sent = [-1.0]

        def watch(step: Step) -> None:
            # What is better is shown at once; that nothing is better yet, now and then.
            if not step.final and (step.improved or step.seconds - sent[0] >= EVERY):
                sent[0] = step.seconds
                send("step", write_step(step, solver))

        def is_cancelled() -> bool:
            self._turns.give_way()
            return self.closing or cancelled.is_set()

        outcome = self.attacker.attack(
            asked.text,
            solver,
            words=asked.words,
            target=asked.target,
            seed=asked.seed,
            passes=asked.passes,
            watch=watch,
            cancelled=is_cancelled,
        )
        send("outcome", write_outcome(outcome, solver, time.perf_counter() - began))
