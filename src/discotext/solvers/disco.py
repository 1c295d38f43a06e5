"""Disco: the relaxation finds the region, climbing finds the choice, and what is left is spent where it may win.

    Frank–Wolfe        a few steps put several good and different feasible choices on the table, three passes each
    climbing           from the best of them, led by the gradient, until no proposed move is better
    surveys, restarts  from where climbing ended, while there are passes left

If there is a goal, most problems that miss it by far will never reach it, so the passes go to those that came near.
They are best spent on a survey of the place (`survey`) and then on new starts: near the best choice, with two words
exchanged at random, and at high effort also far from everything seen, where gradients at random mixtures point.

Small problems are not searched but enumerated, and their answers are proved.

`DiscoFrankWolfe` is the relaxation with climbing alone. {α in the simplices, Σ_i (1 − α_i^0) ≤ m} has integral
vertices, and the best vertex for a gradient is found in one pass (`rounding.best_vertex`). So every step moves towards
a feasible choice, which is scored at once: no λ, no γ, no κ, and no rounding. The path is the same for score and
a · score + b (a > 0), and for a cost that is convex and L-smooth in α it is within 2L · min(4m, 2n) / (T + 2) of the
optimum after T steps.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from numbers import Real
from typing import ClassVar, Literal

import numpy as np

from discotext.core.arrays import Bools, Floats, Ints
from discotext.core.oracle import (
    RelaxedOracle,
    Wrapper,
    find_free_gradients,
)
from discotext.core.problem import Batch, interior_point
from discotext.core.rounding import best_vertex
from discotext.search.climbing import Allowance, Climbers, Places, climb, search_frugally, survey
from discotext.search.solver import DEFAULT, Proposal, Proposals, Search, Solver, Tuning, is_active
from discotext.solvers.exact import enumerate_levels
from discotext.solvers.greedy import climb_greedily, greedy_passes, search_beam


@dataclass(frozen=True)
class Disco(Solver):
    """Frank–Wolfe within the budget, climbing and restarts; not the paper's Algorithm 2, which is `DiscoProximal`.

    With the budget in the polytope there is no λ and no step to tune.

    effort: "default" takes some dozens of passes, and more where a goal is near. A number is a multiple of the passes
        that `Greedy` would spend. "high" is 1, but at least a thousand passes where there is no goal to be reached.
    enumerate: score every choice where that costs no more passes than searching, and mark the answer as proved.
    tuning: the constants behind it, for experiments.

    >>> Disco(effort="high")
    Disco(effort='high', enumerate=True)
    """

    needs: ClassVar[type] = RelaxedOracle
    effort: Literal["default", "high"] | float = "default"
    enumerate: bool = True
    tuning: Tuning = DEFAULT

    def __post_init__(self) -> None:
        if self.effort not in ("default", "high") and not (isinstance(self.effort, Real) and self.effort > 0):
            raise ValueError(f"effort is {self.effort!r}; choose 'default', 'high' or a number above 0")

    def __repr__(self) -> str:
        tuning = "" if self.tuning == DEFAULT else f", tuning={self.tuning}"
        return f"Disco(effort={self.effort!r}, enumerate={self.enumerate}{tuning})"

    @property
    def multiple(self) -> float:
        """Passes to spend, restarts included, in units of what greedy would spend; 0 for the default effort."""
        if isinstance(self.effort, str):
            return {"default": 0.0, "high": 1.0}[self.effort]
        return float(self.effort)

    @property
    def thorough(self) -> bool:
        return self.multiple > 0

    def propose(self, batch: Batch, oracle: Wrapper, search: Search) -> Proposals:
        plan = self.plan(search.goal)
        problems = np.arange(len(batch))
        if self.enumerate:
            small = is_enumerable(batch, self._passes(batch, plan))
            if small.any():
                yield from enumerate_levels(batch, oracle, np.flatnonzero(small))
                problems = np.flatnonzero(~small)
                problems = problems[is_active(problems, (yield nothing(batch)))]
        if not len(problems):
            return
        free = find_free_gradients(oracle)
        if free is not None:
            least = self.tuning.labels_queries if free.labels_only else self.tuning.frugal_queries
            queries = np.maximum(self.multiple * greedy_passes(batch), least)
            slack = np.inf if self.thorough else free.slack
            yield from search_frugally(batch, oracle, free.labels_only, search, problems, queries, slack, self.tuning)
        else:
            yield from self._search(batch, oracle, search, plan, problems)

    def plan(self, goal: float | None) -> Plan:
        """What was measured to serve best with or without a goal, at this effort."""
        tuning, high = self.tuning, self.multiple > 0
        if goal is None:
            least = tuning.least_passes if self.effort == "high" else 0.0
            return Plan(starts=4 if high else 2, distant=high, passes=least, multiple=self.multiple)
        return Plan(
            starts=4 if high else 1,
            smoothing=tuning.smoothing,
            surveys=True,
            distant=high,
            missing=tuning.high_share if high else tuning.near_share,
            passes=0.0 if high else tuning.near_passes,
            multiple=2 * self.multiple,
        )

    def _passes(self, batch: Batch, plan: Plan) -> Floats:
        """(B,) what a search would spend at least; below that, enumeration is cheaper."""
        tuning = self.tuning
        usual = 3.0 * tuning.frank_wolfe_steps + 2 * plan.starts * (2 + tuning.proposals)
        least = plan.passes if plan.distant else 0.0
        return np.maximum(self.multiple * greedy_passes(batch), max(usual, least))

    def _search(self, batch: Batch, oracle: RelaxedOracle, search: Search, plan: Plan, problems: Ints) -> Proposals:
        """Greedy where that is cheap, else Frank–Wolfe and climbing; then restarts while passes are left."""
        tuning = self.tuning
        before = np.full(len(batch), -np.inf)
        before[problems] = oracle.score(problems, batch.originals()[problems])
        spent = search.spent(np.arange(len(batch)))
        allowance = Allowance(batch, search, self.multiple * greedy_passes(batch) if self.multiple else np.inf)
        cheap = (greedy_passes(batch)[problems] <= tuning.greedy_passes) & (search.goal is not None)
        greedy = yield from climb_greedily(batch, oracle, problems[cheap])
        start = spread_start(batch.take(problems[~cheap]))
        met = yield from frank_wolfe(batch, oracle, problems[~cheap], start, tuning.frank_wolfe_steps)
        climbers = met.best(plan.starts)
        ended = yield from climb(batch, oracle, climbers, allowance, tuning, smoothing=plan.smoothing, goal=search.goal)
        best = (greedy + ended).best(1)
        best = best.take(is_active(best.problems, (yield nothing(batch))))
        allowance.limit = spent + plan.allow(batch, best, before, search.goal)
        beamed = best.problems[plan.passes >= beam_passes(batch.take(best.problems), tuning.beam_width)]
        if plan.distant and len(beamed):
            yield from search_beam(batch, oracle, beamed, tuning.beam_width)
            best = best.take(is_active(best.problems, (yield nothing(batch))))
        left = yield from self._restart(batch, oracle, search, plan, best, allowance)
        if self.thorough and search.goal is not None:
            # Where little is missing, the moves that greedy would have made have the last word.
            near = plan.miss(left, before, search.goal) <= tuning.last_share
            yield from climb_greedily(batch, oracle, np.setdiff1d(left.problems[near], greedy.problems))

    def _restart(
        self,
        batch: Batch,
        oracle: RelaxedOracle,
        search: Search,
        plan: Plan,
        best: Climbers,
        allowance: Allowance,
    ) -> Generator[Proposal, Ints, Climbers]:
        """Survey the best place of each problem, or start anew, while it can be paid for; returns the best of all."""
        tuning, surveyed, idle = self.tuning, Places(), np.zeros(len(batch), dtype=np.int64)
        done = best.take(np.empty(0, dtype=np.int64))
        while True:
            payable = allowance.affords(best.problems, 3 + tuning.proposals)
            going = payable & (idle[best.problems] < tuning.idle_waves)
            done, best = done + best.take(~going), best.take(going)
            if not len(best):
                return done
            asked, before = best.problems, search.spent(best.problems)
            here = allowance.affords(best.problems, 2 + tuning.surveyed_swaps) & surveyed.visit(best) & plan.surveys
            new = survey(batch, oracle, best.take(here), tuning)
            new = new + near_starts(batch, oracle, best.take(~here), tuning.exchanged_words, search.rng)
            if plan.distant:
                rich = ~here & allowance.affords(best.problems, 2 * (4 + tuning.proposals))
                new = new + far_starts(batch, oracle, best.problems[rich], search.rng)
            active = yield new.proposal()
            new, best = new.take(is_active(new.problems, active)), best.take(is_active(best.problems, active))
            ended = yield from climb(batch, oracle, new, allowance, tuning, smoothing=plan.smoothing)
            # In a small space all that is near has been asked before, and a wave may cost nothing and find nothing.
            idle[asked] = np.where(search.spent(asked) == before, idle[asked] + 1, 0)
            active = yield ended.proposal()
            done = done.take(is_active(done.problems, active))
            best = (best.take(is_active(best.problems, active)) + ended.take(is_active(ended.problems, active))).best(1)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a search goes about it.

    starts: vertices to climb from; with a goal, fewer will do at first.
    smoothing: where gradients are taken, see `gradients_at`.
    surveys: whether the place where climbing ends is surveyed before new starts are made.
    distant: whether new starts are also made far from everything seen.
    missing: share of the way to the goal that may be missing for a problem to be pursued.
    passes, multiple: a problem that has all but reached its goal may spend so many passes, or so many times what greedy
        spends, whichever is more. Where `passes` alone would pay for a beam, one is run first.
    """

    starts: int
    smoothing: float = 0.0
    surveys: bool = False
    distant: bool = False
    missing: float = 1.0
    passes: float = 0.0
    multiple: float = 0.0

    def allow(self, batch: Batch, best: Climbers, before: Floats, goal: float | None) -> Floats:
        """(B,) passes for each problem, including those spent so far."""
        near = np.ones(len(batch))
        if goal is not None:
            near[best.problems] = np.clip(1 - self.miss(best, before, goal) / self.missing, 0, 1)
        return np.asarray(near * np.maximum(self.passes, self.multiple * greedy_passes(batch)))

    @staticmethod
    def miss(best: Climbers, before: Floats, goal: float) -> Floats:
        """(R,) the share of the way from the original to the goal that climbers miss."""
        with np.errstate(invalid="ignore"):
            missing = (goal - best.scores) / np.maximum(goal - before[best.problems], 1e-12)
        # Of an infinite goal, or where only forbidden choices were met, the whole way is missing.
        return np.asarray(np.where(np.isnan(missing), 1.0, missing))


def nothing(batch: Batch) -> Proposal:
    """A proposal of nothing: its answer says which problems are still active."""
    return Climbers.none(batch).proposal()


def beam_passes(batch: Batch, width: int) -> Floats:
    """(B,) what a beam spends: its first round extends one answer, the others `width` of them."""
    pairs = (batch.widths - batch.sizes).astype(np.float64)
    return np.asarray(width * greedy_passes(batch) - (width - 1) * pairs)


def is_enumerable(batch: Batch, passes: Floats) -> Bools:
    """(B,) True where the whole space has no more choices than the passes a search would spend."""
    # One change alone gives this many; only where that is little is the exact count worth its time.
    maybe = np.flatnonzero((batch.widths - batch.sizes) * (batch.budgets > 0) <= passes)
    small = np.zeros(len(batch), dtype=bool)
    # The original is known already and costs nothing.
    small[maybe] = [batch[index].has_at_most(float(passes[index]) + 1) for index in maybe.tolist()]
    return small


def far_starts(batch: Batch, oracle: RelaxedOracle, problems: Ints, rng: np.random.Generator) -> Climbers:
    """The vertex that the gradient at a random mixture points to."""
    layout = batch.take(problems)
    _, gradient = oracle.relaxed(problems, interior_point(layout, rng))
    return Climbers.at(batch, oracle, problems, best_vertex(gradient, layout))


def near_starts(batch: Batch, oracle: RelaxedOracle, best: Climbers, count: int, rng: np.random.Generator) -> Climbers:
    """The best choice so far with `count` changed words put back and as many others changed, all at random."""
    layout = batch.take(best.problems)
    choices = best.choices[:, : layout.n_max].copy()
    put_back = random_positions(choices != 0, count, rng)
    changed = random_positions((choices == 0) & (layout.dense_counts > 1), count, rng)
    candidate = 1 + np.floor(rng.random(choices.shape) * np.maximum(layout.dense_counts - 1, 0))
    choices[put_back] = 0
    room = layout.budgets - (choices != 0).sum(axis=1)
    changed &= np.cumsum(changed, axis=1) <= room[:, None]
    started = np.where(changed, candidate, choices).astype(np.int32)
    return Climbers.at(batch, oracle, best.problems, started)


def random_positions(allowed: Bools, count: int, rng: np.random.Generator) -> Bools:
    """In each row, `count` of the allowed positions at random (all, where there are fewer)."""
    keys = np.where(allowed, rng.random(allowed.shape), np.inf)
    rank = np.argsort(np.argsort(keys, axis=1), axis=1)
    return np.asarray(allowed & (rank < count))


@dataclass(frozen=True)
class DiscoFrankWolfe(Solver):
    """Frank–Wolfe over mixtures within budget, then climbing from the best choice it met.

    steps: of size 2 / (t + 2), from the budget spread evenly over all words.
    proposals: moves a climber looks at in each round; 0 leaves the climbing out.
    """

    needs: ClassVar[type] = RelaxedOracle
    steps: int = 5
    proposals: int = 8

    def __post_init__(self) -> None:
        if self.steps < 1 or self.proposals < 0:
            raise ValueError(
                f"steps is {self.steps} and proposals is {self.proposals}; choose steps ≥ 1 and proposals ≥ 0"
            )

    def propose(self, batch: Batch, oracle: RelaxedOracle, search: Search) -> Proposals:
        met = yield from frank_wolfe(batch, oracle, np.arange(len(batch)), spread_start(batch), self.steps)
        if self.proposals:
            tuning = replace(DEFAULT, proposals=self.proposals)
            yield from climb(batch, oracle, met.best(1), Allowance(batch, search), tuning)


def spread_start(layout: Batch) -> Floats:
    """The mixture that spends each row's budget evenly: the same share of change on every word that may change."""
    changeable = layout.counts > 1
    words = np.bincount(layout.problem_of_position, weights=changeable, minlength=len(layout))
    share = np.minimum(1.0, layout.budgets / np.maximum(words, 1))
    share = np.where(changeable, share[layout.problem_of_position], 0.0)
    alpha = (share / np.maximum(layout.counts - 1, 1))[layout.position_of]
    alpha[layout.starts] = 1.0 - share
    return alpha


def frank_wolfe(
    batch: Batch, oracle: RelaxedOracle, problems: Ints, alpha: Floats, steps: int
) -> Generator[Proposal, Ints, Climbers]:
    """Take steps from the mixtures alpha, one row per problem; returns every vertex met."""
    met, layout = Climbers.none(batch), batch.take(problems)
    for step in range(steps):
        if not len(problems):
            break
        _, gradient = oracle.relaxed(problems, alpha)
        vertex = best_vertex(gradient, layout)
        found = Climbers.at(batch, oracle, problems, vertex)
        met = met + found
        active = yield found.proposal()
        alpha = alpha + 2 / (step + 2) * (layout.one_hot(vertex) - alpha)
        going = np.flatnonzero(is_active(problems, active))
        if len(going) < len(problems):
            alpha, problems, layout = alpha[layout.flat_rows(going)], problems[going], layout.take(going)
            met = met.take(is_active(met.problems, active))
    return met
