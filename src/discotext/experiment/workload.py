"""What a run will take, before it begins: passes of the model, and the time for them.

A few texts, the shortest, the longest and some between, are searched for candidates; what the solvers declare for
problems of their size (`Solver.expect_passes`) is carried over to all texts. Solvers stop when a label flips and calls
carry many texts, so a run usually takes less.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discotext.experiment.job import FIRST, Job
from discotext.experiment.stand_in import count_lessons
from discotext.text.space import Space
from discotext.victims.victim import Ask

TIMED = 16  # texts by which the time of a pass is measured
SAMPLED = 5  # texts whose candidates are looked up
PRUNING = 2  # passes for each word that may change: each change is undone, and what is left is tried once more


@dataclass(frozen=True)
class Workload:
    """About how many passes a run takes at most, and seconds for each.

    unknown: solvers of which that cannot be said; they are not counted.
    """

    passes: float
    seconds_per_pass: float
    unknown: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        return self.passes * self.seconds_per_pass

    def __str__(self) -> str:
        """
        >>> print(Workload(1234.0, 0.02))
        at most about 1,200 passes of the model, or 25 seconds (0.02 s for each)
        """
        rounded = round(self.passes, -max(len(str(int(self.passes))) - 2, 0))
        said = f"at most about {rounded:,.0f} passes of the model, or {describe_time(self.seconds)}"
        said += f" ({self.seconds_per_pass:.2g} s for each)"
        if self.unknown:
            said += f", and what {' and '.join(self.unknown)} takes, which is not known"
        return said


def estimate_work(
    job: Job, out: Path | None = None, price: float | None = None, ask: Ask | None = None
) -> tuple[Job, Workload]:
    """The job with its victim identified, and what it will take; what a folder has records of is done.

    price: of a query; where there is one, none is spent on measuring. ask: see `Job.identify`.
    """
    began = time.perf_counter()
    job = job.identify(ask)
    asked = max(min(FIRST, len(job.examples)), 1)
    if price is None and job.most_queries is None and not job.victim.capabilities.has_memory:
        # The first call may have loaded a model, and calls carry many texts. A service, which remembers its answers,
        # may want to be paid for more.
        asked = min(TIMED, len(job.examples))
        began = time.perf_counter()
        (ask or job.ask)(job.examples.texts[:asked])
    seconds = (time.perf_counter() - began) / asked
    order = sorted(range(len(job.examples)), key=lambda number: len(job.examples.texts[number]))
    places = sorted({round(place) for place in np.linspace(0, len(order) - 1, SAMPLED).tolist()})
    texts = [job.examples.texts[order[place]] for place in places]
    passes, unknown = float(count_lessons(job)), []
    # The time of a pass grows with the text.
    length = max(sum(map(len, job.examples.texts[:asked])) / asked, 1.0)
    weighted = passes
    space = Space.of(texts, job.finder, share=job.budgets[0].share, words=job.budgets[0].words)
    for budget in job.budgets:
        batch = space.with_budgets(share=budget.share, words=budget.words).batch
        for name, solver in job.solvers.items():
            expected = solver.expect_passes(batch, job.victim.capabilities.gradients)
            if expected is None:
                unknown += [name] if name not in unknown else []
                continue
            # No choice is asked for twice, and short texts have few.
            size = np.bincount(batch.problem_of_position, weights=np.log(batch.counts), minlength=len(batch))
            expected = np.minimum(expected, np.exp(np.minimum(size, 700.0)))
            each = expected + PRUNING * np.minimum(batch.budgets, expected) + 2
            if job.most_queries is not None:
                each = np.minimum(each, job.most_queries)
            # Between two of the sampled texts, what they take is interpolated over the texts in order of length.
            every = np.interp(np.arange(len(order)), places, each)
            passes += float(every.sum())
            lengths = np.array([len(job.examples.texts[number]) for number in order])
            weighted += float((every * lengths / length).sum())
    left = 1.0 - count_done(out) / max(len(job.units) * job.chunk, 1)
    return job, Workload(max(left, 0.0) * passes, seconds * weighted / max(passes, 1.0), tuple(unknown))


def count_done(out: Path | None) -> int:
    """How many records a folder has."""
    path = None if out is None else out / "records.jsonl"
    if path is None or not path.is_file():
        return 0
    with path.open("rb") as file:
        return sum(1 for _ in file)


def describe_time(seconds: float) -> str:
    """A length of time in words.

    >>> [describe_time(seconds) for seconds in (0.4, 25, 100, 5000, 400_000)]
    ['a second', '25 seconds', '1.7 minutes', '1.4 hours', '4.6 days']
    """
    if seconds < 1.5:
        return "a second"
    for size, name, most in ((1, "seconds", 60), (60, "minutes", 3600), (3600, "hours", 86_400)):
        if seconds < most:
            return f"{seconds / size:.0f} {name}" if size == 1 else f"{seconds / size:.1f} {name}"
    return f"{seconds / 86_400:.1f} days"
