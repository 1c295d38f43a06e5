"""One task: texts in, one record for each out.

    predict → leave out what is misclassified → space → oracle → solve → write the text → predict again

The last prediction is of the real string, and it alone decides whether an attack succeeded.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from discotext.experiment.job import Job, Task
from discotext.goals import Goal
from discotext.solution import Solution
from discotext.solving import solve
from discotext.text.space import Space, may_change
from discotext.text.words import Words, split
from discotext.victims.asking import ask
from discotext.victims.victim import Victim

Record = dict[str, Any]
SUCCESS = ("reached", "fewest")


def run_task(job: Job, task: Task) -> list[Record]:
    """Attack the texts of a task; a record each, in their order."""
    solver, seed = list(job.solvers.values())[task.unit.solver], job.seed_of(task.unit)
    began = time.perf_counter()
    asked = ask(job.victim, task.texts)
    seconds = (time.perf_counter() - began) / max(len(task.texts), 1)
    spent = {"seconds": seconds, "victim_seconds": seconds, "tolerance": job.tolerance}
    records = [
        unattacked(job, task, place) | {"error": error, "forwards": int(forwards)} | spent
        for place, (error, forwards) in enumerate(zip(asked.errors, asked.forwards, strict=True))
    ]
    for record, row in zip(records, asked.scores, strict=True):
        if not record["error"]:
            guess = int(row.argmax())
            record |= {"predicted": guess, "adversarial_predicted": guess, "status": "misclassified"}
    budget = job.budgets[task.unit.budget]
    spaces = Space.of(task.texts, job.finder, share=budget.share, words=budget.words)
    count_words(job, task, records, spaces.texts)
    for place, record in enumerate(records):
        record |= coverage_of(spaces, place)
    attacked = [
        place
        for place, record in enumerate(records)
        if record["status"] != "failed" and not job.done_already(record["label"], record["predicted"])
    ]
    if attacked:
        space = spaces.take(attacked)
        goal = job.goal([task.labels[place] for place in attacked])
        oracle = job.victim.oracle(space, goal)
        # Twice the tolerance, so that what the search finds is still beyond it when the string is asked.
        wanted = None if job.to_the_end else 2 * job.tolerance
        solutions = solve(space.batch, oracle, solver, goal=wanted, seed=seed)
        finish(job, space, solutions, goal, [records[place] for place in attacked])
    return records


def coverage_of(space: Space, number: int) -> Record:
    """How much of a text can change at all."""
    return {
        "changeable": space.changeable(number),
        "candidates": sum(len(words) - 1 for words in space.options[number]),
        "refused": space.refused[number],
    }


def given_up(job: Job, task: Task, why: str) -> list[Record]:
    """Records of texts that could not be attacked at all. Nothing is asked for here that may have been what failed."""
    records = [unattacked(job, task, place) | {"error": why} for place in range(len(task.texts))]
    count_words(job, task, records, [split(text) for text in task.texts])
    return records


def count_words(job: Job, task: Task, records: Sequence[Record], texts: Sequence[Words]) -> None:
    """Note in records how many words there are, and how many may change."""
    budget = job.budgets[task.unit.budget]
    for record, text in zip(records, texts, strict=True):
        record["words"], record["budget"] = len(text), may_change(text, budget.share, budget.words)


def unattacked(job: Job, task: Task, place: int) -> Record:
    """The record of a text of which nothing is known yet."""
    budget = job.budgets[task.unit.budget]
    return {
        "id": task.numbers[place],
        "text": task.texts[place],
        "label": task.labels[place],
        "predicted": None,
        "adversarial_text": task.texts[place],
        "adversarial_predicted": None,
        "score": None,
        "adversarial_score": None,
        "changes": [],
        "words": 0,
        "budget": 0,
        "status": "failed",
        "solver": list(job.solvers)[task.unit.solver],
        "seed": job.seed_of(task.unit),
        "tied": False,
        "tolerance": 0.0,
        "changeable": None,
        "candidates": None,
        "refused": {},
        "unknown_swaps": 0,
        "space": None,
        "forwards": 0,
        "backwards": 0,
        "seconds": 0.0,
        "victim_seconds": 0.0,
        "unit": task.unit.number,
        "share": budget.share,
        "allowed": budget.words,
        "error": None,
    }


def finish(job: Job, space: Space, solutions: Sequence[Solution], goal: Goal, records: Sequence[Record]) -> None:
    """Write the texts that were found, ask about them as strings, and complete the records."""
    texts = [space.text(number, found.choice) for number, found in enumerate(solutions)]
    began = time.perf_counter()
    asked = ask(job.victim, texts)
    asking = (time.perf_counter() - began) / max(len(texts), 1)
    answered = np.array([error is None for error in asked.errors])
    margins = np.full(len(texts), np.nan)
    if answered.any():
        margins[answered] = goal.value(asked.scores[answered], np.flatnonzero(answered))
    for number, (found, record) in enumerate(zip(solutions, records, strict=True)):
        outcome = judge(job, space, number, found, margins[number], record["tolerance"])
        changes = space.changes(number, found.choice)
        record |= {
            "adversarial_text": texts[number],
            "adversarial_predicted": int(asked.scores[number].argmax()) if answered[number] else None,
            "score": finite(found.original_score),
            "adversarial_score": finite(found.score),
            "changes": changes,
            "status": outcome,
            "tied": outcome not in SUCCESS and bool(abs(margins[number]) <= record["tolerance"]),
            "unknown_swaps": count_unknown(job.victim, changes),
            "space": space.take([number]).hash,
            "forwards": record["forwards"] + found.forwards + int(asked.forwards[number]),
            "backwards": found.backwards,
            "seconds": record["seconds"] + found.seconds + asking,
            "victim_seconds": record["victim_seconds"] + found.oracle_seconds + asking,
            "error": asked.errors[number] or found.error,
        }


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
        # The search was told of a success that the string does not confirm.
        return "tied" if margin >= -tolerance else "unstable"
    # Where the highest score of all does not flip the label, nothing does.
    return "impossible" if job.to_the_end and status == "optimal" else status


def count_unknown(victim: Victim, changes: Sequence[Record]) -> int:
    """How many of the words put in the victim does not know."""
    words = victim.vocabulary
    return 0 if words is None else sum(change["new"] not in words for change in changes)


def finite(value: float) -> float | None:
    """A number that JSON can hold."""
    return float(value) if np.isfinite(value) else None
