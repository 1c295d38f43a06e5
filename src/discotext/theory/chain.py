"""Algorithm 1 of the paper: add the element of largest gain until none is allowed.

The paper computes the set A of allowed elements once, before its loop. Taken literally, the constraint is ignored after
the first step; here A is recomputed for every set. The paper also never stops before A is empty; here a gain that is
not positive ends the search, because f need not be monotone. `to_the_end` gives the printed behaviour.
"""

from __future__ import annotations

from dataclasses import dataclass

from discotext.theory.independence import System
from discotext.theory.set_function import SetFunction
from discotext.theory.verdict import Subset


@dataclass(frozen=True)
class Chain:
    """The result of greedy: the sets ∅ = S_0 ⊂ S_1 ⊂ … and their values."""

    sets: tuple[Subset, ...]
    values: tuple[float, ...]

    @property
    def best(self) -> Subset:
        """The set of largest value, the smallest of equals. Without `to_the_end` it is the last."""
        return self.sets[self.values.index(max(self.values))]

    @property
    def gain(self) -> float:
        """The value of the best set minus that of the empty one."""
        return max(self.values) - self.values[0]

    def value_at(self, step: int) -> float:
        """f(S_t); a chain that ended earlier stays where it ended."""
        if step < 0:
            raise ValueError(f"step is {step}; choose 0 (the empty set) or more")
        return self.values[min(step, len(self.values) - 1)]


def greedy(f: SetFunction, system: System, *, to_the_end: bool = False) -> Chain:
    """Grow a set by its best allowed element until no element is allowed or, unless `to_the_end`, none helps.

    Ties go to the element of smallest number. All gains of a step are computed in one call.

    >>> from discotext.theory.independence import UniformMatroid
    >>> from discotext.theory.set_function import coverage
    >>> greedy(coverage([{1, 2}, {2, 3, 4}, {1}]), UniformMatroid(3, rank=2))
    Chain(sets=(frozenset(), frozenset({1}), frozenset({0, 1})), values=(0.0, 3.0, 4.0))
    """
    if len(system.ground) != f.n:
        raise ValueError(f"f has {f.n} elements and the system {len(system.ground)}; they must share one ground set")
    empty: Subset = frozenset()
    if not system.independent(empty):
        raise ValueError("the empty set is not independent in this system; see check_matroid")
    sets, values = [empty], [f(empty)]
    while True:
        current = sets[-1]
        larger = [current | {e} for e in system.ground if e not in current and system.independent(current | {e})]
        if not larger:
            break
        found = f.values(larger)
        where = int(found.argmax())
        if not to_the_end and found[where] <= values[-1]:
            break
        sets.append(larger[where])
        values.append(float(found[where]))
    return Chain(tuple(sets), tuple(values))
