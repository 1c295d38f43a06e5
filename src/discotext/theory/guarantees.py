"""Guarantees for greedy, their hypotheses, and what is known about each of them.

Every bound below is for the *gain* over f(∅): greedy's gain is at least `factor` times the best gain. The theorems
require f ≥ 0, which a margin is not; subtracting f(∅) solves that and preserves monotonicity and submodularity.

    at most k elements         1 − 1/e, and 1 − e^{−t/k} after t steps    Nemhauser, Wolsey and Fisher 1978
    one matroid                1/2                                        Fisher, Nemhauser and Wolsey 1978
    p matroids                 1/(p + 1)                                  the same
    a p-extensible system      1/(p + 1)                                  Călinescu, Chekuri, Pál and Vondrák 2007

All require f to be monotone and submodular. For the paper's f(X), the best score with changes inside X, monotonicity is
by construction and the value of a set is itself a search: "in polynomial time" needs that search to be easy as well.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import exp, inf

from discotext.theory.axioms import check_extensible, check_matroid
from discotext.theory.chain import Chain
from discotext.theory.change_matroid import Changes
from discotext.theory.independence import Intersection, PartitionMatroid, System, Truncation, UniformMatroid
from discotext.theory.properties import is_monotone, is_submodular
from discotext.theory.set_function import SetFunction
from discotext.theory.verdict import Hypothesis, Standing

ABOUT_F = ("monotone", "submodular")


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
        lines = [f"{self.name}: greedy gains at least {self.factor:.4f} of the best gain over f(∅), if"]
        return "\n".join(lines + [f"  {hypothesis}" for hypothesis in self.hypotheses])


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

    >>> from discotext.theory.set_function import coverage
    >>> print(guarantee(coverage([{1, 2}, {2, 3}, {1}]), UniformMatroid(3, rank=2), assume=["monotone"]))
    1 - 1/e: greedy gains at least 0.6321 of the best gain over f(∅), if
      at most 2 elements: holds by construction
      monotone: assumed, not checked
      submodular: verified in every case
    """
    unknown = [claim for claim in assume if claim not in ABOUT_F]
    if unknown:
        raise ValueError(f"{unknown[0]!r} cannot be assumed; choose from {' and '.join(ABOUT_F)}")
    if len(system.ground) != f.n:
        raise ValueError(f"f has {f.n} elements and the system {len(system.ground)}; they must share one ground set")
    if step is not None and not isinstance(system, UniformMatroid):
        raise ValueError(f"step is {step}, but only the bound for at most k elements depends on steps; omit it")
    if isinstance(system, UniformMatroid):
        name, factor, conditions = find_cardinality_bound(system, step)
    else:
        name, factor, conditions = find_system_bound(system, samples, seed)
    for claim, check in zip(ABOUT_F, (is_monotone, is_submodular), strict=True):
        if claim in assume:
            conditions.append(Hypothesis(claim, Standing.ASSUMED))
        else:
            conditions.append(Hypothesis.from_verdict(check(f, samples=samples, seed=seed)))
    return Guarantee(name, factor, step, tuple(conditions))


def find_cardinality_bound(system: UniformMatroid, step: int | None) -> tuple[str, float, list[Hypothesis]]:
    """1 − 1/e, or 1 − e^{−t/k} after t steps."""
    conditions = [Hypothesis(f"at most {system.rank} elements", Standing.PROVED)]
    if step is None:
        return "1 - 1/e", 1 - exp(-1), conditions
    if not 0 <= step <= system.rank:
        raise ValueError(
            f"step is {step}, but greedy takes at most {system.rank} steps here; choose 0 to {system.rank}"
        )
    return "1 - e^(-t/k)", 1 - exp(-step / system.rank) if step else 0.0, conditions


def find_system_bound(system: System, samples: int, seed: int) -> tuple[str, float, list[Hypothesis]]:
    """1/2 for one matroid; else 1/(p + 1) for p of them together, or for the smallest p that makes it p-extensible."""
    if isinstance(system, Intersection):
        p = len(system.systems)
        return f"1/(p + 1), p = {p} matroids", 1 / (p + 1), [judge_matroid(s, samples, seed) for s in system.systems]
    hypothesis = judge_matroid(system, samples, seed)
    if not hypothesis.refuted:
        return "1/2, one matroid", 1 / 2, [hypothesis]
    for p in range(2, len(system.ground) + 1):
        verdict = check_extensible(system, p, samples=samples, seed=seed)
        if verdict.holds:
            return f"1/(p + 1), {p}-extensible", 1 / (p + 1), [Hypothesis.from_verdict(verdict)]
    return "none", 0.0, [hypothesis]


def judge_matroid(system: System, samples: int, seed: int) -> Hypothesis:
    """Return the hypothesis that a system is a matroid: proved by construction, or checked."""
    if is_matroid_by_construction(system):
        return Hypothesis("matroid", Standing.PROVED)
    return Hypothesis.from_verdict(check_matroid(system, samples=samples, seed=seed))


def is_matroid_by_construction(system: System) -> bool:
    """Return whether a system is a matroid by the way it is built."""
    if isinstance(system, Truncation):
        return is_matroid_by_construction(system.system)
    return isinstance(system, UniformMatroid | PartitionMatroid | Changes)
