"""Greedy over any independence system (Algorithm 1 of the paper), and what it is sure to reach.

The paper computes the set A of allowed elements once, before its loop. Taken literally, the constraint is ignored after
the first step; here A is recomputed for every set. The paper also never stops before A is empty; here a gain that is
not positive ends the search, because f need not be monotone. `to_the_end` gives the printed behaviour.

Every bound below is for the *gain* over f(∅): greedy's gain is at least `factor` times the best gain. The theorems
require f ≥ 0, which a margin is not; subtracting f(∅) solves that and preserves monotonicity and submodularity.

    at most k elements         1 − 1/e, and 1 − e^{−t/k} after t steps    Nemhauser, Wolsey and Fisher 1978
    one matroid                1/2                                        Fisher, Nemhauser and Wolsey 1978
    p matroids                 1/(p + 1)                                  the same
    a p-extensible system      1/(p + 1)                                  Călinescu, Chekuri, Pál and Vondrák 2007

All require f to be monotone and submodular. For the paper's f(X), the best score with changes inside X, monotonicity is
by construction and the value of a set is itself a search: "in polynomial time" needs that search to be easy as well.
A theorem is worth no more than its hypotheses, and a hypothesis about a black box is at best verified on all sets, more
often only not refuted on some: each carries its `Standing`.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum
from math import exp, inf

from discotext.theory.matroids import (
    Changes,
    Intersection,
    PartitionMatroid,
    System,
    Truncation,
    UniformMatroid,
    check_extensible,
    check_matroid,
)
from discotext.theory.set_functions import SetFunction, Subset, Verdict, is_monotone, is_submodular

ABOUT_F = ("monotone", "submodular")


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
        return self.values[min(step, len(self.values) - 1)]


def greedy(f: SetFunction, system: System, *, to_the_end: bool = False) -> Chain:
    """Grow a set by its best allowed element until no element is allowed or, unless `to_the_end`, none helps.

    Ties go to the element of smallest number. All gains of a step are computed in one call.

    >>> from discotext.theory.set_functions import coverage
    >>> greedy(coverage([{1, 2}, {2, 3, 4}, {1}]), UniformMatroid(3, rank=2))
    Chain(sets=(frozenset(), frozenset({1}), frozenset({0, 1})), values=(0.0, 3.0, 4.0))
    """
    check_ground(f, system)
    sets: list[Subset] = [frozenset()]
    values = [f(sets[0])]
    while larger := [s for s in (sets[-1] | {e} for e in system.ground if e not in sets[-1]) if system.independent(s)]:
        found = f.values(larger)
        where = int(found.argmax())
        if not to_the_end and found[where] <= values[-1]:
            break
        sets.append(larger[where])
        values.append(float(found[where]))
    return Chain(tuple(sets), tuple(values))


def lazy_greedy(f: SetFunction, system: System) -> Chain:
    """Greedy that evaluates again only what looked best (Minoux 1978, CELF).

    Where gains never grow, a gain measured earlier is an upper bound: an element whose gain is fresh and at least the
    bounds of all others is the best. For a submodular f the chain is that of `greedy`; for another f, a heuristic.

    >>> from discotext.theory.set_functions import coverage
    >>> lazy_greedy(coverage([{1, 2}, {2, 3, 4}, {1}]), UniformMatroid(3, rank=2)).sets[-1]
    frozenset({0, 1})
    """
    check_ground(f, system)
    sets: list[Subset] = [frozenset()]
    values = [f(sets[0])]
    # By falling gain, ties to the smallest element; and the step at which the gain was measured.
    queue = [(-f.gain(e, sets[0]), e, 0) for e in system.ground if system.independent(frozenset({e}))]
    heapq.heapify(queue)
    while queue and queue[0][0] < 0:
        _, element, measured = heapq.heappop(queue)
        larger = sets[-1] | {element}
        if not system.independent(larger):
            continue  # and it never will be again, because the set only grows
        if measured == len(sets) - 1:
            sets.append(larger)
            values.append(f(larger))
        else:
            heapq.heappush(queue, (-f.gain(element, sets[-1]), element, len(sets) - 1))
    return Chain(tuple(sets), tuple(values))


def check_ground(f: SetFunction, system: System) -> None:
    """Raise an error unless a function and a system are about the same elements."""
    if len(system.ground) != f.n:
        raise ValueError(f"f has {f.n} elements and the system {len(system.ground)}; they must share one ground set")


class Standing(Enum):
    """How much a hypothesis may be relied on."""

    PROVED = "holds by construction"
    VERIFIED = "verified in every case"
    SAMPLED = "not refuted by the cases drawn"
    ASSUMED = "assumed, not checked"
    REFUTED = "refuted"


@dataclass(frozen=True)
class Hypothesis:
    """One condition of a theorem, and what is known about it here."""

    claim: str
    standing: Standing
    verdict: Verdict | None = None

    @property
    def refuted(self) -> bool:
        return self.standing is Standing.REFUTED

    @classmethod
    def from_verdict(cls, verdict: Verdict) -> Hypothesis:
        """Return the hypothesis that a check was about.

        >>> Hypothesis.from_verdict(Verdict("monotone", exhaustive=False, checks=9)).standing.name
        'SAMPLED'
        """
        holding = Standing.VERIFIED if verdict.exhaustive else Standing.SAMPLED
        return cls(verdict.claim, holding if verdict.holds else Standing.REFUTED, verdict)

    @classmethod
    def from_condition(cls, claim: str, holds: bool) -> Hypothesis:
        """Return a hypothesis that was decided directly from the numbers."""
        return cls(claim, Standing.VERIFIED if holds else Standing.REFUTED)

    def __str__(self) -> str:
        witness = None if self.verdict is None else self.verdict.witness
        return f"{self.claim}: {self.standing.value}" + ("" if witness is None else f" ({witness.sentence})")


@dataclass(frozen=True)
class Guarantee:
    """A bound on greedy's gain, with its conditions.

    name: the theorem. factor: greedy's gain is at least this share of the best gain. step: after how many steps, or
    None for greedy run to the end. hypotheses: its conditions, each with its standing.
    """

    name: str
    factor: float
    step: int | None
    hypotheses: tuple[Hypothesis, ...]

    @property
    def applies(self) -> bool:
        """Whether no hypothesis is refuted."""
        return not any(hypothesis.refuted for hypothesis in self.hypotheses)

    @property
    def proved(self) -> bool:
        """Whether every hypothesis holds by construction or was verified in every case."""
        return all(hypothesis.standing in (Standing.PROVED, Standing.VERIFIED) for hypothesis in self.hypotheses)

    def ceiling(self, chain: Chain) -> float:
        """Return an upper bound on every allowed set, if the hypotheses hold: f(∅) + greedy's gain / factor."""
        if not self.applies or self.factor == 0:
            return inf
        reached = max(chain.values) if self.step is None else chain.value_at(self.step)
        return chain.values[0] + (reached - chain.values[0]) / self.factor

    def __str__(self) -> str:
        first = f"{self.name}: greedy gains at least {self.factor:.4f} of the best gain over f(∅), if"
        return "\n".join([first, *(f"  {hypothesis}" for hypothesis in self.hypotheses)])


def guarantee(
    f: SetFunction,
    system: System,
    *,
    step: int | None = None,
    assume: Collection[str] = (),
    samples: int = 2000,
    seed: int = 0,
) -> Guarantee:
    """Return the bound for this function and system, and the standing of each hypothesis.

    step: for "at most k elements" only, the bound after so many steps. assume: hypotheses about f that are not checked
    ("monotone", "submodular"), because they are known or too expensive. A refuted hypothesis does not raise: the
    guarantee is returned with `applies` False and the witness inside.

    >>> from discotext.theory.set_functions import coverage
    >>> print(guarantee(coverage([{1, 2}, {2, 3}, {1}]), UniformMatroid(3, rank=2), assume=["monotone"]))
    1 - 1/e: greedy gains at least 0.6321 of the best gain over f(∅), if
      at most 2 elements: holds by construction
      monotone: assumed, not checked
      submodular: verified in every case
    """
    check_ground(f, system)
    if step is not None and not (isinstance(system, UniformMatroid) and 0 <= step <= system.rank):
        raise ValueError(f"step is {step}; only the bound for at most k elements depends on steps, from 0 to k")
    name, factor, conditions = find_bound(system, step)
    for claim, check in zip(ABOUT_F, (is_monotone, is_submodular), strict=True):
        if claim in assume:
            conditions.append(Hypothesis(claim, Standing.ASSUMED))
        else:
            conditions.append(Hypothesis.from_verdict(check(f, samples=samples, seed=seed)))
    return Guarantee(name, factor, step, tuple(conditions))


def find_bound(system: System, step: int | None) -> tuple[str, float, list[Hypothesis]]:
    """Return the theorem for a system, its factor, and what it requires of the system."""
    if isinstance(system, UniformMatroid):
        conditions = [Hypothesis(f"at most {system.rank} elements", Standing.PROVED)]
        if step is None:
            return "1 - 1/e", 1 - exp(-1), conditions
        return "1 - e^(-t/k)", 1 - exp(-step / system.rank) if step else 0.0, conditions
    if isinstance(system, Intersection):
        p = len(system.systems)
        return f"1/(p + 1), p = {p} matroids", 1 / (p + 1), list(map(judge_matroid, system.systems))
    hypothesis = judge_matroid(system)
    if not hypothesis.refuted:
        return "1/2, one matroid", 1 / 2, [hypothesis]
    for p in range(2, len(system.ground) + 1):
        verdict = check_extensible(system, p)
        if verdict.holds:
            return f"1/(p + 1), {p}-extensible", 1 / (p + 1), [Hypothesis.from_verdict(verdict)]
    return "none", 0.0, [hypothesis]


def judge_matroid(system: System) -> Hypothesis:
    """Return the hypothesis that a system is a matroid: proved by construction, or checked."""
    inner = system
    while isinstance(inner, Truncation):
        inner = inner.system
    if isinstance(inner, UniformMatroid | PartitionMatroid | Changes):
        return Hypothesis("matroid", Standing.PROVED)
    return Hypothesis.from_verdict(check_matroid(system))
