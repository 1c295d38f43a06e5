"""One task: texts in, one record for each out.

    predict → leave out what is misclassified → space → oracle → solve → write the text → predict again

The last prediction is of the real string, and it alone decides whether an attack succeeded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from discotext.attacks.job import Job
from discotext.attacks.proof import attack_and_prove, reread
from discotext.attacks.schedule import Task
from discotext.core.objectives import Objective
from discotext.core.oracle import Oracle
from discotext.core.problem import Solution
from discotext.core.wrappers import Reporting
from discotext.runs.certificate import explain_open
from discotext.runs.certificate import judge as judge_record
from discotext.runs.record import SUCCESS, Change, Record
from discotext.search.loop import Stop, solve
from discotext.text.space import Space, count_allowed_changes
from discotext.text.words import Words, split
from discotext.victims.victim import Victim, evaluate

Inside = Callable[[int, int, int], None]


class TaskRunner:
    """Attacks the texts of one task after another.

    It keeps the search space of the last texts: the next task is often the same chunk under another budget or solver.
    inside: called while a task is done, with the texts that are finished, all of its texts, and the queries so far.
    """

    def __init__(self, job: Job, inside: Inside | None = None) -> None:
        tolerance = job.model.tolerance
        assert tolerance is not None, "identify the job first"
        self.job, self.tolerance, self.inside = job, tolerance, inside
        self._numbers: tuple[int, ...] | None = None
        self._space: Space | None = None

    def run(self, task: Task) -> list[Record]:
        """Attack the texts of a task; a record each, in their order."""
        job = self.job
        began = time.perf_counter()
        evaluation = evaluate(job.victim, task.texts)
        seconds = (time.perf_counter() - began) / max(len(task.texts), 1)
        spaces = self.space(task)
        records = []
        for place, error in enumerate(evaluation.errors):
            record = replace(
                start_record(job, task, place, spaces.texts[place]),
                tolerance=self.tolerance,
                forwards=int(evaluation.forwards[place]),
                seconds=seconds,
                victim_seconds=seconds,
                error=error,
                changeable=spaces.count_changeable(place),
                candidates=sum(len(words) - 1 for words in spaces.options[place]),
                refused=spaces.refused[place],
            )
            if not error:
                guess = int(evaluation.scores[place].argmax())
                record = replace(record, predicted=guess, adversarial_predicted=guess, status="misclassified")
            records.append(record)
        attacked = [place for place, record in enumerate(records) if is_attackable(job, record)]
        if attacked:
            space = spaces.take(attacked)
            objective = job.objective([task.labels[place] for place in attacked])
            # Twice the tolerance, so that what the search finds is still beyond it when the string is asked.
            goal = None if job.asked.to_the_end else 2 * self.tolerance
            solver = list(job.solvers.values())[task.unit.solver]
            # The first answer about a text, and the last about the one that was found, belong to the limit.
            first = int(evaluation.forwards[attacked].max())
            stop = Stop(forwards=None if job.max_queries is None else max(job.max_queries - first - 1, 1))
            known = evaluation.scores[attacked]
            report = Report(self.inside, len(task.texts), len(task.texts) - len(attacked))
            if job.asked.passes is None or goal is None:
                oracle = report.wrap(job.model.make_oracle(space, objective, solver, known))
                solutions = solve(
                    space.batch,
                    oracle,
                    solver,
                    goal=goal,
                    seed=job.schedule.seed_of(task.unit),
                    stop=stop,
                    watch=report.finish,
                )
            else:
                labels = np.array([task.labels[place] for place in attacked])
                solutions = attack_and_prove(
                    space,
                    lambda some, which, searching: report.wrap(
                        job.model.make_oracle(some, job.objective(labels[which].tolist()), searching, known[which])
                    ),
                    solver,
                    tolerance=self.tolerance,
                    seed=job.schedule.seed_of(task.unit),
                    passes=job.asked.passes,
                )
            finished = finish(job, space, solutions, objective, [records[place] for place in attacked])
            if job.asked.passes is not None:
                finished = confirm(job, space, objective, finished)
            for place, record in zip(attacked, finished, strict=True):
                records[place] = record
        return [conclude(job, record) for record in records]

    def space(self, task: Task) -> Space:
        """The search space of a task's texts, under its budget."""
        budget = self.job.budgets[task.unit.budget]
        if self._space is None or self._numbers != task.numbers:
            self._numbers = task.numbers
            self._space = Space.of(task.texts, self.job.finder, share=budget.share, words=budget.words)
        space = self._space.with_budgets(share=budget.share, words=budget.words)
        return space if budget.accept is None else space.restrict(float(budget.accept))


class Report:
    """How far a task is: the texts that are finished, of how many, and the queries so far."""

    def __init__(self, inside: Inside | None, total: int, skipped: int) -> None:
        self.inside, self.total, self.skipped = inside, total, skipped
        self.done, self.queries = skipped, 0

    def wrap(self, oracle: Oracle) -> Oracle:
        """The oracle, reporting each call."""
        return oracle if self.inside is None else Reporting(oracle, self.add)

    def add(self, queries: int) -> None:
        self.queries += queries
        self._send()

    def finish(self, done: int, of: int) -> None:
        """So many of the attacked texts are finished."""
        self.done = self.skipped + done
        self._send()

    def _send(self) -> None:
        if self.inside is not None:
            self.inside(self.done, self.total, self.queries)


def is_attackable(job: Job, record: Record) -> bool:
    """Whether the victim is right about a text, and not of the wanted class already."""
    return record.status != "failed" and record.predicted == record.label and record.label != job.target


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
    failed = [
        replace(start_record(job, task, place, split(text)), error=reason) for place, text in enumerate(task.texts)
    ]
    return [conclude(job, record) for record in failed]


def conclude(job: Job, record: Record) -> Record:
    """The record with its verdict, where proofs were asked for."""
    if job.asked.passes is None:
        return record
    verdict = judge_record(record)
    return replace(
        record, verdict=verdict, reason=explain_open(record, job.asked.passes) if verdict == "open" else None
    )


def finish(
    job: Job, space: Space, solutions: Sequence[Solution], objective: Objective, records: Sequence[Record]
) -> list[Record]:
    """Write the texts that were found, ask about them as strings, and complete the records."""
    texts = [space.text(number, found.choice) for number, found in enumerate(solutions)]
    began = time.perf_counter()
    evaluation = evaluate(job.victim, texts)
    asking = (time.perf_counter() - began) / max(len(texts), 1)
    answered = np.array([error is None for error in evaluation.errors])
    margins = np.full(len(texts), np.nan)
    if answered.any():
        margins[answered] = objective.value(evaluation.scores[answered], np.flatnonzero(answered))
    finished = []
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
                unknown_swaps=count_unknown(job.victim, changes),
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


def confirm(job: Job, space: Space, objective: Objective, records: Sequence[Record]) -> list[Record]:
    """The records without the proofs that some strings of their texts contradict."""
    began = time.perf_counter()
    radii = [record.radius or 0 for record in records]
    flips, differs, forwards = reread(
        space, job.victim, objective, radii, seed=records[0].seed, tolerance=records[0].tolerance
    )
    seconds = (time.perf_counter() - began) / len(records)
    found = []
    for number, record in enumerate(records):
        asked = replace(record, forwards=record.forwards + int(forwards[number]), seconds=record.seconds + seconds)
        if flips[number] or differs[number]:
            asked = replace(asked, radius=None)
        if not record.succeeded and differs[number]:
            asked = replace(asked, status="unstable")
        elif not record.succeeded and flips[number]:  # by no more than rounding errors, or its score would differ
            asked = replace(asked, tied=True)
        found.append(asked)
    return found


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
    below = min(found.below, found.changes) if found.reached else found.below
    return min(max(below - 1, 0), budget)


def count_unknown(victim: Victim, changes: Sequence[Change]) -> int:
    """How many of the words put in the victim does not know."""
    words = victim.capabilities.vocabulary
    return 0 if words is None else sum(change.new not in words for change in changes)


def finite(value: float) -> float | None:
    """A number that JSON can hold."""
    return float(value) if np.isfinite(value) else None
