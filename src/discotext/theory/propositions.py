"""The paper's set function, a hard problem, an easy one, and bounds on the rate of convergence.

**The set function.** f(X) = max { score(choice) : every change of the choice lies inside X }, X ⊆ positions. (The paper
prints supp(I) ⊂ 𝕊, the whole text; it must mean ⊂ X.) It is monotone by construction: a larger X allows more. A budget
of m changes is |X| ≤ m and is not part of f. The cost is hidden in the maximum, a search over Π_{i ∈ X} k_i choices;
here it is exhaustive, so the function is for problems small enough to enumerate. The best of X is the best over its
subsets of what uses *exactly* that subset, so each choice is scored once, however many sets contain it.

**Hard: subset sum.** Let word i have the one-dimensional vector s_i and a single replacement with the vector 0. The sum
of the word vectors is then the sum of the words *kept*, and with every word allowed to change, some choice reaches the
score 0 of −(Σ_i v_i − target)² if and only if a subset of the integers sums to the target. So a solver that is always
right solves subset sum. (The paper prints a distance to be maximised; the proof needs it minimised, hence the sign, and
a budget m = n.)

**Easy: a linear bag of words** adds one number per word and class. The margin of a wrong class over the true one is
then affine in α, the score is the largest of these margins, max_c ( b_c + Σ_i W_c[i, choice_i] ), and the best choice
is found without search: for each class take every position's best candidate, keep the m largest gains, and take the
best class. A maximum of modular functions is not submodular and need not be.

**Rates.** `proximal_bound` is the paper's theorem for Algorithm 2. It states a 1/T rate (the abstract's "linearly" is
not meant in the usual sense), and does not hold as generally as stated: the sphere Z_i = 1 is not convex. It holds for
p = 1 and f(β) = −⟨b, β⟩ with every b above λ, and for every convex f if spheres become balls; it fails for f = 0. The
paper's own f, eq. 8 with a differentiable C, cannot be convex: the gradient in β vanishes at every one-hot β.
`frank_wolfe_bound` is a theorem with the budget inside, for a cost convex and L-smooth in α over the polytope
{one simplex per position, Σ_i (1 − α_i^0) ≤ m}: the usual 2 L D² / (T + 2), where two vertices differ in at most
min(2m, n) positions and each adds 2 to the squared distance, so D² = min(4m, 2n).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product

import numpy as np

from discotext.core.arrays import Bools, Choices, Floats, Ints
from discotext.core.oracle import Oracle
from discotext.core.problem import Batch, Problem
from discotext.core.reach import ROUNDING, AdditiveBound, Reach, find_reach
from discotext.core.rounding import best_vertex
from discotext.theory.matroids import Changes
from discotext.theory.set_functions import SetFunction, Subset, subsets

CHOICES_LIMIT = 2_000_000  # choices that one call of f may score
ROWS_PER_CALL = 8192
EXACT = 2**53  # sums of integers below this are exact in float64, so the score is 0 exactly for a solution


def best_inside(batch: Batch, problem: int, oracle: Oracle) -> SetFunction:
    """Return f(X) over the positions of one problem: the best score whose changes lie inside X.

    >>> from discotext.core.oracle import FunctionOracle
    >>> batch = Batch.of([Problem((3, 2), 2)])
    >>> f = best_inside(batch, 0, FunctionOracle(batch, lambda problem, choice: float(choice[0] - choice[1])))
    >>> f([]), f([0]), f([1]), f([0, 1])
    (0.0, 2.0, 0.0, 2.0)
    """
    counts = batch[problem].counts

    def exactly(positions: Subset) -> Iterable[Sequence[int]]:
        """Every choice that changes these positions and no other."""
        return product(*(range(1, k) if i in positions else (0,) for i, k in enumerate(counts)))

    return maximise_subsets(len(counts), {i for i, k in enumerate(counts) if k > 1}, exactly, problem, oracle)


def best_among(batch: Batch, problem: int, oracle: Oracle) -> SetFunction:
    """Return f(X) over the changes of one problem, numbered as in `Changes`: the best score made of changes in X.

    Two candidates of one position may both be in X; a choice uses one of them. Budgets are left to the matroid.
    """
    system = Changes(batch[problem])

    def exactly(members: Subset) -> Iterable[Sequence[int]]:
        apart = len({system.pairs[element][0] for element in members}) == len(members)
        return [system.choice(members).tolist()] if apart else []

    return maximise_subsets(len(system.ground), set(system.ground), exactly, problem, oracle)


def maximise_subsets(
    n: int, useful: set[int], exactly: Callable[[Subset], Iterable[Sequence[int]]], problem: int, oracle: Oracle
) -> SetFunction:
    """Return the set function X ↦ max over subsets of X of the best score that uses exactly that subset.

    useful: the elements that can affect the score; the others are left out of the subsets.
    """
    exact: dict[Subset, float] = {}

    def check(choices: int) -> None:
        if choices > CHOICES_LIMIT:
            raise ValueError(f"the sets hold over {CHOICES_LIMIT} choices; f(X) is itself a search: use smaller sets")

    def many(sets: Sequence[Subset]) -> Floats:
        inside = [members & useful for members in sets]
        check(sum(2 ** len(members) for members in inside))
        parts = list(dict.fromkeys(part for members in inside for part in subsets(members) if part not in exact))
        rows: list[Sequence[int]] = []
        owners: list[int] = []
        for owner, part in enumerate(parts):
            for choice in exactly(part):
                rows.append(choice)
                owners.append(owner)
                check(len(rows))
        # A subset that no choice uses (two candidates of one position) has −∞; the empty subset always has a score.
        best = np.full(len(parts), -np.inf)
        for begin in range(0, len(rows), ROWS_PER_CALL):
            choices = np.array(rows[begin : begin + ROWS_PER_CALL], dtype=np.int32)
            scores = oracle.score(np.full(len(choices), problem, dtype=np.int64), choices)
            np.maximum.at(best, owners[begin : begin + ROWS_PER_CALL], scores)
        exact.update(zip(parts, best.tolist(), strict=True))
        return np.array([max(exact[part] for part in subsets(members)) for members in inside])

    return SetFunction(n, lambda members: float(many([members])[0]), many)


class SubsetSum:
    """−(sum of the words kept − target)² as an oracle, with gradient and bound. Made by `subset_sum`."""

    exact_at_vertices = True

    def __init__(self, integers: Sequence[int], target: int) -> None:
        self.integers, self.target = np.array(integers, dtype=np.float64), float(target)

    def score(self, problems: Ints, choices: Choices) -> Floats:
        distance = (choices[:, : len(self.integers)] == 0) @ self.integers - self.target
        # Subtracted, not negated: −(0.0) would print as −0.
        return np.asarray(0.0 - distance**2)

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        kept = alpha.reshape(len(problems), len(self.integers), 2)[:, :, 0]
        distance = kept @ self.integers - self.target
        gradient = np.zeros((len(problems), len(self.integers), 2))
        gradient[:, :, 0] = -2 * distance[:, None] * self.integers
        return 0.0 - distance**2, gradient.ravel()

    def reach(self, problems: Ints, allowed: Bools, goals: Floats) -> Reach:
        """Return the fewest changes after which the sum may be as near to the target as the goals say.

        It must be neither too small nor too large, and both are sums: the goal needs as many changes as either does.
        """
        layout = Batch.of([Problem((2,) * len(self.integers), len(self.integers))] * len(problems))
        distance = np.sqrt(np.maximum(-goals, 0.0))
        distance = np.where(goals > 0, -np.inf, distance * (1 + ROUNDING))
        kept = np.tile(np.stack([self.integers, np.zeros_like(self.integers)], axis=1).ravel(), len(problems))
        none = np.zeros((len(problems), 1))
        high = find_reach(layout, allowed, AdditiveBound(none, kept[:, None]), self.target - distance)
        low = find_reach(layout, allowed, AdditiveBound(none, -kept[:, None]), -(self.target + distance))
        return Reach(
            np.maximum(high.levels, low.levels),
            np.maximum(high.by_candidate, low.by_candidate),
            np.maximum(high.worth, low.worth),
        )


def subset_sum(integers: Sequence[int], target: int) -> tuple[Batch, SubsetSum]:
    """Return the problem whose best score is 0 exactly if some of the integers sum to the target, and its oracle.

    >>> batch, oracle = subset_sum([3, 5, 8], target=11)
    >>> oracle.score(np.array([0, 0]), np.array([[0, 0, 0], [0, 1, 0]], dtype=np.int32))
    array([-25.,   0.])
    """
    if any(int(number) != number for number in (*integers, target)):
        raise ValueError(f"subset sum needs integers, not {list(integers)} and {target}")
    total = sum(abs(int(number)) for number in (*integers, target))
    if total >= EXACT:
        raise ValueError(f"the integers add up to {total}; choose a sum below 2^53, where float64 is exact")
    return Batch.of([Problem((2,) * len(integers), budget=len(integers))]), SubsetSum(integers, target)


def read_subset(integers: Sequence[int], choice: Sequence[int] | Choices) -> tuple[int, ...]:
    """Return the integers of the words that a choice keeps.

    >>> read_subset([3, 5, 8], [0, 1, 0])
    (3, 8)
    """
    return tuple(number for number, picked in zip(integers, choice, strict=True) if picked == 0)


class LinearBag:
    """The largest of C affine margins as an oracle, with gradient, exact bound and exact optimum.

    weights: (K, C) what each candidate of each position adds to the margin of each wrong class.
    bias: (B, C) the margins of an empty text, for each problem of the batch.

    >>> batch = Batch.of([Problem((2, 2), 1)])
    >>> bag = LinearBag(batch, np.array([[0.0], [1.0], [0.0], [3.0]]), np.array([[-2.0]]))
    >>> bag.optimum(0)
    (array([0, 1], dtype=int32), 1.0)
    """

    exact_at_vertices = True

    def __init__(self, batch: Batch, weights: Floats, bias: Floats) -> None:
        if weights.shape != (batch.candidates, bias.shape[1]) or len(bias) != len(batch):
            raise ValueError(
                f"weights have shape {weights.shape} and bias {bias.shape}; expected ({batch.candidates}, C) and "
                f"({len(batch)}, C), a row for each candidate and each problem of the batch"
            )
        self.batch, self.weights, self.bias = batch, weights, bias

    def score(self, problems: Ints, choices: Choices) -> Floats:
        layout = self.batch.take(problems)
        chosen = self.weights[self.batch.flat_rows(problems)[layout.chosen(choices)]]
        return np.asarray(self._add_up(problems, layout.problem_of_position, chosen).max(axis=1))

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        """Return the largest margin of a mixture, and the gradient of that margin (the first of equals)."""
        weights, owner = self.weights[self.batch.flat_rows(problems)], self.batch.take(problems).row_of
        margins = self._add_up(problems, owner, weights * alpha[:, None])
        gradient = np.take_along_axis(weights, margins.argmax(axis=1)[owner, None], axis=1)[:, 0]
        return np.asarray(margins.max(axis=1)), np.asarray(gradient)

    def reach(self, problems: Ints, allowed: Bools, goals: Floats) -> Reach:
        """Return the fewest changes that reach the goals, exactly: the margin of each class is a sum."""
        bound = AdditiveBound(self.bias[problems], self.weights[self.batch.flat_rows(problems)])
        return find_reach(self.batch.take(problems), allowed, bound, goals - ROUNDING * (1 + np.abs(goals)))

    def optimum(self, problem: int) -> tuple[Choices, float]:
        """Return the best choice (n,) within the problem's budget, and its score."""
        # One row per class: its weights are a linear function, whose best vertex is known.
        problems = np.full(self.weights.shape[1], problem)
        mine = self.weights[self.batch.first_candidate[problem] : self.batch.first_candidate[problem + 1]]
        vertices = best_vertex(mine.T.ravel(), self.batch.take(problems))
        scores = self.score(problems, vertices)
        best = int(scores.argmax())
        return vertices[best], float(scores[best])

    def _add_up(self, problems: Ints, owner: Ints, values: Floats) -> Floats:
        """Return (R, C) the biases of the rows plus the values (·, C) that belong to each."""
        out = self.bias[problems]
        np.add.at(out, owner, values)
        return out


def proximal_bound(layout: Batch, step: float, iterations: int, p: int = 1) -> Floats:
    """Return (R,) the theorem's bound on φ(β_{T+1}) − φ(β*) for each row: Σ_i k_i (1 + k_i^{−1/2p})² / (2ηT).

    step: η, below 1/L. iterations: T, the updates made from the theorem's start β_1.

    >>> proximal_bound(Batch.of([Problem((2,), 1)]), step=0.1, iterations=200).round(3)
    array([0.146])
    """
    counts = layout.counts.astype(np.float64)
    terms = counts * (1 + counts ** (-1 / (2 * p))) ** 2
    return np.bincount(layout.problem_of_position, weights=terms, minlength=len(layout)) / (2 * step * iterations)


def frank_wolfe_bound(smoothness: float, budget: int, positions: int, iterations: int) -> float:
    """Return the bound on C(α_T) − C* after T steps of 2/(t + 2), t = 0, …, T − 1: 2L · min(4m, 2n) / (T + 2).

    >>> frank_wolfe_bound(smoothness=1.0, budget=2, positions=10, iterations=14)
    1.0
    """
    return 2 * smoothness * min(4 * budget, 2 * positions) / (iterations + 2)
