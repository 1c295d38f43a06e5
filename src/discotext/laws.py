"""The law every oracle keeps, as a function to call on one's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discotext.oracle import Oracle, RelaxedOracle, can
from discotext.problem import Batch
from discotext.sampling import interior_point, random_choices
from discotext.segments import Floats, Ints, segment_sum


@dataclass(frozen=True)
class OracleReport:
    """How far an oracle is from its laws; `failures` is empty when it keeps them. Gaps are relative to the scores.

    repeat_gap: the same rows asked twice.
    mixing_gap: a row asked alone and among others.
    vertex_gap: the relaxed score at a one-hot mixture against the score (None without gradients).
    gradient_gap: the gradient against differences, the median over directions (None without gradients).
    """

    repeat_gap: float
    mixing_gap: float
    vertex_gap: float | None
    gradient_gap: float | None
    failures: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.failures


def check_oracle(
    batch: Batch, oracle: Oracle, *, seed: int = 0, rows: int = 16, tolerance: float = 1e-3
) -> OracleReport:
    """Ask an oracle about random choices and mixtures, and compare what must agree.

    Four laws: the same question has the same answer; a row's score does not depend on its neighbours in the call; a
    one-hot mixture scores as its choice; the gradient is the derivative, checked by central differences along random
    directions inside the simplices. The last takes the median over rows, because a model with kinks may sit on one.

    >>> from discotext.oracle import FunctionOracle
    >>> from discotext.problem import Problem
    >>> batch = Batch.of([Problem((2, 3), 1)])
    >>> check_oracle(batch, FunctionOracle(batch, lambda problem, choice: float(sum(choice)))).passed
    True
    """
    rng = np.random.default_rng(seed)
    problems = rng.integers(len(batch), size=rows) if len(batch) else np.empty(0, dtype=np.int64)
    layout = batch.take(problems)
    choices = random_choices(layout, rng)
    scores = np.asarray(oracle.score(problems, choices), dtype=np.float64)
    scale = float(np.abs(scores).mean()) + float(scores.std()) + 1e-12 if len(scores) else 1.0
    repeat_gap = worst(oracle.score(problems, choices), scores, scale)
    alone = [oracle.score(problems[row : row + 1], choices[row : row + 1])[0] for row in range(len(problems))]
    mixing_gap = worst(alone, scores, scale)
    vertex_gap = gradient_gap = None
    if can(oracle, RelaxedOracle):
        relaxed: RelaxedOracle = oracle  # type: ignore[assignment]
        vertex_gap = worst(relaxed.relaxed(problems, layout.one_hot(choices))[0], scores, scale)
        gradient_gap = difference_gap(layout, problems, relaxed, rng, scale)
    failures = []
    if repeat_gap > tolerance:
        failures.append(
            f"the same rows scored differently when asked again (gap {repeat_gap:.1e}); is dropout left on?"
        )
    if mixing_gap > tolerance:
        failures.append(f"a row's score depends on the other rows of the call (gap {mixing_gap:.1e}); use eval mode")
    if vertex_gap is not None and vertex_gap > tolerance and getattr(oracle, "exact_at_vertices", True):
        failures.append(
            f"a one-hot mixture does not score as its choice (gap {vertex_gap:.1e}); "
            "mend `relaxed`, or set `exact_at_vertices = False` if it can only be approximate"
        )
    if gradient_gap is not None and gradient_gap > 10 * tolerance:
        failures.append(f"the gradient is not the derivative of the relaxed score (relative gap {gradient_gap:.1e})")
    return OracleReport(repeat_gap, mixing_gap, vertex_gap, gradient_gap, tuple(failures))


def worst(found: object, expected: Floats, scale: float) -> float:
    """The largest difference, as a share of the scale."""
    return float(np.abs(np.asarray(found) - expected).max(initial=0.0)) / scale


def difference_gap(
    layout: Batch, problems: Ints, oracle: RelaxedOracle, rng: np.random.Generator, scale: float
) -> float:
    """The median, over rows, of |slope by differences − slope by gradient| for one random direction each."""
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
        slope = np.maximum(np.maximum(np.abs(by_differences), np.abs(by_gradient)), 1e-3 * scale)
        gaps.append(np.abs(by_differences - by_gradient) / slope)
    return float(np.median(np.min(gaps, axis=0)))
