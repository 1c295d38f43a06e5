"""Disco: the relaxation finds the region, climbing finds the choice, and what is left is spent where it may win.

    Frank–Wolfe        a few steps put several good and different feasible choices on the table, three passes each
    climbing           from the best of them, led by the gradient, until no proposed move is better
    surveys, restarts  from where climbing ended, while there are passes left

If there is a goal, most problems that miss it by far will never reach it, so the passes go to those that came near.
They are best spent on a survey of the place (`survey`) and then on new starts: near the best choice, with two words
exchanged at random, and at high effort also far from everything seen, where slopes at random mixtures point.

Small problems are not searched but enumerated, and their answers are proved.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, Literal

import numpy as np

from discotext.core.arrays import Bools, Floats, Ints
from discotext.core.oracle import (
    Oracle,
    RelaxedOracle,
    Wrapper,
    can,
    find_free_gradients,
    name_ability,
)
from discotext.core.problem import Batch, interior_point
from discotext.core.rounding import best_vertex
from discotext.search.climbing import Allowance, Climbers, Places, climb, search_frugally, survey
from discotext.search.solver import Proposal, Proposals, Search, Solver, check_solver, is_active
from discotext.search.tuning import DEFAULT, Tuning
from discotext.solvers.beam import search_beam
from discotext.solvers.disco_frank_wolfe import frank_wolfe, spread_start
from discotext.solvers.exact import enumerate_levels
from discotext.solvers.greedy import climb_greedily, greedy_passes


@dataclass(frozen=True)
class Disco(Solver):
    """Not the paper's Algorithm 2 (`DiscoProximal`): with the budget in the polytope there is no λ and no step to tune.

    Frank–Wolfe over the mixtures within budget, then climbing, then restarts while passes are left. It needs no tuning
    by its user.

    effort: "default" takes some dozens of passes, and more where a goal is near. A number is a multiple of the passes
        that `Greedy` would spend. "high" is 1, but at least a thousand passes where there is no goal to be reached.
    enumerate: score every choice where that costs no more passes than searching, and mark the answer as proved.
    start: another solver, which is run first; this then climbs from the best it found and not from where Frank–Wolfe
        leads, and enumerates nothing.
    tuning: the constants behind it, for experiments.

    >>> Disco(effort="high")
    Disco(effort='high', enumerate=True)
    """

    needs: ClassVar[type] = RelaxedOracle
    effort: Literal["default", "high"] | float = "default"
    enumerate: bool = True
    tuning: Tuning = DEFAULT
    start: Solver | None = None

    def __post_init__(self) -> None:
        if self.start is not None:
            check_solver(self.start)
        if self.effort not in ("default", "high") and not (isinstance(self.effort, Real) and self.effort > 0):
            raise ValueError(f"effort is {self.effort!r}; choose 'default', 'high' or a number above 0")

    def __repr__(self) -> str:
        tuning = "" if self.tuning == DEFAULT else f", tuning={self.tuning}"
        start = "" if self.start is None else f", start={self.start!r}"
        return f"Disco(effort={self.effort!r}, enumerate={self.enumerate}{tuning}{start})"

    @property
    def multiple(self) -> float:
        """Passes to spend, restarts included, in units of what greedy would spend; 0 for the default effort."""
        if isinstance(self.effort, str):
            return {"default": 0.0, "high": 1.0}[self.effort]
        return float(self.effort)

    @property
    def thorough(self) -> bool:
        return self.multiple > 0

    @property
    def restricts(self) -> bool:
        return self.start is not None and self.start.restricts

    def refuse(self, batch: Batch, oracle: Oracle) -> None:
        if self.start is not None:
            if not can(oracle, self.start.needs):
                wanted = f"{type(self.start).__name__}, which needs {name_ability(self.start.needs)}"
                raise TypeError(
                    f"Disco has to start from {wanted}, and {type(oracle).__name__} has none; choose another start"
                )
            self.start.refuse(batch, oracle)

    def propose(self, batch: Batch, oracle: Wrapper, search: Search) -> Proposals:
        plan = self.plan(search.goal)
        problems = np.arange(len(batch))
        if self.start is not None:
            yield from self._polish(batch, oracle, search, plan, self.start)
            return
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
        tuning, everything = self.tuning, np.arange(len(batch))
        before = np.full(len(batch), -np.inf)
        before[problems] = oracle.score(problems, batch.originals()[problems])
        spent = search.spent(everything)
        allowance = Allowance(batch, search, self.multiple * greedy_passes(batch) if self.multiple else np.inf)
        cheap = (greedy_passes(batch)[problems] <= tuning.greedy_passes) & (search.goal is not None)
        greedy = yield from climb_greedily(batch, oracle, problems[cheap])
        start = spread_start(batch.take(problems[~cheap]))
        met = yield from frank_wolfe(batch, oracle, problems[~cheap], start, tuning.frank_wolfe_steps)
        yield from self._climb(batch, oracle, search, plan, met.best(plan.starts), allowance, before, spent, greedy)

    def _polish(self, batch: Batch, oracle: Wrapper, search: Search, plan: Plan, start: Solver) -> Proposals:
        """Run the start, and go on from the best it found."""
        found = yield from follow_best(batch, start.propose(batch, oracle, search))
        spent = search.spent(np.arange(len(batch)))
        allowance = Allowance(batch, search, self.multiple * greedy_passes(batch) if self.multiple else np.inf)
        kept = Climbers.at(batch, oracle, found.problems, batch.originals()[found.problems])
        before = np.full(len(batch), -np.inf)
        before[kept.problems] = kept.scores
        best = (found + kept).best(1)
        yield from self._climb(batch, oracle, search, plan, best, allowance, before, spent, Climbers.none(batch))

    def _climb(
        self,
        batch: Batch,
        oracle: RelaxedOracle,
        search: Search,
        plan: Plan,
        climbers: Climbers,
        allowance: Allowance,
        before: Floats,
        spent: Floats,
        greedy: Climbers,
    ) -> Proposals:
        """Climb, then go on while there are passes left.

        before: (B,) the originals' scores; spent: (B,) passes. greedy: where greedy search has ended already.
        """
        tuning = self.tuning
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
    smoothing: where slopes are taken, see `slopes_at`.
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


def follow_best(batch: Batch, proposals: Proposals) -> Generator[Proposal, Ints, Climbers]:
    """Pass on what another solver proposes; returns the best of each problem that still goes on at its end."""
    best, active, answer = Climbers.none(batch), np.arange(len(batch)), None
    while True:
        try:
            proposal = next(proposals) if answer is None else proposals.send(answer)
        except StopIteration:
            break
        best = (best + Climbers(proposal.problems, proposal.choices, proposal.scores)).best(1)
        active = answer = yield proposal
    # What nothing was proposed for goes on from its original.
    missing = active[~np.isin(active, best.problems)]
    start = Climbers(missing, batch.originals()[missing], np.full(len(missing), -np.inf))
    return (best + start).take(is_active(np.concatenate([best.problems, missing]), active)).best(1)


def nothing(batch: Batch) -> Proposal:
    """A proposal of nothing: its answer says which problems still go on."""
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
    """The vertex that the slope at a random mixture points to."""
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
