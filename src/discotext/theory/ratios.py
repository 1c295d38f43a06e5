"""Curvature and submodularity ratio: how far a monotone set function is from modular and from submodular.

*Curvature* (Conforti and Cornuéjols 1984) is the share of its first gain that an element can lose: 0 for a modular
function, 1 if some element becomes worthless. Greedy under a cardinality constraint reaches (1 − e^{−c})/c of the best
gain.

The *submodularity ratio* (Das and Kempe 2011) is the share of a set's joint gain that the single gains of its elements
explain in the worst case: 1 exactly for submodular functions, less if elements gain only together. Greedy reaches
1 − e^{−γ} of the best gain, so the ratio says what remains of the guarantee when its hypothesis fails.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from math import comb

from discotext.theory.set_function import SetFunction, subsets
from discotext.theory.verdict import Subset, format_set

PAIRS_LIMIT = 2_000_000


def curvature(f: SetFunction, *, tolerance: float = 1e-12) -> float:
    """c = 1 − min_e Δ(e | E − e) / Δ(e | ∅), over the elements with Δ(e | ∅) > 0; 0 if there are none.

    It takes 2n + 2 values and is meaningful only for monotone submodular f, which `properties` can check.

    >>> from discotext.theory.set_function import coverage
    >>> curvature(coverage([{"a", "b"}, {"b", "c", "d"}]))
    0.5
    """
    everything = frozenset(f.ground)
    first, last = [], []
    for element in f.ground:
        first.append(f.gain(element, frozenset()))
        last.append(f.gain(element, everything - {element}))
    lowering = [element for element in f.ground if min(first[element], last[element]) < -tolerance]
    if lowering:
        raise ValueError(f"element {lowering[0]} lowers f, but curvature is for monotone functions; see is_monotone")
    return max((1.0 - last[e] / first[e] for e in f.ground if first[e] > tolerance), default=0.0)


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
    if largest < 1:
        raise ValueError(f"size is {largest}; choose 1 to {f.n}")
    pairs = sum(
        comb(len(base), held) * sum(comb(f.n - held, added) for added in range(1, min(largest, f.n - held) + 1))
        for held in range(len(base) + 1)
    )
    if pairs > PAIRS_LIMIT:
        raise ValueError(
            f"the ratio would compare {pairs} pairs of sets, more than {PAIRS_LIMIT}; pass `inside` (the set that "
            "greedy chose) and `size` (the budget), which is all that a guarantee needs"
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
                        f"adding {format_set(frozenset(group))} to {format_set(held)} changes f by {joint:g}, but the "
                        "ratio is for monotone functions; see is_monotone"
                    )
                if joint > tolerance:
                    ratio = min(ratio, float(sum(single[element] for element in group)) / joint)
    return ratio
