"""Relaxations from other papers as solvers: with the same problem, oracle, counting, pruning and goal.

Both have free parameters θ for each candidate, mix with w = softmax(θ) and maximise the score with Adam:

    `Gbda`   Guo et al. 2021, "Gradient-based adversarial attacks against text transformers": Gumbel noise gives
             random mixtures, closer to single words for lower temperatures; at the end texts are sampled.
    `Ascc`   Dong et al. 2021, "Towards robustness against natural language word substitutions": no noise; a
             penalty on the entropy of the mixtures drives them to single words.

Neither has a budget: GBDA stays close to the text with a language model and a similarity term, ASCC with its candidates
alone. To change at most m words, both are adapted as follows; the choices were made on training texts:

    loss      the score of the problem (for an attack, the margin). Candidates and budget replace the similarity and
              language model terms.
    start     the uniform mixture. ASCC starts at random very close to it. GBDA's start (15 for the original) is meant
              for vocabularies of tens of thousands of words and a hundred steps; a few steps do not leave it.
    Adam      second moments are means over a text. With one per parameter, the first steps have equal length in all
              parameters and lose the information which words gain most, which a budget needs.
    rounding  of every iterate, in two ways: the m most probable changes, as in the papers, and the m changes with the
              largest gain by the gradient at the mixture, the Frank–Wolfe step of this package, which finds more. Both
              are scored at once, so that a problem that reaches its goal can stop.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from discotext.core.arrays import Choices, Floats, Ints, segment_argmax, segment_max, segment_sum
from discotext.core.oracle import RelaxedOracle
from discotext.core.problem import Batch
from discotext.core.rounding import best_vertex, keep_largest
from discotext.search.climbing import Climbers
from discotext.search.solver import Proposal, Proposals, Search, Solver, is_active
from discotext.solvers import make_solver

ROUND = 10  # draws per call, so that a problem that reaches its goal stops early


@dataclass(frozen=True)
class Gbda(Solver):
    """Maximise the mean score of Gumbel-softmax samples, then draw texts; each keeps its m most probable changes.

    samples: per step, one gradient each (the paper: 10); one sample finds about as much at lower cost.
    temperature: of the samples; lower values are closer to single words.
    margin: a sample this far above the goal gets no gradient (the paper's κ); ignored without a goal.
    draws: texts drawn at the end (the paper: 100).
    """

    needs: ClassVar[type] = RelaxedOracle
    steps: int = 10
    samples: int = 1
    rate: float = 0.3
    temperature: float = 1.0
    margin: float = 5.0
    draws: int = 10

    def propose(self, batch: Batch, oracle: RelaxedOracle, search: Search) -> Proposals:
        at = Ascent.start(batch)
        yield from ascend(batch, oracle, at, self.steps, self.rate, lambda: self.find_gradients(oracle, at, search))
        left = self.draws
        while left and len(at.rows):
            again = np.repeat(np.arange(len(at.rows)), min(left, ROUND))
            left -= min(left, ROUND)
            layout, theta = at.layout.take(again), at.theta[at.layout.flat_rows(again)]
            drawn = layout.chosen(draw(layout, softmax(theta, layout), search.rng))
            found = Climbers.at(batch, oracle, at.rows[again], likeliest(drawn, theta, layout))
            at.keep((yield found.proposal()))

    def find_gradients(self, oracle: RelaxedOracle, at: Ascent, search: Search) -> tuple[Floats, Floats]:
        """The mean gradient in θ over samples, and the mean gradient in the mixtures."""
        again = np.repeat(np.arange(len(at.rows)), self.samples)
        layout, flat = at.layout.take(again), at.layout.flat_rows(again)
        alpha = softmax((at.theta[flat] + search.rng.gumbel(size=len(flat))) / self.temperature, layout)
        scores, gradient = oracle.relaxed(at.rows[again], alpha)
        if search.goal is not None:
            gradient = gradient * (scores < search.goal + self.margin)[layout.row_of]
        pulled_back = pull_back(alpha, gradient, layout) / self.temperature
        size = at.layout.candidates
        in_theta, in_alpha = (np.bincount(flat, weights=one, minlength=size) for one in (pulled_back, gradient))
        return in_theta / self.samples, in_alpha / self.samples


@dataclass(frozen=True)
class Ascc(Solver):
    """Maximise score − sparsity · |score of the original| · (mean entropy of the positions), in as many steps as ASCC.

    rate: ASCC's code uses 10 with a moment per parameter; one step then removes all weight from negative gradients.
    """

    needs: ClassVar[type] = RelaxedOracle
    steps: int = 10
    rate: float = 1.0
    sparsity: float = 0.1

    def propose(self, batch: Batch, oracle: RelaxedOracle, search: Search) -> Proposals:
        at = Ascent.start(batch)
        originals = np.abs(oracle.score(np.arange(len(batch)), batch.originals()))
        # A failed problem has no score; its rows are dropped at the first proposal.
        weight = self.sparsity * np.where(np.isfinite(originals), originals, 0.0) / np.maximum(batch.sizes, 1)
        yield from ascend(batch, oracle, at, self.steps, self.rate, lambda: self.find_gradients(oracle, at, weight))

    def find_gradients(self, oracle: RelaxedOracle, at: Ascent, weight: Floats) -> tuple[Floats, Floats]:
        """The gradient in θ of score − weight · entropy, and that of the score in the mixtures. weight: (B,)."""
        alpha = softmax(at.theta, at.layout)
        _, gradient = oracle.relaxed(at.rows, alpha)
        penalty = weight[at.rows][at.layout.row_of] * entropy_gradient(alpha, at.layout)
        return pull_back(alpha, gradient, at.layout) - penalty, gradient


@dataclass
class Ascent:
    """Parameters θ of several problems during the ascent, with Adam's running means (Kingma and Ba 2014).

    rows: (R,) their problems. theta, mean: (K,). square: (R,), over the candidates of each row.
    """

    rows: Ints
    layout: Batch
    theta: Floats
    mean: Floats = field(init=False)
    square: Floats = field(init=False)
    steps: int = 0

    def __post_init__(self) -> None:
        self.mean, self.square = np.zeros_like(self.theta), np.zeros(len(self.rows))

    @classmethod
    def start(cls, batch: Batch) -> Ascent:
        """Uniform mixtures, of all problems that have words."""
        rows = np.flatnonzero(batch.sizes > 0)
        layout = batch.take(rows)
        return cls(rows, layout, np.zeros(layout.candidates))

    def climb(self, gradient: Floats, rate: float) -> None:
        """One step of Adam up the gradient."""
        self.steps += 1
        squares = np.bincount(self.layout.row_of, weights=gradient**2, minlength=len(self.rows)) / self.layout.widths
        self.mean = 0.9 * self.mean + 0.1 * gradient
        self.square = 0.999 * self.square + 0.001 * squares
        size = np.sqrt(self.square / (1 - 0.999**self.steps))[self.layout.row_of]
        length = rate / (1 - 0.9**self.steps)
        self.theta = self.theta + length * np.divide(self.mean, size, out=np.zeros_like(size), where=size > 0)

    def keep(self, active: Ints) -> None:
        """Keep the active problems."""
        kept = np.flatnonzero(is_active(self.rows, active))
        flat = self.layout.flat_rows(kept)
        self.rows, self.layout, self.square = self.rows[kept], self.layout.take(kept), self.square[kept]
        self.theta, self.mean = self.theta[flat], self.mean[flat]


def ascend(
    batch: Batch,
    oracle: RelaxedOracle,
    at: Ascent,
    steps: int,
    rate: float,
    gradients: Callable[[], tuple[Floats, Floats]],
) -> Generator[Proposal, Ints, None]:
    """Take steps; round and score every iterate. gradients: of `at` as it is, in θ and in the mixtures."""
    for _ in range(steps):
        if not len(at.rows):
            return
        in_theta, in_alpha = gradients()
        at.climb(in_theta, rate)
        probable = likeliest(best_other(at.theta, at.layout), at.theta, at.layout)
        choices = np.concatenate([best_vertex(in_alpha, at.layout), probable])
        at.keep((yield Climbers.at(batch, oracle, np.tile(at.rows, 2), choices).proposal()))


def draw(layout: Batch, alpha: Floats, rng: np.random.Generator) -> Choices:
    """(R, n_max) one candidate per position, drawn with the probabilities alpha."""
    cumulative = np.cumsum(alpha)
    before = cumulative[layout.starts] - alpha[layout.starts]
    total = segment_sum(alpha, layout.starts)
    # Strictly inside the segment: neither end may be hit, or a candidate of weight 0 could be drawn.
    target = before + total * rng.uniform(1e-9, 1 - 1e-9, size=len(before))
    picked = np.searchsorted(cumulative, target, side="right") - layout.starts
    picked = np.clip(picked, 0, layout.counts - 1)
    return layout.dense(picked, 0).astype(np.int32)


def softmax(theta: Floats, layout: Batch) -> Floats:
    """w = exp θ / Σ exp θ in each position.

    >>> from discotext.core.problem import Problem
    >>> softmax(np.log([3.0, 1.0]), Batch.of([Problem((2,), 1)]))
    array([0.75, 0.25])
    """
    powers = np.exp(theta - segment_max(theta, layout.starts)[layout.position_of])
    return np.asarray(powers / segment_sum(powers, layout.starts)[layout.position_of])


def pull_back(alpha: Floats, gradient: Floats, layout: Batch) -> Floats:
    """The gradient in θ of a function whose gradient in w is given: w (g − ⟨w, g⟩), per position."""
    return np.asarray(alpha * (gradient - segment_sum(alpha * gradient, layout.starts)[layout.position_of]))


def entropy_gradient(alpha: Floats, layout: Batch) -> Floats:
    """The gradient in θ of the entropy −Σ w log w, added over the positions."""
    logs = np.log(alpha, out=np.zeros_like(alpha), where=alpha > 0)
    return pull_back(alpha, -logs, layout)


def best_other(theta: Floats, layout: Batch) -> Ints:
    """(N,) where the most probable replacement of each position stands; the original where there is no other."""
    others = theta.copy()
    others[layout.starts[layout.counts > 1]] = -np.inf
    return layout.starts + segment_argmax(others, layout.starts, layout.position_of)[0]


def likeliest(picked: Ints, theta: Floats, layout: Batch) -> Choices:
    """(R, n_max) of the changes that picked candidates (N,) are, the m with the best odds against their originals.

    >>> from discotext.core.problem import Problem
    >>> likeliest(np.array([1, 3, 4]), np.array([0.0, -2.0, 0.0, -1.0, 0.0]), Batch.of([Problem((2, 2, 1), 1)]))
    array([[0, 1, 0]], dtype=int32)
    """
    odds = theta[picked] - theta[layout.starts]
    # Above 0, or they would not be kept: a change that is less likely than its original may still be among the m best.
    gains = np.where(picked != layout.starts, odds - odds.min(initial=0.0) + 1.0, 0.0)
    return keep_largest(layout.dense(picked - layout.starts, 0).astype(np.int32), layout.dense(gains, 0.0), layout)


RELAXATIONS: dict[str, Callable[[], Solver]] = {
    "gbda": Gbda,
    "gbda-100": lambda: Gbda(steps=100, samples=10, draws=100),  # as many as the paper takes
    "ascc": Ascc,
}


def make_search(name: str) -> Solver:
    """Make a relaxation of this file, or the solver of that name."""
    return RELAXATIONS[name]() if name in RELAXATIONS else make_solver(name)
