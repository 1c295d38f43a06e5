"""Searches that decide one position at a time, each with its own order of positions.

LeftToRight     in reading order: the search that the paper's table calls greedy
RankedGreedy    by importance, measured once before the sweep (TextFooler, PWWS)
GradientGreedy  by the gradient, measured anew after every position (Lei et al. 2018)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from discotext.core.arrays import Ints, ranges
from discotext.core.oracle import DeletingOracle, Oracle, RelaxedOracle, can
from discotext.core.problem import Batch, count_changes
from discotext.core.rounding import best_replacements
from discotext.core.swaps import Swaps, additions, improve, score_swaps
from discotext.search.solver import Proposal, Proposals, Search, Solver, is_active


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
