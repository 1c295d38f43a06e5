"""What is searched: one candidate per position, and at most m changes.

A `Problem` is pure shape. It knows how many candidates each position has and how many positions may change, and neither
words nor scores. Candidate 0 of a position is the original, so the all-zero choice is the text as it came. A `Batch` is
many problems laid end to end: the paper stacks the weights of all candidates of all positions into one vector, and a
batch of problems is the same vector, longer. A `Solution` is what comes back, with a `Status` that is a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property, lru_cache
from operator import index
from typing import SupportsIndex, TypeVar

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Bools, Choices, Floats, Ints, ranges, rank_in_group, segment_sum

Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True)
class Problem:
    """Positions with candidates, and a budget of changes.

    counts: candidates of each position, the original included, so at least 1 (and 1 means: may not change).
    budget: how many positions may hold something else than their original, from 0 to the number of positions.

    >>> Problem(counts=(3, 1, 2), budget=1).feasible_choices
    4
    """

    counts: tuple[int, ...]
    budget: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", whole_numbers("counts", self.counts))
        object.__setattr__(self, "budget", whole_numbers("budget", [self.budget])[0])
        for position, count in enumerate(self.counts):
            if count < 1:
                raise ValueError(
                    f"position {position} has {count} candidates; give at least 1, because candidate 0 is the original"
                )
        n = len(self.counts)
        if not 0 <= self.budget <= n:
            raise ValueError(f"budget is {self.budget}, but the problem has {n} positions; choose 0 to {n}")

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def feasible_choices(self) -> int:
        """How many choices keep within the budget: the elementary symmetric sums of k_i − 1, added up to the budget."""
        return sum(self.count_by_changes())

    def has_at_most(self, choices: float) -> bool:
        """Whether at most this many choices keep within the budget; quick for large problems too."""
        return sum(self.count_by_changes(choices)) <= choices

    def count_by_changes(self, enough: float = np.inf) -> list[int]:
        """How many choices have 0, 1, …, budget changes. Counting ends early when there are more than `enough` in all.

        >>> Problem(counts=(3, 1, 2), budget=2).count_by_changes()
        [1, 3, 2]
        """
        found = [1] + [0] * self.budget
        for count in self.counts:
            if count > 1:
                for changed in range(self.budget, 0, -1):
                    found[changed] += found[changed - 1] * (count - 1)
                if sum(found) > enough:
                    break
        return found


def whole_numbers(name: str, values: Iterable[SupportsIndex]) -> tuple[int, ...]:
    """The values as integers; TypeError if one is not."""
    try:
        return tuple(index(value) for value in values)
    except TypeError:
        raise TypeError(
            f"{name} is {values!r}; give whole numbers: counts holds how many candidates each position has, "
            "the original included, and budget how many may change"
        ) from None


@dataclass(frozen=True, eq=False)
class Batch:
    """The shapes of many problems, concatenated. Build it with `Batch.of`.

    counts: (N,) candidates of every position of every problem.
    sizes: (B,) positions of every problem.
    budgets: (B,) changes allowed in every problem.

    A *flat* array has K = Σ counts entries, one per candidate; a *dense* one is (B, n_max), one entry per position.

    >>> batch = Batch.of([Problem((3, 1), 1), Problem((2,), 1)])
    >>> len(batch), batch.n_max, batch.candidates
    (2, 2, 6)
    """

    counts: Ints
    sizes: Ints
    budgets: Ints

    @classmethod
    def of(cls, problems: Iterable[Problem]) -> Batch:
        """Lay problems end to end."""
        listed = [problems] if isinstance(problems, Problem) else list(problems)
        return cls(
            counts=np.array([count for problem in listed for count in problem.counts], dtype=np.int64),
            sizes=np.array([len(problem) for problem in listed], dtype=np.int64),
            budgets=np.array([problem.budget for problem in listed], dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, number: int) -> Problem:
        number = range(len(self))[number]
        first, last = self.first_position[number], self.first_position[number + 1]
        return Problem(tuple(self.counts[first:last].tolist()), int(self.budgets[number]))

    def same_shapes(self, other: Batch) -> bool:
        """Whether both have the same positions and candidates, whatever their budgets."""
        return np.array_equal(self.sizes, other.sizes) and np.array_equal(self.counts, other.counts)

    @property
    def candidates(self) -> int:
        """K, the number of candidates of all positions of all problems."""
        return int(self.first_candidate[-1])

    @cached_property
    def n_max(self) -> int:
        """Positions of the longest problem."""
        return int(self.sizes.max(initial=0))

    @cached_property
    def first_position(self) -> Ints:
        """(B + 1,) where each problem's positions start, and the end."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    @cached_property
    def starts(self) -> Ints:
        """(N,) where each position's candidates start in a flat array."""
        return np.asarray(np.cumsum(self.counts) - self.counts)

    @cached_property
    def first_candidate(self) -> Ints:
        """(B + 1,) where each problem's candidates start in a flat array, and the end."""
        ends = np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int64)
        return np.asarray(ends[self.first_position])

    @cached_property
    def widths(self) -> Ints:
        """(B,) candidates of all positions of each problem."""
        return np.diff(self.first_candidate)

    @cached_property
    def problem_of_position(self) -> Ints:
        """(N,) the problem each position belongs to."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @cached_property
    def position_of(self) -> Ints:
        """(K,) the position each candidate belongs to."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @cached_property
    def row_of(self) -> Ints:
        """(K,) the problem each candidate belongs to."""
        return np.repeat(np.arange(len(self)), self.widths)

    @cached_property
    def mask(self) -> Bools:
        """(B, n_max) True where a problem has a position."""
        return np.asarray(np.arange(self.n_max) < self.sizes[:, None])

    @cached_property
    def dense_counts(self) -> Ints:
        """(B, n_max) candidates of each position, 0 beyond a problem's end."""
        return np.asarray(self.dense(self.counts, 0))

    def take(self, problems: Ints | Sequence[int]) -> Batch:
        """The batch of these problems, in this order; a problem may be taken many times (restarts are rows).

        >>> Batch.of([Problem((3, 1), 1), Problem((2,), 1)]).take([1, 1, 0]).counts
        array([2, 2, 3, 1])
        """
        rows = np.asarray(problems, dtype=np.int64)
        positions = ranges(self.first_position[rows], self.sizes[rows])
        return Batch(self.counts[positions], self.sizes[rows], self.budgets[rows])

    def with_budgets(self, budgets: Ints) -> Batch:
        """The same problems with other budgets."""
        return replace(self, budgets=np.minimum(budgets, self.sizes))

    def flat_rows(self, rows: Ints) -> Ints:
        """Indices, into a flat array of this batch, of all candidates of these rows in turn."""
        return ranges(self.first_candidate[rows], self.widths[rows])

    def originals(self) -> Choices:
        """(B, n_max) the choice that changes nothing."""
        return np.zeros((len(self), self.n_max), dtype=np.int32)

    def dense(self, values: NDArray[Number], fill: float) -> NDArray[Number]:
        """Spread (N,) values, one per position, over (B, n_max)."""
        out: NDArray[Number] = np.full((len(self), self.n_max), fill, dtype=values.dtype)
        out[self.mask] = values
        return out

    def chosen(self, choices: Choices) -> Ints:
        """(N,) where the chosen candidate of each position stands in a flat array."""
        return np.asarray(self.starts + choices[:, : self.n_max][self.mask])

    def one_hot(self, choices: Choices) -> Floats:
        """(K,) the mixture that is exactly these choices.

        >>> Batch.of([Problem((3, 1), 1)]).one_hot(np.array([[2, 0]], dtype=np.int32))
        array([0., 0., 1., 1.])
        """
        alpha = np.zeros(self.candidates)
        alpha[self.chosen(choices)] = 1.0
        return alpha

    def infeasible(self, choices: Choices) -> Bools:
        """(B,) True where a choice names a candidate that is not there, or changes more than is allowed."""
        inside = choices[:, : self.n_max]
        beyond = (choices[:, self.n_max :] != 0).any(axis=1)
        out_of_range = ((inside < 0) | (inside >= np.maximum(self.dense_counts, 1))).any(axis=1)
        return np.asarray(beyond | out_of_range | (count_changes(choices) > self.budgets))


def count_changes(choices: Choices) -> Ints:
    """(R,) how many positions of each row hold something else than the original.

    >>> count_changes(np.array([[0, 2, 1], [0, 0, 0]], dtype=np.int32))
    array([2, 0])
    """
    return np.asarray((choices != 0).sum(axis=1))


@lru_cache(maxsize=8)
def _multipliers(width: int) -> NDArray[np.uint64]:
    # Any fixed odd numbers do; they need not be secret, only unlike each other. Every width has the same beginning.
    numbers = np.random.default_rng(20260).integers(1, 2**63, size=(width, 2), dtype=np.uint64)
    return numbers * np.uint64(2) + np.uint64(1)


def fingerprints(choices: Choices) -> NDArray[np.uint64]:
    """(R, 2) two 64-bit sums that tell choices apart, made for all rows at once.

    They are linear: zeros beyond a problem's end add nothing, and a swap adds the same whatever came before it.

    >>> rows = fingerprints(np.array([[0, 2, 1], [0, 2, 1], [1, 2, 0]], dtype=np.int32))
    >>> (rows[0] == rows[1]).all(), (rows[0] == rows[2]).any()
    (np.True_, np.False_)
    """
    return np.asarray(choices.astype(np.uint64) @ _multipliers(choices.shape[1]))


def best_distinct(groups: Ints, hashes: NDArray[np.uint64], scores: Floats, count: int) -> Ints:
    """Indices of the best `count` entries of each group, entries of one hash counted once, groups in order."""
    order = np.lexsort((-scores, hashes, groups))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (groups[order][1:] != groups[order][:-1]) | (hashes[order][1:] != hashes[order][:-1])
    distinct = order[new]
    distinct = distinct[np.lexsort((-scores[distinct], groups[distinct]))]
    return np.asarray(distinct[rank_in_group(groups[distinct]) < count])


def interior_point(layout: Batch, rng: np.random.Generator) -> Floats:
    """A random mixture with every weight positive."""
    weights = rng.uniform(0.2, 1.0, size=layout.candidates)
    return np.asarray(weights / segment_sum(weights, layout.starts)[layout.position_of])


def random_choices(layout: Batch, rng: np.random.Generator) -> Choices:
    """(B, n_max) feasible choices: a random number of random positions changed, each to a random candidate."""
    keys = np.where(layout.dense_counts > 1, rng.random((len(layout), layout.n_max)), np.inf)
    changes = np.floor(rng.random(len(layout)) * (layout.budgets + 1))
    rank = np.argsort(np.argsort(keys, axis=1), axis=1)
    changed = (rank < changes[:, None]) & np.isfinite(keys)
    candidate = 1 + np.floor(rng.random(keys.shape) * np.maximum(layout.dense_counts - 1, 0))
    return np.where(changed, candidate, 0).astype(np.int32)


class Status(Enum):
    """How a search ended. The value is a sentence to show."""

    REACHED = "The goal was reached."
    FEWEST = "The goal was reached, and it is proved that fewer changes do not reach it."
    IMPOSSIBLE = "It is proved that no choice within the budget reaches the goal."
    OPTIMAL = "It is proved that no choice within the budget scores higher."
    IMPROVED = "A better choice than the original was found; it may not be the best."
    UNCHANGED = "Nothing better than the original was found."
    STOPPED = "A limit stopped the search; this is the best choice found until then."
    UNSTABLE = "The score changed on re-evaluation; is the model deterministic? `check_oracle` finds out."
    FAILED = "The oracle failed on this problem (`error` says how); this is the best choice found until then."

    @property
    def proved(self) -> bool:
        """Whether the status is a proof."""
        return self in (Status.FEWEST, Status.IMPOSSIBLE, Status.OPTIMAL)


@dataclass(frozen=True, eq=False)
class Solution:
    """The best choice found for one problem, checked: it is within budget, and `score` was asked for once more.

    choice: (n,) one candidate number per position, 0 for the original.
    original_score: of the choice that changes nothing.
    forwards, backwards: what reached the model for this problem, the check included.
    seconds: this problem's share of the time; the shares of a batch add up to the whole.
    oracle_seconds: of those, what was spent inside the oracle.
    error: why the oracle failed, when it did.
    bounds: how often the oracle was asked for bounds.
    reached_after: the forwards after which the goal was first reached, before pruning; None where it was not.
    proved_below: no choice with fewer changes than this reaches the goal; 0 or 1 where nothing is proved.
    """

    choice: Choices
    score: float
    original_score: float
    status: Status
    forwards: int
    backwards: int
    seconds: float
    oracle_seconds: float
    error: str | None = None
    proved_below: int = 0
    bounds: int = 0
    reached_after: int | None = None

    @property
    def changes(self) -> int:
        """How many positions hold something else than their original."""
        return int((self.choice != 0).sum())

    @property
    def proved(self) -> bool:
        """Whether the answer is a proof."""
        return self.status.proved

    @property
    def reached(self) -> bool:
        """Whether the goal was reached."""
        return self.status in (Status.REACHED, Status.FEWEST)
