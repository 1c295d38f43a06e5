"""attack(), compare() and certify(): from a victim and data to records and summaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discotext.attacks.job import Job
from discotext.attacks.result import Result
from discotext.attacks.run import Executor, Watch, run
from discotext.attacks.settings import PASSES, Settings, check_whole
from discotext.search.solver import Solver


def attack(
    victim: Any,
    data: Any,
    solver: str | Solver = "auto",
    settings: Settings | None = None,
    *,
    out: str | Path | None = None,
    watch: Watch | None = None,
    executor: Executor | None = None,
    progress: bool = True,
    **changes: Any,
) -> Result:
    """Attack a text classifier: replace a few words of each text so that its predicted label flips.

    victim: a function from texts to scores, a transformers pipeline or (model, tokenizer), a fitted scikit-learn
        pipeline, a `Victim`, or a name as on the command line: a folder from `train`, "hf:NAME_OR_FOLDER",
        "model.skops", "py:module:function" or "http(s)://…".
    data: labelled texts: a pair (texts, labels), a data frame, `Examples`, the name of a data set, or a file.
    solver: a name or a `Solver`; "auto" is disco; for a victim with neither gradients nor a surrogate, greedy, or
        ranked-greedy where texts are long.
    settings: what the attack may do; each field of `Settings` can also be given by keyword, as in budget=0.1,
        words=2, limit=100 or target="positive".
    out: a folder for the records; the same call resumes where it stopped.
    watch: called after each unit of work with units done, units in all, and the unit's records.
    executor: `Processes(workers)` or `RayExecutor(address)`; the default is this process. Records are the same.
    progress: show a bar in a terminal or a notebook, if the work takes more than a second.

    >>> def scores(texts):
    ...     return [[text.count("purchased"), 0.5] for text in texts]
    >>> result = attack(scores, (["We purchased it", "bad"], [0, 1]), words=1)
    >>> [(record.status, len(record.changes)) for record in result.records]
    [('fewest', 1), ('impossible', 0)]
    """
    return compare(
        victim, data, [solver], settings, out=out, watch=watch, executor=executor, progress=progress, **changes
    )


def compare(
    victim: Any,
    data: Any,
    solvers: Sequence[str | Solver] | Mapping[str, str | Solver] = ("disco", "greedy", "left-to-right"),
    settings: Settings | None = None,
    *,
    out: str | Path | None = None,
    watch: Watch | None = None,
    executor: Executor | None = None,
    progress: bool = True,
    **changes: Any,
) -> Result:
    """Attack the same texts, with the same candidates and budgets, by several solvers.

    solvers: names or `Solver`s, or a mapping of your names to solvers.

    All other parameters are those of `attack`.
    """
    for name, value, fits, hint in (
        ("out", out, isinstance(out, str | Path), "pass the path of a folder"),
        ("watch", watch, callable(watch), "pass a function of units done, units in all, and records"),
        ("executor", executor, isinstance(executor, Executor), "pass Processes(workers) or RayExecutor(address)"),
    ):
        if value is not None and not fits:
            raise TypeError(f"{name} is {value!r}; {hint}")
    job = Job.of(victim, data, solvers, Settings.of(settings, changes))
    return run(job, out, watch, executor, progress)


def certify(
    victim: Any, data: Any, solver: str | Solver = "auto", settings: Settings | None = None, **changes: Any
) -> Result:
    """Find between which accuracies the true worst case lies: attacked from above, certified from below.

    `result.certificates` has the figures, one for each budget; all budgets are answered by one run, under the largest.
    A record's `radius` says up to how many changed words its label is proved to stay.

    passes: what may be spent to prove a text, bounds and scores together [default: 1,000].

    All other parameters are those of `attack`; the solver is that of the attack.

    >>> def scores(texts):
    ...     return [[text.count("purchased"), 0.5] for text in texts]
    >>> result = certify(scores, (["We purchased it", "They purchased it", "bad"], [0, 0, 1]), words=1)
    >>> found = result.certificates[0]
    >>> found.verdicts, found.open
    ({'robust': 1, 'broken': 2, 'open': 0, 'wrong': 0}, 0.0)
    """
    if "passes" not in changes and (settings is None or settings.passes is None):
        changes["passes"] = PASSES
    check_whole("passes", changes.get("passes", 1), 1)
    return attack(victim, data, solver, settings, **changes)
