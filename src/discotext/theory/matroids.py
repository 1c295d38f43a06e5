"""Independence systems over the elements 0, …, n − 1: which sets are allowed.

A system is downward closed: subsets of an allowed set are allowed. A *matroid* also has exchange: a smaller allowed set
can always take an element from a larger one. "At most r elements" is the uniform matroid; "at most so many of each
block" is the partition matroid; truncating a matroid to size r gives a matroid. The intersection of two matroids is in
general not a matroid, but under p of them greedy still reaches 1/(p + 1) of the best gain.

A system has a `ground` set and a test `independent`; anything with these two can be passed to `greedy`. `check_matroid`
and `check_extensible` test the axioms from their definitions. Those are about all pairs of sets. For exchange,
|B| = |A| + 1 is sufficient: a larger B contains such a set, and whatever that one can give to A, B can give.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Protocol, runtime_checkable

import numpy as np

from discotext.core.arrays import Choices
from discotext.core.problem import Problem
from discotext.theory.set_functions import Subset, Verdict, Witness, format_set, subsets

CHECK_LIMIT = 14  # elements of a system whose sets are all looked at


@runtime_checkable
class System(Protocol):
    """Anything that says which sets are allowed."""

    @property
    def ground(self) -> range:
        """The elements 0, …, n − 1."""
        ...

    def independent(self, members: Subset) -> bool:
        """Return whether a set is allowed."""
        ...


@dataclass(frozen=True)
class UniformMatroid:
    """At most `rank` of `n` elements: the cardinality constraint.

    >>> UniformMatroid(5, rank=2).independent(frozenset({0, 4}))
    True
    """

    n: int
    rank: int

    @property
    def ground(self) -> range:
        return range(self.n)

    def independent(self, members: Subset) -> bool:
        return len(members) <= self.rank


@dataclass(frozen=True)
class PartitionMatroid:
    """At most `capacities[b]` elements of each block b. blocks: (n,) the block of each element.

    >>> PartitionMatroid(blocks=(0, 0, 1), capacities=(1, 1)).independent(frozenset({0, 1}))
    False
    """

    blocks: tuple[int, ...]
    capacities: tuple[int, ...]

    @property
    def ground(self) -> range:
        return range(len(self.blocks))

    def independent(self, members: Subset) -> bool:
        taken = [0] * len(self.capacities)
        for element in members:
            taken[self.blocks[element]] += 1
        return all(some <= most for some, most in zip(taken, self.capacities, strict=True))


@dataclass(frozen=True)
class Truncation:
    """The sets of another system that have at most `rank` elements. A matroid if the other is one.

    >>> Truncation(UniformMatroid(5, rank=4), rank=1).independent(frozenset({0, 4}))
    False
    """

    system: System
    rank: int

    @property
    def ground(self) -> range:
        return self.system.ground

    def independent(self, members: Subset) -> bool:
        return len(members) <= self.rank and self.system.independent(members)


@dataclass(frozen=True)
class Intersection:
    """The sets that all of p systems over the same elements allow. In general not a matroid.

    >>> rows, columns = PartitionMatroid((0, 0, 1, 1), (1, 1)), PartitionMatroid((0, 1, 0, 1), (1, 1))
    >>> Intersection((rows, columns)).independent(frozenset({0, 3}))
    True
    """

    systems: tuple[System, ...]

    @property
    def ground(self) -> range:
        return self.systems[0].ground

    def independent(self, members: Subset) -> bool:
        return all(system.independent(members) for system in self.systems)


@dataclass(frozen=True)
class Changes:
    """The changes a problem allows, numbered 0, 1, … position by position, as an independence system.

    An element is a change, a pair (position, candidate) with candidate ≥ 1. "One candidate per position" is a partition
    matroid and "at most m" truncates it, so the choices of a problem are the independent sets of one single matroid:
    greedy over pairs has the factor 1/2 for a monotone submodular score, not the 1/3 of two constraints.

    >>> system = Changes(Problem((3, 1, 2), budget=1))
    >>> system.pairs
    ((0, 1), (0, 2), (2, 1))
    >>> system.choice({2}), system.members([0, 0, 1]), system.independent(frozenset({0, 2}))
    (array([0, 0, 1], dtype=int32), frozenset({2}), False)
    """

    problem: Problem

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The change each element stands for: (position, candidate)."""
        counts = enumerate(self.problem.counts)
        return tuple((position, candidate) for position, count in counts for candidate in range(1, count))

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

    def choice(self, members: Iterable[int]) -> Choices:
        """Return the choice (n,) that makes exactly these changes, whatever the budget."""
        out = np.zeros(len(self.problem), dtype=np.int32)
        for position, candidate in (self.pairs[element] for element in members):
            if out[position]:
                raise ValueError(f"candidates {out[position]} and {candidate} are both at position {position}")
            out[position] = candidate
        return out

    def members(self, choice: Sequence[int] | Choices) -> Subset:
        """Return the changes that a choice makes; it may be longer than the problem if it is 0 there."""
        changed = ((position, int(candidate)) for position, candidate in enumerate(choice) if candidate)
        return frozenset(self.pairs.index(pair) for pair in changed)


def check_matroid(system: System) -> Verdict:
    """Check that the empty set and subsets of independent sets are independent, and the exchange axiom.

    >>> rows, columns = PartitionMatroid((0, 0, 1), (1, 1)), PartitionMatroid((0, 1, 0), (1, 1))
    >>> print(check_matroid(rows))
    matroid: holds in all 17 cases
    >>> print(check_matroid(Intersection((rows, columns))))
    matroid: refuted; {0} can take no element from {1, 2}
    """
    allowed = list_allowed(system)
    checks, witness = check_closed_downward(allowed)
    pairs = ((a, b) for a in allowed for b in allowed if len(b) == len(a) + 1)
    for smaller, larger in pairs if witness is None else ():
        checks += 1
        if not any(smaller | {element} in allowed for element in larger - smaller):
            sentence = f"{format_set(smaller)} can take no element from {format_set(larger)}"
            witness = Witness(smaller, larger, None, (), sentence)
            break
    return Verdict("matroid", True, checks, witness)


def check_extensible(system: System, p: int) -> Verdict:
    """Check whether the system is p-extensible (Mestre 2006): a new element displaces at most p others.

    For all independent A ⊆ B and e with A + e independent there is Z ⊆ B − A, |Z| ≤ p, with B − Z + e independent. The
    1-extensible systems are the matroids, and p matroids together are p-extensible.

    >>> print(check_extensible(UniformMatroid(3, rank=2), p=1))
    1-extensible: holds in all 34 cases
    """
    allowed = list_allowed(system)
    checks, witness = check_closed_downward(allowed)
    cases = (
        (smaller, larger, element)
        for larger in allowed
        for smaller in subsets(larger)
        for element in system.ground
        if element not in larger and smaller | {element} in allowed
    )
    for smaller, larger, element in cases if witness is None else ():
        checks += 1
        free = larger - smaller
        leaving = (some for size in range(min(p, len(free)) + 1) for some in combinations(free, size))
        if not any((larger - set(some)) | {element} in allowed for some in leaving):
            sentence = (
                f"{element} can be added to {format_set(smaller)}, but adding it to {format_set(larger)} displaces "
                f"more than {p} of {format_set(free)}"
            )
            witness = Witness(smaller, larger, element, (), sentence)
            break
    return Verdict(f"{p}-extensible", True, checks, witness)


def list_allowed(system: System) -> dict[Subset, None]:
    """Return the independent sets, the smaller ones first, for quick look-up."""
    if len(system.ground) > CHECK_LIMIT:
        raise ValueError(
            f"the system has 2^{len(system.ground)} sets; with more than {CHECK_LIMIT} elements, axioms are not checked"
        )
    return dict.fromkeys(members for members in subsets(system.ground) if system.independent(members))


def check_closed_downward(allowed: Collection[Subset]) -> tuple[int, Witness | None]:
    """Check the empty set and every set without one of its elements; return the number of checks and a witness."""
    empty: Subset = frozenset()
    if empty not in allowed:
        return 1, Witness(empty, empty, None, (), "the empty set is not independent")
    checks = 1
    for members in allowed:
        for element in sorted(members):
            checks, fewer = checks + 1, members - {element}
            if fewer not in allowed:
                sentence = f"{format_set(members)} is independent, but its subset {format_set(fewer)} is not"
                return checks, Witness(fewer, members, element, (), sentence)
    return checks, None
