"""From attacks to verdicts: what an attack did not flip is proved, if it can be, to be out of reach.

    one bound → attack what it leaves open → branch and bound, or enumeration, on what the attack leaves open

A text that was flipped with k words is also asked about k − 1: so the fewest words are proved, too, and with them every
smaller budget.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from discotext.core.arrays import Ints
from discotext.core.oracle import Oracle
from discotext.core.solution import Solution, Status
from discotext.search.loop import solve
from discotext.search.solver import Solver
from discotext.solvers.exact import Exact
from discotext.text.space import Space

ONE_BOUND = 2  # passes: the original text, and a bound of everything that may become of it
MakeOracle = Callable[[Space, Ints, Solver], Oracle]


def attack_and_prove(
    space: Space, make_oracle: MakeOracle, solver: Solver, *, goal: float, seed: int, passes: int
) -> list[Solution]:
    """A solution for each text, proved where that takes at most so many passes.

    make_oracle: makes the oracle of some of the texts, given their space, their numbers and the solver.
    """
    everyone = np.arange(len(space))
    first = Exact(passes=ONE_BOUND)
    found = solve(space.batch, make_oracle(space, everyone, first), first, goal=goal, seed=seed)
    rest = np.array([number for number in everyone if not found[number].proved], dtype=np.int64)
    if len(rest):
        some = space.take(rest.tolist())
        attacked = solve(some.batch, make_oracle(some, rest, solver), solver, goal=goal, seed=seed)
        for number, solution in zip(rest.tolist(), attacked, strict=True):
            found[number] = _add_up(found[number], solution)
    # Below one change there is nothing to prove.
    for number in rest.tolist():
        if found[number].reached and found[number].changes == 1:
            found[number] = replace(found[number], status=Status.FEWEST, below=1)
    left = np.array([number for number in rest.tolist() if _is_open(found[number])], dtype=np.int64)
    if len(left):
        budgets = [found[n].changes - 1 if found[n].reached else space.budgets[n] for n in left.tolist()]
        some = replace(space.take(left.tolist()), budgets=tuple(budgets))
        last = Exact(passes=passes)
        proofs = solve(some.batch, make_oracle(some, left, last), last, goal=goal, seed=seed)
        for number, proof in zip(left.tolist(), proofs, strict=True):
            found[number] = _conclude(found[number], proof)
    return found


def _is_open(solution: Solution) -> bool:
    return not solution.proved and solution.status not in (Status.FAILED, Status.UNSTABLE)


def _add_up(before: Solution, after: Solution) -> Solution:
    """The later solution, with the costs of both, and what either has proved."""
    below = max(before.below, after.below)
    return replace(
        after,
        below=min(below, after.changes) if after.reached else below,
        forwards=before.forwards + after.forwards,
        backwards=before.backwards + after.backwards,
        bounds=before.bounds + after.bounds,
        seconds=before.seconds + after.seconds,
        oracle_seconds=before.oracle_seconds + after.oracle_seconds,
    )


def _conclude(attacked: Solution, proof: Solution) -> Solution:
    """What an attack and a proof say together. The proof was about fewer changes where the attack succeeded."""
    if proof.reached:
        return _add_up(attacked, proof)
    if not attacked.reached:
        # Of two texts that do not flip the label, the one that comes nearer to it.
        nearer = attacked.score > proof.score
        kept = replace(proof, choice=attacked.choice, score=attacked.score) if nearer else proof
        return _add_up(attacked, kept)
    # The text that flips the label stays, whatever became of the proof that fewer words do not.
    if proof.proved:
        attacked = replace(attacked, status=Status.FEWEST, below=attacked.changes)
    return _add_up(proof, attacked)
