"""Climbing: from each of many feasible choices to a better one nearby, led by the gradient, until none is found.

A row is a climber; a problem may have many. Each round costs a climber one gradient and as many forwards as it is
proposed moves. Climbers of one problem share what it may spend.

At a choice, the gradient of the score in α says to first order what every swap would gain. Four kinds of move keep
within the budget: change one more position (while there is room), change a changed position to another candidate, put a
position back, and exchange, which does the last and the first together when the budget is spent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from discotext.core.arrays import Bools, Choices, Floats, Ints, ranges, rank_in_group, segment_argmax
from discotext.core.oracle import Oracle, RelaxedOracle
from discotext.core.problem import Batch, best_distinct, fingerprints
from discotext.core.rounding import best_vertex, largest
from discotext.core.swaps import best_of_each
from discotext.search.solver import Proposal, Proposals, Search, Tuning, is_active


@dataclass(frozen=True)
class Moves:
    """In `rows[s]`, put `candidates[s]` at `positions[s]` and, unless it is −1, the original at `returned[s]`."""

    rows: Ints
    positions: Ints
    candidates: Ints
    returned: Ints

    def __len__(self) -> int:
        return len(self.rows)

    def apply(self, choices: Choices) -> Choices:
        out = choices[self.rows]
        index = np.arange(len(self))
        out[index, self.positions] = self.candidates
        paired = self.returned >= 0
        out[index[paired], self.returned[paired]] = 0
        return out


def best_moves(layout: Batch, choices: Choices, gradient: Floats, count: int, partners: int) -> Moves:
    """The `count` moves of each row that the gradient values most; rows in order.

    Of each position the two best candidates are looked at. One pass over the candidates finds the best of each; the
    second best can only matter where the best is among the first, so it is looked for there alone.
    choices: (R, ≥ n_max); gradient: flat. partners: swaps, and undo moves, that are paired to form exchanges.
    """
    width = layout.n_max
    if not width:
        nothing = np.empty(0, dtype=np.int64)
        return Moves(nothing, nothing, nothing, nothing)
    choices = choices[:, :width]
    changed = choices != 0
    chosen = layout.chosen(choices)
    here = gradient[chosen]
    masked = gradient.copy()
    masked[chosen] = -np.inf
    masked[layout.starts] = -np.inf
    # A position that is changed already, or a row with budget left, needs nothing in return.
    free = changed | (changed.sum(axis=1) < layout.budgets)[:, None]
    some = min(max(count, partners), width)
    candidate, steepest = segment_argmax(masked, layout.starts, layout.position_of)
    candidates, gains = layout.dense(candidate, 0), layout.dense(steepest - here, -np.inf)
    alone = Ranked.of(layout, masked, here, candidates, np.where(free, gains, -np.inf), some)
    into = Ranked.of(layout, masked, here, candidates, np.where(free, -np.inf, gains), some).first(partners)
    gain_back = layout.dense(gradient[layout.starts] - here, -np.inf)
    outof, gain_outof = largest(np.where(changed, gain_back, -np.inf), min(partners, width))
    pairs = into.gains[:, :, None] + gain_outof[:, None, :]
    # All kinds side by side: swaps that need nothing, undo moves, and pairs of both.
    kinds = [alone.gains, gain_outof, pairs.reshape(len(choices), -1)]
    nowhere = np.full_like(outof, -1)
    positions = [alone.positions, outof, np.repeat(into.positions, outof.shape[1], axis=1)]
    new = [alone.candidates, np.zeros_like(outof), np.repeat(into.candidates, outof.shape[1], axis=1)]
    returned = [np.full_like(alone.positions, -1), nowhere, np.tile(outof, into.gains.shape[1])]
    values = np.concatenate(kinds, axis=1)
    picked, found = largest(values, min(count, values.shape[1]))
    rows, column = np.nonzero(np.isfinite(found))
    move = picked[rows, column]
    return Moves(rows, *(np.concatenate(parts, axis=1)[rows, move] for parts in (positions, new, returned)))


@dataclass(frozen=True)
class Ranked:
    """Swaps of each row with their gains, (R, S) each; −inf where there are fewer."""

    positions: Ints
    candidates: Ints
    gains: Floats

    @classmethod
    def of(cls, layout: Batch, masked: Floats, here: Floats, candidates: Ints, gains: Floats, count: int) -> Ranked:
        """The best and the second best candidate of the `count` positions that gain most.

        masked: flat, the gradient,, −inf for candidates that are no swap. here: (N,) the gradient at what is chosen.
        """
        positions, best = largest(gains, count)
        chosen = np.take_along_axis(candidates, positions, axis=1)
        numbers = np.minimum(layout.first_position[:-1, None] + positions, len(layout.counts) - 1)
        starts, counts = layout.starts[numbers].ravel(), layout.counts[numbers].ravel()
        places = ranges(starts, counts)
        first = np.cumsum(counts) - counts
        rest = masked[places]
        rest[first + np.minimum(chosen.ravel(), counts - 1)] = -np.inf
        second, steepest = segment_argmax(rest, first, np.repeat(np.arange(len(counts)), counts))
        next_best = np.where(np.isfinite(best), steepest.reshape(best.shape) - here[numbers], -np.inf)
        return cls(
            np.concatenate([positions, positions], axis=1),
            np.concatenate([chosen, second.reshape(best.shape)], axis=1),
            np.concatenate([best, next_best], axis=1),
        )

    def first(self, count: int) -> Ranked:
        """The best `count` of each row."""
        where, gains = largest(self.gains, min(count, self.gains.shape[1]))
        take = np.take_along_axis
        return Ranked(take(self.positions, where, axis=1), take(self.candidates, where, axis=1), gains)


@dataclass(frozen=True)
class Climbers:
    """Rows of (problem, choice, score)."""

    problems: Ints
    choices: Choices
    scores: Floats

    def __len__(self) -> int:
        return len(self.problems)

    def take(self, which: Ints | Bools) -> Climbers:
        return Climbers(self.problems[which], self.choices[which], self.scores[which])

    @staticmethod
    def none(batch: Batch) -> Climbers:
        """No climbers at all."""
        return Climbers(np.empty(0, dtype=np.int64), np.zeros((0, batch.n_max), dtype=np.int32), np.empty(0))

    @staticmethod
    def at(batch: Batch, oracle: Oracle, problems: Ints, choices: Choices) -> Climbers:
        """Climbers at choices that are scored now. choices: (R, n), as wide as the rows need."""
        wide = np.zeros((len(problems), batch.n_max), dtype=np.int32)
        wide[:, : choices.shape[1]] = choices
        return Climbers(problems, wide, oracle.score(problems, wide))

    def proposal(self) -> Proposal:
        return Proposal(self.problems, self.choices, self.scores)

    def best(self, count: int) -> Climbers:
        """The best `count` climbers of each problem, at most one of those at the same place; problems in order."""
        return self.take(best_distinct(self.problems, fingerprints(self.choices)[:, 0], self.scores, count))

    def __add__(self, other: Climbers) -> Climbers:
        return Climbers(
            np.concatenate([self.problems, other.problems]),
            np.concatenate([self.choices, other.choices]),
            np.concatenate([self.scores, other.scores]),
        )


class Allowance:
    """The passes (forwards + backwards) that each problem may still spend.

    It also remembers where climbers have been: one that comes to a place already visited would only repeat a path.
    """

    def __init__(self, batch: Batch, search: Search, passes: Floats | float = np.inf) -> None:
        self.search = search
        self.limit = np.asarray(passes + search.spent(np.arange(len(batch))), dtype=np.float64)
        self.visited = Places()

    def affords(self, problems: Ints, passes: float) -> Bools:
        """(R,) True for rows that can be paid for if all rows before them are."""
        order = np.argsort(problems, kind="stable")
        turn = np.empty(len(problems))
        turn[order] = rank_in_group(problems[order]) + 1
        return np.asarray(self.search.spent(problems) + turn * passes <= self.limit[problems])


class Places:
    """The places where climbers have been."""

    def __init__(self) -> None:
        self._known: set[tuple[int, ...]] = set()

    def visit(self, climbers: Climbers, count: float = np.inf) -> Bools:
        """(R,) True for the first `count` climbers of each problem at new places; these are known from now on."""
        new, taken = np.zeros(len(climbers), dtype=bool), Counter[int]()
        marks = fingerprints(climbers.choices).tolist()
        for row, (problem, mark) in enumerate(zip(climbers.problems.tolist(), marks, strict=True)):
            place = (problem, *mark)
            if taken[problem] < count and place not in self._known:
                taken[problem] += 1
                self._known.add(place)
                new[row] = True
        return new


def gradients_at(oracle: RelaxedOracle, climbers: Climbers, layout: Batch, smoothing: float) -> Floats:
    """What the score gains, to first order, by every swap of every climber; flat.

    smoothing: weight of the uniform mixture in the point at which the gradient is taken; 0 takes it at the choice.
    """
    mixture = layout.one_hot(climbers.choices)
    if smoothing:
        mixture = (1 - smoothing) * mixture + smoothing / layout.counts[layout.position_of]
    _, gradients = oracle.relaxed(climbers.problems, mixture)
    return gradients


def climb(
    batch: Batch,
    oracle: RelaxedOracle,
    climbers: Climbers,
    allowance: Allowance,
    tuning: Tuning,
    *,
    smoothing: float = 0.0,
    goal: float | None = None,
) -> Generator[Proposal, Ints, Climbers]:
    """Move every climber uphill until no proposed move is better; returns where they ended.

    smoothing: see `gradients_at`. goal: give up a climber that `tuning.patience` more rounds would not bring there.
    """
    ended = climbers.take(np.empty(0, dtype=np.int64))
    while len(climbers):
        going = allowance.visited.visit(climbers) & allowance.affords(climbers.problems, 2 + tuning.proposals)
        ended, climbers = ended + climbers.take(~going), climbers.take(going)
        if not len(climbers):
            break
        layout = batch.take(climbers.problems)
        gradients = gradients_at(oracle, climbers, layout, smoothing)
        moves = best_moves(layout, climbers.choices, gradients, tuning.proposals, tuning.partners)
        moved = moves.apply(climbers.choices)
        found = oracle.score(climbers.problems[moves.rows], moved)
        best = best_of_each(moves.rows, found)
        better = best[found[best] > climbers.scores[moves.rows[best]]]
        stuck = np.ones(len(climbers), dtype=bool)
        stuck[moves.rows[better]] = False
        ended = ended + climbers.take(stuck)
        gains = found[better] - climbers.scores[moves.rows[better]]
        climbers = Climbers(climbers.problems[moves.rows[better]], moved[better], found[better])
        active = yield climbers.proposal()
        if goal is not None:
            hopeful = goal - climbers.scores <= tuning.patience * gains
            ended, climbers = ended + climbers.take(~hopeful), climbers.take(hopeful)
        climbers = climbers.take(is_active(climbers.problems, active))
        ended = ended.take(is_active(ended.problems, active))
    return ended


def survey(batch: Batch, oracle: RelaxedOracle, at: Climbers, tuning: Tuning) -> Climbers:
    """The best that a survey finds for each climber, of those it finds better.

    Where climbing ends, it measures what the gradient only guesses. The most promising swaps and every undo move are
    scored singly, also those that are a change too many for the budget, and what they gain takes the gradient's place.
    Pairs of a swap and an undo move, and the vertex of all that gains most, are scored in turn.
    """
    layout = batch.take(at.problems)
    gains = measure_swaps(layout, oracle, at, tuning.smoothing, tuning.surveyed_swaps)
    moves = best_moves(layout, at.choices, gains, tuning.surveyed_moves - 1, tuning.partners)
    vertex = np.zeros_like(at.choices)
    vertex[:, : layout.n_max] = best_vertex(gains, layout)
    rows = np.concatenate([moves.rows, np.arange(len(at))])
    order = np.argsort(rows, kind="stable")
    rows, choices = rows[order], np.concatenate([moves.apply(at.choices), vertex])[order]
    scores = oracle.score(at.problems[rows], choices)
    best = best_of_each(rows, scores)
    best = best[scores[best] > at.scores[rows[best]]]
    return Climbers(at.problems[rows[best]], choices[best], scores[best])


def measure_swaps(
    layout: Batch, oracle: RelaxedOracle, at: Climbers, smoothing: float, count: int, also: Ints | None = None
) -> Floats:
    """Flat like a gradient: what each measured swap gains over what is chosen, 0 for that, −inf for the rest.

    count: swaps of each climber that are measured, those of the highest gradients. also: further candidates, flat.
    """
    choices = at.choices[:, : layout.n_max]
    chosen = layout.chosen(choices)
    gradients = gradients_at(oracle, at, layout, smoothing)
    promise = gradients - gradients[chosen][layout.position_of]
    promise[layout.starts] = -np.inf
    promise[chosen] = -np.inf
    order = np.lexsort((-promise, layout.row_of))
    picked = order[(rank_in_group(layout.row_of[order]) < count) & np.isfinite(promise[order])]
    undo_moves = layout.starts[chosen != layout.starts]
    tried = np.unique(np.concatenate([picked, undo_moves] if also is None else [picked, undo_moves, also]))
    rows, positions = layout.row_of[tried], layout.position_of[tried]
    swapped = at.choices[rows]
    swapped[np.arange(len(tried)), positions - layout.first_position[rows]] = tried - layout.starts[positions]
    gains = np.full(len(gradients), -np.inf)
    # From a forbidden choice a swap gains what it scores.
    base = np.where(np.isfinite(at.scores), at.scores, 0.0)
    gains[tried] = oracle.score(at.problems[rows], swapped) - base[rows]
    gains[chosen] = 0.0
    return gains


def search_frugally(
    batch: Batch,
    oracle: RelaxedOracle,
    labels_only: bool,
    search: Search,
    problems: Ints,
    queries: Floats,
    slack: float,
    tuning: Tuning,
) -> Proposals:
    """Follow gradients that take no pass of the model from the originals of these problems.

    Gradients that come from a surrogate, or from the weights of a linear model, are as good before a question as after
    it, and better with every answer. So each round takes them at the best choice so far, and asks for the choice that
    they point to and for the moves that they value most: three questions, and then the gradient again.

    labels_only: whether no answer short of the goal says what is nearer to it; then only whole choices are worth a
        question.
    queries: (B,) what each problem may spend.
    slack: how many times the gain that gradients promise may be true; a problem that would not reach its goal even
        then is given up.
    """
    best = Climbers.at(batch, oracle, problems, np.zeros((len(problems), 0), dtype=np.int32))
    limit = search.spent(np.arange(len(batch))) + queries
    asked, idle = Places(), np.zeros(len(batch), dtype=np.int64)
    asked.visit(best)
    questions = 1 if labels_only else tuning.frugal_questions
    while len(best):
        layout = batch.take(best.problems)
        gradients = gradients_at(oracle, best, layout, 0.0)
        vertex = best_vertex(gradients, layout)
        gains = gradients[layout.chosen(vertex)] - gradients[layout.chosen(best.choices)]
        promise = np.bincount(layout.problem_of_position, weights=gains, minlength=len(best))
        moves = best_moves(layout, best.choices, gradients, 4 * tuning.frugal_questions, tuning.partners)
        rows = np.concatenate([np.arange(len(best)), moves.rows])
        pointed = np.zeros_like(best.choices)
        pointed[:, : vertex.shape[1]] = vertex
        choices = np.concatenate([pointed, moves.apply(best.choices)])
        order = np.argsort(rows, kind="stable")
        if search.goal is not None and np.isfinite(slack):
            hopeful = best.scores + slack * promise >= search.goal
            # As long as it gets better, more may come than the gradients know of.
            hopeful |= idle[best.problems] < tuning.frugal_patience
            order = order[hopeful[rows[order]]]
        wanted = Climbers(best.problems[rows], choices, np.zeros(len(rows))).take(order)
        picked = order[asked.visit(wanted, questions)]
        rows, choices = rows[picked], choices[picked]
        scores = oracle.score(best.problems[rows], choices)
        active = yield Proposal(best.problems[rows], choices, scores)
        going = np.isin(np.arange(len(best)), rows) & is_active(best.problems, active)
        top = best_of_each(rows, scores)
        top = top[scores[top] > best.scores[rows[top]]]
        idle[best.problems] += 1
        idle[best.problems[rows[top]]] = 0
        best.choices[rows[top]], best.scores[rows[top]] = choices[top], scores[top]
        going &= search.spent(best.problems) < limit[best.problems]
        if search.goal is None:
            going &= idle[best.problems] < tuning.idle_waves
        best = best.take(going)
