"""Following an attack on one text: a victim in front of the real one that sees every choice that is scored.

`WatchedVictim` hands everything on to the victim inside. Its oracle is the victim's with `Observed` around it, so that
any solver can be watched, and cancelled between two calls of the model, without knowing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from discotext.core.arrays import Floats
from discotext.core.objectives import Objective
from discotext.core.oracle import Oracle, PricedOracle, Reply, Request, UnavailableError, Wrapper, innermost
from discotext.core.problem import Batch, count_changes
from discotext.core.wrappers import Chunked
from discotext.runs.record import Change, Record
from discotext.text.space import Space
from discotext.victims.victim import Victim, WrappedVictim


class CancelledError(UnavailableError):
    """The attack was cancelled. No wrapper takes this for a failure of the victim, so it ends the search at once."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """The best choice of words so far, after a call of the model.

    queries: texts that the model was asked about so far. seconds: since the attack began. margin: what the attack
    raises; above 0 the label is flipped. improved: whether this call found a better choice. final: whether this is the
    outcome, which was asked once more as a string.
    """

    queries: int
    seconds: float
    changes: tuple[Change, ...]
    text: str
    margin: float | None
    flipped: bool
    improved: bool
    final: bool = False


class Observer:
    """Keeps the best choice of one text that was scored within the budget, and reports it.

    watch: called with a step after each call of the model. cancelled: asked before each call.
    """

    def __init__(self, watch: Callable[[Step], None], cancelled: Callable[[], bool]) -> None:
        self._watch, self._cancelled = watch, cancelled
        self._began = time.perf_counter()
        self._goal = np.inf
        self._best: tuple[bool, int, float, int] | None = None
        self._changes: tuple[Change, ...] = ()
        self._text = ""
        self.queries = 0

    def begin(self, goal: float, queries: int) -> None:
        """From now on queries are those of the attack; there were so many before. goal: the margin of a flip."""
        self._goal, self.queries = goal, queries

    def check(self) -> None:
        """Raise CancelledError if the attack was cancelled."""
        if self._cancelled():
            raise CancelledError("the attack was cancelled")

    def see(self, space: Space, batch: Batch, request: Request, reply: Reply) -> None:
        """Look at the answer to a call, and report the best choice so far."""
        improved = False
        if request.kind == "score" and request.choices is not None:
            able = np.isfinite(reply.scores) & ~batch.take(request.problems).infeasible(request.choices)
            counts = count_changes(request.choices)[able].tolist()
            # As `solve` ranks them: flipped first, of those fewer changes; then the margin, then fewer changes.
            ranks = [
                (score >= self._goal, -count if score >= self._goal else 0, score, -count)
                for score, count in zip(reply.scores[able].tolist(), counts, strict=True)
            ]
            if ranks and (self._best is None or max(ranks) > self._best):
                improved, self._best = True, max(ranks)
                choice = request.choices[able][ranks.index(self._best)]
                self._changes = tuple(Change(**change) for change in space.changes(0, choice))
                self._text = space.text(0, choice)
        if self._best is not None:
            self._report(self._best[2], self._best[0], improved)

    def conclude(self, record: Record) -> None:
        """Report the outcome: the text that was found, asked as a string."""
        self.queries, self._changes, self._text = record.forwards, record.changes, record.adversarial_text
        self._report(record.adversarial_score, record.succeeded, improved=False, final=True)

    def _report(self, margin: float | None, flipped: bool, improved: bool, final: bool = False) -> None:
        step = Step(
            queries=self.queries,
            seconds=time.perf_counter() - self._began,
            changes=self._changes,
            text=self._text,
            margin=margin,
            flipped=flipped,
            improved=improved,
            final=final,
        )
        self._watch(step)


class Observed(Wrapper):
    """An oracle of one text whose answers an observer sees."""

    def __init__(self, oracle: Oracle, space: Space, observer: Observer) -> None:
        self.oracle, self.batch, self.space, self.observer = oracle, space.batch, space, observer

    def ask(self, request: Request) -> Reply:
        self.observer.check()
        inner = innermost(self.oracle)
        forwards = inner.cost(request)[0].sum() if isinstance(inner, PricedOracle) else len(request)
        reply = self.pass_on(request)
        self.observer.queries += 0 if request.kind == "reach" else int(forwards)  # a bound asks about no text
        self.observer.see(self.space, self.batch, request, reply)
        return reply


class WatchedVictim(WrappedVictim):
    """A victim whose calls an observer sees.

    patience: seconds that a call should not exceed by much, see `Chunked`; None leaves calls as they are.
    answers: the class scores of each text that was asked as a string.
    """

    def __init__(self, victim: Victim, observer: Observer, patience: float | None = None) -> None:
        super().__init__(victim)
        self.observer, self.patience = observer, patience
        self.answers: dict[str, Floats] = {}

    def scores(self, texts: Sequence[str]) -> Floats:
        self.observer.check()
        forwards = int(np.count_nonzero(~self.victim.remembers(texts)))
        found = self.victim.scores(texts)
        self.observer.queries += forwards
        self.answers.update(zip(texts, np.asarray(found, dtype=np.float64), strict=False))
        return found

    def oracle(self, space: Space, objective: Objective) -> Oracle:
        seen = Observed(self.victim.oracle(space, objective), space, self.observer)
        return seen if self.patience is None else Chunked(seen, space.batch, patience=self.patience)
