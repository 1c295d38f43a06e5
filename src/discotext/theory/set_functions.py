"""Functions of sets: a number for every subset of the elements 0, 1, …, n − 1.

A set function is the most general score there is, and 2^n numbers are too many to compute. What makes some of them
tractable is how the *gain* of an element, Δ(e | S) = f(S + e) − f(S), behaves as S grows: never negative (monotone),
never growing (submodular). Both are about the sign of mixed differences Σ_{T ⊆ A} (−1)^|T| f(S ∪ T): for A = {e} none
is positive exactly if f is monotone, for A = {a, b} none is positive exactly if f is submodular. That pairs suffice is
because the gain at a larger set is reached by adding elements one at a time; it takes 2^n n² checks instead of 3^n n.
Where 2^n is too large, sets are sampled instead, and the verdict says so: not refuted is not proved.

Two numbers say how far a monotone function is from these. *Curvature* (Conforti and Cornuéjols 1984) is the share of
its first gain that an element can lose: 0 for a modular function, 1 if some element becomes worthless; greedy under a
cardinality constraint reaches (1 − e^{−c})/c of the best gain. The *submodularity ratio* (Das and Kempe 2011) is the
share of a set's joint gain that the single gains of its elements explain in the worst case: 1 exactly for submodular
functions; greedy reaches 1 − e^{−γ} of the best gain, which is what remains of the guarantee when its hypothesis fails.

A set is a vertex of the cube [0, 1]^n. Two extensions to its interior are expectations of f over a random set:

    Lovász        one uniform threshold θ for all: {i : x_i > θ}   piecewise linear; convex exactly if f is submodular
    multilinear   each element independently, probability x_i      a polynomial; then concave along x + t·d, d ≥ 0
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from discotext.core.arrays import Floats

TABLE_LIMIT = 20  # elements of a function whose 2^n values are all computed
PAIRS_LIMIT = 2_000_000  # pairs of sets that the submodularity ratio compares
Subset = frozenset[int]


@dataclass(frozen=True)
class Witness:
    """Two sets, possibly an element, and the numbers that refute a claim.

    smaller, larger: the sets; the smaller is a subset of the larger unless the sentence says otherwise.
    element: what was added to both, or None.
    gains: its gain at the smaller set, then at the larger; empty if the claim is not about values.
    sentence: the same in words.
    """

    smaller: Subset
    larger: Subset
    element: int | None
    gains: tuple[float, ...]
    sentence: str


@dataclass(frozen=True)
class Verdict:
    """The outcome of a check. It is true in an `if` when the claim holds.

    exhaustive: whether every case was checked; otherwise `checks` cases were sampled, and "holds" means "not refuted".

    >>> bool(Verdict("monotone", exhaustive=True, checks=4))
    True
    """

    claim: str
    exhaustive: bool
    checks: int
    witness: Witness | None = None

    @property
    def holds(self) -> bool:
        return self.witness is None

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        if self.witness is not None:
            return f"{self.claim}: refuted; {self.witness.sentence}"
        if self.exhaustive:
            return f"{self.claim}: holds in all {self.checks} cases"
        return f"{self.claim}: not refuted by {self.checks} cases drawn"


def format_set(members: Iterable[int]) -> str:
    """Return a set in mathematical notation.

    >>> format_set({2, 0})
    '{0, 2}'
    """
    return "{" + ", ".join(map(str, sorted(members))) + "}"


def subsets(members: Iterable[int]) -> Iterator[Subset]:
    """Yield all subsets of a set, the smaller ones first.

    >>> [sorted(subset) for subset in subsets({1, 2})]
    [[], [1], [2], [1, 2]]
    """
    listed = sorted(members)
    for size in range(len(listed) + 1):
        yield from map(frozenset, combinations(listed, size))


@dataclass(frozen=True, eq=False)
class SetFunction:
    """A function of the subsets of 0, …, n − 1. Values are cached, so that each set is evaluated once.

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
                raise ValueError(f"the set {format_set(members)} is not in the ground set; choose 0 to {self.n - 1}")
        found = [self.rule(members) for members in fresh] if self.many is None else self.many(fresh) if fresh else []
        for members, value in zip(fresh, found, strict=True):
            if not np.isfinite(value):
                raise ValueError(f"f({format_set(members)}) is {value}; expected a finite number, so correct the rule")
            self._cache[members] = float(value)
        return np.array([self._cache[members] for members in requested])


def tabulate(f: SetFunction) -> Floats:
    """Return (2^n,) f of every set; entry s is that of the elements whose bits are set in s.

    >>> tabulate(modular([1.0, 10.0]))
    array([ 0.,  1., 10., 11.])
    """
    if f.n > TABLE_LIMIT:
        raise ValueError(f"f has 2^{f.n} values; with more than {TABLE_LIMIT} elements, sample instead")
    return f.values(decode_mask(mask) for mask in range(2**f.n))


def decode_mask(mask: int) -> Subset:
    """Return the elements whose bits are set."""
    return frozenset(element for element in range(mask.bit_length()) if mask >> element & 1)


def encode_mask(members: Iterable[int]) -> int:
    """Return the number whose bits are set for these elements."""
    return sum(1 << element for element in members)


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
    kept, weight_of = [frozenset(items) for items in covers], dict(weights or {})

    def rule(members: Subset) -> float:
        covered = frozenset[Hashable]().union(*(kept[element] for element in members))
        # A fixed order of summation: equal sets must have equal values to the last bit.
        return float(sum(sorted(weight_of.get(item, 1.0) for item in covered)))

    return SetFunction(len(kept), rule)


def is_monotone(
    f: SetFunction, *, exhaustive_up_to: int = 14, samples: int = 2000, seed: int = 0, tolerance: float = 1e-9
) -> Verdict:
    """Check that no element ever lowers the value: f(S + e) ≥ f(S) for all S and e.

    Every set is tried up to `exhaustive_up_to` elements; beyond, `samples` pairs (S, e) are drawn from `seed`. A
    difference is a violation only beyond `tolerance` times the largest of the values it was computed from.

    >>> print(is_monotone(modular([1.0, -2.0])))
    monotone: refuted; adding 1 to {} changes f by -2
    """
    exhaustive, checks, found = find_violation(f, 1, exhaustive_up_to, samples, seed, tolerance)
    witness = None
    if found is not None:
        inside, (element,) = found
        gain = f.gain(element, inside)
        sentence = f"adding {element} to {format_set(inside)} changes f by {gain:g}"
        witness = Witness(inside, inside | {element}, element, (gain,), sentence)
    return Verdict("monotone", exhaustive, checks, witness)


def is_submodular(
    f: SetFunction, *, exhaustive_up_to: int = 14, samples: int = 2000, seed: int = 0, tolerance: float = 1e-9
) -> Verdict:
    """Check that gains never grow: Δ(e | A) ≥ Δ(e | B) for all A ⊆ B and e outside B.

    The parameters are those of `is_monotone`, with triples (S, a, b) for pairs. The witness is the worst violation
    found: A = S, B = S + b, e = a and its two gains.

    >>> f = SetFunction(2, lambda members: float(len(members) == 2))
    >>> print(is_submodular(f))
    submodular: refuted; the gain of 0 grows from 0 at {} to 1 at {1}
    """
    exhaustive, checks, found = find_violation(f, 2, exhaustive_up_to, samples, seed, tolerance)
    witness = None
    if found is not None:
        inside, (a, b) = found
        larger = inside | {b}
        gains = f.gain(a, inside), f.gain(a, larger)
        grows = f"from {gains[0]:g} at {format_set(inside)} to {gains[1]:g} at {format_set(larger)}"
        witness = Witness(inside, larger, a, gains, f"the gain of {a} grows {grows}")
    return Verdict("submodular", exhaustive, checks, witness)


def find_violation(
    f: SetFunction, order: int, exhaustive_up_to: int, samples: int, seed: int, tolerance: float
) -> tuple[bool, int, tuple[Subset, tuple[int, ...]] | None]:
    """Whether every case was checked, the number of checks, and the S and A with |A| = order of the largest mixed
    difference above 0, if there is one beyond rounding errors."""
    parts = [decode_mask(bits) for bits in range(2**order)]
    exhaustive = f.n <= max(exhaustive_up_to, order - 1)
    if exhaustive:
        values, masks = tabulate(f), np.arange(2**f.n)
        added_sets = list(combinations(f.ground, order))
        insides = [masks[(masks & encode_mask(added)) == 0] for added in added_sets]
        pairs = list(zip(insides, added_sets, strict=True))
        corners = [[values[s | encode_mask(added[place] for place in part)] for s, added in pairs] for part in parts]
        table = np.array(corners).reshape(len(parts), -1)
    else:
        rng, drawn = np.random.default_rng(seed), []
        for _ in range(samples):
            shuffled, size = rng.permutation(f.n).tolist(), int(rng.integers(f.n - order + 1))
            drawn.append((frozenset(shuffled[order : order + size]), tuple(shuffled[:order])))
        table = np.array([f.values(s.union(added[place] for place in part) for s, added in drawn) for part in parts])
    checks = table.shape[1]
    if not checks:
        return exhaustive, 0, None
    differences = np.array([(-1.0) ** len(part) for part in parts]) @ table
    real = np.where(differences > tolerance * np.abs(table).max(axis=0), differences, 0.0)
    worst = int(real.argmax())
    if real[worst] <= 0:
        return exhaustive, checks, None
    if not exhaustive:
        return False, checks, drawn[worst]
    pair, at = divmod(worst, 2 ** (f.n - order))
    return True, checks, (decode_mask(int(insides[pair][at])), added_sets[pair])


def curvature(f: SetFunction, *, tolerance: float = 1e-12) -> float:
    """c = 1 − min_e Δ(e | E − e) / Δ(e | ∅), over the elements with Δ(e | ∅) > 0; 0 if there are none.

    It takes 2n + 2 values and is meaningful only for monotone submodular f.

    >>> curvature(coverage([{"a", "b"}, {"b", "c", "d"}]))
    0.5
    """
    everything = frozenset(f.ground)
    gains = [(f.gain(element, frozenset()), f.gain(element, everything - {element})) for element in f.ground]
    for element, pair in enumerate(gains):
        if min(pair) < -tolerance:
            raise ValueError(f"element {element} lowers f, but curvature is for monotone functions; see is_monotone")
    return max((1.0 - last / first for first, last in gains if first > tolerance), default=0.0)


def submodularity_ratio(
    f: SetFunction, *, inside: Iterable[int] | None = None, size: int | None = None, tolerance: float = 1e-12
) -> float:
    """γ = min Σ_{e ∈ S} Δ(e | L) / (f(L ∪ S) − f(L)) over disjoint L ⊆ inside and S with |S| ≤ size.

    inside: the set U of Das and Kempe, by default all elements (for a guarantee: the set that greedy chose).
    size: their k, by default the size of the ground set. Pairs without a joint gain are left out; 1 if all are.

    >>> joint_gain = SetFunction(2, lambda members: float([0, 1, 4][len(members)]))
    >>> submodularity_ratio(joint_gain)
    0.5
    """
    base: Subset = frozenset(f.ground) if inside is None else frozenset(inside)
    largest = f.n if size is None else size
    if inside is None and 3**f.n > PAIRS_LIMIT:
        raise ValueError(
            f"the ratio would compare 3^{f.n} pairs of sets; pass `inside` (the set that greedy chose) and `size` (the "
            "budget), which is all that a guarantee needs"
        )
    ratio = 1.0
    for held in subsets(base):
        outside = [element for element in f.ground if element not in held]
        before = f(held)
        single = dict(zip(outside, f.values(held | {element} for element in outside) - before, strict=True))
        for count in range(1, min(largest, len(outside)) + 1):
            groups = list(combinations(outside, count))
            for group, after in zip(groups, f.values(held.union(group) for group in groups), strict=True):
                joint = float(after) - before
                if joint < -tolerance:
                    raise ValueError(
                        f"adding {format_set(group)} to {format_set(held)} changes f by {joint:g}, but the ratio is "
                        "for monotone functions; see is_monotone"
                    )
                if joint > tolerance:
                    ratio = min(ratio, float(sum(single[element] for element in group)) / joint)
    return ratio


def lovasz(f: SetFunction, x: Sequence[float] | Floats) -> float:
    """Return the Lovász extension: f(∅) + Σ_i x_{(i)} Δ((i) | {(1), …, (i − 1)}), the coordinates in descending order.

    x: (n,) in the cube. n + 1 values of f.

    >>> f = SetFunction(2, lambda members: float(len(members) > 0))
    >>> lovasz(f, [0.25, 0.5])
    0.5
    """
    point = check_point(f, x)
    order = np.argsort(-point, kind="stable")
    values = f.values(order[:size].tolist() for size in range(f.n + 1))
    return float(values[0] + point[order] @ np.diff(values))


def multilinear(f: SetFunction, x: Sequence[float] | Floats) -> float:
    """Return the multilinear extension: Σ_S f(S) Π_{i ∈ S} x_i Π_{i ∉ S} (1 − x_i), from all 2^n values.

    x: (n,) in the cube, of at most 20 elements.

    >>> f = SetFunction(2, lambda members: float(len(members) > 0))
    >>> multilinear(f, [0.25, 0.5])
    0.625
    """
    values = tabulate(f)
    # The last element owns the highest bit, so it splits the table into halves: without it and with it.
    for weight in check_point(f, x)[::-1]:
        without, with_it = values.reshape(2, -1)
        values = (1 - weight) * without + weight * with_it
    return float(values[0])


def check_point(f: SetFunction, x: Sequence[float] | Floats) -> Floats:
    """Return x as an array; raise ValueError unless it is a point of the cube."""
    point = np.asarray(x, dtype=np.float64)
    if point.shape != (f.n,) or not ((point >= 0) & (point <= 1)).all():
        raise ValueError(f"x is {point.tolist()}; expected {f.n} numbers from 0 to 1, one for each element of f")
    return point
