"""solve(): one loop for every solver.

A solver proposes; everything else happens here, once: the check of what it needs, the seed, the clock, the limits, the
best choice so far, which problems have reached the goal, pruning, and a final check of every answer by
asking the oracle again.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from discotext.core.arrays import Bools, Choices, Floats, Ints
from discotext.core.oracle import BatchOracle, Oracle, RelaxedOracle, can, find_free_gradients, name_ability
from discotext.core.problem import Batch, Solution, Status, count_changes
from discotext.core.wrappers import Cached, Chunked, Counted, Guarded, Renumbered
from discotext.search.pruning import Kept, prune
from discotext.search.solver import Proposal, Search, Solver, check_solver, drive

UNSTABLE = 0.01  # a score that moves by more than this share when asked again is not to be trusted


@dataclass(frozen=True)
class Stop:
    """When to give up. seconds: the whole call; forwards, backwards: for each problem, the last check included.

    clock: returns the time in seconds; for tests.
    """

    seconds: float | None = None
    forwards: int | None = None
    backwards: int | None = None
    clock: Callable[[], float] = field(default=time.perf_counter, repr=False, compare=False)

    def __post_init__(self) -> None:
        limits = (("seconds", self.seconds, 0), ("forwards", self.forwards, 1), ("backwards", self.backwards, 0))
        for name, value, least in limits:
            if value is not None and not value >= least:
                raise ValueError(f"{name} is {value}; choose {least} or more, or None for no limit")


def solve(
    batch: Batch,
    oracle: Oracle,
    solver: Solver,
    *,
    goal: float | None = None,
    seed: int = 0,
    stop: Stop = Stop(),  # noqa: B008 (frozen)
    cells: int = 65_536,
    watch: Callable[[int, int], None] | None = None,
) -> list[Solution]:
    """Search every problem of a batch, and return one checked solution each.

    solver: settings such as `Greedy()` or `Disco(effort="high")`; `make_solver` finds one by its name.
    goal: None maximises to the end, ties to fewer changes. A number means: score at least this much with as few changes
        as possible, and otherwise as high as possible; a problem that reaches it leaves at once.
    seed: everything random comes from it.
    stop: limits; what was found until then is returned.
    cells: rows × positions of one call to the oracle at most.
    watch: called with (problems that have left, all problems) as the search proceeds.

    >>> from discotext.core.oracle import FunctionOracle
    >>> from discotext.core.problem import Problem
    >>> from discotext.solvers import Greedy
    >>> batch = Batch.of([Problem((3, 3, 1), budget=1)])
    >>> oracle = FunctionOracle(batch, lambda problem, choice: float(sum(choice)))
    >>> solution, = solve(batch, oracle, Greedy())
    >>> solution.choice, solution.score, solution.status.value
    (array([2, 0, 0], dtype=int32), 2.0, 'A better choice than the original was found; it may not be the best.')
    """
    check_arguments(batch, solver, goal, seed, stop)
    check_needs(batch, oracle, solver)
    return Loop(batch, oracle, goal, stop, cells, watch).run(solver, seed)


def check_arguments(batch: Batch, solver: Solver, goal: float | None, seed: int, stop: Stop) -> None:
    """Raise if what was given is not of its kind."""
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed is {seed!r}; give a whole number, 0 or more")
    if not isinstance(stop, Stop):
        raise TypeError(f"stop is {stop!r}; give limits such as Stop(seconds=60, forwards=1000)")
    if not isinstance(batch, Batch):
        raise TypeError(f"the batch is a {type(batch).__name__}; build one from problems by Batch.of(problems)")
    check_solver(solver)
    if goal is not None and not (isinstance(goal, int | float | np.number) and not np.isnan(goal)):
        raise ValueError(f"goal is {goal!r}; give a number to reach, or None to maximise")


def check_needs(batch: Batch, oracle: Oracle, solver: Solver) -> None:
    """Raise, before any work, if the solver cannot run on this oracle or these problems."""
    name, kind = type(solver).__name__, type(oracle).__name__
    if not can(oracle, Oracle):
        raise TypeError(
            f"{kind} is not an oracle: it has no method `score(problems, choices)`; "
            "FunctionOracle(batch, function) makes one of a plain function of (problem, choice)"
        )
    own = oracle.batch if isinstance(oracle, BatchOracle) else batch
    if isinstance(own, Batch) and not own.same_shapes(batch):
        raise ValueError(
            f"the oracle was built for another batch ({len(own)} problems with {own.candidates} candidates; "
            f"this one has {len(batch)} with {batch.candidates}); build it from the batch that is solved"
        )
    if not can(oracle, solver.needs):
        raise TypeError(
            f"{name} needs {name_ability(solver.needs)}, which {kind} does not have; choose a solver that only needs "
            "scores: Greedy, Beam, RankedGreedy or LocalSearch"
        )
    solver.refuse(batch, oracle)


class Loop:
    """The state of one call of `solve`."""

    def __init__(
        self,
        batch: Batch,
        oracle: Oracle,
        goal: float | None,
        stop: Stop,
        cells: int,
        watch: Callable[[int, int], None] | None,
    ) -> None:
        self.batch, self.goal, self.stop, self.watch = batch, goal, stop, watch
        self.began = self.ticked = stop.clock()
        self.counted = Counted(
            oracle,
            batch,
            # One forward is kept back for the check at the end.
            max_forwards=None if stop.forwards is None else max(stop.forwards - 1, 0),
            max_backwards=stop.backwards,
            deadline=None if stop.seconds is None else self.began + stop.seconds,
            clock=stop.clock,
        )
        self.guarded = Guarded(self.counted, batch)
        # With a deadline, no single call may take so long that it would be missed by much.
        patience = None if stop.seconds is None else max(stop.seconds / 20, 0.02)
        self.chunked = Chunked(self.guarded, batch, cells, patience, stop.clock)
        self.oracle = Cached(self.chunked, batch, counted=self.counted)
        self.choices = batch.originals()
        self.scores: Floats = np.full(len(batch), -np.inf)
        self.original: Floats = self.scores.copy()
        self.reached: Bools = np.zeros(len(batch), dtype=bool)
        self.proved: Bools = np.zeros(len(batch), dtype=bool)
        self.unstable: Bools = np.zeros(len(batch), dtype=bool)
        self.reached_after: Ints = np.full(len(batch), -1)  # −1: not yet
        self.proved_below: Ints = np.zeros(len(batch), dtype=np.int64)
        self.seconds: Floats = np.zeros(len(batch))
        self.active: Ints = np.arange(len(batch))

    def run(self, solver: Solver, seed: int) -> list[Solution]:
        everyone = np.arange(len(self.batch))
        self.original = self.oracle.score(everyone, self.choices)
        if len(everyone) and len(self.guarded.failures) == len(everyone):
            warnings.warn(f"the oracle failed on every problem; the first: {self.guarded.failures[0]}", stacklevel=3)
        self.scores = self.original.copy()
        if self.goal is not None:
            self.reached = self.scores >= self.goal
        # With nothing to change, the original is all there is.
        self.proved |= (self.batch.budgets == 0) | (self.batch.widths == self.batch.sizes)
        self.proved |= self.reached
        self._tick()
        for part in self._by_length(self.active):
            self._follow(solver, seed, part)
        self._prune(solver, seed)
        self._check()
        if self.watch is not None:
            self.watch(len(self.batch), len(self.batch))
        return [self._solution(index) for index in everyone.tolist()]

    def _by_length(self, problems: Ints) -> Iterator[Ints]:
        """Cut problems into groups of like length, where padding rows to the longest would waste much memory."""
        order = problems[np.argsort(self.batch.sizes[problems], kind="stable")]
        lengths = self.batch.sizes[order]
        while len(order):
            padded, real = np.arange(1, len(order) + 1) * lengths, np.cumsum(lengths)
            wasteful = np.flatnonzero(padded > 4 * real + 100_000)
            end = int(wasteful[0]) if len(wasteful) else len(order)
            yield np.sort(order[:end])
            order, lengths = order[end:], lengths[end:]

    def _follow(self, solver: Solver, seed: int, problems: Ints) -> None:
        """Run the solver on some of the problems that are still open, until it ends or all of them have left."""
        # Those that are settled already do not enter: the solver sees a batch of the others only.
        batch = self.batch if len(problems) == len(self.batch) else self.batch.take(problems)
        inner = self.oracle if batch is self.batch else Renumbered(self.oracle, batch, problems)
        search = Search(
            self.goal,
            np.random.default_rng(seed),
            lambda rows: self.counted.passes(problems[rows]),
            not self.counted.unlimited,
        )

        def answer(proposal: Proposal) -> Ints:
            self._take(proposal, problems, type(solver).__name__)
            self._tick()
            return np.flatnonzero(np.isin(problems, self.active))

        drive(solver.propose(batch, inner, search), answer)
        self._tick()

    def _take(self, proposal: Proposal, numbers: Ints, name: str) -> None:
        """Look at a proposal, and keep what is better than what there is."""
        problems, scores = numbers[proposal.problems], proposal.scores
        choices = proposal.choices
        if len(problems):
            bad = self.batch.take(problems).infeasible(choices)
            if bad.any():
                row = int(np.flatnonzero(bad)[0])
                raise RuntimeError(
                    f"{name} proposed {choices[row].tolist()} for problem {problems[row]}, which is not within its "
                    "candidates and budget; this is a fault of the solver"
                )
        # A solver does not see which rows were not asked; where a limit or a failure cut it off, it has proved nothing.
        cut_off = self.counted.exhausted | self.guarded.failed
        named = np.unique(np.concatenate([problems, numbers[proposal.proved]]))
        below = np.zeros(len(self.batch), dtype=np.int64)
        if isinstance(proposal.proved_below, int):
            below[named] = proposal.proved_below
        else:
            below[numbers] = proposal.proved_below
        below[cut_off] = 0
        self.proved_below = np.maximum(self.proved_below, below)
        if len(problems):
            self._keep_best(problems, choices, scores)
        proved = numbers[proposal.proved]
        self.proved[proved[~cut_off[proved]]] = True

    def _keep_best(self, problems: Ints, choices: Choices, scores: Floats) -> None:
        changes = count_changes(choices)
        reached = np.zeros(len(problems), dtype=bool) if self.goal is None else scores >= self.goal
        # Best of each problem last: reaching counts most, then, if reached, fewer changes; then score; then changes.
        order = np.lexsort((-changes, scores, np.where(reached, -changes, 0), reached, problems))
        last = order[np.flatnonzero(np.append(np.diff(problems[order]) != 0, True))]
        rows = problems[last]
        now = count_changes(self.choices[rows])
        better = reached[last] & ~self.reached[rows]
        better |= ~reached[last] & ~self.reached[rows] & (scores[last] > self.scores[rows])
        better |= ~self.reached[rows] & (scores[last] == self.scores[rows]) & (changes[last] < now)
        chosen, rows = last[better], rows[better]
        width = choices.shape[1]
        self.choices[rows, :width] = choices[chosen]
        self.choices[rows, width:] = 0
        self.scores[rows] = scores[chosen]
        self.reached[rows] = reached[chosen]
        first = rows[reached[chosen] & (self.reached_after[rows] < 0)]
        self.reached_after[first] = self.counted.forwards[first] - self.counted.bounds[first]
        # A solver that has tried everything with fewer changes has proved that fewer do not do.
        self.proved[rows[reached[chosen] & (changes[chosen] <= self.proved_below[rows])]] = True

    def _tick(self) -> None:
        """Share the time since the last tick among those it was spent on, and find the active problems."""
        now = self.stop.clock()
        if len(self.active):
            self.seconds[self.active] += (now - self.ticked) / len(self.active)
        elif len(self.seconds):
            self.seconds += (now - self.ticked) / len(self.seconds)
        self.ticked = now
        self.active = np.flatnonzero(~(self.reached | self.proved | self.counted.exhausted | self.guarded.failed))
        if self.watch is not None:
            self.watch(len(self.batch) - len(self.active), len(self.batch))

    def _prune(self, solver: Solver, seed: int) -> None:
        # Where everything with fewer changes has been tried, there is nothing left to find.
        changes = count_changes(self.choices)
        rows = np.flatnonzero((changes > 1) & ~(self.proved & (self.reached | (changes <= self.proved_below))))
        if not len(rows):
            return
        reached = self.reached[rows]
        floors = np.where(reached, -np.inf if self.goal is None else self.goal, self.scores[rows])
        self.active = rows
        tuning = solver.tuning
        if find_free_gradients(self.oracle) is not None:
            proposals, rounds = tuning.frugal_pruning
            tuning = replace(tuning, pruning_proposals=proposals, pruning_rounds=rounds)
        self.choices[rows], self.scores[rows] = prune(
            self.batch,
            self.oracle,
            Kept(rows, self.choices[rows], self.scores[rows], floors, ~reached),
            Search.of(self.counted, self.goal, seed),
            tuning,
            # A limit on gradients is for the solver to spend.
            gradients=can(self.oracle, RelaxedOracle) and np.isinf(self.counted.max_backwards),
            exchange=not solver.restricts,
            # It measures much before it undoes anything; what is limited is better spent on undoing.
            thorough=solver.thorough and self.counted.unlimited,
        )
        if self.goal is not None:
            self.reached[rows] |= self.scores[rows] >= self.goal
        self._tick()

    def _check(self) -> None:
        """Ask for every returned choice once more, past the memory; what the oracle says now is what is reported."""
        self.counted.max_forwards = np.inf if self.stop.forwards is None else self.stop.forwards
        self.counted.max_backwards = self.counted.deadline = np.inf
        rows = np.arange(len(self.batch))
        if len(rows):
            if self.batch.infeasible(self.choices).any():
                raise RuntimeError("a choice that was kept is not within its candidates and budget; this is our fault")
            if self.stop.forwards is None or not self.guarded.raised:
                again = self.chunked.score(rows, self.choices)
            else:
                # A call that raises is asked again in halves. Only alone does each problem surely need but one forward.
                again = np.concatenate([self.chunked.score(rows[[row]], self.choices[[row]]) for row in rows.tolist()])
            # A choice that the limit kept from being asked again is not returned: its score would be unchecked.
            unchecked = self.counted.exhausted & ~np.isfinite(again)
            unchecked &= self.counted.forwards >= self.counted.max_forwards
            self.choices[unchecked], self.scores[unchecked] = 0, self.original[unchecked]
            self.reached[unchecked] = self.proved[unchecked] = False
            # Half precision and other batch sizes move a score a little; a model left in training mode, a lot.
            size = np.abs(self.scores) + np.abs(self.original)
            answered = np.isfinite(again)
            with np.errstate(invalid="ignore"):
                self.unstable = answered & (np.abs(again - self.scores) > UNSTABLE * size + 1e-6)
            self.unstable &= np.isfinite(self.scores)
            self.scores = np.where(answered, again, self.scores)
            unasked = np.isneginf(self.original) & ~self.choices.any(axis=1)
            self.original[unasked] = self.scores[unasked]
            if self.goal is not None:
                still = self.scores[rows] >= self.goal
                self.proved[rows[still != self.reached[rows]]] = False
                self.reached[rows] = still
        self.active = np.arange(len(self.batch))
        self._tick()

    def _solution(self, index: int) -> Solution:
        failed, reached = index in self.guarded.failures, bool(self.reached[index])
        choice = self.choices[index, : int(self.batch.sizes[index])].copy()
        score, original = self.scores[index], self.original[index]
        forwards = int(self.counted.forwards[index] - self.counted.bounds[index])
        if self.goal is None or failed or self.unstable[index]:
            below = 0
        elif reached:
            below = int(min(self.proved_below[index], np.count_nonzero(choice)))
        else:
            below = int(self.batch.budgets[index]) + 1 if self.proved[index] else int(self.proved_below[index])
        # Where it was pruning that reached the goal, it took all of the forwards.
        reached_after = forwards if self.reached_after[index] < 0 else int(self.reached_after[index])
        return Solution(
            choice=choice,
            score=float(score) if np.isfinite(score) else float("nan"),
            original_score=float(original) if np.isfinite(original) else float("nan"),
            status=self._status(index),
            forwards=forwards,
            backwards=int(self.counted.backwards[index]),
            seconds=float(self.seconds[index]),
            oracle_seconds=float(self.counted.seconds[index]),
            error=self.guarded.failures.get(index),
            proved_below=below,
            bounds=int(self.counted.bounds[index]),
            reached_after=reached_after if reached else None,
        )

    def _status(self, index: int) -> Status:
        if index in self.guarded.failures:
            return Status.FAILED
        if self.unstable[index]:
            return Status.UNSTABLE
        if self.reached[index]:
            # Nothing has fewer changes than none.
            return Status.FEWEST if self.proved[index] or not self.choices[index].any() else Status.REACHED
        if self.proved[index]:
            return Status.OPTIMAL if self.goal is None else Status.IMPOSSIBLE
        if self.counted.exhausted[index]:
            return Status.STOPPED
        return Status.IMPROVED if self.choices[index].any() else Status.UNCHANGED
