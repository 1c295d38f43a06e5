"""Small random problems, solved with every solver and checked by enumeration.

Every problem is small enough to enumerate, so each claim of a solution can be checked. The oracle counts its calls and
records its answers.
"""

from __future__ import annotations

import math
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

import discotext as d
from benchmarks.black_box import Outcome, main
from discotext.core import Solution
from discotext.search import Stop
from discotext.solvers import make_solver

WITH_GRADIENTS = ("disco", "disco-high", "disco-adam", "disco-proximal", "disco-frank-wolfe", "gradient-greedy")
WITHOUT = ("greedy left-to-right ranked-greedy beam local-search exact random").split()
TROUBLES = ("none", "none", "none", "raise", "nan", "infinite", "shape", "raise in relaxed", "memory")
NEAR = 1e-9  # rounding error of a sum in another order


@dataclass
class Truth:
    """An enumerated problem: row r of `choices` has the score `scores[r]`; `bad` rows have no score."""

    counts: tuple[int, ...]
    budget: int
    linear: np.ndarray
    pairs: np.ndarray
    choices: np.ndarray
    vertices: np.ndarray
    scores: np.ndarray
    bad: np.ndarray

    def __post_init__(self) -> None:
        self.changes = (self.choices != 0).sum(axis=1)
        self.allowed = self.changes <= self.budget

    def row(self, choice: Any) -> int:
        return int(np.ravel_multi_index(tuple(choice), self.counts)) if self.counts else 0


class Strange:
    """An oracle over enumerated problems with chosen abilities and failures; records its calls."""

    def __init__(
        self, truths: list[Truth], trouble: str, abilities: set[str], rows: int, rng: np.random.Generator
    ) -> None:
        self.truths, self.trouble, self.rows = truths, trouble, rows
        self.forwards, self.backwards, self.troubled = (np.zeros(len(truths), dtype=kind) for kind in (int, int, bool))
        self.answered: set[tuple[int, int]] = set()
        self.wrong: list[str] = []
        self.deleted = rng.normal(size=(len(truths), 8))
        self.unlucky = int(rng.integers(len(truths)))
        self.exact_at_vertices = bool(rng.random() < 0.5)
        for ability in abilities:
            setattr(self, ability, getattr(self, f"_{ability}"))

    def _enter(self, problems: np.ndarray, troubled: np.ndarray, backward: bool = False) -> None:
        # A call that runs out of memory has no effect, and is repeated in parts.
        if self.trouble == "memory" and len(problems) > self.rows:
            raise MemoryError("too many rows")
        np.add.at(self.forwards, problems, 1)
        np.add.at(self.backwards, problems, int(backward))
        self.troubled[problems[troubled]] = True
        if troubled.any() and self.trouble in ("raise", "raise in relaxed"):
            raise ArithmeticError("this row cannot be scored")

    def score(self, problems: np.ndarray, choices: np.ndarray) -> Any:
        rows = [self._row(problem, choice) for problem, choice in zip(problems.tolist(), choices.tolist(), strict=True)]
        troubled = np.array([self.truths[p].bad[r] for p, r in zip(problems, rows, strict=True)], dtype=bool)
        self._enter(problems, troubled)
        scores = np.array([self.truths[p].scores[r] for p, r in zip(problems, rows, strict=True)])
        if troubled.any() and self.trouble == "shape":
            return np.append(scores, 0.0)
        self.answered.update(zip(problems[~troubled].tolist(), np.array(rows)[~troubled].tolist(), strict=True))
        scores[troubled] = {"nan": np.nan, "infinite": np.inf}.get(self.trouble, 0.0)
        return scores

    def _row(self, problem: int, choice: list[int]) -> int:
        counts = self.truths[problem].counts
        own, beyond = choice[: len(counts)], choice[len(counts) :]
        if len(own) < len(counts) or any(beyond) or any(not 0 <= c < k for c, k in zip(own, counts, strict=True)):
            self.wrong.append(f"the oracle was asked about {choice} where the counts are {counts}")
            return 0
        return self.truths[problem].row(own)

    def _relaxed(self, problems: np.ndarray, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        troubled = (problems == self.unlucky) & (self.trouble == "raise in relaxed")
        self._enter(problems, troubled, backward=True)
        scores, gradients, at = [], [], 0
        for problem in problems.tolist():
            truth = self.truths[problem]
            own = alpha[at : at + len(truth.linear)]
            at += len(own)
            self._look_at_mixture(truth, own)
            score = truth.linear @ own + own @ truth.pairs @ own
            vertex = self.exact_at_vertices and np.isin(own, (0.0, 1.0)).all()
            scores.append(truth.scores[np.flatnonzero((truth.vertices == own).all(axis=1))[0]] if vertex else score)
            gradients.append(truth.linear + (truth.pairs + truth.pairs.T) @ own)
        if at != len(alpha):
            self.wrong.append(f"a mixture has {len(alpha)} weights where {at} were expected")
        return np.array(scores), np.concatenate(gradients) if gradients else np.empty(0)

    def _look_at_mixture(self, truth: Truth, own: np.ndarray) -> None:
        sums = np.add.reduceat(own, np.cumsum((0, *truth.counts))[:-1]) if truth.counts else np.empty(0)
        if not np.allclose(sums, 1.0, atol=1e-6) or (own < -1e-9).any():
            self.wrong.append(f"a mixture {own.tolist()} is no mixture where the counts are {truth.counts}")

    def _bound(self, problems: np.ndarray, choices: np.ndarray, remaining: np.ndarray) -> np.ndarray:
        self._enter(problems, np.zeros(len(problems), dtype=bool))
        found = []
        for problem, choice, left in zip(problems.tolist(), choices.tolist(), remaining.tolist(), strict=True):
            truth = self.truths[problem]
            parts = np.split(truth.linear, np.cumsum(truth.counts, dtype=int)[:-1])[: len(truth.counts)]
            pairs = list(zip(parts, choice, strict=False))
            fixed = sum(part[max(c, 0)] for part, c in pairs)
            gains = sorted(part.max() - part[0] for part, c in pairs if c < 0)[::-1]
            found.append(fixed + sum(gains[: max(left, 0)]) + NEAR)
        return np.array(found)

    def _without(self, problems: np.ndarray, positions: np.ndarray) -> np.ndarray:
        self._enter(problems, np.zeros(len(problems), dtype=bool))
        return self.deleted[problems, positions]


@dataclass(frozen=True)
class Case:
    """One call of `solve`, and everything needed to check it."""

    name: str
    solver: str
    truths: list[Truth]
    oracle: Strange
    goal: float | None
    stop: Stop
    seed: int

    def solve(self) -> list[Solution]:
        batch = d.Batch.of([d.Problem(truth.counts, truth.budget) for truth in self.truths])
        return d.solve(batch, self.oracle, make_solver(self.solver), goal=self.goal, seed=self.seed, stop=self.stop)


def some_truth(kind: str, forbids: bool, trouble: str, rng: np.random.Generator) -> Truth:
    counts = tuple(int(k) for k in rng.integers(1, 6, size=int(rng.integers(0, 7))))
    budget, width = int(rng.integers(0, len(counts) + 1)), sum(counts)
    choices = np.indices(counts).reshape(len(counts), -1).T if counts else np.zeros((1, 0), dtype=int)
    linear = np.round(rng.normal(size=width), 3)
    pairs = np.round(rng.normal(size=(width, width)), 3) * (kind == "quadratic")
    vertices = np.zeros((len(choices), width))
    for position, first in enumerate(np.cumsum((0, *counts))[:-1]):
        vertices[np.arange(len(choices)), first + choices[:, position]] = 1.0
    scores = vertices @ linear + ((vertices @ pairs) * vertices).sum(axis=1)
    if kind == "table":
        scores = rng.normal(size=len(choices))
    if kind == "ties":
        scores = rng.integers(-1, 3, size=len(choices)).astype(float)
    if forbids:
        scores[rng.random(len(choices)) < rng.choice([0.1, 0.5, 1.0])] = -np.inf
        scores[0] = -np.inf if rng.random() < 0.5 else scores[0]
    bad = np.zeros(len(choices), dtype=bool)
    if trouble in ("raise", "nan", "infinite", "shape") and rng.random() < 0.5:
        bad = rng.random(len(choices)) < rng.choice([0.02, 0.3, 1.0])
    return Truth(counts, budget, linear, pairs, choices, vertices, scores, bad)


def some_goal(truths: list[Truth], rng: np.random.Generator) -> float | None:
    if rng.random() < 0.4:
        return None
    scores = np.concatenate([truth.scores[truth.allowed] for truth in truths])
    finite = scores[np.isfinite(scores)]
    if not len(finite) or rng.random() < 0.1:
        return float(rng.choice([0.0, 100.0, -100.0, math.inf]))
    return float(rng.choice([rng.choice(finite), np.quantile(finite, 0.9), finite.max()]))


def some_case(seed: int, number: int) -> Case:
    rng = np.random.default_rng([seed, number])
    kind = str(rng.choice(["table", "ties", "additive", "quadratic", "quadratic"]))
    trouble, forbids = str(rng.choice(TROUBLES)), bool(rng.random() < 0.3)
    truths = [some_truth(kind, forbids, trouble, rng) for _ in range(int(rng.integers(1, 9)))]
    abilities = {"without"} if rng.random() < 0.3 else set()
    if kind in ("additive", "quadratic") and rng.random() < 0.9:
        abilities.add("relaxed")
    if kind == "additive" and trouble == "none" and rng.random() < 0.5:
        abilities.add("bound")
    # Sometimes a solver gets an oracle that it must refuse.
    able = "relaxed" in abilities or rng.random() < 0.01
    solver = str(rng.choice(WITH_GRADIENTS if able and rng.random() < 0.6 else WITHOUT))
    forwards = int(rng.choice([1, 2, 3, 5, 8, 20, 60])) if rng.random() < 0.4 else None
    backwards = int(rng.choice([0, 1, 2, 5, 20])) if rng.random() < 0.2 else None
    oracle = Strange(truths, trouble, abilities, int(rng.integers(1, 6)), rng)
    stop, goal = Stop(forwards=forwards, backwards=backwards), some_goal(truths, rng)
    told = ", ".join(filter(None, (kind, forbids and "forbidding", trouble != "none" and trouble, *sorted(abilities))))
    name = f"case {number} of seed {seed}: {solver}, {len(truths)} problems, {told}, goal {goal}, {stop}"
    return Case(name, solver, truths, oracle, goal, stop, int(rng.integers(1000)))


def broken(case: Case, number: int, found: Solution) -> list[str]:
    """The requirements that a solution violates."""
    truth, status, choice = case.truths[number], found.status.name, found.choice.tolist()
    inside = len(choice) == len(truth.counts) and all(0 <= c < k for c, k in zip(choice, truth.counts, strict=True))
    if not inside or found.changes > truth.budget or found.changes != sum(c != 0 for c in choice):
        return [f"the choice {choice} is not within {truth.counts} and {truth.budget} changes"]
    row = truth.row(choice)
    stop, oracle = case.stop, case.oracle
    told, made = (found.forwards, found.backwards), (oracle.forwards[number], oracle.backwards[number])
    limits = (math.inf if limit is None else limit for limit in (stop.forwards, stop.backwards))
    mine, first = truth.scores[row], truth.scores[0]
    laws = {
        f"score {found.score} where the choice scores {mine}": same(case, number, row, found.score),
        f"original score {found.original_score} for {first}": same(case, number, 0, found.original_score),
        f"score {mine}, below the original's {first}": status == "FAILED" or truth.bad[0] or mine >= first - NEAR,
        "passes reported {}, {}, made {}, {}".format(*told, *made): told == made,
        f"passes {told} beyond the limit": all(spent <= limit for spent, limit in zip(told, limits, strict=True)),
        f"status {status}, error {found.error!r}": (status == "FAILED") == (found.error is not None),
        f"{status} where the goal is {case.goal} and the score {found.score}": status == "FAILED"
        or found.reached == (case.goal is not None and found.score >= case.goal),
        **status_laws(case, number, found, row),
    }
    return [law for law, held in laws.items() if not held]


def same(case: Case, number: int, row: int, reported: float) -> bool:
    """Whether a reported score is that of the row; an unknown score is reported as missing."""
    truth = case.truths[number]
    # A failed call costs one forward pass per row; under a limit there may be none left to retry.
    unlearnt = case.stop.forwards is not None and (number, row) not in case.oracle.answered
    if truth.bad[row] or not np.isfinite(truth.scores[row]) or (unlearnt and math.isnan(reported)):
        return not math.isfinite(reported)
    return abs(reported - truth.scores[row]) < NEAR


def status_laws(case: Case, number: int, found: Solution, row: int) -> dict[str, bool]:
    """Check the claim of a status."""
    truth, status = case.truths[number], found.status.name
    # A row without a score might have any score, so nothing is proved while there is one.
    possible = np.where(truth.bad, np.inf, truth.scores)
    best = possible[truth.allowed].max()
    fewer = truth.allowed & (truth.changes < found.changes)
    limited = case.stop.forwards is not None or case.stop.backwards is not None
    troubled = bool(case.oracle.troubled[number])
    goal, mine = math.nan if case.goal is None else case.goal, truth.scores[row]
    claims = {
        "OPTIMAL": case.goal is None and best <= mine + NEAR,
        "IMPOSSIBLE": case.goal is not None and best < goal,
        "FEWEST": mine >= goal and not (possible[fewer] >= goal).any(),
        "IMPROVED": mine > truth.scores[0] or truth.bad[0],
        "UNCHANGED": found.changes == 0,
        "STOPPED": limited,
        "UNSTABLE": False,
        "FAILED": troubled,
    }
    laws = {f"{status}, but by enumeration: best {best}, this {mine}": claims.get(status, True)}
    if not limited:
        laws[f"{status} though the oracle failed on it"] = status == "FAILED" or not troubled
    if case.solver == "exact" and not limited and status != "FAILED":
        laws[f"exact ended without proof: {status}"] = found.proved
        # Among tied optima, the one with the fewest changes is promised.
        ties = truth.allowed & (truth.scores >= mine) & ~truth.bad
        fewest = truth.changes[ties].min(initial=len(truth.counts))
        laws["a choice with fewer changes has the same score"] = status != "OPTIMAL" or found.changes <= fewest
    return laws


def try_case(case: Case) -> list[list[str]]:
    """The violations of each solution of a case."""
    refused = case.solver in WITH_GRADIENTS and not hasattr(case.oracle, "relaxed")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            solutions = case.solve()
        except TypeError as error:
            return [[] if refused and "needs gradients" in str(error) else [f"TypeError escaped: {error}"]]
        except Exception as error:
            return [[f"{type(error).__name__} escaped: {error}"]]
    found = [broken(case, number, solution) for number, solution in enumerate(solutions)]
    warned = [f"a warning: {one.message}" for one in told if issubclass(one.category, RuntimeWarning)]
    found[0] += ["it should have been refused"] * refused + case.oracle.wrong[:1] + warned[:1]
    return found


def run(tries: int, seed: int) -> Outcome:
    """Solve cases until this many solutions have been checked."""
    done, number, failures = 0, 0, list[str]()
    while done < tries:
        case = some_case(seed, number)
        results = try_case(case)[: tries - done]
        failures += [f"{case.name}, problem {at}: {'; '.join(laws)}" for at, laws in enumerate(results) if laws]
        done, number = done + len(results), number + 1
    return Outcome("solutions", done, tuple(failures))


if __name__ == "__main__":
    sys.exit(main(run, 9_311, __doc__ or ""))
