"""Oracles: they score choices, and a larger score is better.

An oracle is built from the same texts as a batch and scores many rows at once, with rows of different problems mixed.
Only `score` is required. Further methods declare what else an oracle can do:

    relaxed   scores mixtures of candidates and returns the gradient (what the relaxation needs)
    reach     says how few changes may reach a goal, by bounds of its score (what a proof needs)
    without   scores a text with one word deleted (one way to rank words)
    cost      says how many passes of the model a call takes, where that is not one for each row

Problem numbers are always those of the full batch, also after other problems have left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from discotext.core.arrays import Bools, Choices, Floats, Ints
from discotext.core.problem import Batch
from discotext.core.reach import Reach


@runtime_checkable
class Oracle(Protocol):
    """Anything that scores choices."""

    def score(self, problems: Ints, choices: Choices) -> Floats:
        """Score rows. problems: (R,), choices: (R, n) with 0 beyond a problem's end, n ≥ the longest of the rows.

        Returns (R,). A row's score may not depend on the other rows.
        """
        ...


@runtime_checkable
class RelaxedOracle(Oracle, Protocol):
    """An oracle that also scores mixtures of candidates.

    Law (see `check_oracle`): at a one-hot alpha the relaxed score equals `score`, and the gradient is the derivative.
    An oracle for which the first can only be approximate carries `exact_at_vertices = False`.
    """

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        """Score mixtures. problems: (R,), alpha: the rows' candidates concatenated, one simplex per position.

        Returns the scores (R,) and the gradient of each row's score, shaped like alpha.
        """
        ...


@runtime_checkable
class BoundingOracle(Oracle, Protocol):
    """An oracle that can rule out choices without scoring them.

    Law (see `check_oracle`): no allowed choice with fewer changes than `levels` says scores as high as the goal, and
    none with fewer than `by_candidate` says that holds that candidate. An oracle whose score is bounded by a sum gets
    all of it from `find_reach`.
    """

    def reach(self, problems: Ints, allowed: Bools, goals: Floats) -> Reach:
        """How few changes may reach the goals. problems, goals: (R,), allowed: the rows' candidates, concatenated.

        Of every position of a row at least one candidate is allowed, and the problem's budget applies.
        """
        ...


@runtime_checkable
class DeletingOracle(Oracle, Protocol):
    """An oracle that can score its texts with one word left out."""

    def without(self, problems: Ints, positions: Ints) -> Floats:
        """Score the original texts, each without the word at one position."""
        ...


@runtime_checkable
class PricedOracle(Oracle, Protocol):
    """An oracle whose calls take another number of passes than one forward, and for a gradient one backward, a row."""

    def cost(self, request: Request) -> tuple[Ints, Ints]:
        """(R,) forwards and (R,) backwards that this call would take if it were made now."""
        ...


@runtime_checkable
class FreeGradientsOracle(RelaxedOracle, PricedOracle, Protocol):
    """A relaxed oracle whose gradients take no pass of the model.

    slack: how many times the gain that they promise may be true; below 1 where they are optimistic themselves.
    labels_only: whether all scores short of the goal are alike, so that no answer says what is nearer to it.
    """

    slack: float
    labels_only: bool


@runtime_checkable
class BatchOracle(Oracle, Protocol):
    """An oracle that keeps the batch it was built for; `solve` then checks that it is the one that is solved."""

    batch: Batch


@runtime_checkable
class PaddingOracle(Oracle, Protocol):
    """An oracle that says whether it pads the rows of a call to the longest; then rows of like length go together."""

    pads: bool


@runtime_checkable
class ApproximateOracle(RelaxedOracle, Protocol):
    """A relaxed oracle that says whether a one-hot mixture scores exactly as its choice. Without this, it must."""

    exact_at_vertices: bool


class UnavailableError(RuntimeError):
    """The model cannot be asked, whatever the question: no problem is at fault, and the run is to stop."""


class UnsentError(ValueError):
    """A call failed midway. rows: those that never reached the model, and are not to be counted."""

    def __init__(self, message: str, rows: Sequence[int]) -> None:
        super().__init__(message)
        self.rows = list(rows)


Kind = Literal["score", "relaxed", "reach", "without"]
ABILITY_NAMES: dict[type, str] = {
    RelaxedOracle: "gradients (a method `relaxed`)",
    BoundingOracle: "bounds (a method `reach`)",
    DeletingOracle: "deletions (a method `without`)",
    Oracle: "scores (a method `score`)",
}


def name_ability(ability: type) -> str:
    """An ability in words, with the method that declares it."""
    return ABILITY_NAMES.get(ability, f"the methods of {ability.__name__}")


def can(oracle: Oracle, ability: type) -> bool:
    """Whether an oracle, seen through its wrappers, has an ability.

    >>> can(FunctionOracle(Batch.of([]), lambda problem, choice: 0.0), RelaxedOracle)
    False
    """
    return isinstance(innermost(oracle), ability)


def find_free_gradients(oracle: Oracle) -> FreeGradientsOracle | None:
    """The oracle inside all wrappers if its gradients take no pass of the model, else None."""
    inner = innermost(oracle)
    return inner if isinstance(inner, FreeGradientsOracle) else None


def innermost(oracle: Oracle) -> Oracle:
    """The oracle inside all wrappers."""
    while isinstance(oracle, Wrapper):
        oracle = oracle.oracle
    return oracle


@dataclass(frozen=True)
class Request:
    """One call to an oracle as a value, so that a wrapper can split, count or repeat it without caring which it is."""

    kind: Kind
    problems: Ints
    choices: Choices | None = None
    alpha: Floats | None = None  # weights of a mixture, or 1 for what is allowed and 0 for what is not
    positions: Ints | None = None  # of deletions
    goals: Floats | None = None

    def __len__(self) -> int:
        return len(self.problems)

    def take(self, rows: Ints, batch: Batch) -> Request:
        """The same call for some of its rows, as narrow as those rows allow."""
        problems = self.problems[rows]
        width = int(batch.sizes[problems].max(initial=0))
        alpha = None
        if self.alpha is not None:
            alpha = self.alpha[batch.take(self.problems).flat_rows(rows)]
        return Request(
            self.kind,
            problems,
            choices=None if self.choices is None else self.choices[rows][:, :width],
            alpha=alpha,
            positions=None if self.positions is None else self.positions[rows],
            goals=None if self.goals is None else self.goals[rows],
        )

    def send(self, oracle: Any) -> Reply:
        """Make the call."""
        if self.kind == "relaxed":
            scores, gradient = oracle.relaxed(self.problems, self.alpha)
            # Copies, because an oracle may hand out the same memory again.
            return Reply(np.array(scores, dtype=np.float64), np.array(gradient, dtype=np.float64))
        if self.kind == "reach":
            assert self.alpha is not None
            found = oracle.reach(self.problems, self.alpha > 0, self.goals)
            return Reply(found.levels, found.by_candidate, found.worth)
        if self.kind == "score":
            scores = oracle.score(self.problems, self.choices)
        else:
            scores = oracle.without(self.problems, self.positions)
        return Reply(np.array(scores, dtype=np.float64))


@dataclass(frozen=True)
class Reply:
    """What came back: a number per row and, where mixtures or allowed candidates were given, numbers per candidate."""

    scores: Floats
    gradient: Floats | None = None
    worth: Floats | None = None


class Wrapper:
    """An oracle around an oracle. A kind of wrapper writes `ask` and nothing else."""

    oracle: Oracle
    batch: Batch

    def ask(self, request: Request) -> Reply:
        raise TypeError(f"{type(self).__name__} does not say how it asks; write its `ask` method")

    def score(self, problems: Ints, choices: Choices) -> Floats:
        return self.ask(Request("score", problems, choices=choices)).scores

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        reply = self.ask(Request("relaxed", problems, alpha=alpha))
        assert reply.gradient is not None
        return reply.scores, reply.gradient

    def reach(self, problems: Ints, allowed: Bools, goals: Floats) -> Reach:
        reply = self.ask(Request("reach", problems, alpha=allowed.astype(np.float64), goals=goals))
        assert reply.gradient is not None
        assert reply.worth is not None
        return Reach(reply.scores, reply.gradient, reply.worth)

    def without(self, problems: Ints, positions: Ints) -> Floats:
        return self.ask(Request("without", problems, positions=positions)).scores

    def pass_on(self, request: Request) -> Reply:
        """Hand a request to the oracle inside."""
        inner = self.oracle
        return inner.ask(request) if isinstance(inner, Wrapper) else request.send(inner)


class FunctionOracle:
    """A plain function as an oracle, one call per row.

    function: takes a problem's number and a choice (one candidate number per position), returns its score.

    >>> from discotext.core.problem import Problem
    >>> oracle = FunctionOracle(Batch.of([Problem((2, 3), 1)]), lambda problem, choice: float(sum(choice)))
    >>> oracle.score(np.array([0]), np.array([[0, 2]], dtype=np.int32))
    array([2.])
    """

    def __init__(self, batch: Batch, function: Callable[[int, Sequence[int]], float]) -> None:
        self.batch = batch
        self.function = function

    def score(self, problems: Ints, choices: Choices) -> Floats:
        rows = zip(problems.tolist(), choices.tolist(), strict=True)
        return np.array([self.function(problem, choice[: self.batch.sizes[problem]]) for problem, choice in rows])
