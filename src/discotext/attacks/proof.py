"""From attacks to verdicts: what an attack did not flip is proved, if it can be, to be out of reach.

    one bound → attack what it leaves open → branch and bound, or enumeration, on what the attack leaves open

A text that was flipped with k words is also asked about k − 1: so the fewest words are proved, too, and with them every
smaller budget.

A proof is about what the oracle reads, word by word; a model is given finished texts. So some texts of each proof are
written and asked about as strings (`confirm`), and no proof stands that one of them contradicts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from discotext.core.arrays import Ints
from discotext.core.objectives import Objective
from discotext.core.oracle import Oracle
from discotext.core.problem import Solution, Status, random_choices
from discotext.core.wrappers import Guarded
from discotext.runs.record import Record
from discotext.search.loop import solve
from discotext.search.solver import Solver
from discotext.solvers.exact import Exact
from discotext.text.space import Space
from discotext.victims.victim import Victim, evaluate

REREAD = 3  # texts of each proof that are asked about as strings
# How far the scores of a choice and of its string may be apart: times the tolerance, or relative to the score.
NEAR, NEAR_RELATIVE = 10, 1e-3
ONE_BOUND = 2  # passes: the original text, and a bound of everything that may become of it
MakeOracle = Callable[[Space, Ints, Solver], Oracle]


def attack_and_prove(
    space: Space, make_oracle: MakeOracle, solver: Solver, *, tolerance: float, seed: int, passes: int
) -> list[Solution]:
    """A solution for each text, proved where that takes at most so many passes.

    make_oracle: makes the oracle of some of the texts, given their space, their numbers and the solver.
    tolerance: a string whose score is above it is flipped. The score of its words may differ by rounding errors, so an
        attack looks for twice as much, and a proof leaves room for half as much.
    """
    goal, safe = 2 * tolerance, tolerance / 2
    everyone = np.arange(len(space))
    first = Exact(passes=ONE_BOUND)
    found = solve(space.batch, make_oracle(space, everyone, first), first, goal=safe, seed=seed)
    rest = np.array([number for number in everyone if not found[number].proved], dtype=np.int64)
    if len(rest):
        some = space.take(rest.tolist())
        attacked = solve(some.batch, make_oracle(some, rest, solver), solver, goal=goal, seed=seed)
        for number, solution in zip(rest.tolist(), attacked, strict=True):
            found[number] = _add_up(found[number], _keep_proof(solution, safe))
    # Below one change there is nothing to prove.
    for number in rest.tolist():
        if found[number].reached and found[number].changes == 1:
            found[number] = replace(found[number], status=Status.FEWEST, proved_below=1)
    given_up = (Status.FAILED, Status.UNSTABLE)
    open_ = [n for n in rest.tolist() if not found[n].proved and found[n].status not in given_up]
    left = np.array(open_, dtype=np.int64)
    if len(left):
        budgets = [found[n].changes - 1 if found[n].reached else space.budgets[n] for n in left.tolist()]
        some = replace(space.take(left.tolist()), budgets=tuple(budgets))
        last = Exact(passes=passes)
        proofs = solve(some.batch, make_oracle(some, left, last), last, goal=safe, seed=seed)
        for number, proof in zip(left.tolist(), proofs, strict=True):
            found[number] = _conclude(found[number], proof, goal)
    return found


def _keep_proof(solution: Solution, safe: float) -> Solution:
    """What an attack found, and what it proved only if every choice was scored, and scored below this.

    A bound, or a text that was flipped, leaves others between this and the attack's own goal.
    """
    if solution.bounds == 0 and not solution.reached and solution.score < safe:
        return solution
    if solution.proved:
        solution = replace(solution, status=Status.REACHED if solution.reached else Status.IMPROVED)
    return replace(solution, proved_below=0)


def _add_up(before: Solution, after: Solution) -> Solution:
    """The later solution, with the costs of both, and what either has proved."""
    below = max(before.proved_below, after.proved_below)
    return replace(
        after,
        proved_below=min(below, after.changes) if after.reached else below,
        forwards=before.forwards + after.forwards,
        backwards=before.backwards + after.backwards,
        bounds=before.bounds + after.bounds,
        seconds=before.seconds + after.seconds,
        oracle_seconds=before.oracle_seconds + after.oracle_seconds,
    )


def _conclude(attacked: Solution, proof: Solution, goal: float) -> Solution:
    """What an attack and a proof say together. The proof was about fewer changes where the attack succeeded."""
    if proof.reached and attacked.reached and proof.score < goal:
        return _add_up(proof, attacked)  # nearly a tie: the text that certainly flips the label stays
    if proof.reached:
        return _add_up(attacked, proof)
    if not attacked.reached:
        # Of two texts that do not flip the label, the one that comes nearer to it.
        nearer = attacked.score > proof.score
        kept = replace(proof, choice=attacked.choice, score=attacked.score) if nearer else proof
        return _add_up(attacked, kept)
    # The text that flips the label stays, whatever became of the proof that fewer words do not.
    if proof.proved:
        attacked = replace(attacked, status=Status.FEWEST, proved_below=attacked.changes)
    return _add_up(proof, attacked)


def confirm(space: Space, victim: Victim, objective: Objective, records: Sequence[Record]) -> list[Record]:
    """The records without the proofs that some strings of their texts contradict.

    The strings are drawn at random, with up to as many changes as the label is proved to stay under.
    """
    tolerance = records[0].tolerance
    proved = replace(space, budgets=tuple(min(record.budget, record.radius or 0) for record in records))
    able = [number for number in range(len(space)) if proved.can_change(number)]
    problems = np.repeat(np.array(able, dtype=np.int64), 2 * REREAD)
    drawn = random_choices(proved.batch.take(problems), np.random.default_rng(records[0].seed))
    asked: dict[int, dict[str, int]] = {number: {} for number in able}
    for row, (number, choice) in enumerate(zip(problems.tolist(), drawn, strict=True)):
        if choice.any() and len(asked[number]) < REREAD:
            asked[number].setdefault(space.text(number, choice), row)
    texts = [text for mine in asked.values() for text in mine]
    if not texts:
        return list(records)
    rows = np.array([row for mine in asked.values() for row in mine.values()], dtype=np.int64)
    problems, drawn = problems[rows], drawn[rows]
    began = time.perf_counter()
    answers = evaluate(victim, texts)
    margins = objective.value(answers.scores, problems)
    # A victim that fails gives NaN or −inf, which is near to nothing.
    expected = Guarded(victim.oracle(space, objective), space.batch).score(problems, drawn)
    near = np.abs(margins - expected) <= NEAR * tolerance + NEAR_RELATIVE * np.abs(margins)
    seconds = (time.perf_counter() - began) / len(records)
    flips, differs = set(problems[margins > tolerance].tolist()), set(problems[~near].tolist())
    forwards = np.bincount(problems, answers.forwards + 1, len(records)).astype(int).tolist()
    found = []
    for number, record in enumerate(records):
        record = replace(record, forwards=record.forwards + forwards[number], seconds=record.seconds + seconds)
        if number in flips or number in differs:
            record = replace(record, radius=None)
        if not record.succeeded and number in differs:
            record = replace(record, status="unstable")
        elif not record.succeeded and number in flips:  # by no more than rounding errors, or its score would differ
            record = replace(record, tied=True)
        found.append(record)
    return found
