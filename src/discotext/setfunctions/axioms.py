"""Is it a matroid? Is it p-extensible? Checked from the definitions, with a witness.

The axioms are about all pairs of sets. For exchange it is enough to look at |B| = |A| + 1: a larger B holds such a set,
and what that one can lend B can lend. Up to `exhaustive_up_to` elements every pair is tried; beyond, independent sets
are grown at random, and the verdict says that it is one from samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import combinations, pairwise

import numpy as np

from discotext.setfunctions.independence import System
from discotext.setfunctions.set_function import subsets
from discotext.setfunctions.verdict import Subset, Verdict, Witness, show

Test = Callable[[Subset], bool]


def check_matroid(system: System, *, exhaustive_up_to: int = 10, samples: int = 1000, seed: int = 0) -> Verdict:
    """Whether the empty set is independent, subsets of independent sets are, and smaller sets can borrow from larger.

    >>> from discotext.setfunctions.independence import PartitionMatroid, Intersection
    >>> rows, columns = PartitionMatroid((0, 0, 1), (1, 1)), PartitionMatroid((0, 1, 0), (1, 1))
    >>> print(check_matroid(rows))
    matroid: holds in all 17 cases
    >>> print(check_matroid(Intersection((rows, columns))))
    matroid: refuted; {0} can take nothing from {1, 2}
    """
    independent = remembered(system)
    family, exhaustive = independent_sets(system, independent, exhaustive_up_to, samples, seed)
    checks, witness = closed_downward(independent, family)
    if witness is None:
        pairs = neighbours_in_size(family) if exhaustive else unequal_pairs(family)
        for smaller, larger in pairs:
            checks += 1
            if not any(independent(smaller | {element}) for element in larger - smaller):
                sentence = f"{show(smaller)} can take nothing from {show(larger)}"
                witness = Witness(smaller, larger, None, (), sentence)
                break
    return Verdict("matroid", witness is None, exhaustive, checks, witness)


def check_extensible(
    system: System, p: int, *, exhaustive_up_to: int = 8, samples: int = 1000, seed: int = 0
) -> Verdict:
    """Whether the system is p-extensible (Mestre 2006): one new element costs at most p others.

    For all independent A ⊆ B and e with A + e independent there is Z ⊆ B − A, |Z| ≤ p, with B − Z + e independent. The
    1-extensible systems are the matroids, and p matroids together are p-extensible.

    >>> from discotext.setfunctions.independence import UniformMatroid
    >>> print(check_extensible(UniformMatroid(3, rank=2), p=1))
    1-extensible: holds in all 34 cases
    """
    if p < 0:
        raise ValueError(f"p is {p}, but it counts the elements given up; choose 0 or more")
    claim = f"{p}-extensible"
    independent = remembered(system)
    family, exhaustive = independent_sets(system, independent, exhaustive_up_to, samples, seed)
    checks, witness = closed_downward(independent, family)
    if witness is not None:
        return Verdict(claim, holds=False, exhaustive=exhaustive, checks=checks, witness=witness)
    rng = np.random.default_rng(seed)
    for larger in family:
        inner = subsets(larger) if exhaustive else [frozenset(e for e in sorted(larger) if rng.random() < 0.5)]
        for smaller in inner:
            for element in system.ground:
                if element in larger or not independent(smaller | {element}):
                    continue
                checks += 1
                if not can_make_room(independent, smaller, larger, element, p):
                    sentence = (
                        f"{element} can join {show(smaller)}, but to join {show(larger)} it needs more than {p} of "
                        f"{show(larger - smaller)} to leave"
                    )
                    witness = Witness(smaller, larger, element, (), sentence)
                    return Verdict(claim, holds=False, exhaustive=exhaustive, checks=checks, witness=witness)
    return Verdict(claim, holds=True, exhaustive=exhaustive, checks=checks)


def remembered(system: System) -> Test:
    """The system's test with a memory: the axioms ask about the same sets again and again."""
    return lru_cache(maxsize=None)(system.independent)


def can_make_room(independent: Test, smaller: Subset, larger: Subset, element: int, p: int) -> bool:
    free = sorted(larger - smaller)
    return any(
        independent((larger - set(leaving)) | {element})
        for size in range(min(p, len(free)) + 1)
        for leaving in combinations(free, size)
    )


def independent_sets(
    system: System, independent: Test, exhaustive_up_to: int, samples: int, seed: int
) -> tuple[list[Subset], bool]:
    """All independent sets of a small system, or some grown at random; and whether they are all."""
    if len(system.ground) <= exhaustive_up_to:
        return [members for members in subsets(system.ground) if independent(members)], True
    rng = np.random.default_rng(seed)
    grown = []
    for _ in range(samples):
        members: Subset = frozenset()
        aim = int(rng.integers(len(system.ground) + 1))
        for element in rng.permutation(len(system.ground)).tolist():
            if len(members) < aim and independent(members | {element}):
                members |= {element}
        grown.append(members)
    return grown, False


def closed_downward(independent: Test, family: list[Subset]) -> tuple[int, Witness | None]:
    """Check the empty set and every set with one element taken out; the number of checks and what was found."""
    empty: Subset = frozenset()
    if not independent(empty):
        return 1, Witness(empty, empty, None, (), "the empty set is not independent")
    checks = 1
    for members in family:
        for element in sorted(members):
            checks += 1
            if not independent(members - {element}):
                sentence = f"{show(members)} is independent, {show(members - {element})} inside it is not"
                return checks, Witness(members - {element}, members, element, (), sentence)
    return checks, None


def neighbours_in_size(family: list[Subset]) -> Iterator[tuple[Subset, Subset]]:
    """All pairs whose sizes differ by one, the smaller first."""
    by_size: dict[int, list[Subset]] = {}
    for members in family:
        by_size.setdefault(len(members), []).append(members)
    for size, smaller in by_size.items():
        yield from ((a, b) for a in smaller for b in by_size.get(size + 1, []))


def unequal_pairs(family: list[Subset]) -> Iterator[tuple[Subset, Subset]]:
    """Each set with the one drawn after it, the smaller first; pairs of one size say nothing."""
    for one, other in pairwise(family):
        if len(one) != len(other):
            yield (one, other) if len(one) < len(other) else (other, one)
