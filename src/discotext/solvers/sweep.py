"""One word after the other: fix an order of positions, take the best candidate of each as it comes.

What differs between the solvers here is only the order: as the text reads (the paper's "greedy baseline"), by a
measured importance of each word (the search behind TextFooler and PWWS), or by the gradient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from discotext.oracle import DeletingOracle, Oracle, can
from discotext.problem import Batch
from discotext.segments import Floats, Ints, ranges
from discotext.solvers.proposal import Proposal, Proposals, among
from discotext.swaps import Swaps, additions, improve, score_swaps


@dataclass(frozen=True)
class LeftToRight:
    """One sweep from the first word to the last: best candidate, if it helps, then the next word.

    This is what the paper's section "Greedy Baseline" describes and its table calls greedy. It is not Algorithm 1, and
    much weaker: it spends its budget on the words that come first.
    """

    needs: ClassVar[type] = Oracle

    def propose(self, batch: Batch, oracle: Oracle, rng: np.random.Generator) -> Proposals:
        order = np.broadcast_to(np.arange(batch.n_max), (len(batch), batch.n_max))
        return sweep(batch, oracle, order)


@dataclass(frozen=True)
class RankedGreedy:
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

    def propose(self, batch: Batch, oracle: Oracle, rng: np.random.Generator) -> Proposals:
        problems = np.arange(len(batch))
        importance = np.full((len(batch), batch.n_max), -np.inf)
        changeable = additions(batch, batch.originals())
        if self.rank == "deletion" or (self.rank == "auto" and can(oracle, DeletingOracle)):
            rows, positions = np.nonzero(batch.dense_counts > 1)
            deleting: DeletingOracle = oracle  # type: ignore[assignment]
            importance[rows, positions] = deleting.without(problems[rows], positions)
        else:
            scores = score_swaps(oracle, problems, batch.originals(), changeable)
            np.maximum.at(importance, (changeable.rows, changeable.positions), scores)
        yield from sweep(batch, oracle, ordered(importance))


def ordered(importance: Floats) -> Ints:
    """(R, n_max) positions from the most important to the least, ties in reading order."""
    return np.argsort(-importance, axis=1, kind="stable")


def sweep(batch: Batch, oracle: Oracle, order: Ints) -> Proposals:
    """Visit positions in the given order, all problems in step; keep a position's best candidate if it helps."""
    problems, choices = np.arange(len(batch)), batch.originals()
    scores = oracle.score(problems, choices)
    for turn in range(batch.n_max):
        swaps = swaps_at(batch, problems, order[problems, turn])
        if len(swaps):
            rows = improve(oracle, problems, choices, scores, swaps)
            active = yield Proposal(problems[rows], choices[rows], scores[rows])
        else:
            active = problems
        # A problem whose budget is spent has nothing left to try.
        going = among(problems, active) & ((choices != 0).sum(axis=1) < batch.budgets[problems])
        problems, choices, scores = problems[going], choices[going], scores[going]
        if not len(problems):
            return


def swaps_at(batch: Batch, problems: Ints, positions: Ints) -> Swaps:
    """Every replacement at one position of each row."""
    replacements = np.maximum(batch.dense_counts[problems, positions] - 1, 0)
    rows = np.repeat(np.arange(len(problems)), replacements)
    return Swaps(rows, positions[rows], ranges(np.ones_like(replacements), replacements))
