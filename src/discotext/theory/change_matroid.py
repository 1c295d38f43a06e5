"""A problem's changes as a matroid: one candidate per position, at most m in all.

An element is a change, a pair (position, candidate) with candidate ≥ 1. "One candidate per position" is a partition
matroid and "at most m" truncates it, so the choices of a problem are the independent sets of one single matroid: greedy
over pairs has the factor 1/2 for a monotone submodular score, not the 1/3 of two constraints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discotext.core.arrays import Choices
from discotext.core.problem import Problem
from discotext.theory.independence import PartitionMatroid, Truncation
from discotext.theory.verdict import Subset


@dataclass(frozen=True)
class Changes:
    """The changes a problem allows, numbered 0, 1, … position by position, as an independence system.

    >>> system = Changes(Problem((3, 1, 2), budget=1))
    >>> [system.pair(element) for element in system.ground]
    [(0, 1), (0, 2), (2, 1)]
    >>> system.choice({2}), system.members([0, 0, 1]), system.independent(frozenset({0, 2}))
    (array([0, 0, 1], dtype=int32), frozenset({2}), False)
    """

    problem: Problem

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The change each element stands for: (position, candidate)."""
        return tuple(
            (position, candidate) for position, count in enumerate(self.problem.counts) for candidate in range(1, count)
        )

    @cached_property
    def matroid(self) -> Truncation:
        """The same system as a truncated partition matroid."""
        blocks = tuple(position for position, _ in self.pairs)
        return Truncation(PartitionMatroid(blocks, (1,) * len(self.problem)), self.problem.budget)

    @property
    def ground(self) -> range:
        return range(len(self.pairs))

    def independent(self, members: Subset) -> bool:
        return self.matroid.independent(members)

    def pair(self, element: int) -> tuple[int, int]:
        """Return the (position, candidate) of an element."""
        if not 0 <= element < len(self.pairs):
            raise ValueError(f"element {element} is not a change of this problem; choose 0 to {len(self.pairs) - 1}")
        return self.pairs[element]

    def element(self, position: int, candidate: int) -> int:
        """Return the element for this candidate at this position."""
        counts = self.problem.counts
        if not 0 <= position < len(counts) or not 1 <= candidate < counts[position]:
            raise ValueError(
                f"candidate {candidate} at position {position} is not a change of {self.problem}; positions count "
                "from 0, and candidate 0 is the original"
            )
        return sum(count - 1 for count in counts[:position]) + candidate - 1

    def choice(self, members: Iterable[int]) -> Choices:
        """Return the choice (n,) that makes exactly these changes, whatever the budget."""
        out = np.zeros(len(self.problem), dtype=np.int32)
        for element in sorted(members):
            position, candidate = self.pair(element)
            if out[position]:
                raise ValueError(
                    f"candidates {out[position]} and {candidate} are both at position {position}; choose one"
                )
            out[position] = candidate
        return out

    def members(self, choice: Sequence[int] | Choices) -> Subset:
        """Return the changes that a choice makes; it may be longer than the problem if it is 0 there."""
        listed = [int(candidate) for candidate in choice]
        return frozenset(self.element(position, candidate) for position, candidate in enumerate(listed) if candidate)
