"""How far from modular, how far from submodular: two numbers for a monotone set function.

*Curvature* (Conforti and Cornuéjols 1984) is how much of its first gain an element can lose: 0 for a modular function,
1 when some element becomes worthless. Greedy under a cardinality constraint reaches (1 − e^{−c})/c of the best gain.

The *submodularity ratio* (Das and Kempe 2011) is how much of a set's joint gain the single gains of its elements
explain in the worst case: 1 exactly for submodular functions, less where elements only pay together. Greedy reaches
1 − e^{−γ} of the best gain, so the number says what is left of the guarantee when its hypothesis fails.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from math import comb

from discotext.setfunctions.set_function import SetFunction, subsets
from discotext.setfunctions.verdict import Subset, show

PAIRS_LIMIT = 2_000_000


def curvature(f: SetFunction, *, tolerance: float = 1e-12) -> float:
    """c = 1 − min_e Δ(e | E − e) / Δ(e | ∅), over the elements with Δ(e | ∅) > 0; 0 if there are none.

    It takes 2n + 2 values and means something for monotone submodular f only; whether f is that, `properties` says.

    >>> from discotext.setfunctions.set_function import coverage
    >>> curvature(coverage([{"a", "b"}, {"b", "c", "d"}]))
    0.5
    """
    everything = frozenset(f.ground)
    first, last = [], []
    for element in f.ground:
        first.append(f.gain(element, frozenset()))
        last.append(f.gain(element, everything - {element}))
    falling = [element for element in f.ground if min(first[element], last[element]) < -tolerance]
    if falling:
        raise ValueError(f"element {falling[0]} lowers f, but curvature is for monotone functions; see is_monotone")
    return max((1.0 - last[e] / first[e] for e in f.ground if first[e] > tolerance), default=0.0)


def submodularity_ratio(
    f: SetFunction, *, inside: Iterable[int] | None = None, size: int | None = None, tolerance: float = 1e-12
) -> float:
    """γ = min Σ_{e ∈ S} Δ(e | L) / (f(L ∪ S) − f(L)) over disjoint L ⊆ inside and S with |S| ≤ size.

    inside: the set U of Das and Kempe, everything if not given (for a guarantee: the set greedy has chosen).
    size: their k, the size of the ground set if not given. Pairs with nothing to gain are left out; 1 if all are.

    >>> pays_together = SetFunction(2, lambda members: float([0, 1, 4][len(members)]))
    >>> submodularity_ratio(pays_together)
    0.5
    """
    base: Subset = frozenset(f.ground) if inside is None else frozenset(inside)
    largest = f.n if size is None else size
    if largest < 1:
        raise ValueError(f"size is {largest}, but the sets compared hold at least 1 element; choose 1 to {f.n}")
    pairs = sum(
        comb(len(base), held) * sum(comb(f.n - held, added) for added in range(1, min(largest, f.n - held) + 1))
        for held in range(len(base) + 1)
    )
    if pairs > PAIRS_LIMIT:
        raise ValueError(
            f"the ratio would compare {pairs} pairs of sets, more than {PAIRS_LIMIT}; give `inside` (the set greedy "
            "chose) and `size` (the budget) to ask for what a guarantee needs"
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
                        f"adding {show(frozenset(group))} to {show(held)} changes f by {joint:g}, but the ratio is for "
                        "monotone functions; see is_monotone"
                    )
                if joint > tolerance:
                    ratio = min(ratio, float(sum(single[element] for element in group)) / joint)
    return ratio
