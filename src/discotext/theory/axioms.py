"""Checks from the definitions, with a witness, whether a system is a matroid or p-extensible.

The axioms are about all pairs of sets. For exchange, |B| = |A| + 1 is sufficient: a larger B contains such a set, and
whatever that one can give to A, B can give. Up to `exhaustive_up_to` elements every pair is tried; beyond, independent
sets are grown at random, and the verdict says that it is based on samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import combinations, pairwise

import numpy as np

from discotext.theory.independence import System
from discotext.theory.set_function import subsets
from discotext.theory.verdict import Subset, Verdict, Witness, format_set

Test = Callable[[Subset], bool]


def check_matroid(system: System, *, exhaustive_up_to: int = 10, samples: int = 1000, seed: int = 0) -> Verdict:
    """Check that the empty set and subsets of independent sets are independent, and the exchange axiom.

    >>> from discotext.theory.independence import PartitionMatroid, Intersection
    >>> rows, columns = PartitionMatroid((0, 0, 1), (1, 1)), PartitionMatroid((0, 1, 0), (1, 1))
    >>> print(check_matroid(rows))
    matroid: holds in all 17 cases
    >>> print(check_matroid(Intersection((rows, columns))))
    matroid: refuted; {0} can take no element from {1, 2}
    """
    independent = memoise(system)
    family, exhaustive = list_independent_sets(system, independent, exhaustive_up_to, samples, seed)
    checks, witness = check_closed_downward(independent, family)
    if witness is None:
        pairs = pair_by_size(family) if exhaustive else pair_consecutive(family)
        for smaller, larger in pairs:
            checks += 1
            if not any(independent(smaller | {element}) for element in larger - smaller):
                sentence = f"{format_set(smaller)} can take no element from {format_set(larger)}"
                witness = Witness(smaller, larger, None, (), sentence)
                break
    return Verdict("matroid", witness is None, exhaustive, checks, witness)


def check_extensible(
    system: System, p: int, *, exhaustive_up_to: int = 8, samples: int = 1000, seed: int = 0
) -> Verdict:
    """Check whether the system is p-extensible (Mestre 2006): a new element displaces at most p others.

    For all independent A ⊆ B and e with A + e independent there is Z ⊆ B − A, |Z| ≤ p, with B − Z + e independent. The
    1-extensible systems are the matroids, and p matroids together are p-extensible.

    >>> from discotext.theory.independence import UniformMatroid
    >>> print(check_extensible(UniformMatroid(3, rank=2), p=1))
    1-extensible: holds in all 34 cases
    """
    if p < 0:
        raise ValueError(f"p is {p}, but it counts displaced elements; choose 0 or more")
    claim = f"{p}-extensible"
    independent = memoise(system)
    family, exhaustive = list_independent_sets(system, independent, exhaustive_up_to, samples, seed)
    checks, witness = check_closed_downward(independent, family)
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
                        f"{element} can be added to {format_set(smaller)}, but adding it to {format_set(larger)} "
                        f"displaces more than {p} of {format_set(larger - smaller)}"
                    )
                    witness = Witness(smaller, larger, element, (), sentence)
                    return Verdict(claim, holds=False, exhaustive=exhaustive, checks=checks, witness=witness)
    return Verdict(claim, holds=True, exhaustive=exhaustive, checks=checks)


def memoise(system: System) -> Test:
    """Return the system's independence test with a cache: the axioms test the same sets many times."""
    return lru_cache(maxsize=None)(system.independent)


def can_make_room(independent: Test, smaller: Subset, larger: Subset, element: int, p: int) -> bool:
    """Return whether `element` can be added to `larger` if at most p elements outside `smaller` leave it."""
    free = sorted(larger - smaller)
    return any(
        independent((larger - set(leaving)) | {element})
        for size in range(min(p, len(free)) + 1)
        for leaving in combinations(free, size)
    )


def list_independent_sets(
    system: System, independent: Test, exhaustive_up_to: int, samples: int, seed: int
) -> tuple[list[Subset], bool]:
    """Return all independent sets of a small system, or some grown at random; and whether they are all."""
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


def check_closed_downward(independent: Test, family: list[Subset]) -> tuple[int, Witness | None]:
    """Check the empty set and every set without one of its elements; return the number of checks and a witness."""
    empty: Subset = frozenset()
    if not independent(empty):
        return 1, Witness(empty, empty, None, (), "the empty set is not independent")
    checks = 1
    for members in family:
        for element in sorted(members):
            checks += 1
            if not independent(members - {element}):
                sentence = (
                    f"{format_set(members)} is independent, but its subset {format_set(members - {element})} is not"
                )
                return checks, Witness(members - {element}, members, element, (), sentence)
    return checks, None


def pair_by_size(family: list[Subset]) -> Iterator[tuple[Subset, Subset]]:
    """Yield all pairs whose sizes differ by one, the smaller first."""
    by_size: dict[int, list[Subset]] = {}
    for members in family:
        by_size.setdefault(len(members), []).append(members)
    for size, smaller in by_size.items():
        yield from ((a, b) for a in smaller for b in by_size.get(size + 1, []))


def pair_consecutive(family: list[Subset]) -> Iterator[tuple[Subset, Subset]]:
    """Yield each set with the next one, the smaller first; pairs of equal size are skipped, as they show nothing."""
    for one, other in pairwise(family):
        if len(one) != len(other):
            yield (one, other) if len(one) < len(other) else (other, one)
