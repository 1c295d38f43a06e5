"""The model of a run: a victim, where its gradients come from, and what was found out by asking it.

A victim without gradients gets gains for the search from a surrogate, which is learnt from its own answers or was kept
by a run, or from a transfer model, another victim that has gradients.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from discotext.attacks.schedule import Notify, Task
from discotext.attacks.settings import Settings
from discotext.core.arrays import Floats
from discotext.core.gain_model import LearningOracle
from discotext.core.objectives import Objective
from discotext.core.oracle import Oracle, RelaxedOracle
from discotext.search.solver import Solver
from discotext.text.space import Space
from discotext.victims.registry import load_victim
from discotext.victims.surrogate import LEARNT, Surrogate, borrow_gains, foresee_gains, make_lessons, read_surrogate
from discotext.victims.victim import Ask, Evaluation, Victim, measure_tolerance

FIRST = 2  # texts whose scores identify a victim


@dataclass(frozen=True, eq=False)
class Model:
    """A victim and all that is known of it.

    named: the arguments of `load_victim`, if the victim was named; a worker then loads it anew (`load`).
    surrogate: whether a victim without gradients may get gains from elsewhere. learnt: a surrogate that was learnt from
        the victim's scores. transfer: another victim instead, with gradients.
    lessons: the number of texts that a surrogate is learnt from, at most.
    first_answers: the numbers of the texts of the first chunk, and what the victim says of them.
    tolerance: the margin that a flipped label must have to be more than a rounding error.
    """

    victim: Victim
    named: tuple[str, bool, Mapping[str, Any] | None] | None = None
    surrogate: bool = True
    learnt: Surrogate | None = None
    transfer: Victim | None = None
    lessons: int = LEARNT
    first_answers: tuple[tuple[int, ...], Evaluation] | None = None
    tolerance: float | None = None

    @classmethod
    def of(cls, given: Any, asked: Settings) -> Model:
        """Load the victim, and the surrogate or transfer model unless that is to be learnt."""
        victim = load_victim(given, asked.trust, asked.service)
        named = (given, asked.trust, asked.service) if isinstance(given, str) else None
        source = asked.surrogate
        model = cls(victim, named, surrogate=source != "none")
        if isinstance(source, str) and source in ("auto", "none"):
            return model
        if victim.capabilities.gradients:
            warnings.warn(f"{victim.name} has gradients, so the surrogate {source} is not used", stacklevel=5)
            return model
        if isinstance(source, str | Path) and Path(source).suffix == ".npz":
            return replace(model, learnt=read_surrogate(Path(source), victim))
        transfer = load_victim(source, asked.trust)
        in_order = transfer.labels == victim.labels or set(transfer.labels) != set(victim.labels)
        if not transfer.capabilities.gradients or len(transfer.labels) != len(victim.labels) or not in_order:
            raise ValueError(
                f"{transfer.name} cannot provide gradients for {victim.name}: it needs gradients and the same classes "
                "in the same order; give another victim, auto or none"
            )
        return replace(model, transfer=transfer)

    def identify(self, first: Task, ask: Ask) -> Model:
        """The model with what the victim says of the texts of the first task, and the tolerance; once for all workers.

        A victim may also be settled by what it is asked first, as a function is whose single numbers may be
        probabilities or not: every process that uses it asks it this before anything else.
        """
        found = ask(first.texts)
        return replace(self, first_answers=(first.numbers, found), tolerance=measure_tolerance(ask, first.texts, found))

    @property
    def first_scores(self) -> list[list[float] | None]:
        """The scores of the first texts, None of one on which the victim fails.

        By them a run that is resumed knows another victim of the same name.
        """
        assert self.first_answers is not None, "identify the model first"
        found = self.first_answers[1]
        return [
            [float(f"{value:.3g}") for value in row] if error is None else None
            for row, error in zip(found.scores[:FIRST], found.errors, strict=False)
        ]

    @property
    def findings(self) -> dict[str, Any]:
        """What has been found out by asking, for workers that were started before."""
        return {"tolerance": self.tolerance, "learnt": self.learnt, "first_answers": self.first_answers}

    def gives_gains(self, solver: Solver) -> bool:
        """Whether a surrogate or a transfer model gives a solver the gradients that it needs."""
        return self.surrogate and not self.victim.capabilities.gradients and solver.needs is RelaxedOracle

    def learn(self, space: Space, seed: int, chunk: int, notify: Notify, ask: Ask) -> Surrogate:
        """Ask the victim about some texts, as they are and with words exchanged at random."""
        texts, groups = make_lessons(space, seed)
        scores, queries = np.full((len(texts), len(self.victim.labels)), np.nan), 0
        for begin in range(0, len(texts), chunk):
            notify(f"learning from {begin:,} of {len(texts):,} texts")
            found = ask(texts[begin : begin + chunk])
            scores[begin : begin + chunk] = found.scores
            queries += int(found.forwards.sum())
        good = np.flatnonzero(np.isfinite(scores).all(axis=1))
        learnt = Surrogate.learn([texts[number] for number in good.tolist()], scores[good], groups[good])
        return replace(learnt, queries=queries)

    def make_oracle(self, space: Space, objective: Objective, solver: Solver, scores: Floats) -> Oracle:
        """The victim's oracle, with gains from elsewhere where the solver needs gradients and the victim has none.

        scores: (B, C) what the victim says of the texts as they are.
        """
        oracle = self.victim.oracle(space, objective)
        if not self.gives_gains(solver):
            return oracle
        batch, everyone = space.batch, np.arange(len(space))
        before = objective.value(scores, everyone)
        if self.transfer is None:
            assert self.learnt is not None, "learn a surrogate first"
            prior, sizes = foresee_gains(self.learnt, space, objective, scores)
            return LearningOracle(oracle, batch, prior, sizes, before, self.learnt.labels_only)
        transfer = self.transfer.oracle(space, objective)
        assert isinstance(transfer, RelaxedOracle), "the transfer model was checked for gradients"
        prior, sizes = borrow_gains(transfer, batch, before)
        # What another model's gradients promise says little of how far the victim can be pushed.
        return LearningOracle(oracle, batch, prior, sizes, before, bool(np.isin(scores, (0, 1)).all()), slack=np.inf)

    def __getstate__(self) -> dict[str, Any]:
        """What a worker is sent: no victim that can be loaded by its name."""
        state = {one.name: vars(self)[one.name] for one in fields(self)}
        return state | ({} if self.named is None else {"victim": None})

    def load(self) -> Model:
        """The model with a separate victim, in a worker."""
        # What was sent as it is may be shared with others, and must not be written to.
        victim = copy.deepcopy(self.victim) if self.named is None else load_victim(*self.named)
        return replace(self, victim=victim)
