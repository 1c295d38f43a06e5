"""An easy problem: a margin that is affine in the mixture.

A linear bag of words adds one number per word and class. The margin of a wrong class over the true one is then affine
in α, the attack's score is the largest of these margins,

    score = max_c ( b_c + Σ_i W_c[i, choice_i] ),

and the best choice is found without search: for each class take every position's best candidate, keep the m largest
gains, and take the best class. The problem is a maximum of modular functions, which is not
submodular and need not be. It tests a solver on texts of any length, because the optimum is known.
"""

from __future__ import annotations

import numpy as np

from discotext.core.arrays import Bools, Choices, Floats, Ints
from discotext.core.problem import Batch
from discotext.core.reach import ROUNDING, AdditiveBound, Reach, find_reach
from discotext.core.rounding import best_vertex


class LinearBag:
    """The largest of C affine margins as an oracle, with gradient, exact bound and exact optimum.

    weights: (K, C) what each candidate of each position adds to the margin of each wrong class.
    bias: (B, C) the margins of an empty text, for each problem of the batch.

    >>> from discotext.core.problem import Problem
    >>> batch = Batch.of([Problem((2, 2), 1)])
    >>> bag = LinearBag(batch, np.array([[0.0], [1.0], [0.0], [3.0]]), np.array([[-2.0]]))
    >>> bag.optimum(0)
    (array([0, 1], dtype=int32), 1.0)
    """

    exact_at_vertices = True

    def __init__(self, batch: Batch, weights: Floats, bias: Floats) -> None:
        weights, bias = np.asarray(weights, dtype=np.float64), np.asarray(bias, dtype=np.float64)
        if weights.ndim != 2 or weights.shape[0] != batch.candidates or weights.shape[1] < 1:
            raise ValueError(
                f"weights have shape {weights.shape}; expected ({batch.candidates}, C), a row for each candidate of "
                "the batch and a column for each of at least one wrong class"
            )
        if bias.shape != (len(batch), weights.shape[1]):
            raise ValueError(f"bias has shape {bias.shape}; expected {(len(batch), weights.shape[1])}, one per problem")
        self.batch, self.weights, self.bias = batch, weights, bias

    @classmethod
    def of_classifier(cls, batch: Batch, logits: Floats, bias: Floats, labels: Ints) -> LinearBag:
        """Make it of a classifier: what each candidate adds to each logit (K, C), biases (C,), true classes (B,)."""
        logits, bias, labels = np.asarray(logits), np.asarray(bias), np.asarray(labels, dtype=np.int64)
        classes = len(bias)
        if classes < 2:
            raise ValueError(f"there are {classes} classes; a margin needs 2 or more")
        if labels.shape != (len(batch),) or not ((labels >= 0) & (labels < classes)).all():
            raise ValueError(f"labels are {labels.tolist()}; expected {len(batch)} numbers from 0 to {classes - 1}")
        # (B, C − 1): every class but the true one, in order.
        wrong = np.arange(classes - 1) + (np.arange(classes - 1) >= labels[:, None])
        owner = np.repeat(np.arange(len(batch)), batch.widths)
        of_wrong = np.take_along_axis(logits, wrong[owner], axis=1)
        of_true = np.take_along_axis(logits, labels[owner, None], axis=1)
        return cls(batch, of_wrong - of_true, bias[wrong] - bias[labels][:, None])

    def margins(self, problems: Ints, choices: Choices) -> Floats:
        """Return (R, C) the margin of every wrong class."""
        layout = self.batch.take(problems)
        chosen = self.weights[self.batch.flat_rows(problems)[layout.chosen(choices)]]
        return self._add_up(problems, layout.problem_of_position, chosen)

    def score(self, problems: Ints, choices: Choices) -> Floats:
        return np.asarray(self.margins(problems, choices).max(axis=1))

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        """Return the largest margin of a mixture, and the gradient of that margin (the first of equals)."""
        weights = self.weights[self.batch.flat_rows(problems)]
        owner = np.repeat(np.arange(len(problems)), self.batch.widths[problems])
        margins = self._add_up(problems, owner, weights * alpha[:, None])
        ahead = margins.argmax(axis=1)
        gradient = np.take_along_axis(weights, ahead[owner, None], axis=1)[:, 0]
        return np.asarray(margins.max(axis=1)), np.asarray(gradient)

    def reach(self, problems: Ints, allowed: Bools, goals: Floats) -> Reach:
        """Return the fewest changes that reach the goals, exactly: the margin of each class is a sum."""
        bound = AdditiveBound(self.bias[problems], self.weights[self.batch.flat_rows(problems)])
        return find_reach(self.batch.take(problems), allowed, bound, goals - ROUNDING * (1 + np.abs(goals)))

    def optimum(self, problem: int) -> tuple[Choices, float]:
        """Return the best choice (n,) within the problem's budget, and its score."""
        if not 0 <= problem < len(self.batch):
            raise ValueError(f"problem {problem} is not in the batch; choose 0 to {len(self.batch) - 1}")
        classes = self.weights.shape[1]
        problems = np.full(classes, problem)
        layout = self.batch.take(problems)
        # One row per class: its weights are a linear function, whose best vertex is known.
        mine = self.weights[self.batch.first_candidate[problem] : self.batch.first_candidate[problem + 1]]
        vertices = best_vertex(mine.T.ravel(), layout)
        scores = self.score(problems, vertices)
        best = int(scores.argmax())
        return vertices[best], float(scores[best])

    def _add_up(self, problems: Ints, owner: Ints, values: Floats) -> Floats:
        """Return (R, C) the biases of the rows plus the values (·, C) that belong to each."""
        out = self.bias[problems]
        np.add.at(out, owner, values)
        return out
