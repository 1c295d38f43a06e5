"""Exact search: the answer is a proof."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discotext.core.oracle import BoundingOracle, Oracle, can
from discotext.core.problem import Batch
from discotext.search.branch_and_bound import branch_and_bound
from discotext.search.enumeration import enumerate_levels, format_count
from discotext.search.solver import Proposals, Search, Solver


@dataclass(frozen=True)
class Exact(Solver):
    """Find the best choice and prove it: by enumeration, or by branch and bound where the oracle has bounds.

    limit: the most choices of one problem to enumerate; a larger problem is refused before any work. Not with bounds.
    passes: what may be spent on each problem, forwards and bounds together. Then no problem is refused; one that needs
        more ends without a proof, and `Solution.below` says up to which number of changes there is one.
    bounds: use the oracle's bounds where it has them.
    """

    limit: int = 10_000_000
    passes: int | None = None
    bounds: bool = True

    def __post_init__(self) -> None:
        for name, value in (("limit", self.limit), ("passes", self.passes)):
            if value is not None and value < 1:
                raise ValueError(f"{name} is {value}; choose 1 or more")

    def refuse(self, batch: Batch, oracle: Oracle) -> None:
        if self.passes is not None or (self.bounds and can(oracle, BoundingOracle)):
            return
        for index in range(len(batch)):
            problem = batch[index]
            if not problem.has_at_most(self.limit):
                raise ValueError(
                    f"problem {index} has {format_count(problem)} choices within its budget of {problem.budget}, "
                    f"more than the {self.limit:,} that exact search enumerates; lower the budget, or use the solver "
                    "beam or, with gradients, disco-high (in Python, Exact(limit=…) enumerates more)"
                )

    def propose(self, batch: Batch, oracle: Oracle, search: Search) -> Proposals:
        if self.bounds and can(oracle, BoundingOracle):
            return branch_and_bound(batch, oracle, search, self.passes)  # type: ignore[arg-type]
        return enumerate_levels(batch, oracle, np.arange(len(batch)), search, self.passes)
