"""Independence systems over the elements 0, …, n − 1: which sets are allowed.

A system is downward closed: subsets of an allowed set are allowed. A *matroid* also has exchange: a smaller allowed set
can always take an element from a larger one. "At most r elements" is the uniform matroid; "at most so many of each
block" is the partition matroid; truncating a matroid to size r gives a matroid. The intersection of two matroids is in
general not a matroid, but under p of them greedy still reaches 1/(p + 1) of the best gain.

A system has a `ground` set and a test `independent`; anything with these two can be passed to `greedy`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from discotext.theory.verdict import Subset


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

    def __post_init__(self) -> None:
        if not 0 <= self.rank <= self.n:
            raise ValueError(f"rank is {self.rank}, but there are {self.n} elements; choose 0 to {self.n}")

    @property
    def ground(self) -> range:
        return range(self.n)

    def independent(self, members: Subset) -> bool:
        return len(members) <= self.rank


@dataclass(frozen=True)
class PartitionMatroid:
    """At most `capacities[b]` elements of each block b.

    blocks: (n,) the block of each element. capacities: one per block.

    >>> PartitionMatroid(blocks=(0, 0, 1), capacities=(1, 1)).independent(frozenset({0, 1}))
    False
    """

    blocks: tuple[int, ...]
    capacities: tuple[int, ...]

    def __post_init__(self) -> None:
        for element, block in enumerate(self.blocks):
            if not 0 <= block < len(self.capacities):
                raise ValueError(
                    f"element {element} is in block {block}, but there are {len(self.capacities)} capacities; number "
                    "the blocks from 0, with a capacity for each"
                )
        if any(capacity < 0 for capacity in self.capacities):
            raise ValueError(f"the capacities are {self.capacities}; choose 0 or more")

    @property
    def ground(self) -> range:
        return range(len(self.blocks))

    def independent(self, members: Subset) -> bool:
        taken = [0] * len(self.capacities)
        for element in members:
            block = self.blocks[element]
            taken[block] += 1
            if taken[block] > self.capacities[block]:
                return False
        return True


@dataclass(frozen=True)
class Truncation:
    """The sets of another system that have at most `rank` elements. A matroid if the other is one.

    >>> Truncation(UniformMatroid(5, rank=4), rank=1).independent(frozenset({0, 4}))
    False
    """

    system: System
    rank: int

    def __post_init__(self) -> None:
        if self.rank < 0:
            raise ValueError(f"rank is {self.rank}; choose 0 or more")

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

    def __post_init__(self) -> None:
        if not self.systems:
            raise ValueError("an intersection of no systems has no ground set; pass at least one system")
        sizes = [len(system.ground) for system in self.systems]
        if len(set(sizes)) > 1:
            raise ValueError(f"the systems have {sizes} elements; they must share one ground set")

    @property
    def ground(self) -> range:
        return self.systems[0].ground

    def independent(self, members: Subset) -> bool:
        return all(system.independent(members) for system in self.systems)
