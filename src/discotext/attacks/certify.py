"""certify(): an attack, and for every text it does not flip a proof that nothing does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discotext.attacks.attack import Watch, accept_at_least, check_types, make_job, run
from discotext.attacks.execution.executors import Executor
from discotext.attacks.preflight import at_levels, check_whole, parse_accept, parse_budgets
from discotext.attacks.result import Result
from discotext.runs.certificate import find_largest
from discotext.search.solver import Solver
from discotext.text.candidates import Candidates

PASSES = 1000


def certify(
    victim: Any,
    data: Any,
    solver: str | Solver = "auto",
    *,
    budget: float | str | Sequence[float | str] = 0.2,
    words: int | Sequence[int] | None = None,
    passes: int = PASSES,
    candidates: Candidates | None = None,
    accept: float | Sequence[float] | None = None,
    limit: int | None = None,
    seed: int = 0,
    target: int | str | None = None,
    out: str | Path | None = None,
    chunk: int | None = None,
    watch: Watch | None = None,
    executor: Executor | None = None,
    surrogate: Any = "auto",
    text_column: str | None = None,
    label_column: str | None = None,
    progress: bool = True,
) -> Result:
    """Find between which accuracies the true worst case lies: attacked from above, certified from below.

    `result.certificates` has the figures, one for each budget; all budgets are answered by one run, under the largest.
    A record's `radius` says up to how many changed words its label is proved to stay.

    solver: of the attack. passes: what may be spent to prove a text, bounds and scores together.

    All other parameters are those of `attack`.

    >>> def scores(texts):
    ...     return [[text.count("purchased"), 0.5] for text in texts]
    >>> result = certify(scores, (["We purchased it", "They purchased it", "bad"], [0, 0, 1]), words=1)
    >>> found = result.certificates[0]
    >>> found.verdicts, found.open
    ({'robust': 1, 'broken': 2, 'open': 0, 'wrong': 0}, 0.0)
    """
    check_types(candidates, out, watch, executor)
    levels = parse_accept(accept)
    asked = at_levels(parse_budgets(budget, words), levels)
    job = make_job(
        victim,
        data,
        [solver],
        budgets=find_largest(asked),
        asked=asked,
        passes=check_whole("passes", passes, 1),
        candidates=accept_at_least(candidates or Candidates(), levels),
        limit=None if limit is None else check_whole("limit", limit, 1),
        seed=check_whole("seed", seed, 0),
        target=target,
        chunk=None if chunk is None else check_whole("chunk", chunk, 1),
        surrogate=surrogate,
        columns=(text_column, label_column),
    )
    return run(job, out, watch, executor, progress)
