"""What the swaps of one problem gain, learnt from the answers so far: a Gaussian process over choices.

A stand-in, or nothing, says beforehand what each candidate gains, and a choice is expected to gain the sum of its
candidates, m(x). What that misses is normally distributed. Two choices miss alike as far as they change the same
positions, and more so where they put the same candidates there:

    κ(x, y) = Σ over positions that both change of  SHARED + (1 − SHARED) · [the same candidate]
    covariance(x, y) = s² · (κ + INTERACTION · κ²) + DISTRUST · m(x) · m(y)

The sum over positions makes gains add up; the square lets pairs of changes interact, so that what is believed of a swap
depends on what is changed already; the last term says that the stand-in may be wrong by a factor. Uncertainty is a
reason to try: a swap is worth what is expected of it and the standard deviation of that.
"""

from __future__ import annotations

import numpy as np

from discotext.core.arrays import Bools, Choices, Floats, Ints

# Chosen on training texts of AG News with an LSTM and a random forest (benchmarks/queries.py measures them on test texts).
SHARED = 0.8  # of the variance of a swap's gain that all candidates of a position have in common
INTERACTION = 0.05
NOISE = 0.02  # of each change, what no such sum explains, in units of the variance of a swap's gain
DISTRUST = 0.25  # variance of the factor by which what was said beforehand may be wrong
OPTIMISM = 2.5  # standard deviations that are added to what is expected of a swap
WEIGHT = 4.0  # answers that the size given beforehand is worth, when it is corrected by answers
MOST = 400  # answers that are kept; older ones are forgotten, since the work grows with their cube


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
        self.choices = np.zeros((0, len(counts)), dtype=np.int32)
        self.answers = np.zeros(0)

    def learn(self, choices: Choices, gains: Floats) -> None:
        """Learn what choices (R, n) gain over the original (R,)."""
        self.choices = np.concatenate([self.choices, choices])[-MOST:]
        self.answers = np.concatenate([self.answers, gains])[-MOST:]

    def expect(self, choice: Choices) -> float:
        """What a choice is expected to gain over the original."""
        said = float(self.prior[self.first + choice].sum())
        if not len(self.answers):
            return said
        wanted, covariance = self._compare()
        weights = np.linalg.solve(covariance, wanted)
        common = self._share(self.choices, choice[None])[:, 0]
        return said + float(self._vary(common, self._sum(self.choices), said) @ weights)

    def find_gains(self, choice: Choices) -> Floats:
        """(K,) what each candidate, put in its place in this choice, gains; with the benefit of the doubt."""
        here = self.first + choice
        step = self.prior - self.prior[here][self.position]
        mean, variance = step, self._vary_steps(choice, step)
        if len(self.answers):
            said, after = self._sum(self.choices), self.prior[here].sum() + step
            wanted, covariance = self._compare()
            # What each candidate adds to the overlap with each answer, and the overlap when it is put in its place.
            added = SHARED * (self.choices != 0)[:, self.position] + (1 - SHARED) * (
                self.choices[:, self.position] == self.number
            )
            added[:, self.first] = 0.0
            overlap = added[:, here].sum(axis=1)
            now = self._vary(overlap, said, float(self.prior[here].sum()))
            then = self._vary((overlap[:, None] + added - added[:, here][:, self.position]), said[:, None], after)
            change = then - now[:, None]
            solved = np.linalg.solve(covariance, np.column_stack([wanted, change]))
            mean = step + change.T @ solved[:, 0]
            # Answers that are further off, or less, than expected say the same of all that is still unknown.
            scale = (WEIGHT + wanted @ solved[:, 0]) / (WEIGHT + len(wanted))
            variance = np.maximum(variance - (change * solved[:, 1:]).sum(axis=0), 0.0) * scale
        found = mean + OPTIMISM * np.sqrt(variance)
        found[here] = 0.0
        return np.asarray(found)

    def _compare(self) -> tuple[Floats, Floats]:
        """(R,) what the answers have beyond the prior, and (R, R) their covariance."""
        said = self._sum(self.choices)
        covariance = self._vary(self._share(self.choices, self.choices), said[:, None], said)
        changes = np.maximum((self.choices != 0).sum(axis=1), 1)
        covariance[np.diag_indices(len(said))] += NOISE * self.size**2 * changes
        return self.answers - said, covariance

    def _sum(self, choices: Choices) -> Floats:
        """(R,) what choices gain according to the prior."""
        return np.asarray(self.prior[self.first + choices].sum(axis=1))

    @staticmethod
    def _share(left: Choices, right: Choices) -> Floats:
        """(R, S) κ of the rows of both."""
        changed: tuple[Bools, Bools] = (left != 0, right != 0)
        both = changed[0].astype(np.float64) @ changed[1].T.astype(np.float64)
        same = ((left[:, None] == right[None]) & changed[0][:, None]).sum(axis=2)
        return np.asarray(SHARED * both + (1 - SHARED) * same)

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
