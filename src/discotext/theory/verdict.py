"""The outcome of a check: whether a claim holds, how thoroughly it was checked, and a witness if it does not.

A theorem is worth no more than its hypotheses, and a hypothesis about a black box is at best verified on all sets, more
often only not refuted on some. These four small classes keep the difference visible from the check to the guarantee.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

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

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Verdict:
    """The outcome of a check. It is true in an `if` when the claim holds.

    exhaustive: whether every case was checked; otherwise `checks` cases were sampled, and "holds" means "not refuted".

    >>> bool(Verdict("monotone", holds=False, exhaustive=True, checks=4))
    False
    """

    claim: str
    holds: bool
    exhaustive: bool
    checks: int
    witness: Witness | None = None

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        cases = f"all {self.checks} cases" if self.exhaustive else f"{self.checks} cases drawn"
        if self.holds:
            return f"{self.claim}: {'holds in' if self.exhaustive else 'not refuted by'} {cases}"
        return f"{self.claim}: refuted; {self.witness}"


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

        >>> Hypothesis.from_verdict(Verdict("monotone", holds=True, exhaustive=False, checks=9)).standing.name
        'SAMPLED'
        """
        if not verdict.holds:
            standing = Standing.REFUTED
        else:
            standing = Standing.VERIFIED if verdict.exhaustive else Standing.SAMPLED
        return cls(verdict.claim, standing, verdict)

    @classmethod
    def from_condition(cls, claim: str, holds: bool) -> Hypothesis:
        """Return a hypothesis that was decided directly from the numbers."""
        return cls(claim, Standing.VERIFIED if holds else Standing.REFUTED)

    def __str__(self) -> str:
        witness = self.verdict.witness if self.verdict is not None else None
        return f"{self.claim}: {self.standing.value}" + (f" ({witness})" if witness is not None else "")


def format_set(members: Subset) -> str:
    """Return a set in mathematical notation.

    >>> format_set(frozenset({2, 0}))
    '{0, 2}'
    """
    return "{" + ", ".join(map(str, sorted(members))) + "}"
