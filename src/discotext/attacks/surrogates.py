"""What lends slopes to a victim without gradients: a stand-in that is learnt or was kept, or another victim."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from discotext.attacks.execution.scheduler import Notify, ignore
from discotext.attacks.job import Job
from discotext.runs.folder import SURROGATE, has_begun, read_settings
from discotext.victims.registry import load_victim
from discotext.victims.surrogate import VARIANTS, read_surrogate
from discotext.victims.victim import Ask, Victim

ONCE = 24  # queries that identify and calibrate a victim, at most
LEARNING = 0.2  # share of all queries that learning may take
LEAST = 3  # queries of a text: as it is, one change, and the check


def load_surrogate(victim: Victim, given: Any, trust: bool) -> dict[str, Any]:
    """What lends a victim its slopes, if that is not to be learnt: the arguments of a job."""
    if isinstance(given, str) and given in ("auto", "none"):
        return {}
    if victim.capabilities.gradients:
        warnings.warn(f"{victim.name} has gradients of its own, so the surrogate {given} is not used", stacklevel=5)
        return {}
    if isinstance(given, str | Path) and Path(given).suffix == ".npz":
        return {"learnt": read_surrogate(Path(given), victim)}
    lender = load_victim(given, trust)
    same = set(lender.labels) == set(victim.labels)
    if (
        not lender.capabilities.gradients
        or len(lender.labels) != len(victim.labels)
        or (same and lender.labels != victim.labels)
    ):
        raise ValueError(
            f"{lender.name} cannot lend its slopes to {victim.name}: it needs gradients and the same classes in the "
            "same order; give another victim, auto or none"
        )
    return {"lender": lender}


def count_lessons(job: Job) -> int:
    """The queries that learning a stand-in may take."""
    texts = min(job.lessons, len(job.examples))
    return texts * (1 + VARIANTS) if job.learns and job.learnt is None else 0


def share_out(job: Job, total: int) -> Job:
    """The job with a limit for each text and for learning, so that all of it takes at most `total` queries."""
    attacks = len(job.examples) * len(job.budgets) * len(job.solvers)
    limited, each = _divide(job, attacks, total)
    if each < LEAST:
        enough = total
        while _divide(job, attacks, enough)[1] < LEAST:
            enough += 1
        raise ValueError(
            f"{total:,} queries in all are too few for {attacks:,} attacks, which need {LEAST} each; allow "
            f"{enough:,} or more, or attack fewer texts (limit)"
        )
    return replace(limited, max_queries=each if job.max_queries is None else min(each, job.max_queries))


def _divide(job: Job, attacks: int, total: int) -> tuple[Job, int]:
    """The job with fewer lessons, and what is left for each attack."""
    job = replace(job, lessons=min(job.lessons, max(int(total * LEARNING) // (1 + VARIANTS), 1)))
    return job, (total - ONCE - job.examples.asked - count_lessons(job)) // max(attacks, 1)


def learn(job: Job, out: Path | None, notify: Notify = ignore, ask: Ask | None = None) -> Job:
    """The job with its stand-in: the one that is kept in the folder of the run, or a new one. ask: see `Job.identify`.

    One that predicts the victim poorly is warned of, and not relied on.
    """
    if not job.learns:
        return job
    learnt = job.learnt
    # Before there are settings, the file may be of another run, which was killed.
    if learnt is None and out is not None and has_begun(out):
        if (out / SURROGATE).exists():
            learnt = read_surrogate(out / SURROGATE, job.victim)
        elif "surrogate" not in read_settings(out):
            # Better said before queries are paid for.
            raise ValueError(f"{out} holds a run without a stand-in; choose another folder, or --surrogate none")
    learnt = learnt or job.learn(lambda done, of: notify(f"learning from {done:,} of {of:,} texts"), ask)
    notify("")
    if learnt.poor:
        warnings.warn(
            f"a stand-in predicts {job.victim.name} poorly (rank correlation of gains {learnt.correlation:.2f}); the "
            "search learns from its own answers alone",
            stacklevel=4,
        )
    return replace(job, learnt=learnt)
