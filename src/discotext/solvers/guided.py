"""The default: the relaxation finds the region, climbing finds the choice, and what is left goes where it may win.

Measured, on networks small enough to enumerate and on LSTMs of real text: a few Frank–Wolfe steps put several good
and different feasible choices on the table for three passes each. Climbing from the best of them ends somewhere. If
there is a goal, most problems that miss it by far will never reach it, so passes go to those that came near. They are
best spent on a survey of the place (`survey`) and then on new starts: from the best choice with two words exchanged at
random (near it) and, with high effort, from slopes at random mixtures (far from everything seen).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, Literal

import numpy as np

from discotext.oracle import Oracle, RelaxedOracle
from discotext.problem import Batch
from discotext.rounding import best_vertex
from discotext.sampling import interior_point
from discotext.segments import Bools, Floats, Ints
from discotext.solvers.beam import Beam
from discotext.solvers.climbing import AROUND, Climbers, Places, Purse, climb
from discotext.solvers.exact import enumerate_levels
from discotext.solvers.frank_wolfe import frank_wolfe, spread_start
from discotext.solvers.proposal import Proposal, Proposals, among
from discotext.solvers.survey import MEASURED, survey
from discotext.wrappers import Renumbered, goal_of, passes_spent

STEPS, PROPOSALS = 5, 12
IDLE = 10  # waves of restarts without a new pass after which a problem is given up
WIDTH = 8  # answers that a beam keeps
KICKED = 2  # words exchanged at random to leave a local optimum
LEAST = 1000.0  # passes for high effort without a goal, where greedy would take fewer: short texts cost little


@dataclass(frozen=True)
class Plan:
    """How a search goes about it. What serves best depends on whether there is a goal and on what may be spent.

    starts: vertices to climb from; where a goal tells who is worth more, fewer will do at first.
    around: where slopes are taken, see `AROUND`.
    surveys: whether the place where climbing ends is surveyed before new starts are made.
    distant: whether new starts are also made far from everything seen.
    missing: share of the way to the goal that may be missing for a problem to be pursued.
    passes, multiple: a problem that has all but reached its goal may spend so many passes, or so many times what greedy
        spends, whichever is more. Where `passes` alone would pay for a beam, one is sent first.
    """

    starts: int
    around: float
    surveys: bool
    distant: bool
    missing: float
    passes: float
    multiple: float

    def allowance(self, batch: Batch, best: Climbers, before: Floats, goal: float | None) -> Floats:
        """(B,) passes for each problem, those that brought it here included."""
        near = np.ones(len(batch))
        if goal is not None:
            with np.errstate(invalid="ignore"):
                missing = (goal - best.scores) / np.maximum(goal - before[best.problems], 1e-12)
            # Of a goal without end, or where nothing but forbidden choices was met, the whole way is missing.
            missing = np.where(np.isnan(missing), 1.0, missing)
            near[best.problems] = np.clip(1 - missing / self.missing, 0, 1)
        return np.asarray(near * np.maximum(self.passes, self.multiple * greedy_passes(batch)))


def plan(effort: float, least: float, goal: float | None) -> Plan:
    """What was measured to serve best. effort: in units of greedy's passes, or 0; least: passes it may at least use."""
    if goal is None:
        high, usual = Plan(4, 0.0, False, True, 1.0, least, effort), Plan(2, 0.0, False, False, 1.0, 0.0, 0.0)
    else:
        high, usual = Plan(4, AROUND, True, True, 0.7, 0.0, 2 * effort), Plan(1, AROUND, True, False, 0.3, 300.0, 0.0)
    return high if effort else usual


@dataclass(frozen=True)
class DiscoGuided:
    """Frank–Wolfe, then climbing, then restarts while passes are left.

    effort: "default" takes some dozens of passes, and more where a goal is near. A number is a multiple of the passes
        that `Greedy` would spend. "high" is 1, but at least a thousand passes where there is no goal to be reached.
    enumerate: score every choice where that costs no more passes than searching, and mark the answer proved.
    """

    needs: ClassVar[type] = RelaxedOracle
    effort: Literal["default", "high"] | float = "default"
    enumerate: bool = True

    def __post_init__(self) -> None:
        if self.effort not in ("default", "high") and not (isinstance(self.effort, Real) and self.effort > 0):
            raise ValueError(f"effort is {self.effort!r}; choose 'default', 'high' or a number above 0")

    @property
    def multiple(self) -> float:
        """Passes to spend on restarts and all, in units of what greedy would spend; 0 for no restarts."""
        if isinstance(self.effort, str):
            return {"default": 0.0, "high": 1.0}[self.effort]
        return float(self.effort)

    @property
    def thorough(self) -> bool:
        """Whether taking back may spend passes to keep fewer words changed."""
        return self.multiple > 0

    def propose(self, batch: Batch, oracle: RelaxedOracle, rng: np.random.Generator) -> Proposals:
        goal = goal_of(oracle)
        least = LEAST if self.effort == "high" and goal is None else 0.0
        by = plan(self.multiple, least, goal)
        usual = 3.0 * STEPS + 2 * by.starts * (2 + PROPOSALS)
        passes = np.maximum(self.multiple * greedy_passes(batch), max(usual, least))
        small = enumerable(batch, passes) if self.enumerate else np.zeros(len(batch), dtype=bool)
        searched = yield from on_some(batch, oracle, np.flatnonzero(small), np.flatnonzero(~small), enumerate_levels)
        if len(searched):
            yield from renumber(self._search(by, batch.take(searched), oracle, searched, rng), searched)

    def _search(
        self, by: Plan, batch: Batch, oracle: RelaxedOracle, numbers: Ints, rng: np.random.Generator
    ) -> Proposals:
        inner, goal = Renumbered(oracle, batch, numbers), goal_of(oracle)
        everyone = np.arange(len(batch))
        before, spent = inner.score(everyone, batch.originals()), passes_spent(inner, everyone)
        purse = Purse(batch, inner, self.multiple * greedy_passes(batch) if self.multiple else np.inf)
        met = yield from frank_wolfe(batch, inner, everyone, spread_start(batch), STEPS)
        ended = yield from climb(batch, inner, met.best(by.starts), PROPOSALS, purse, by.around, goal)
        best = ended.best(1)
        purse.limit = spent + by.allowance(batch, best, before, goal)
        beamed = best.problems[(by.passes >= beam_passes(batch.take(best.problems))) & by.distant]
        going = yield from on_some(
            batch, inner, beamed, best.problems, lambda some, oracle: Beam(WIDTH).propose(some, oracle, rng)
        )
        best = best.take(among(best.problems, going))
        yield from self._waves(by, batch, inner, best, purse, rng)

    def _waves(
        self, by: Plan, batch: Batch, oracle: Renumbered, best: Climbers, purse: Purse, rng: np.random.Generator
    ) -> Proposals:
        """Survey the best place of each problem, or start anew, while it can be paid for."""
        surveyed, idle = Places(), np.zeros(len(batch), dtype=np.int64)
        while True:
            best = best.take(purse.affords(best.problems, 3 + PROPOSALS) & (idle[best.problems] < IDLE))
            if not len(best):
                return
            waved, before = best.problems, passes_spent(oracle, best.problems)
            here = purse.affords(best.problems, 2 + MEASURED) & surveyed.new(best) & by.surveys
            new = survey(batch, oracle, best.take(here)) + near_starts(batch, oracle, best.take(~here), rng)
            if by.distant:
                rich = ~here & purse.affords(best.problems, 2 * (4 + PROPOSALS))
                new = new + far_starts(batch, oracle, best.problems[rich], rng)
            active = yield new.proposal()
            new, best = new.take(among(new.problems, active)), best.take(among(best.problems, active))
            ended = yield from climb(batch, oracle, new, PROPOSALS, purse, by.around)
            # In a small space all that is near has been asked before, and a wave may cost nothing and find nothing.
            idle[waved] = np.where(passes_spent(oracle, waved) == before, idle[waved] + 1, 0)
            active = yield ended.proposal()
            best = (best.take(among(best.problems, active)) + ended.take(among(ended.problems, active))).best(1)


def greedy_passes(batch: Batch) -> Floats:
    """(B,) what `Greedy` spends if it uses its whole budget: a pass for each swap of each round."""
    words = np.bincount(batch.problem_of_position, weights=batch.counts > 1, minlength=len(batch))
    pairs = (batch.widths - batch.sizes).astype(np.float64)
    rounds = np.minimum(batch.budgets, words)
    # Each round takes one word, of average width, out of the next ones.
    return np.asarray(rounds * pairs - pairs / np.maximum(words, 1) * rounds * (rounds - 1) / 2)


def beam_passes(batch: Batch) -> Floats:
    """(B,) what a beam spends: of its first round it knows one answer, of the others `WIDTH`."""
    pairs = (batch.widths - batch.sizes).astype(np.float64)
    return np.asarray(WIDTH * greedy_passes(batch) - (WIDTH - 1) * pairs)


def enumerable(batch: Batch, passes: Floats) -> Bools:
    """(B,) True where the whole space has no more choices than the passes a search would spend."""
    # One change alone gives this many; only where that is little is the exact count worth its time.
    maybe = np.flatnonzero((batch.widths - batch.sizes) * (batch.budgets > 0) <= passes)
    small = np.zeros(len(batch), dtype=bool)
    # The original is known already and costs nothing.
    small[maybe] = [batch[index].has_at_most(float(passes[index]) + 1) for index in maybe.tolist()]
    return small


def on_some(
    batch: Batch, oracle: Oracle, some: Ints, others: Ints, search: Callable[[Batch, Oracle], Proposals]
) -> Generator[Proposal, Ints, Ints]:
    """Run another search on some of the problems; returns which of the others go on."""
    if not len(some):
        return others
    part = batch.take(some)
    active = yield from renumber(search(part, Renumbered(oracle, part, some)), some)
    return others if active is None else np.intersect1d(others, active)


def renumber(proposals: Proposals, numbers: Ints) -> Generator[Proposal, Ints, Ints | None]:
    """Follow a search over some of the problems, in the numbers of all; returns who was active last."""
    active: Ints | None = None
    try:
        proposal = next(proposals)
        while True:
            active = yield Proposal(
                numbers[proposal.problems],
                proposal.choices,
                proposal.scores,
                numbers[proposal.proved],
                proposal.below,
            )
            proposal = proposals.send(np.flatnonzero(np.isin(numbers, active)))
    except StopIteration:
        return active


def far_starts(batch: Batch, oracle: RelaxedOracle, problems: Ints, rng: np.random.Generator) -> Climbers:
    """The vertex that the slope at a random mixture points to."""
    layout = batch.take(problems)
    _, gradient = oracle.relaxed(problems, interior_point(layout, rng))
    return Climbers.at(batch, oracle, problems, best_vertex(gradient, layout))


def near_starts(batch: Batch, oracle: RelaxedOracle, best: Climbers, rng: np.random.Generator) -> Climbers:
    """The best choice so far with two changed words put back and two others changed, all at random."""
    layout = batch.take(best.problems)
    choices = best.choices[:, : layout.n_max].copy()
    put_back = random_positions(choices != 0, rng)
    changed = random_positions((choices == 0) & (layout.dense_counts > 1), rng)
    candidate = 1 + np.floor(rng.random(choices.shape) * np.maximum(layout.dense_counts - 1, 0))
    choices[put_back] = 0
    room = layout.budgets - (choices != 0).sum(axis=1)
    changed &= np.cumsum(changed, axis=1) <= room[:, None]
    return Climbers.at(batch, oracle, best.problems, np.where(changed, candidate, choices).astype(np.int32))


def random_positions(allowed: Bools, rng: np.random.Generator) -> Bools:
    """In each row, `KICKED` of the allowed positions at random (all, where there are fewer)."""
    keys = np.where(allowed, rng.random(allowed.shape), np.inf)
    rank = np.argsort(np.argsort(keys, axis=1), axis=1)
    return np.asarray(allowed & (rank < KICKED))
