"""One unit of work: texts in, one record for each out.

    predict → leave out what is misclassified → space → oracle → solve → write the text → predict again

The last prediction is of the real string, and it alone decides whether an attack succeeded.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from discotext.experiment.job import Job, Unit
from discotext.goals import predictions
from discotext.oracle import UnavailableError
from discotext.segments import Floats
from discotext.solution import Solution
from discotext.solving import solve
from discotext.text.space import Space
from discotext.victims.victim import Victim, checked, oracle_for

Record = dict[str, Any]


def run_unit(job: Job, unit: Unit) -> list[Record]:
    """Attack the texts of a unit; a record each, in their order."""
    numbers = job.chunks[unit.chunk]
    name, solver = list(job.solvers.items())[unit.solver]
    budget, seed = job.budgets[unit.budget], job.seed_of(unit)
    texts = [job.examples.texts[number] for number in numbers]
    labels = job.examples.labels[numbers.start : numbers.stop].tolist()
    began = time.perf_counter()
    scores, errors = predicted(job.victim, texts)
    victim_seconds = (time.perf_counter() - began) / max(len(texts), 1)
    found = predictions(scores).tolist()
    records = [
        {
            "id": number,
            "text": text,
            "label": label,
            "predicted": None if error else guess,
            "adversarial_text": text,
            "adversarial_predicted": None if error else guess,
            "score": None,
            "adversarial_score": None,
            "changes": [],
            "words": 0,
            "budget": 0,
            "status": "failed" if error else "misclassified",
            "solver": name,
            "seed": seed,
            "space": None,
            "forwards": 1,
            "backwards": 0,
            "seconds": victim_seconds,
            "victim_seconds": victim_seconds,
            "unit": unit.number,
            "share": budget.share,
            "allowed": budget.words,
            "error": error,
        }
        for number, text, label, guess, error in zip(numbers, texts, labels, found, errors, strict=True)
    ]
    spaces = Space.of(texts, job.finder, share=budget.share, words=budget.words)
    for place, record in enumerate(records):
        record["words"], record["budget"] = len(spaces.texts[place]), spaces.budgets[place]
    attacked = [
        place
        for place, record in enumerate(records)
        if record["status"] != "failed" and not job.done_already(record["label"], record["predicted"])
    ]
    if attacked:
        space = spaces.take(attacked)
        goal = job.goal([labels[place] for place in attacked])
        oracle = oracle_for(job.victim, space, goal)
        solutions = solve(space.batch, oracle, solver, goal=None if job.to_the_end else 0.0, seed=seed)
        finish(job, space, solutions, [records[place] for place in attacked])
    return records


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
