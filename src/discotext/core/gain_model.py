"""What the swaps of one problem gain, learnt from the answers so far: a Gaussian process over choices.

A surrogate, or nothing, says beforehand what each candidate gains, and a choice is expected to gain the sum of its
candidates, m(x). What that misses is normally distributed. Two choices miss alike as far as they change the same
positions, and more so where they put the same candidates there:

    κ(x, y) = Σ over positions that both change of  SHARED + (1 − SHARED) · [the same candidate]
    covariance(x, y) = s² · (κ + INTERACTION · κ²) + DISTRUST · m(x) · m(y)

The sum over positions makes gains add up; the square lets pairs of changes interact, so that what is believed of a swap
depends on what is changed already; the last term says that the surrogate may be wrong by a factor. Uncertainty is a
reason to try: a swap is worth what is expected of it and the standard deviation of that. `LearningOracle`
offers this as the gradient of an oracle that has none.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from discotext.core.arrays import Choices, Floats, Ints, segment_argmax
from discotext.core.oracle import Oracle, Request
from discotext.core.problem import Batch

# Chosen on training texts of AG News with an LSTM and a random forest; benchmarks/queries.py measures on test texts.
SHARED = 0.8  # of the variance of a swap's gain that all candidates of a position have in common
INTERACTION = 0.05
NOISE = 0.02  # of each change, what no such sum explains, in units of the variance of a swap's gain
DISTRUST = 0.25  # variance of the factor by which what was said beforehand may be wrong
OPTIMISM = 2.5  # standard deviations that are added to what is expected of a swap
WEIGHT = 4.0  # answers that the size given beforehand is worth, when it is corrected by answers
MOST = 400  # answers that are kept; then the older half is forgotten, since the work grows with their square


class GainModel:
    """What is believed of the gains of a problem's choices over its original.

    prior: (K,) what each candidate is said to gain, 0 for the originals. counts: (n,) candidates of each position.
    size: s above, the standard deviation of what the prior misses at one swap.
    """

    def __init__(self, prior: Floats, counts: Ints, size: float) -> None:
        self.prior, self.size = prior, max(size, 1e-9)
        self.first = np.cumsum(counts) - counts
        self.position = np.repeat(np.arange(len(counts)), counts)
        self.number = np.arange(len(prior)) - self.first[self.position]
        self._forget()

    def _forget(self) -> None:
        self.choices = np.zeros((0, len(self.first)), dtype=np.int32)
        self.answers = np.zeros(0)
        self._said = np.zeros(0)  # (R,) what the choices gain according to the prior
        self._room = np.zeros((0, len(self.prior)))  # holds `_added`, and space for more rows
        self._inverse = np.zeros((0, 0))  # (R, R) of the covariance of the answers

    @property
    def _added(self) -> Floats:
        """(R, K) what each candidate adds to κ with each answer; 0 for the originals."""
        return self._room[: len(self.answers)]

    def learn(self, choices: Choices, gains: Floats) -> None:
        """Learn what choices (R, n) gain over the original (R,)."""
        if len(self.answers) + len(gains) > MOST:
            choices = np.concatenate([self.choices, choices])[-MOST // 2 :]
            gains = np.concatenate([self.answers, gains])[-MOST // 2 :]
            self._forget()
        if len(self._room) < len(self.answers) + len(gains):
            # Twice the rows at once: to copy all of them for each answer would take longer than all the rest.
            larger = np.zeros((max(2 * len(self._room), len(self.answers) + len(gains)), len(self.prior)))
            larger[: len(self.answers)] = self._added
            self._room = larger
        for choice, gain in zip(choices, gains.tolist(), strict=True):
            self._learn_one(choice, gain)
        self.choices = np.concatenate([self.choices, choices])

    def _learn_one(self, choice: Choices, gain: float) -> None:
        changes = max(float(np.count_nonzero(choice)), 1.0)
        said = self._sum(choice)
        across = self._vary(self._overlap(choice), self._said, said)
        own = float(self._vary(np.asarray(changes), said, said)) + NOISE * self.size**2 * changes
        # The inverse grows by a row and a column: the textbook formula for blocks.
        solved = self._inverse @ across
        left = max(own - float(across @ solved), 1e-12 * own)
        self._inverse = np.block(
            [[self._inverse + np.outer(solved, solved) / left, -solved[:, None] / left], [-solved / left, 1 / left]]
        )
        added = SHARED * (choice != 0)[self.position] + (1 - SHARED) * (choice[self.position] == self.number)
        added[self.first] = 0.0
        self._room[len(self.answers)] = added
        self._said = np.append(self._said, said)
        self.answers = np.append(self.answers, gain)

    def expect(self, choice: Choices) -> float:
        """What a choice is expected to gain over the original."""
        said = self._sum(choice)
        across = self._vary(self._overlap(choice), self._said, said)
        return said + float(across @ (self._inverse @ (self.answers - self._said)))

    def find_gains(self, choice: Choices) -> Floats:
        """(K,) what each candidate, put in its place in this choice, gains; with the benefit of the doubt."""
        here = self.first + choice
        step = self.prior - self.prior[here][self.position]
        mean, variance = step, self._vary_steps(choice, step)
        if len(self.answers):
            said, total = self._said, self._sum(choice)
            overlap = self._overlap(choice)
            moved = overlap[:, None] + self._added - self._added[:, here][:, self.position]
            change = self._vary(moved, said[:, None], total + step) - self._vary(overlap, said, total)[:, None]
            missed = self.answers - said
            weights = self._inverse @ missed
            mean = step + change.T @ weights
            # Answers that are further off, or less, than expected say the same of all that is still unknown.
            scale = (WEIGHT + missed @ weights) / (WEIGHT + len(missed))
            known = (change * (self._inverse @ change)).sum(axis=0)
            variance = np.maximum(variance - known, 0.0) * scale
        found = mean + OPTIMISM * np.sqrt(variance)
        found[here] = 0.0
        return np.asarray(found)

    def _sum(self, choice: Choices) -> float:
        """What a choice gains according to the prior."""
        return float(self.prior[self.first + choice].sum())

    def _overlap(self, choice: Choices) -> Floats:
        """(R,) κ of a choice with each of those that were answered; what is not changed adds nothing."""
        changed = np.flatnonzero(choice)
        return np.asarray(self._added[:, self.first[changed] + choice[changed]].sum(axis=1))

    def _vary(self, shared: Floats, left: Floats | float, right: Floats | float) -> Floats:
        """The covariance of choices of which κ and both sums of the prior are known."""
        return np.asarray(self.size**2 * (shared + INTERACTION * shared**2) + DISTRUST * left * right)

    def _vary_steps(self, choice: Choices, step: Floats) -> Floats:
        """(K,) the variance of the difference that each candidate makes in this choice, before any answer."""
        changed = (choice != 0)[self.position]
        original = self.number == 0
        before = float(np.count_nonzero(choice))
        after = np.where(original & changed, before - 1, np.where(~original & ~changed, before + 1, before))
        common = np.where(original & changed, before - 1, np.where(changed, before - 1 + SHARED, before))
        common = np.where(choice[self.position] == self.number, before, common)
        squares = [shared + INTERACTION * shared**2 for shared in (after, np.full_like(after, before), common)]
        return np.asarray(self.size**2 * (squares[0] + squares[1] - 2 * squares[2]) + DISTRUST * step**2)


SLACK = 0.8  # learnt gains have the benefit of the doubt already; chosen as the constants of `GainModel`
DRAWN = 0.5  # standard deviation of drawn gains, in units of what the prior misses


class LearningOracle:
    """The scores of an oracle without gradients, and gains that are learnt from them; they cost nothing.

    prior: flat, what each candidate is said to gain. sizes: (B,) how far that is off, see `GainModel`.
    originals: (B,) the scores of the originals.
    labels_only: whether the model answers labels. Then nothing can be learnt from the answers, and gains are drawn at
        random around the prior, new ones each time, so that many likely choices are tried.
    slack: see `FreeGradientsOracle`.
    """

    exact_at_vertices = False

    def __init__(
        self,
        oracle: Oracle,
        batch: Batch,
        prior: Floats,
        sizes: Floats,
        originals: Floats,
        labels_only: bool = False,
        slack: float = SLACK,
    ) -> None:
        self.oracle, self.batch, self.originals, self.labels_only = oracle, batch, originals, labels_only
        self.slack = np.inf if labels_only else slack
        self._draws: Counter[int] = Counter()
        self._prior, self._sizes = prior, sizes
        self._models: dict[int, GainModel] = {}

    def score(self, problems: Ints, choices: Choices) -> Floats:
        found = np.asarray(self.oracle.score(problems, choices), dtype=np.float64)
        useful = np.isfinite(found) & (choices != 0).any(axis=1) & (not self.labels_only)
        for problem in np.unique(problems[useful]).tolist():
            rows = np.flatnonzero(useful & (problems == problem))
            gains = found[rows] - self.originals[problem]
            self._model(problem).learn(choices[rows, : int(self.batch.sizes[problem])], gains)
        return found

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        """What is believed at the choices that the mixtures are nearest to."""
        layout = self.batch.take(problems)
        nearest = layout.dense(segment_argmax(alpha, layout.starts, layout.position_of)[0], 0).astype(np.int32)
        values, gains = np.empty(len(problems)), np.empty(len(alpha))
        for row, problem in enumerate(problems.tolist()):
            model, choice = self._model(problem), nearest[row, : int(layout.sizes[row])]
            values[row] = self.originals[problem] + model.expect(choice)
            if self.labels_only:
                gains[layout.first_candidate[row] : layout.first_candidate[row + 1]] = self._draw(problem)
                continue
            gains[layout.first_candidate[row] : layout.first_candidate[row + 1]] = model.find_gains(choice)
        return values, gains

    def _draw(self, problem: int) -> Floats:
        """(K,) gains drawn around the prior, alike at one position; the first time the prior itself."""
        model, turn = self._model(problem), self._draws[problem]
        self._draws[problem] += 1
        # Of the problem's own shape and turn alone, so that a result does not depend on what else is in the batch.
        rng = np.random.default_rng([len(model.prior), turn])
        share, own = np.sqrt(SHARED), np.sqrt(1 - SHARED)
        noise = share * rng.normal(size=len(model.first))[model.position] + own * rng.normal(size=len(model.prior))
        drawn = model.prior + model.size * DRAWN * min(turn, 1) * noise
        drawn[model.first] = 0.0
        return np.asarray(drawn)

    def cost(self, request: Request) -> tuple[Ints, Ints]:
        """A gradient asks the model nothing."""
        none = np.zeros(len(request), dtype=np.int64)
        return (none, none) if request.kind == "relaxed" else (np.ones_like(none), none)

    def _model(self, problem: int) -> GainModel:
        if problem not in self._models:
            batch = self.batch
            part = slice(*batch.first_candidate[[problem, problem + 1]])
            counts = batch.counts[batch.first_position[problem] : batch.first_position[problem + 1]]
            self._models[problem] = GainModel(self._prior[part], counts, float(self._sizes[problem]))
        return self._models[problem]
