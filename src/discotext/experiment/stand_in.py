"""What lends slopes to a victim without gradients: a stand-in that is learnt or was kept, or another victim."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from discotext.experiment.execution.scheduler import Notify, ignore
from discotext.experiment.job import Job
from discotext.solvers import make_solver
from discotext.victims.registry import load_victim
from discotext.victims.surrogate import read_surrogate
from discotext.victims.victim import Victim

SURROGATE = "surrogate.npz"  # the stand-in of a run, in its folder
POOR = 0.2  # rank correlation below which a stand-in is not relied on
WITHOUT_GRADIENTS = "greedy"  # what `auto` means then


def load_surrogate(victim: Victim, given: Any, trust: bool) -> dict[str, Any]:
    """What lends a victim its slopes, if that is not to be learnt: the arguments of a job."""
    if isinstance(given, str) and given in ("auto", "none"):
        return {}
    if victim.gradients:
        warnings.warn(f"{victim.name} has gradients of its own, so the surrogate {given} is not used", stacklevel=5)
        return {}
    if isinstance(given, str | Path) and Path(given).suffix == ".npz":
        return {"learnt": read_surrogate(Path(given), victim)}
    lender = load_victim(given, trust)
    same = set(lender.labels) == set(victim.labels)
    if not lender.gradients or len(lender.labels) != len(victim.labels) or (same and lender.labels != victim.labels):
        raise ValueError(
            f"{lender.name} cannot lend its slopes to {victim.name}: it needs gradients and the same classes in the "
            "same order; give another victim, auto or none"
        )
    return {"lender": lender}


def learn(job: Job, kept: Path | None, notify: Notify = ignore) -> Job:
    """The job with its stand-in: the one that is kept beside the run, or a new one.

    Where the stand-in predicts the victim poorly, `auto` means greedy, and a search that was asked for is warned of.
    """
    if not job.learns:
        return job
    known = job.learnt
    if known is None and kept is not None and kept.exists():
        known = read_surrogate(kept, job.victim)
    if known is None and kept is not None and kept.with_name("settings.json").exists():
        # Better said before queries are paid for.
        raise ValueError(f"{kept.parent} holds a run without a stand-in; choose another folder, or --surrogate none")
    learnt = known or job.learn(lambda done, of: notify(f"learning from {done:,} of {of:,} texts"))
    notify("")
    if learnt.correlation is None or learnt.correlation >= POOR:
        return replace(job, learnt=learnt)
    said = f"a stand-in predicts {job.victim.name} poorly (rank correlation of gains {learnt.correlation:.2f})"
    if job.automatic:
        warnings.warn(f"{said}; greedy, which does without, is used", stacklevel=4)
        return replace(job, learnt=learnt, solvers={WITHOUT_GRADIENTS: make_solver(WITHOUT_GRADIENTS)})
    warnings.warn(f"{said}; greedy does without (--surrogate none)", stacklevel=4)
    return replace(job, learnt=learnt)
