"""One task: texts in, one record for each out.

    predict → leave out what is misclassified → space → oracle → solve → write the text → predict again

The last prediction is of the real string, and it alone decides whether an attack succeeded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from discotext.attacks.job import Job
from discotext.attacks.proof import attack_and_prove, confirm
from discotext.attacks.schedule import Task, ignore
from discotext.core.arrays import Ints
from discotext.core.objectives import Objective
from discotext.core.oracle import Oracle
from discotext.core.problem import Solution
from discotext.core.wrappers import Reporting
from discotext.runs.certificate import explain_open
from discotext.runs.certificate import judge as judge_record
from discotext.runs.record import SUCCESS, Budget, Change, Record
from discotext.search.loop import Stop, solve
from discotext.search.solver import Solver
from discotext.text.space import Space, count_allowed_changes
from discotext.text.words import Words, split
from discotext.victims.victim import evaluate

Inside = Callable[[int, int, int], None]


class TaskRunner:
    """Attacks the texts of one task after another.

    It keeps the search space and the scores of the last texts: the next task is often the same chunk under another
    budget or solver.
    inside: called while a task is done, with the texts that are finished, all of its texts, and the queries so far.
    """

    def __init__(self, job: Job, inside: Inside = ignore) -> None:
        tolerance, first = job.model.tolerance, job.model.first_answers
        assert tolerance is not None, "identify the job first"
        assert first is not None
        self.job, self.tolerance, self.inside = job, tolerance, inside
        # What identified the victim is not asked again, and its records count it wherever they are made.
        self._numbers, self._known = first
        self._space: Space | None = None

    def run(self, task: Task) -> list[Record]:
        """Attack the texts of a task; a record each, in their order."""
        job = self.job
        self._look(task)
        known, spaces = self._known, self._restrict(job.budgets[task.unit.budget])
        records = []
        for place, error in enumerate(known.errors):
            record = replace(
                start_record(job, task, place, spaces.texts[place]),
                tolerance=self.tolerance,
                forwards=int(known.forwards[place]),
                seconds=known.seconds,
                victim_seconds=known.seconds,
                error=error,
                changeable=spaces.count_changeable(place),
                candidates=sum(len(words) - 1 for words in spaces.options[place]),
                refused=spaces.refused[place],
            )
            if not error:
                guess = int(known.scores[place].argmax())
                record = replace(record, predicted=guess, adversarial_predicted=guess, status="misclassified")
            records.append(record)
        # Texts that the victim is right about, and that are not of the wanted class already.
        attacked = [place for place, one in enumerate(records) if one.predicted == one.label != job.target]
        if attacked:
            found = self._attack(task, spaces.take(attacked), attacked, [records[place] for place in attacked])
            for place, record in zip(attacked, found, strict=True):
                records[place] = record
        return [conclude(job, record) for record in records]

    def _attack(self, task: Task, space: Space, places: list[int], records: list[Record]) -> list[Record]:
        """Attack, and prove what can be proved. places: of the texts in the task. records: as far as they are known."""
        job, known, seed = self.job, self._known, records[0].seed
        solver = list(job.solvers.values())[task.unit.solver]
        labels = np.array([record.label for record in records])
        objective = job.objective(labels.tolist())
        total = len(task.texts)
        done, queries = total - len(places), 0

        def add(more: int) -> None:
            nonlocal queries
            queries += more
            self.inside(done, total, queries)

        def finish(number: int, of: int) -> None:
            nonlocal done
            done = total - of + number
            self.inside(done, total, queries)

        def make_oracle(some: Space, which: Ints, searching: Solver) -> Oracle:
            aim, scores = job.objective(labels[which].tolist()), known.scores[places][which]
            return Reporting(job.model.make_oracle(some, aim, searching, scores), add)

        if job.asked.passes is None or job.asked.to_the_end:
            # Twice the tolerance, so that what the search finds is still beyond it when the string is asked.
            goal = None if job.asked.to_the_end else 2 * self.tolerance
            # The first answer about a text, and the last about the one that was found, belong to the limit.
            first = int(known.forwards[places].max())
            stop = Stop(forwards=None if job.max_queries is None else max(job.max_queries - first - 1, 1))
            oracle = make_oracle(space, np.arange(len(space)), solver)
            solutions = solve(space.batch, oracle, solver, goal=goal, seed=seed, stop=stop, watch=finish)
        else:
            solutions = attack_and_prove(
                space, make_oracle, solver, tolerance=self.tolerance, seed=seed, passes=job.asked.passes
            )
        found = write_down(job, space, solutions, objective, records)
        return found if job.asked.passes is None else confirm(space, job.victim, objective, found)

    def _look(self, task: Task) -> None:
        """Score the texts of a task and look up their candidates, unless they are those of the last task."""
        if self._numbers != task.numbers:
            self._numbers, self._known = task.numbers, evaluate(self.job.victim, task.texts)
            self._space = None
        self._space = self._space or Space.of(task.texts, self.job.finder)

    def _restrict(self, budget: Budget) -> Space:
        """The search space of the last texts under a budget."""
        assert self._space is not None, "look at the texts first"
        space = self._space.with_budgets(share=budget.share, words=budget.words)
        return space if budget.accept is None else space.restrict(float(budget.accept))


def start_record(job: Job, task: Task, place: int, text: Words) -> Record:
    """The record of a text of which nothing is known yet."""
    budget = job.budgets[task.unit.budget]
    return Record(
        id=task.numbers[place],
        text=task.texts[place],
        label=task.labels[place],
        predicted=None,
        adversarial_text=task.texts[place],
        adversarial_predicted=None,
        score=None,
        adversarial_score=None,
        changes=(),
        words=len(text),
        budget=count_allowed_changes(text, budget.share, budget.words),
        status="failed",
        solver=list(job.solvers)[task.unit.solver],
        seed=job.schedule.seed_of(task.unit),
        space=None,
        forwards=0,
        backwards=0,
        seconds=0.0,
        victim_seconds=0.0,
        unit=task.unit.number,
        share=budget.share,
        allowed=budget.words,
        accept=budget.accept,
    )


def fail_task(job: Job, task: Task, reason: str) -> list[Record]:
    """Records of texts that could not be attacked. Nothing is called here that may have been what failed."""
    started = [start_record(job, task, place, split(text)) for place, text in enumerate(task.texts)]
    return [conclude(job, replace(record, error=reason)) for record in started]


def conclude(job: Job, record: Record) -> Record:
    """The record with its verdict, where proofs were asked for."""
    if job.asked.passes is None:
        return record
    verdict = judge_record(record)
    reason = explain_open(record, job.asked.passes) if verdict == "open" else None
    return replace(record, verdict=verdict, reason=reason)


def write_down(
    job: Job, space: Space, solutions: Sequence[Solution], objective: Objective, records: Sequence[Record]
) -> list[Record]:
    """Write the texts that were found, ask about them as strings, and complete the records."""
    texts = [space.text(number, found.choice) for number, found in enumerate(solutions)]
    evaluation = evaluate(job.victim, texts)
    asking = evaluation.seconds
    answered = np.array([error is None for error in evaluation.errors])
    margins = np.full(len(texts), np.nan)
    if answered.any():
        margins[answered] = objective.value(evaluation.scores[answered], np.flatnonzero(answered))
    vocabulary, finished = job.victim.capabilities.vocabulary, []
    for number, (found, record) in enumerate(zip(solutions, records, strict=True)):
        status = judge(job, space, number, found, margins[number], record.tolerance)
        changes = tuple(Change(**change) for change in space.changes(number, found.choice))
        finished.append(
            replace(
                record,
                adversarial_text=texts[number],
                adversarial_predicted=int(evaluation.scores[number].argmax()) if answered[number] else None,
                score=finite(found.original_score),
                adversarial_score=finite(found.score),
                changes=changes,
                status=status,
                tied=status not in SUCCESS and bool(abs(margins[number]) <= record.tolerance),
                unknown_swaps=sum(change.new not in vocabulary for change in changes) if vocabulary is not None else 0,
                space=space.take([number]).hash,
                forwards=record.forwards + found.forwards + int(evaluation.forwards[number]),
                backwards=found.backwards,
                seconds=record.seconds + found.seconds + asking,
                victim_seconds=record.victim_seconds + found.oracle_seconds + asking,
                error=evaluation.errors[number] or found.error,
                bounds=found.bounds,
                flipped_after=None if found.reached_after is None else record.forwards + found.reached_after,
                radius=find_radius(found, status, record.budget),
            )
        )
    return finished


def judge(job: Job, space: Space, number: int, found: Solution, margin: float, tolerance: float) -> str:
    """The status of an attack. margin: of the text that was found, asked as a string; NaN where the victim failed.

    The string alone decides. A margin within the tolerance is a tie, and a tie is for the defender.
    """
    status = found.status.name.lower()
    if np.isnan(margin):
        return "failed"
    if margin > tolerance:
        # Unchanged, it is the text that the victim was right about: it does not answer the same when asked again.
        if not found.changes:
            return "unstable"
        return status if found.reached else "reached"
    if found.error:
        return "failed"
    if not space.can_change(number):
        return status if status == "unstable" else "unchangeable"
    if found.reached:
        # The search saw a success that the string does not confirm.
        return "tied" if margin >= -tolerance else "unstable"
    if status == "impossible" and found.score > tolerance / 2:
        return "improved"  # nearly a tie, of which nothing is proved
    # Where the highest score of all does not flip the label, nothing does.
    return "impossible" if job.asked.to_the_end and status == "optimal" else status


def find_radius(found: Solution, status: str, budget: int) -> int | None:
    """Up to how many changed words it is proved that the label stays; None if the victim cannot be relied on."""
    if status in ("failed", "unstable"):
        return None
    if status == "unchangeable":
        return budget
    if (status in SUCCESS and not found.reached) or (status == "improved" and found.proved):
        return 0  # so near to a tie that rounding errors decide, and the proof left no room for them
    below = min(found.proved_below, found.changes) if found.reached else found.proved_below
    return min(max(below - 1, 0), budget)


def finite(value: float) -> float | None:
    """A number that JSON can hold."""
    return float(value) if np.isfinite(value) else None
