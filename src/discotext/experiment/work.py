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
from discotext.goals import predictions
from discotext.oracle import UnavailableError
from discotext.segments import Floats
from discotext.solution import Solution
from discotext.solving import solve
from discotext.text.space import Space, may_change
from discotext.text.words import Words, split
from discotext.victims.victim import Victim, checked, oracle_for

Record = dict[str, Any]


def run_task(job: Job, task: Task) -> list[Record]:
    """Attack the texts of a task; a record each, in their order."""
    solver, seed = list(job.solvers.values())[task.unit.solver], job.seed_of(task.unit)
    began = time.perf_counter()
    scores, errors = predicted(job.victim, task.texts)
    seconds = (time.perf_counter() - began) / max(len(task.texts), 1)
    found = predictions(scores).tolist()
    records = [
        unattacked(job, task, place) | {"error": error, "forwards": 1, "seconds": seconds, "victim_seconds": seconds}
        for place, error in enumerate(errors)
    ]
    for record, guess in zip(records, found, strict=True):
        if not record["error"]:
            record |= {"predicted": guess, "adversarial_predicted": guess, "status": "misclassified"}
    budget = job.budgets[task.unit.budget]
    spaces = Space.of(task.texts, job.finder, share=budget.share, words=budget.words)
    count_words(job, task, records, spaces.texts)
    attacked = [
        place
        for place, record in enumerate(records)
        if record["status"] != "failed" and not job.done_already(record["label"], record["predicted"])
    ]
    if attacked:
        space = spaces.take(attacked)
        goal = job.goal([task.labels[place] for place in attacked])
        oracle = oracle_for(job.victim, space, goal)
        solutions = solve(space.batch, oracle, solver, goal=None if job.to_the_end else 0.0, seed=seed)
        finish(job, space, solutions, [records[place] for place in attacked])
    return records


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


def predicted(victim: Victim, texts: Sequence[str]) -> tuple[Floats, list[str | None]]:
    """Scores of texts; where the victim fails on one of them, its error and no score."""
    try:
        return checked(victim, texts), [None] * len(texts)
    except UnavailableError:
        raise
    except Exception:
        # One text spoils the call: ask for each alone, and keep what can be kept.
        rows: list[Floats] = []
        errors: list[str | None] = []
        for text in texts:
            try:
                rows.append(checked(victim, [text])[0])
                errors.append(None)
            except UnavailableError:
                raise
            except Exception as error:
                rows.append(np.zeros(len(victim.labels)))
                errors.append(f"{type(error).__name__}: {error}")
        return np.stack(rows), errors


def finish(job: Job, space: Space, solutions: Sequence[Solution], records: Sequence[Record]) -> None:
    """Write the texts that were found, ask about them as strings, and complete the records."""
    texts = [space.text(number, found.choice) for number, found in enumerate(solutions)]
    began = time.perf_counter()
    scores, errors = predicted(job.victim, texts)
    asking = (time.perf_counter() - began) / max(len(texts), 1)
    guesses = predictions(scores).tolist()
    for number, (found, record) in enumerate(zip(solutions, records, strict=True)):
        error = found.error or errors[number]
        wanted = guesses[number] == job.target if job.target is not None else guesses[number] != record["label"]
        status = found.status.name.lower()
        if wanted and not found.changes:
            # The text is the one it was right about before: the victim does not answer the same when asked again.
            wanted, status = False, "unstable"
        elif job.to_the_end and not wanted:
            # Where the highest score of all does not turn the label, nothing does.
            status = "impossible" if status == "optimal" else status
        elif wanted != found.reached and not error:
            # What the search was told and what the string gets differ: the string is right.
            status = "reached" if wanted else "unstable"
        record |= {
            "adversarial_text": texts[number],
            "adversarial_predicted": None if errors[number] else guesses[number],
            "score": finite(found.original_score),
            "adversarial_score": finite(found.score),
            "changes": space.changes(number, found.choice),
            "status": "failed" if error and not wanted else status,
            "space": space.take([number]).hash,
            "forwards": record["forwards"] + found.forwards + 1,
            "backwards": found.backwards,
            "seconds": record["seconds"] + found.seconds + asking,
            "victim_seconds": record["victim_seconds"] + found.oracle_seconds + asking,
            "error": error,
        }


def finite(value: float) -> float | None:
    """A number that JSON can hold."""
    return float(value) if np.isfinite(value) else None
