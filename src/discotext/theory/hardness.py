"""Why the problem is hard: subset sum is a special case.

Let word i have the one-dimensional vector s_i and a single replacement with the vector 0. The sum of the word vectors
is then the sum of the words *kept*, and with every word allowed to change, some choice reaches the score 0 of

    score = −(Σ_i v_i − target)²

if and only if a subset of the integers sums to the target. So a solver that is always right solves subset sum. (The
paper prints a distance to be maximised; the proof needs it minimised, hence the sign, and a budget m = n.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discotext.core.arrays import Bools, Choices, Floats, Ints
from discotext.core.problem import Batch, Problem
from discotext.core.reach import ROUNDING, AdditiveBound, Reach, find_reach

# Sums of integers below this are exact in float64, so the score is 0 exactly for a solution.
EXACT = 2**53


class SubsetSum:
    """−(sum of the words kept − target)² as an oracle, with gradient and bound. Made by `subset_sum`."""

    exact_at_vertices = True

    def __init__(self, integers: Sequence[int], target: int) -> None:
        self.integers = np.array([float(number) for number in integers], dtype=np.float64)
        self.target = float(target)

    def score(self, problems: Ints, choices: Choices) -> Floats:
        kept = choices[:, : len(self.integers)] == 0
        distance = kept @ self.integers - self.target
        # Subtracted, not negated: −(0.0) would print as −0.
        return np.asarray(0.0 - distance**2)

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        kept = alpha.reshape(len(problems), len(self.integers), 2)[:, :, 0]
        distance = kept @ self.integers - self.target
        gradient = np.zeros((len(problems), len(self.integers), 2))
        gradient[:, :, 0] = -2 * distance[:, None] * self.integers
        return 0.0 - distance**2, gradient.ravel()

    def reach(self, problems: Ints, allowed: Bools, goals: Floats) -> Reach:
        """Return the fewest changes after which the sum may be as near to the target as the goals say.

        It must be neither too small nor too large, and both are sums: the goal needs as many changes as either does.
        """
        layout = Batch.of([Problem((2,) * len(self.integers), len(self.integers))] * len(problems))
        distance = np.sqrt(np.maximum(-goals, 0.0))
        distance = np.where(goals > 0, -np.inf, distance * (1 + ROUNDING))
        kept = np.tile(np.stack([self.integers, np.zeros_like(self.integers)], axis=1).ravel(), len(problems))
        none = np.zeros((len(problems), 1))
        high = find_reach(layout, allowed, AdditiveBound(none, kept[:, None]), self.target - distance)
        low = find_reach(layout, allowed, AdditiveBound(none, -kept[:, None]), -(self.target + distance))
        return Reach(
            np.maximum(high.levels, low.levels),
            np.maximum(high.by_candidate, low.by_candidate),
            np.maximum(high.worth, low.worth),
        )


def subset_sum(integers: Sequence[int], target: int) -> tuple[Batch, SubsetSum]:
    """Return the problem whose best score is 0 exactly if some of the integers sum to the target, and its oracle.

    >>> batch, oracle = subset_sum([3, 5, 8], target=11)
    >>> oracle.score(np.array([0, 0]), np.array([[0, 0, 0], [0, 1, 0]], dtype=np.int32))
    array([-25.,   0.])
    """
    for number in (*integers, target):
        if int(number) != number:
            raise ValueError(f"{number} is not an integer; subset sum needs integers")
    total = sum(abs(int(number)) for number in integers) + abs(int(target))
    if total >= EXACT:
        raise ValueError(
            f"the integers add up to {total}; choose integers that sum to less than 2^53, where float64 is exact"
        )
    batch = Batch.of([Problem((2,) * len(integers), budget=len(integers))])
    return batch, SubsetSum([int(number) for number in integers], int(target))


def read_subset(integers: Sequence[int], choice: Sequence[int] | Choices) -> tuple[int, ...]:
    """Return the integers of the words that a choice keeps.

    >>> read_subset([3, 5, 8], [0, 1, 0])
    (3, 8)
    """
    if len(choice) < len(integers):
        raise ValueError(f"the choice has {len(choice)} positions for {len(integers)} integers; expected one for each")
    return tuple(number for number, picked in zip(integers, choice, strict=False) if picked == 0)
