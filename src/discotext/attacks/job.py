"""A job: everything that decides what a run finds. It is what is asked, of which model, about which texts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from discotext.attacks.model import Model
from discotext.attacks.schedule import WINDOW, Notify, Schedule, Task, Unit, ignore
from discotext.attacks.settings import Settings
from discotext.core.objectives import Objective, Targeted, Untargeted
from discotext.core.oracle import name_ability
from discotext.data.examples import Examples
from discotext.data.labels import find_class
from discotext.runs.certificate import find_largest
from discotext.runs.folder import CHECKSUM, SURROGATE, has_begun, read_settings
from discotext.runs.record import Budget
from discotext.search.solver import Solver, check_solver
from discotext.solvers import SOLVERS, make_solver
from discotext.text.candidates import Candidates
from discotext.text.space import Space
from discotext.version import __version__
from discotext.victims.examples import label_by_predictions, load_examples
from discotext.victims.surrogate import VARIANTS, read_surrogate
from discotext.victims.victim import Ask, Victim, evaluate

Solvers = Sequence[str | Solver] | Mapping[str, str | Solver]
LONG = 1000  # words from which on greedy search would not end in a reasonable time
AGAIN = 8  # queries that identify a victim beside those of the first chunk, at most
LEARNING = 0.2  # share of all queries that learning may take
LEAST = 3  # queries of a text: as it is, one change, and the check


@dataclass(frozen=True, eq=False)
class Job:
    """What is asked, the model, the texts, and the solvers by the names under which they appear in records.

    target: the number of the class that texts are to be flipped to, or None. max_queries: of a text, see `share_out`.
    labelled: whether the texts have their labels; otherwise the victim predicts them first, see `identify`.
    """

    asked: Settings
    model: Model
    examples: Examples
    solvers: dict[str, Solver]
    target: int | None = None
    max_queries: int | None = None
    labelled: bool = True

    @classmethod
    def of(cls, victim: Any, data: Any, solvers: Solvers, asked: Settings) -> Job:
        """Load the victim and the data, and describe the work."""
        model = Model.of(victim, asked)
        target = None if asked.target is None else find_class(asked.target, model.victim.labels)
        examples = load_examples(
            model.victim, data, asked.columns, asked.limit, asked.seed, asked.total_queries, label=False
        )
        named = make_solvers(model.victim, solvers, asked.surrogate != "none", examples.texts)
        job = cls(asked, model, examples, named, target, asked.max_queries, not examples.asked)
        return job if asked.total_queries is None else share_out(job, asked.total_queries)

    def __post_init__(self) -> None:
        if not self.solvers:
            raise ValueError("there is nothing to do; give at least one solver")
        for name, solver in self.solvers.items():
            if not self.victim.supports(solver.needs) and not self.model.gives_gains(solver):
                needed = name_ability(solver.needs).partition(" (")[0]
                raise ValueError(
                    f"the solver {name} needs {needed}, which {self.victim.name} does not have; choose one that only "
                    "needs scores, such as greedy, beam, local-search or exact, or allow a surrogate (surrogate auto)"
                )

    @property
    def victim(self) -> Victim:
        return self.model.victim

    @cached_property
    def budgets(self) -> tuple[Budget, ...]:
        """The budgets of the run; those of proofs are all answered by one run under the largest."""
        return self.asked.budgets if self.asked.passes is None else find_largest(self.asked.budgets)

    @property
    def chunk(self) -> int:
        return self.asked.chunk or self.victim.capabilities.chunk

    @cached_property
    def schedule(self) -> Schedule:
        lengths = tuple(map(len, self.examples.texts))
        return Schedule(
            lengths, self.chunk, len(self.budgets), len(self.solvers), int(self.asked.seed), self.asked.part
        )

    @cached_property
    def finder(self) -> Candidates:
        """Candidates of words that the victim knows."""
        return self.asked.finder.restrict_to(self.victim.capabilities.vocabulary)

    def task(self, unit: Unit) -> Task:
        """A unit with its texts."""
        return self._take(unit, self.schedule.chunks[unit.chunk])

    def _take(self, unit: Unit, numbers: tuple[int, ...]) -> Task:
        texts = tuple(self.examples.texts[number] for number in numbers)
        return Task(unit, numbers, texts, tuple(self.examples.labels[list(numbers)].tolist()))

    def objective(self, labels: Sequence[int]) -> Objective:
        """What the attack maximises for texts with these labels."""
        return Untargeted(labels) if self.target is None else Targeted([self.target] * len(labels))

    def identify(self, ask: Ask | None = None) -> Job:
        """The job with what the victim says of the first texts, its tolerance, and labels where the texts have none.

        ask: who is asked [default: the victim in this process].
        """
        if self.model.tolerance is not None:
            return self
        ask = ask or partial(evaluate, self.victim)
        # The first chunk of the whole work, so that all shards of it agree.
        numbers = self.schedule.chunks[0] if len(self.examples) else ()
        model = self.model.identify(self._take(Unit(0, 0, 0, 0), numbers), ask)
        examples = self.examples if self.labelled else label_by_predictions(ask, self.examples)
        return replace(self, model=model, examples=examples, labelled=True)

    @property
    def learns(self) -> bool:
        """Whether a surrogate is to be learnt."""
        return self.model.transfer is None and any(map(self.model.gives_gains, self.solvers.values()))

    def learn(self, out: Path | None = None, notify: Notify = ignore, ask: Ask | None = None) -> Job:
        """The job with its surrogate: the one that is kept in the folder of the run, or a new one."""
        if not self.learns:
            return self
        learnt = self.model.learnt
        # Before there are settings, the file may be of another run, which was killed.
        if learnt is None and out is not None and has_begun(out):
            if (out / SURROGATE).exists():
                learnt = read_surrogate(out / SURROGATE, self.victim)
            elif "surrogate" not in read_settings(out):
                # Better said before queries are paid for.
                raise ValueError(f"{out} holds a run without a surrogate; choose another folder, or --surrogate none")
        if learnt is None:
            budget, seed = self.budgets[-1], int(self.asked.seed)
            some = self.examples.sample(self.model.lessons, seed).texts
            space = Space.of(some, self.finder, share=budget.share, words=budget.words)
            learnt = self.model.learn(space, seed, self.chunk, notify, ask or partial(evaluate, self.victim))
        notify("")
        return replace(self, model=replace(self.model, learnt=learnt))

    def __getstate__(self) -> dict[str, Any]:
        """What a worker is sent: no texts, which come with tasks."""
        return {one.name: vars(self)[one.name] for one in fields(self)} | {"examples": self.examples.take([])}

    def load(self) -> Job:
        """The job with a separate victim, in a worker."""
        return replace(self, model=self.model.load())

    @property
    def settings(self) -> dict[str, Any]:
        """What the records depend on, as JSON: a run is resumed only with the same. Identify the job first."""
        asked, capabilities = self.asked, self.victim.capabilities
        called = self.examples.own or self.examples.names
        found: dict[str, Any] = {"version": __version__, "victim": self.victim.name, "labels": list(self.victim.labels)}
        if called != self.victim.labels:  # what the data calls the classes
            found["classes"] = list(called)
        found |= {
            "data": self.examples.source,
            "n": len(self.examples),
            "solvers": {name: repr(solver) for name, solver in self.solvers.items()},
            "budgets": [str(budget) for budget in self.budgets],
            "seed": int(asked.seed),
            "target": self.target,
            "candidates": asked.finder.settings,
            "chunk": self.chunk,
            "window": WINDOW,
            "texts": self._texts_hash,
            "first_scores": self.model.first_scores,
            "to_the_end": asked.to_the_end,
            "shard": "/".join(map(str, asked.part)),
            "checksum": CHECKSUM,
        }
        if asked.passes is not None:
            found["certify"] = {"passes": int(asked.passes), "budgets": [str(budget) for budget in asked.budgets]}
        transfer, learnt = self.model.transfer, self.model.learnt
        if transfer is not None and any(map(self.model.gives_gains, self.solvers.values())):
            found["surrogate"] = {"victim": transfer.name}
        elif learnt is not None:
            found["surrogate"] = {"queries": learnt.queries, "correlation": learnt.correlation}
        if capabilities.protocol:
            found["service"] = dict(capabilities.protocol)
        if self.max_queries is not None:
            found["max_queries"] = int(self.max_queries)
        return found

    @cached_property
    def _texts_hash(self) -> str:
        """A hash of the texts and labels: the file of that name may have changed."""
        content = [self.examples.texts, self.examples.labels.tolist(), self.examples.names]
        digest = hashlib.sha256()
        for part in json.JSONEncoder().iterencode(content):  # and never all of it as one string
            digest.update(part.encode())
        return digest.hexdigest()[:16]


def share_out(job: Job, total: int) -> Job:
    """The job with a limit for each text and for learning, so that all of it takes at most `total` queries."""
    attacks = len(job.examples) * len(job.budgets) * len(job.solvers)
    lessons = min(job.model.lessons, max(int(total * LEARNING) // (1 + VARIANTS), 1))
    taught = min(lessons, len(job.examples)) * (1 + VARIANTS) if job.learns and job.model.learnt is None else 0
    # The first chunk identifies the victim. Its records count that, but they are of the first shard.
    once = AGAIN if job.asked.part[0] == 1 else AGAIN + min(job.chunk, len(job.examples))
    each = (total - once - job.examples.asked - taught) // max(attacks, 1)
    if each < LEAST:
        raise ValueError(
            f"{total:,} queries in all are too few for {attacks:,} attacks, which need {LEAST} each; allow more, or "
            "attack fewer texts (limit)"
        )
    limit = each if job.max_queries is None else min(each, job.max_queries)
    return replace(job, max_queries=limit, model=replace(job.model, lessons=lessons))


def make_solvers(
    victim: Victim, solvers: Solvers, surrogate: bool = True, texts: Sequence[str] = ()
) -> dict[str, Solver]:
    """Solvers by name. surrogate: whether a victim without gradients may get gains from a surrogate."""
    if isinstance(solvers, str):
        raise ValueError(f"solvers is {solvers!r}; give a list, such as [{solvers!r}]")
    pairs = solvers.items() if isinstance(solvers, Mapping) else [(None, given) for given in solvers]
    found: dict[str, Solver] = {}
    for name, given in pairs:
        if isinstance(given, str):
            usual = given.replace("_", "-")
            if usual == "auto":
                usual = choose_solver(victim.capabilities.gradients or surrogate, texts)
            solver = make_solver(usual)
        else:
            check_solver(given)
            # One with its default settings has a name.
            solver, usual = given, next((name for name, make in SOLVERS.items() if make() == given), repr(given))
        if (called := name or usual) in found:
            raise ValueError(f"the solver {called!r} is given twice; give each once, or a mapping of names to solvers")
        found[called] = solver
    return found


def choose_solver(gradients: bool, texts: Sequence[str]) -> str:
    """What `auto` means: the relaxation where there are gradients, else greedy, and for long texts one that ends.

    Greedy asks about every swap for every word that it changes, so its queries grow with the square of the length;
    those of `ranked-greedy` grow with the length.

    >>> choose_solver(True, ["a text"]), choose_solver(False, ["a text"]), choose_solver(False, ["a text " * 600])
    ('disco', 'greedy', 'ranked-greedy')
    """
    if gradients:
        return "disco"
    # Most texts need not be split to be known as short: every word has at least a letter and a gap.
    return "ranked-greedy" if any(len(text) >= 2 * LONG and len(text.split()) > LONG for text in texts) else "greedy"
