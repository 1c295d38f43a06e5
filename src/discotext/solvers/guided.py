"""The default: the relaxation finds the region, climbing finds the choice, and what is left goes where it may win.

Measured, on networks small enough to enumerate and on LSTMs of real text: a few Frank–Wolfe steps put several good
and different feasible choices on the table for three passes each. Climbing from the best of them ends somewhere. If
there is a goal, most problems that miss it by far will never reach it, so passes go to those that came near. They are
best spent on a survey of the place (`survey`) and then on new starts: from the best choice with two words exchanged at
random (near it) and, with high effort, from slopes at random mixtures (far from everything seen).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, Literal

import numpy as np

from discotext.oracle import Oracle, RelaxedOracle
from discotext.problem import Batch
from discotext.rounding import best_vertex
from discotext.sampling import interior_point
from discotext.segments import Bools, Floats, Ints
from discotext.solvers.climbing import AROUND, Climbers, Places, Purse, climb
from discotext.solvers.exact import enumerate_levels
from discotext.solvers.frank_wolfe import frank_wolfe, spread_start
from discotext.solvers.proposal import Proposal, Proposals, among
from discotext.solvers.survey import MEASURED, survey
from discotext.wrappers import Renumbered, goal_of, passes_spent

STEPS, PROPOSALS = 5, 12
IDLE = 10  # waves of restarts without a new pass after which a problem is given up
FAR, FAR_HIGH = 0.3, 0.7  # share of the way to the goal that may be missing for a problem to be pursued
NEAR = 300  # passes that a problem gets which has all but reached its goal
KICKED = 2  # words exchanged at random to leave a local optimum


@dataclass(frozen=True)
class DiscoGuided:
    """Frank–Wolfe, then climbing, then restarts while passes are left.

    effort: "default" takes some dozens of passes, and more where a goal is near. "high" goes on for about as many
        passes as `Greedy` would spend; a number is a multiple of that.
    enumerate: score every choice where that costs no more passes than searching, and mark the answer proved.
    """

    needs: ClassVar[type] = RelaxedOracle
    effort: Literal["default", "high"] | float = "default"
    enumerate: bool = True

    def __post_init__(self) -> None:
        if self.effort not in ("default", "high") and not (isinstance(self.effort, Real) and self.effort > 0):
            raise ValueError(f"effort is {self.effort!r}; choose 'default', 'high' or a number above 0 (1 is 'high')")

    @property
    def multiple(self) -> float:
        """Passes to spend on restarts and all, in units of what greedy would spend; 0 for no restarts."""
        if isinstance(self.effort, str):
            return {"default": 0.0, "high": 1.0}[self.effort]
        return float(self.effort)

    def propose(self, batch: Batch, oracle: RelaxedOracle, rng: np.random.Generator) -> Proposals:
        usual = 3.0 * STEPS + 2 * self._starts(goal_of(oracle)) * (2 + PROPOSALS)
        passes = np.maximum(self.multiple * greedy_passes(batch), usual)
        small = enumerable(batch, passes) if self.enumerate else np.zeros(len(batch), dtype=bool)
        searched = np.flatnonzero(~small)
        if small.any():
            searched = yield from enumerated(batch, oracle, np.flatnonzero(small), searched)
        if len(searched):
            yield from renumber(self._search(batch.take(searched), oracle, searched, rng), searched)

    def _starts(self, goal: float | None) -> int:
        """From how many vertices to climb. Where a goal tells who is worth more, one will do at first."""
        return 4 if self.multiple else 2 if goal is None else 1

    def _search(self, batch: Batch, oracle: RelaxedOracle, numbers: Ints, rng: np.random.Generator) -> Proposals:
        inner, goal = Renumbered(oracle, batch, numbers), goal_of(oracle)
        everyone = np.arange(len(batch))
        before, spent = inner.score(everyone, batch.originals()), passes_spent(inner, everyone)
        purse = Purse(batch, inner, self.multiple * greedy_passes(batch) if self.multiple else np.inf)
        met = yield from frank_wolfe(batch, inner, everyone, spread_start(batch), STEPS)
        ended = yield from climb(batch, inner, met.best(self._starts(goal)), PROPOSALS, purse, around(goal), goal)
        best = ended.best(1)
        purse.limit = spent + self._allowance(batch, best, before, goal)
        yield from self._waves(batch, inner, best, purse, rng)

    def _allowance(self, batch: Batch, best: Climbers, before: Floats, goal: float | None) -> Floats:
        """(B,) passes for each problem, those that brought it here included."""
        near = np.ones(len(batch))
        if goal is not None:
            missing = (goal - best.scores) / np.maximum(goal - before[best.problems], 1e-12)
            near[best.problems] = np.clip(1 - missing / (FAR_HIGH if self.multiple else FAR), 0, 1)
        if self.multiple:
            return np.asarray(self.multiple * greedy_passes(batch) * near * (1 if goal is None else 2))
        return near * NEAR if goal is not None else np.zeros(len(batch))

    def _waves(
        self, batch: Batch, oracle: Renumbered, best: Climbers, purse: Purse, rng: np.random.Generator
    ) -> Proposals:
        """Survey the best place of each problem, or start anew, while it can be paid for."""
        goal, surveyed, idle = goal_of(oracle), Places(), np.zeros(len(batch), dtype=np.int64)
        while True:
            best = best.take(purse.affords(best.problems, 3 + PROPOSALS) & (idle[best.problems] < IDLE))
            if not len(best):
                return
            waved, before = best.problems, passes_spent(oracle, best.problems)
            here = purse.affords(best.problems, 2 + MEASURED) & surveyed.new(best) & (goal is not None)
            new = survey(batch, oracle, best.take(here)) + near_starts(batch, oracle, best.take(~here), rng)
            if self.multiple:
                rich = ~here & purse.affords(best.problems, 2 * (4 + PROPOSALS))
                new = new + far_starts(batch, oracle, best.problems[rich], rng)
            active = yield new.proposal()
            new, best = new.take(among(new.problems, active)), best.take(among(best.problems, active))
            ended = yield from climb(batch, oracle, new, PROPOSALS, purse, around(goal))
            # In a small space all that is near has been asked before, and a wave may cost nothing and find nothing.
            idle[waved] = np.where(passes_spent(oracle, waved) == before, idle[waved] + 1, 0)
            active = yield ended.proposal()
            best = (best.take(among(best.problems, active)) + ended.take(among(ended.problems, active))).best(1)


def around(goal: float | None) -> float:
    """Where slopes are taken: see `AROUND`."""
    return 0.0 if goal is None else AROUND


def greedy_passes(batch: Batch) -> Floats:
    """(B,) what `Greedy` spends if it uses its whole budget: a pass for each swap of each round."""
    words = np.bincount(batch.problem_of_position, weights=batch.counts > 1, minlength=len(batch))
    pairs = (batch.widths - batch.sizes).astype(np.float64)
    rounds = np.minimum(batch.budgets, words)
    # Each round takes one word, of average width, out of the next ones.
    return np.asarray(rounds * pairs - pairs / np.maximum(words, 1) * rounds * (rounds - 1) / 2)


def enumerable(batch: Batch, passes: Floats) -> Bools:
    """(B,) True where the whole space has no more choices than the passes a search would spend."""
    # One change alone gives this many; only where that is little is the exact count worth its time.
    maybe = np.flatnonzero((batch.widths - batch.sizes) * (batch.budgets > 0) <= passes)
    small = np.zeros(len(batch), dtype=bool)
    # The original is known already and costs nothing.
    small[maybe] = [batch[index].has_at_most(float(passes[index]) + 1) for index in maybe.tolist()]
    return small


def enumerated(batch: Batch, oracle: Oracle, small: Ints, others: Ints) -> Generator[Proposal, Ints, Ints]:
    """Enumerate the small problems; returns which of the others go on."""
    part = batch.take(small)
    inner = Renumbered(oracle, part, small)
    active = yield from renumber(enumerate_levels(part, inner), small)
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
