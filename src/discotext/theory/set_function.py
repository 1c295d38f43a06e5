"""Functions of sets: a number for every subset of the elements 0, 1, …, n − 1.

A set function is the most general score there is, and 2^n numbers are too many to compute. What makes some of them
tractable is how the *gain* of an element, f(S + e) − f(S), behaves as S grows: never negative (monotone), never growing
(submodular). This module defines the functions; `properties` checks whether they are monotone or submodular.

Values are cached, so that a check and a search over the same function compute each set once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from discotext.core.arrays import Floats
from discotext.theory.verdict import Subset, format_set

TABLE_LIMIT = 20


@dataclass(frozen=True, eq=False)
class SetFunction:
    """A function of the subsets of 0, …, n − 1, with a cache.

    rule: takes a frozenset, returns a finite number.
    many: the same for a list of sets, where that is cheaper than one by one (an oracle is faster in large calls).

    >>> f = SetFunction(3, lambda members: float(len(members) ** 0.5))
    >>> f([0]), round(f.gain(1, [0]), 3), f.evaluations
    (1.0, 0.414, 2)
    """

    n: int
    rule: Callable[[Subset], float]
    many: Callable[[Sequence[Subset]], Sequence[float] | Floats] | None = None
    _cache: dict[Subset, float] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.n < 0:
            raise ValueError(f"n is {self.n}; choose 0 or more elements")

    @property
    def ground(self) -> range:
        """The elements."""
        return range(self.n)

    @property
    def evaluations(self) -> int:
        """How many different sets have been evaluated so far."""
        return len(self._cache)

    def __call__(self, members: Iterable[int]) -> float:
        return float(self.values([members])[0])

    def gain(self, element: int, members: Iterable[int]) -> float:
        """The discrete derivative Δ(e | S) = f(S + e) − f(S); 0 where e is already in S."""
        inside = frozenset(members)
        larger, smaller = self.values([inside | {element}, inside])
        return float(larger - smaller)

    def values(self, sets: Iterable[Iterable[int]]) -> Floats:
        """Return f of many sets; those not yet known are evaluated together."""
        requested = [frozenset(members) for members in sets]
        fresh = [members for members in dict.fromkeys(requested) if members not in self._cache]
        for members in fresh:
            if any(not 0 <= element < self.n for element in members):
                raise ValueError(
                    f"the set {format_set(members)} has elements outside the ground set; choose 0 to {self.n - 1}"
                )
        if fresh:
            found = self.many(fresh) if self.many is not None else [self.rule(members) for members in fresh]
            for members, value in zip(fresh, found, strict=True):
                if not np.isfinite(value):
                    raise ValueError(
                        f"f({format_set(members)}) is {value}; expected a finite number, so correct the rule"
                    )
                self._cache[members] = float(value)
        return np.array([self._cache[members] for members in requested])


def subsets(members: Iterable[int]) -> Iterator[Subset]:
    """Yield all subsets of a set, the smaller ones first.

    >>> [sorted(subset) for subset in subsets({1, 2})]
    [[], [1], [2], [1, 2]]
    """
    listed = sorted(members)
    for size in range(len(listed) + 1):
        yield from map(frozenset, combinations(listed, size))


def tabulate(f: SetFunction) -> Floats:
    """Return (2^n,) f of every set; entry s is that of the elements whose bits are set in s.

    >>> tabulate(modular([1.0, 10.0]))
    array([ 0.,  1., 10., 11.])
    """
    if f.n > TABLE_LIMIT:
        raise ValueError(
            f"f has {f.n} elements, hence 2^{f.n} values; with more than {TABLE_LIMIT} elements, sample instead"
        )
    return f.values(decode_mask(mask, f.n) for mask in range(2**f.n))


def decode_mask(mask: int, n: int) -> Subset:
    """Return the elements whose bits are set."""
    return frozenset(element for element in range(n) if mask >> element & 1)


def combine(functions: Sequence[SetFunction], weights: Sequence[float]) -> SetFunction:
    """Return Σ_i weights_i f_i with weights ≥ 0: submodular if every f_i is, monotone if every f_i is.

    >>> combine([modular([1.0, 2.0]), modular([1.0, 0.0])], [1.0, 3.0])([0, 1])
    6.0
    """
    if not functions or len(functions) != len(weights):
        raise ValueError(
            f"there are {len(functions)} functions and {len(weights)} weights; expected a weight for each of 1 or more"
        )
    if any(f.n != functions[0].n for f in functions):
        raise ValueError(f"the ground sets have {[f.n for f in functions]} elements; expected the same ground set")
    if any(not weight >= 0 for weight in weights):
        raise ValueError(f"the weights are {list(weights)}; only weights of 0 or more preserve submodularity")
    kept, factors = list(functions), np.asarray(weights, dtype=np.float64)

    def many(sets: Sequence[Subset]) -> Floats:
        return np.asarray(factors @ np.array([f.values(sets) for f in kept]))

    return SetFunction(kept[0].n, lambda members: float(many([members])[0]), many)


def modular(weights: Sequence[float], offset: float = 0.0) -> SetFunction:
    """Return f(S) = offset + Σ_{e ∈ S} weights_e, whose gains are constant.

    >>> modular([1.0, 2.0], offset=5.0)([1])
    7.0
    """
    kept = [float(weight) for weight in weights]
    return SetFunction(len(kept), lambda members: offset + sum(kept[element] for element in sorted(members)))


def coverage(covers: Sequence[Iterable[Hashable]], weights: Mapping[Hashable, float] | None = None) -> SetFunction:
    """Return f(S) = the weight of all items that S covers: the standard example of a monotone submodular function.

    covers: for each element, the items it covers. weights: of the items, ≥ 0, by default 1.

    >>> f = coverage([{"a", "b"}, {"b", "c"}])
    >>> f([0]), f([0, 1])
    (2.0, 3.0)
    """
    kept = [frozenset(items) for items in covers]
    weight_of = dict(weights or {})
    for item, weight in weight_of.items():
        if not weight >= 0:
            raise ValueError(f"item {item!r} has weight {weight}; choose 0 or more")

    def rule(members: Subset) -> float:
        covered = frozenset[Hashable]().union(*(kept[element] for element in members))
        # A fixed order of summation: equal sets must have equal values to the last bit.
        return float(sum(sorted(weight_of.get(item, 1.0) for item in covered)))

    return SetFunction(len(kept), rule)
