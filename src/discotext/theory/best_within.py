"""The paper's set function: the best score that changes inside X can reach.

    f(X) = max { score(choice) : every change of the choice lies inside X },   X ⊆ positions

(The paper prints supp(I) ⊂ 𝕊, the whole text; it must mean ⊂ X.) It is monotone by construction: a larger X
allows more. A budget of m changes is |X| ≤ m and is not part of f. The cost is hidden in the maximum, which is a search
over Π_{i ∈ X} k_i choices; here it is exhaustive, so the function is for problems small enough to enumerate.

`best_among` is the same over (position, candidate) pairs, the elements of `Changes(problem)`. The best of X is the best
over its subsets of what uses *exactly* that subset, so each choice is scored once, however many sets contain it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np

from discotext.core.arrays import Floats
from discotext.core.oracle import Oracle
from discotext.core.problem import Batch
from discotext.theory.change_matroid import Changes
from discotext.theory.set_function import SetFunction, subsets
from discotext.theory.verdict import Subset

CHOICES_LIMIT = 2_000_000
ROWS_PER_CALL = 8192


def best_inside(batch: Batch, problem_index: int, oracle: Oracle) -> SetFunction:
    """Return f(X) over the positions of one problem: the best score whose changes lie inside X.

    >>> from discotext.core.oracle import FunctionOracle
    >>> from discotext.core.problem import Problem
    >>> batch = Batch.of([Problem((3, 2), 2)])
    >>> f = best_inside(batch, 0, FunctionOracle(batch, lambda problem, choice: float(choice[0] - choice[1])))
    >>> f([]), f([0]), f([1]), f([0, 1])
    (0.0, 2.0, 0.0, 2.0)
    """
    counts = select_problem(batch, problem_index).problem.counts

    def exactly(positions: Subset) -> Iterator[list[int]]:
        """Every choice that changes these positions and no other."""
        for picked in product(*(range(1, counts[position]) for position in sorted(positions))):
            choice = [0] * len(counts)
            for position, candidate in zip(sorted(positions), picked, strict=True):
                choice[position] = candidate
            yield choice

    changeable = frozenset(position for position, count in enumerate(counts) if count > 1)
    return maximise_subsets(len(counts), changeable, exactly, problem_index, oracle)


def best_among(batch: Batch, problem_index: int, oracle: Oracle) -> SetFunction:
    """Return f(X) over the changes of one problem, numbered as in `Changes`: the best score made of changes in X.

    Two candidates of one position may both be in X; a choice uses one of them. Budgets are left to the matroid.
    """
    system = select_problem(batch, problem_index)

    def exactly(members: Subset) -> Iterator[list[int]]:
        if len({system.pair(element)[0] for element in members}) == len(members):
            yield system.choice(members).tolist()

    return maximise_subsets(len(system.ground), frozenset(system.ground), exactly, problem_index, oracle)


def select_problem(batch: Batch, index: int) -> Changes:
    """Return the changes of one problem of a batch."""
    if not 0 <= index < len(batch):
        raise ValueError(f"problem {index} is not in the batch; choose 0 to {len(batch) - 1}")
    return Changes(batch[index])


def maximise_subsets(
    n: int, useful: Subset, exactly: Callable[[Subset], Iterator[list[int]]], problem: int, oracle: Oracle
) -> SetFunction:
    """Return the set function X ↦ max over subsets of X of the best score that uses exactly that subset.

    useful: the elements that can affect the score; the others are left out of the subsets.
    """
    exact: dict[Subset, float] = {}

    def many(sets: Sequence[Subset]) -> Floats:
        inside = [members & useful for members in sets]
        if sum(2 ** len(members) for members in inside) > CHOICES_LIMIT:
            raise ValueError(describe_limit())
        fresh = dict.fromkeys(part for members in inside for part in subsets(members) if part not in exact)
        score_subsets(list(fresh), exactly, problem, oracle, exact)
        return np.array([max(exact[part] for part in subsets(members)) for members in inside])

    return SetFunction(n, lambda members: float(many([members])[0]), many)


def score_subsets(
    parts: list[Subset],
    exactly: Callable[[Subset], Iterator[list[int]]],
    problem: int,
    oracle: Oracle,
    exact: dict[Subset, float],
) -> None:
    """Score every choice of these subsets, many rows per call, and store the best score of each in `exact`."""
    rows: list[list[int]] = []
    owners: list[int] = []
    for owner, part in enumerate(parts):
        for choice in exactly(part):
            rows.append(choice)
            owners.append(owner)
            if len(rows) > CHOICES_LIMIT:
                raise ValueError(describe_limit())
    # A subset that no choice uses (two candidates of one position) has −∞; the empty subset always has a score.
    best = np.full(len(parts), -np.inf)
    for begin in range(0, len(rows), ROWS_PER_CALL):
        choices = np.array(rows[begin : begin + ROWS_PER_CALL], dtype=np.int32)
        scores = oracle.score(np.full(len(choices), problem, dtype=np.int64), choices)
        np.maximum.at(best, owners[begin : begin + ROWS_PER_CALL], np.asarray(scores, dtype=np.float64))
    exact.update(zip(parts, best.tolist(), strict=True))


def describe_limit() -> str:
    return (
        f"the sets contain more than {CHOICES_LIMIT} choices; f(X) is itself a search, so use smaller sets or fewer "
        "candidates"
    )
