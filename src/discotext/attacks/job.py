"""A job: everything that decides what a run finds, and how it is divided into units of work.

Texts are divided into chunks that depend on data, order and settings only. A unit is one chunk under one budget and one
solver; its seed comes from the job's seed and the unit alone. So a run gives the same records whether it was
interrupted, spread over machines, or run in one go. A unit that was not finished is done again as a whole.

A worker gets a unit as a task, with its texts: it holds the texts of one unit, however long the run.
"""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from discotext.core.arrays import Floats
from discotext.core.learning_oracle import LearningOracle
from discotext.core.objectives import Objective, Targeted, Untargeted
from discotext.core.oracle import Oracle, RelaxedOracle, name_ability
from discotext.data.examples import Examples
from discotext.runs.folder import CHECKSUM
from discotext.runs.record import Budget
from discotext.search.solver import Solver
from discotext.text.candidates import Candidates
from discotext.text.space import Space
from discotext.version import __version__
from discotext.victims.examples import label_by_predictions
from discotext.victims.registry import load_victim
from discotext.victims.surrogate import LEARNT, Surrogate, borrow_gains, foresee_gains, make_lessons
from discotext.victims.victim import Ask, Evaluation, Victim, evaluate, measure_tolerance

CHUNK = 64  # texts of a unit: enough to fill calls, and little to lose when one is interrupted
FIRST = 2  # texts whose scores identify a victim
WINDOW = 16  # chunks whose texts are sorted by length together, so that those of a chunk are of like length


@dataclass(frozen=True)
class Unit:
    """One chunk, one budget, one solver, each by number. number: its place in the whole work, shards or not."""

    number: int
    chunk: int
    budget: int
    solver: int


@dataclass(frozen=True, eq=False)
class Task:
    """Texts of a unit for a worker to attack: their numbers, the texts, and their classes."""

    unit: Unit
    numbers: tuple[int, ...]
    texts: tuple[str, ...]
    labels: tuple[int, ...]

    def take(self, places: Sequence[int]) -> Task:
        """The same for some of the texts."""
        numbers, texts = (tuple(self.numbers[at] for at in places), tuple(self.texts[at] for at in places))
        return Task(self.unit, numbers, texts, tuple(self.labels[at] for at in places))


@dataclass(frozen=True, eq=False)
class Question:
    """Texts for a worker to score, by their numbers in the question."""

    numbers: tuple[int, ...]
    texts: tuple[str, ...]

    def take(self, places: Sequence[int]) -> Question:
        """The same for some of the texts."""
        return Question(tuple(self.numbers[at] for at in places), tuple(self.texts[at] for at in places))


@dataclass(frozen=True)
class Reply:
    """What a worker says of one text of a question: its scores, or why there are none.

    id: the text's number. forwards: calls of the model. classes_only: what the victim now declares.
    """

    id: int
    scores: tuple[float, ...] = ()
    error: str | None = None
    forwards: int = 1
    classes_only: bool = False


@dataclass(frozen=True, eq=False)
class Job:
    """A victim, examples, candidates, budgets and solvers, with one random seed.

    solvers: by the names under which they appear in records. target: a class number for targeted attacks.
    only: part i of n of the chunks, for work that is spread over machines.
    named: the arguments of `load_victim`, if the victim was named; a worker then loads it anew (`load`).
    to_the_end: whether a search goes on after the label has flipped, to make the score as high as it can.
    unlabelled: whether the labels are still to be predicted by the victim, see `identify`.
    first_scores: what the victim says of the first texts, None of one on which it fails, see `identify`.
    passes: what may be spent to prove that a text cannot be flipped; None attacks only. asked: the budgets of which
        certificates are wanted, all within those of the run.
    tolerance: the margin that a flipped label must have to be more than a rounding error, see `calibrate`.
    surrogate: whether a stand-in gives slopes for a victim without gradients. learnt: one that was learnt from the
        victim's scores. lender: another victim instead, with gradients.
    max_queries: forward passes that a text may take. lessons: texts that a stand-in is learnt from, at most.
    """

    victim: Victim
    examples: Examples
    candidates: Candidates
    solvers: dict[str, Solver]
    budgets: tuple[Budget, ...]
    seed: int = 0
    target: int | None = None
    chunk: int = CHUNK
    only: tuple[int, int] = (1, 1)
    to_the_end: bool = False
    named: tuple[str, bool, Mapping[str, Any] | None] | None = None
    unlabelled: bool = False
    first_scores: list[list[float] | None] | None = None
    tolerance: float | None = None
    passes: int | None = None
    asked: tuple[Budget, ...] = ()
    surrogate: bool = False
    learnt: Surrogate | None = None
    lender: Victim | None = None
    max_queries: int | None = None
    lessons: int = LEARNT

    def __post_init__(self) -> None:
        if not self.solvers or not self.budgets:
            raise ValueError("there is nothing to do; give at least one solver and one budget")
        for name, solver in self.solvers.items():
            if not self.victim.supports(solver.needs) and not self._lends_slopes(solver):
                needed = name_ability(solver.needs).partition(" (")[0]
                raise ValueError(
                    f"the solver {name} needs {needed}, which {self.victim.name} does not have; choose one that only "
                    "needs scores, such as greedy, beam, local-search or exact, or allow a stand-in (surrogate auto)"
                )
        if self.target is not None and not 0 <= self.target < len(self.victim.labels):
            raise ValueError(f"the target is class {self.target}; choose 0 to {len(self.victim.labels) - 1}")

    def ask(self, texts: Sequence[str]) -> Evaluation:
        """Score texts in this process. Where there are workers, they are asked instead (`execution.executors`)."""
        return evaluate(self.victim, texts)

    def identify(self, ask: Ask | None = None) -> Job:
        """The job with what the victim says of the first texts, and with labels where the texts have none.

        So a run is not continued with another victim of the same name. A victim may also be settled by what it is asked
        first, as a function is whose single numbers may be probabilities or not: every process that uses it asks it
        this before anything else. ask: who is asked [default: the victim in this process].
        """
        if self.first_scores is not None:
            return self
        ask = ask or self.ask
        found = ask(self.examples.texts[:FIRST])
        rows = [
            [float(f"{value:.3g}") for value in row] if error is None else None
            for row, error in zip(found.scores, found.errors, strict=True)
        ]
        examples = label_by_predictions(ask, self.examples) if self.unlabelled else self.examples
        return replace(self, first_scores=rows, examples=examples, unlabelled=False)

    def calibrate(self, ask: Ask | None = None) -> Job:
        """The job with the tolerance measured; to be done once, so that it is the same for every worker."""
        if self.tolerance is not None:
            return self
        return replace(self, tolerance=measure_tolerance(ask or self.ask, self.examples.texts))

    @property
    def findings(self) -> dict[str, Any]:
        """What has been found out by asking, for workers that were started before."""
        return {name: getattr(self, name) for name in ("first_scores", "tolerance", "learnt")}

    def _lends_slopes(self, solver: Solver) -> bool:
        """Whether a stand-in gives a solver the slopes that it needs."""
        return self.surrogate and not self.victim.capabilities.gradients and solver.needs is RelaxedOracle

    @property
    def learns(self) -> bool:
        """Whether a stand-in is to be learnt."""
        return self.lender is None and any(map(self._lends_slopes, self.solvers.values()))

    def learn(self, progress: Callable[[int, int], None], ask: Ask | None = None) -> Surrogate:
        """Ask the victim about some texts, as they are and with words exchanged at random.

        progress: called with the number of texts that have been asked about, and of all.
        """
        budget = self.budgets[-1]
        some = self.examples.sample(self.lessons, self.seed).texts
        texts, groups = make_lessons(Space.of(some, self.finder, share=budget.share, words=budget.words), self.seed)
        scores, queries = np.full((len(texts), len(self.victim.labels)), np.nan), 0
        for begin in range(0, len(texts), self.chunk):
            progress(begin, len(texts))
            found = (ask or self.ask)(texts[begin : begin + self.chunk])
            scores[begin : begin + self.chunk] = found.scores
            queries += int(found.forwards.sum())
        good = np.flatnonzero(np.isfinite(scores).all(axis=1))
        learnt = Surrogate.learn([texts[number] for number in good.tolist()], scores[good], groups[good])
        return replace(learnt, queries=queries)

    def make_oracle(self, space: Space, objective: Objective, solver: Solver, scores: Floats) -> Oracle:
        """The victim's oracle, with the slopes of a stand-in where the solver needs them and the victim has none.

        scores: (B, C) what the victim says of the texts as they are.
        """
        oracle = self.victim.oracle(space, objective)
        if not self._lends_slopes(solver):
            return oracle
        batch, everyone = space.batch, np.arange(len(space))
        before = objective.value(scores, everyone)
        if self.lender is None:
            assert self.learnt is not None, "learn a stand-in first"
            prior, sizes = foresee_gains(self.learnt, space, objective, scores)
            return LearningOracle(oracle, batch, prior, sizes, before, self.learnt.labels_only)
        lender = self.lender.oracle(space, objective)
        assert isinstance(lender, RelaxedOracle), "the lender was checked for gradients"
        prior, sizes = borrow_gains(lender, batch, before)
        # What a stranger's slopes promise says little of how far the victim can be pushed.
        return LearningOracle(oracle, batch, prior, sizes, before, bool(np.isin(scores, (0, 1)).all()), slack=np.inf)

    def __getstate__(self) -> dict[str, Any]:
        """What a worker is sent: no texts, which come with tasks, and no victim that can be loaded by its name."""
        state = {one.name: getattr(self, one.name) for one in fields(self)}
        return state | {"examples": self.examples.take([]), "victim": None if self.named else self.victim}

    def load(self) -> Job:
        """The job with a victim of its own, in a worker."""
        # What was sent as it is may be shared with others, and must not be written to.
        victim = copy.deepcopy(self.victim) if self.named is None else load_victim(*self.named)
        return replace(self, victim=victim)

    @cached_property
    def finder(self) -> Candidates:
        """Candidates of words that the victim knows."""
        return self.candidates.restrict_to(self.victim.capabilities.vocabulary)

    @cached_property
    def chunks(self) -> list[tuple[int, ...]]:
        """Which examples make each chunk: within a window of many chunks, the longest texts make the first, and so on.

        Texts of like length waste less of a call, and with long ones first no worker waits for them in the end.
        """
        lengths = list(map(len, self.examples.texts))
        found = []
        for start in range(0, len(lengths), self.chunk * WINDOW):
            window = range(start, min(start + self.chunk * WINDOW, len(lengths)))
            order = sorted(window, key=lambda number: -lengths[number])
            found += [tuple(sorted(order[at : at + self.chunk])) for at in range(0, len(order), self.chunk)]
        return found

    def task(self, unit: Unit) -> Task:
        """A unit with its texts."""
        numbers = self.chunks[unit.chunk]
        texts = tuple(self.examples.texts[number] for number in numbers)
        return Task(unit, numbers, texts, tuple(self.examples.labels[list(numbers)].tolist()))

    def shard(self, part: int, parts: int) -> Job:
        """Part i of n: every n-th chunk from the i-th, so that long and short texts fall to all alike."""
        return replace(self, only=(part, parts))

    @cached_property
    def units(self) -> list[Unit]:
        """The whole work, in its order: chunk after chunk, so that all budgets and solvers advance together."""
        part, parts = self.only
        every = itertools.product(range(len(self.chunks)), range(len(self.budgets)), range(len(self.solvers)))
        units = (Unit(number, *which) for number, which in enumerate(every))
        return [unit for unit in units if unit.chunk % parts == part - 1]

    def seed_of(self, unit: Unit) -> int:
        """A seed for a unit: the same for every solver, so that solvers that draw alike draw the same."""
        state = np.random.SeedSequence([self.seed, unit.chunk, unit.budget]).generate_state(1)
        return int(state[0])

    def objective(self, labels: Sequence[int]) -> Objective:
        """What the attack maximises for texts with these labels."""
        return Untargeted(labels) if self.target is None else Targeted([self.target] * len(labels))

    @cached_property
    def _texts_hash(self) -> str:
        """A hash of the texts and labels: the file of that name may have changed."""
        content = [self.examples.texts, self.examples.labels.tolist(), self.examples.names]
        digest = hashlib.sha256()
        for part in json.JSONEncoder().iterencode(content):  # and never all of it as one string
            digest.update(part.encode())
        return digest.hexdigest()[:16]

    @property
    def _classes(self) -> dict[str, list[str]]:
        """What the data calls the classes, where the victim calls them something else."""
        own = self.examples.own or self.examples.names
        return {} if own == self.victim.labels else {"classes": list(own)}

    @property
    def settings(self) -> dict[str, Any]:
        """What the records depend on, as JSON: a run is resumed only with the same. Identify the job first."""
        return {
            "version": __version__,
            "victim": self.victim.name,
            "labels": list(self.victim.labels),
            **self._classes,
            "data": self.examples.source,
            "n": len(self.examples),
            "solvers": {name: repr(solver) for name, solver in self.solvers.items()},
            "budgets": [str(budget) for budget in self.budgets],
            "seed": self.seed,
            "target": self.target,
            "candidates": self.candidates.settings,
            "chunk": self.chunk,
            "window": WINDOW,
            "texts": self._texts_hash,
            "first_scores": self.first_scores,
            "to_the_end": self.to_the_end,
            "shard": "/".join(map(str, self.only)),
            "checksum": CHECKSUM,
            **self._proof,
            **self._surrogate,
            **({"service": dict(self.victim.capabilities.protocol)} if self.victim.capabilities.protocol else {}),
            **({} if self.max_queries is None else {"max_queries": self.max_queries}),
        }

    @property
    def _surrogate(self) -> dict[str, Any]:
        """What lends the victim its slopes."""
        if self.lender is not None and any(map(self._lends_slopes, self.solvers.values())):
            return {"surrogate": {"victim": self.lender.name}}
        if self.learnt is None:
            return {}
        return {"surrogate": {"queries": self.learnt.queries, "correlation": self.learnt.correlation}}

    @property
    def _proof(self) -> dict[str, Any]:
        """How much may be spent on proofs, and of which budgets certificates are wanted."""
        if self.passes is None:
            return {}
        return {"certify": {"passes": self.passes, "budgets": [str(budget) for budget in self.asked]}}
