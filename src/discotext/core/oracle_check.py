"""The laws that every oracle keeps, as a function to run on your own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discotext.core.arrays import Choices, Floats, Ints, segment_sum
from discotext.core.oracle import (
    ApproximateOracle,
    BoundingOracle,
    Oracle,
    RelaxedOracle,
    Reply,
    Request,
    can,
    innermost,
)
from discotext.core.problem import Batch, count_changes, interior_point, random_choices
from discotext.core.wrappers import check_shapes


@dataclass(frozen=True)
class OracleReport:
    """How far an oracle is from its laws; `failures` is empty when it keeps them. Gaps are relative to the scores.

    repeat_gap: the same rows asked twice.
    mixing_gap: a row asked alone and among others.
    vertex_gap: the relaxed score at a one-hot mixture against the score.
    gradient_gap: the gradient against differences; four in five rows are no worse.

    A gap is None where it was not measured: without gradients, or after a law that comes first was broken.
    """

    repeat_gap: float | None = None
    mixing_gap: float | None = None
    vertex_gap: float | None = None
    gradient_gap: float | None = None
    failures: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.failures

    def __str__(self) -> str:
        gaps = {"asked again": self.repeat_gap, "alone": self.mixing_gap, "at choices": self.vertex_gap}
        gaps["gradient"] = self.gradient_gap
        measured = [f"  {name}: gap {gap:.1e}" for name, gap in gaps.items() if gap is not None]
        verdict = "The oracle keeps the laws." if self.passed else "The oracle breaks a law."
        return "\n".join([verdict, *measured, *(f"  {failure}" for failure in self.failures)])


def check_oracle(
    batch: Batch, oracle: Oracle, *, seed: int = 0, rows: int = 16, tolerance: float = 1e-3
) -> OracleReport:
    """Ask an oracle about random choices and mixtures, and compare what must agree.

    Four laws, in this order: the same question has the same answer; a row's score does not depend on its neighbours in
    the call; a one-hot mixture scores as its choice; the gradient is the derivative, checked by central differences
    along random directions inside the simplices. An oracle that raises, or answers in the wrong shape or with numbers
    that are not finite, breaks the law it is asked about.

    >>> from discotext.core.oracle import FunctionOracle
    >>> from discotext.core.problem import Problem
    >>> batch = Batch.of([Problem((2, 3), 1)])
    >>> print(check_oracle(batch, FunctionOracle(batch, lambda problem, choice: float(sum(choice)))))
    The oracle keeps the laws.
      asked again: gap 0.0e+00
      alone: gap 0.0e+00
    """
    gaps: dict[str, float] = {}
    try:
        failure = first_broken_law(batch, oracle, np.random.default_rng(seed), rows, tolerance, gaps)
    except Exception as error:
        failure = f"it raised {type(error).__name__}: {error}"
    return OracleReport(**gaps, failures=() if failure is None else (failure,))


def first_broken_law(
    batch: Batch, oracle: Oracle, rng: np.random.Generator, rows: int, tolerance: float, gaps: dict[str, float]
) -> str | None:
    """A sentence about the first law that does not hold, or None; the gaps found on the way are put into `gaps`."""
    if not len(batch):
        return None
    problems = rng.integers(len(batch), size=rows)
    layout = batch.take(problems)
    choices = random_choices(layout, rng)
    # With the shapes checked as in a search, an oracle that answers wrongly says here what it would say there.
    asked = Request("score", problems, choices=choices)
    scores = ask(asked, oracle).scores
    scale = float(np.abs(scores).mean()) + float(scores.std()) + 1e-12
    gaps["repeat_gap"] = worst(ask(asked, oracle).scores, scores, scale)
    if gaps["repeat_gap"] > tolerance:
        return f"the same rows scored differently when asked again (gap {gaps['repeat_gap']:.1e}); is dropout left on?"
    alone = [ask(asked.take(np.array([row]), batch), oracle).scores[0] for row in range(rows)]
    gaps["mixing_gap"] = worst(alone, scores, scale)
    if gaps["mixing_gap"] > tolerance:
        return (
            f"a row's score depends on the other rows of the call (gap {gaps['mixing_gap']:.1e}); is batch "
            "normalisation in training mode, or padding beyond a text's length not masked?"
        )
    if can(oracle, BoundingOracle):
        failure = find_wrong_bound(batch, oracle, problems, choices, scores, rng)  # type: ignore[arg-type]
        if failure is not None:
            return failure
    if not can(oracle, RelaxedOracle):
        return None
    relaxed: RelaxedOracle = oracle  # type: ignore[assignment]
    at_choices = ask(Request("relaxed", problems, alpha=layout.one_hot(choices)), oracle).scores
    gaps["vertex_gap"] = worst(at_choices, scores, scale)
    inner = innermost(oracle)
    exact = inner.exact_at_vertices if isinstance(inner, ApproximateOracle) else True
    if gaps["vertex_gap"] > tolerance and exact:
        return (
            f"a one-hot mixture does not score as its choice (gap {gaps['vertex_gap']:.1e}); mend `relaxed`, or set "
            "`exact_at_vertices = False` if it can only be approximate"
        )
    gaps["gradient_gap"] = difference_gap(layout, problems, relaxed, rng, scale)
    if gaps["gradient_gap"] > 10 * tolerance:
        return f"the gradient is not the derivative of the relaxed score (relative gap {gaps['gradient_gap']:.1e})"
    return None


def find_wrong_bound(
    batch: Batch, oracle: BoundingOracle, problems: Ints, choices: Choices, scores: Floats, rng: np.random.Generator
) -> str | None:
    """A sentence about a choice that `reach` rules out although it reaches the goal, or None."""
    layout, changes = batch.take(problems), count_changes(choices)
    held = layout.one_hot(choices) > 0
    found = oracle.reach(problems, held | (rng.random(layout.candidates) < 0.5), scores)
    wrong = held & (np.maximum(found.by_candidate, found.levels[layout.row_of]) > changes[layout.row_of])
    if not wrong.any():
        return None
    row = int(layout.row_of[wrong][0])
    return (
        f"`reach` says that the score {scores[row]} needs {found.levels[row]:.0f} or more changes in problem "
        f"{problems[row]}, but the choice {choices[row].tolist()} has it with {changes[row]}; its bounds are not sound"
    )


def ask(request: Request, oracle: Oracle) -> Reply:
    """The reply, if it has the right shape and is finite."""
    reply = request.send(oracle)
    check_shapes(request, reply)
    if not np.isfinite(reply.scores).all():
        row = int(np.flatnonzero(~np.isfinite(reply.scores))[0])
        raise ValueError(f"problem {request.problems[row]} scored {reply.scores[row]}, which is not a finite number")
    if reply.gradient is not None and not np.isfinite(reply.gradient).all():
        raise ValueError("the gradient has entries that are not finite")
    return reply


def worst(found: object, expected: Floats, scale: float) -> float:
    """The largest difference, as a share of the scale."""
    return float(np.abs(np.asarray(found) - expected).max(initial=0.0)) / scale


def difference_gap(
    layout: Batch, problems: Ints, oracle: RelaxedOracle, rng: np.random.Generator, scale: float
) -> float:
    """The relative gap of gradient and differences along one random direction a row; four in five rows are no worse."""
    alpha = interior_point(layout, rng)
    # A direction that keeps every simplex's sum, small enough to keep every weight positive.
    direction = rng.normal(size=len(alpha)) * alpha
    direction -= alpha * segment_sum(direction, layout.starts)[layout.position_of]

    def along(step: float) -> Floats:
        return np.asarray(oracle.relaxed(problems, alpha + step * direction)[0], dtype=np.float64)

    def central(step: float) -> Floats:
        return np.asarray((along(step) - along(-step)) / (2 * step))

    gradient = np.asarray(oracle.relaxed(problems, alpha)[1], dtype=np.float64)
    by_gradient = np.bincount(layout.row_of, weights=gradient * direction, minlength=len(layout))
    if not len(by_gradient):
        return 0.0
    gaps = []
    # Long steps for single precision, short ones to stay between two kinks: a true derivative agrees with one of them.
    for step in (0.04, 0.01, 0.0025, 0.0005):
        # Richardson: the error is of fourth order.
        by_differences = (4 * central(step / 2) - central(step)) / 3
        size = np.maximum(np.maximum(np.abs(by_differences), np.abs(by_gradient)), 1e-3 * scale)
        gaps.append(np.abs(by_differences - by_gradient) / size)
    return float(np.quantile(np.min(gaps, axis=0), 0.8))
