"""Greedy: make the single best swap, again and again (Algorithm 1 of the paper).

Over (position, candidate) pairs, "one candidate per position, at most m in all" is a matroid; any other independence
system over the same pairs may be put in its place. Unlike in the printed algorithm, the feasible swaps are found anew
in every round, and a round without gain ends the search. Its relatives:

Beam            keeps several partial answers
LeftToRight     decides position by position in reading order: the search that the paper's table calls greedy
RankedGreedy    by importance, measured once before the sweep (TextFooler, PWWS)
GradientGreedy  by the gradient, measured anew after every position (Lei et al. 2018)
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Bools, Choices, Floats, Ints, ranges
from discotext.core.oracle import DeletingOracle, Oracle, RelaxedOracle, can
from discotext.core.problem import Batch, Problem, best_distinct, count_changes, fingerprints
from discotext.core.rounding import best_replacements
from discotext.core.swaps import Swaps, additions, improve, score_swaps
from discotext.search.climbing import Climbers
from discotext.search.solver import Proposal, Proposals, Search, Solver, is_active

IndependenceTest = Callable[[frozenset[tuple[int, int]]], bool]
Filter = Callable[[Ints, Choices, Swaps], Bools]


@dataclass(frozen=True)
class Greedy(Solver):
    """Make the single best swap until the budget is spent or no swap helps.

    system: for a problem, a test of independence over its (position, candidate) pairs, candidate ≥ 1: which sets of
        changes are allowed together. It narrows the default (one candidate per position, at most m changes).
    """

    system: Callable[[Problem], IndependenceTest] | None = None

    @property
    def restricts(self) -> bool:
        return self.system is not None

    def propose(self, batch: Batch, oracle: Oracle, search: Search) -> Proposals:
        keep = (
            None
            if self.system is None
            else keep_independent([self.system(batch[index]) for index in range(len(batch))])
        )
        yield from climb_greedily(batch, oracle, np.arange(len(batch)), keep)


def climb_greedily(
    batch: Batch, oracle: Oracle, problems: Ints, keep: Filter | None = None
) -> Generator[Proposal, Ints, Climbers]:
    """Greedy search of some problems from their originals; returns where those that are still active ended.

    keep: says which of the swaps of (problems, choices) are allowed; by default all are.
    """
    climbers = Climbers.at(batch, oracle, problems, np.zeros((len(problems), 0), dtype=np.int32))
    ended = Climbers.none(batch)
    while len(climbers):
        swaps = additions(batch.take(climbers.problems), climbers.choices)
        if keep is not None:
            swaps = swaps.take(keep(climbers.problems, climbers.choices, swaps))
        improved = improve(oracle, climbers.problems, climbers.choices, climbers.scores, swaps)
        active = yield climbers.take(improved).proposal()
        left = count_changes(climbers.choices) < batch.budgets[climbers.problems]
        going = np.isin(np.arange(len(climbers)), improved) & left
        ended, climbers = ended + climbers.take(~going), climbers.take(going)
        climbers = climbers.take(is_active(climbers.problems, active))
        ended = ended.take(is_active(ended.problems, active))
    return ended


def keep_independent(tests: list[IndependenceTest]) -> Filter:
    """The swaps after which the changes of a row are independent. tests: one for each problem."""

    def keep(problems: Ints, choices: Choices, swaps: Swaps) -> Bools:
        changed = [
            frozenset((position, int(row[position])) for position in np.flatnonzero(row).tolist()) for row in choices
        ]
        pairs = zip(swaps.rows.tolist(), swaps.positions.tolist(), swaps.candidates.tolist(), strict=True)
        return np.array(
            [tests[problems[row]](changed[row] | {(position, candidate)}) for row, position, candidate in pairs],
            dtype=bool,
        )

    return keep


def greedy_passes(batch: Batch) -> Floats:
    """(B,) what `Greedy` spends if it uses its whole budget: a pass for each swap of each round."""
    words = np.bincount(batch.problem_of_position, weights=batch.counts > 1, minlength=len(batch))
    pairs = (batch.widths - batch.sizes).astype(np.float64)
    rounds = np.minimum(batch.budgets, words)
    # Each round takes one word, of average width, out of the next ones.
    return np.asarray(rounds * pairs - pairs / np.maximum(words, 1) * rounds * (rounds - 1) / 2)


@dataclass(frozen=True)
class Beam(Solver):
    """Keep the `width` best sets of changes of each size, and extend every one by every swap.

    Costs about width times greedy's forwards. The same set reached in two orders is one answer.
    """

    width: int = 8

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ValueError(f"width is {self.width}; a beam keeps at least 1 answer, so choose 1 or more")

    def propose(self, batch: Batch, oracle: Oracle, search: Search) -> Proposals:
        return search_beam(batch, oracle, np.arange(len(batch)), self.width)


def search_beam(batch: Batch, oracle: Oracle, problems: Ints, width: int) -> Proposals:
    """Beam search of some problems from their originals, all in step."""
    choices = batch.originals()[problems]
    while len(problems):
        swaps = additions(batch.take(problems), choices)
        if not len(swaps):
            return
        scores = score_swaps(oracle, problems, choices, swaps)
        kept = best_distinct(problems[swaps.rows], fingerprint_swaps(choices, swaps), scores, width)
        problems, choices = problems[swaps.rows[kept]], swaps.take(kept).apply(choices)
        active = yield Proposal(problems, choices, scores[kept])
        going = is_active(problems, active)
        problems, choices = problems[going], choices[going]


def fingerprint_swaps(choices: Choices, swaps: Swaps) -> NDArray[np.uint64]:
    """(S,) one half of the fingerprint of each row after its swap, without making the rows.

    A fingerprint is a sum, so a set of changes has the same one whatever order they came in.
    """
    units = fingerprints(np.eye(choices.shape[1], dtype=np.int32))[:, 0]
    return np.asarray(
        fingerprints(choices)[swaps.rows, 0] + swaps.candidates.astype(np.uint64) * units[swaps.positions]
    )


@dataclass(frozen=True)
class LeftToRight(Solver):
    """One sweep from the first word to the last: best candidate, if it helps, then the next word.

    This is what the paper's section "Greedy Baseline" describes and its table calls greedy. It is not Algorithm 1, and
    much weaker: it spends its budget on the words that come first.
    """

    def propose(self, batch: Batch, oracle: Oracle, search: Search) -> Proposals:
        order = np.broadcast_to(np.arange(batch.n_max), (len(batch), batch.n_max))
        return sweep(batch, oracle, order)


@dataclass(frozen=True)
class RankedGreedy(Solver):
    """One sweep over the words in order of importance.

    rank: "deletion" measures how much the score rises when the word is left out (TextFooler's way, n forwards; the
        oracle must be able to delete), "swap" how much its best swap gains (PWWS's way, Σ(k_i − 1) forwards);
        "auto" deletes where it can.
    """

    rank: Literal["auto", "deletion", "swap"] = "auto"

    def __post_init__(self) -> None:
        if self.rank not in ("auto", "deletion", "swap"):
            raise ValueError(f"rank is {self.rank!r}; choose 'auto', 'deletion' or 'swap'")

    @property
    def needs(self) -> type:
        return DeletingOracle if self.rank == "deletion" else Oracle

    def propose(self, batch: Batch, oracle: Oracle, search: Search) -> Proposals:
        problems = np.arange(len(batch))
        importance = np.full((len(batch), batch.n_max), -np.inf)
        if self.rank == "deletion" or (self.rank == "auto" and can(oracle, DeletingOracle)):
            rows, positions = np.nonzero(batch.dense_counts > 1)
            deleting: DeletingOracle = oracle  # type: ignore[assignment]
            importance[rows, positions] = deleting.without(problems[rows], positions)
        else:
            swaps = additions(batch, batch.originals())
            scores = score_swaps(oracle, problems, batch.originals(), swaps)
            np.maximum.at(importance, (swaps.rows, swaps.positions), scores)
        # From the most important position to the least, ties in reading order.
        yield from sweep(batch, oracle, np.argsort(-importance, axis=1, kind="stable"))


@dataclass(frozen=True)
class GradientGreedy(Solver):
    """In each round take the unchanged word for which the gradient promises most, and try all its candidates.

    A round costs one gradient and k_i − 1 forwards; a word that does not help is not tried again. After `patience`
    words in a row that did not help, the search ends.
    """

    needs: ClassVar[type] = RelaxedOracle
    patience: int = 3

    def __post_init__(self) -> None:
        if self.patience < 1:
            raise ValueError(f"patience is {self.patience}; choose 1 or more")

    def propose(self, batch: Batch, oracle: RelaxedOracle, search: Search) -> Proposals:
        active, choices = np.arange(len(batch)), batch.originals()
        scores = oracle.score(active, choices)
        tried = batch.dense_counts <= 1
        failed = np.zeros(len(batch), dtype=np.int64)
        while True:
            going = (count_changes(choices) < batch.budgets) & ~tried.all(axis=1) & (failed < self.patience)
            problems = active[going[active]]
            if not len(problems):
                return
            layout = batch.take(problems)
            _, gradient = oracle.relaxed(problems, layout.one_hot(choices[problems]))
            promised = np.full((len(problems), batch.n_max), -np.inf)
            promised[:, : layout.n_max] = best_replacements(gradient, layout)[1]
            positions = np.where(tried[problems], -np.inf, promised).argmax(axis=1)
            tried[problems, positions] = True
            own_choices, own_scores = choices[problems], scores[problems]
            rows = improve(oracle, problems, own_choices, own_scores, swaps_at(batch, problems, positions))
            choices[problems], scores[problems] = own_choices, own_scores
            failed[problems] += 1
            failed[problems[rows]] = 0
            active = yield Proposal(problems[rows], own_choices[rows], own_scores[rows])


def sweep(batch: Batch, oracle: Oracle, order: Ints) -> Proposals:
    """Visit positions in the given order, all problems in step; keep a position's best candidate if it helps."""
    problems, choices = np.arange(len(batch)), batch.originals()
    scores = oracle.score(problems, choices)
    for turn in range(batch.n_max):
        active, swaps = problems, swaps_at(batch, problems, order[problems, turn])
        if len(swaps):
            rows = improve(oracle, problems, choices, scores, swaps)
            active = yield Proposal(problems[rows], choices[rows], scores[rows])
        # A problem whose budget is spent has nothing left to try.
        going = is_active(problems, active) & (count_changes(choices) < batch.budgets[problems])
        problems, choices, scores = problems[going], choices[going], scores[going]
        if not len(problems):
            return


def swaps_at(batch: Batch, problems: Ints, positions: Ints) -> Swaps:
    """Every replacement at one position of each row."""
    replacements = np.maximum(batch.dense_counts[problems, positions] - 1, 0)
    rows = np.repeat(np.arange(len(problems)), replacements)
    return Swaps(rows, positions[rows], ranges(np.ones_like(replacements), replacements))
