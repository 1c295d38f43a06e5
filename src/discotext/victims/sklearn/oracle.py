"""The oracles of linear pipelines: gradients from their own weights, for which no text is asked; and bounds."""

from __future__ import annotations

from itertools import product

import numpy as np

from discotext.core.arrays import Bools, Floats, Ints
from discotext.core.objectives import DifferenceObjective, Objective
from discotext.core.oracle import Request
from discotext.core.reach import NEVER, Reach
from discotext.text.space import Space
from discotext.victims.sklearn.bound import LinearText, View, WordLinear, find_vanishing, read_text
from discotext.victims.sklearn.model import LinearModel, MixedText
from discotext.victims.victim import TextOracle, Victim

MOST_TEXTS = 512  # whose features are kept
MOST_WAYS = 16  # in which positions where a word may vanish are closed


class LinearOracle(TextOracle):
    """A `TextOracle` whose victim is a linear pipeline, with gradients that cost nothing."""

    exact_at_vertices = False  # a token may reach across the edge of a word
    slack = 2.0  # a whole swap is more than a small step
    labels_only = False

    def __init__(self, victim: Victim, space: Space, objective: Objective, model: LinearModel) -> None:
        super().__init__(victim, space, objective)
        self.model = model
        self._mixed: dict[int, MixedText] = {}

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        ends = self.batch.take(problems).first_candidate
        values, gradient = np.empty(len(problems)), np.empty(len(alpha))
        for row, problem in enumerate(problems.tolist()):
            part, one = slice(ends[row], ends[row + 1]), np.array([problem])
            if problem not in self._mixed:
                self._mixed[problem] = self.model.mix(self.space, problem)
            scores, pull_back = self._mixed[problem].read(alpha[part])
            values[row] = self.objective.value(scores[None], one)[0]
            gradient[part] = pull_back(self.objective.slope(scores[None], one)[0])
        return values, gradient

    def cost(self, request: Request) -> tuple[Ints, Ints]:
        if request.kind == "relaxed":
            return np.zeros(len(request), dtype=np.int64), np.zeros(len(request), dtype=np.int64)
        return super().cost(request)


class BoundedLinearOracle(LinearOracle):
    """The same, with bounds."""

    objective: DifferenceObjective

    def __init__(
        self, victim: Victim, space: Space, objective: DifferenceObjective, model: LinearModel, linear: WordLinear
    ) -> None:
        super().__init__(victim, space, objective, model)
        self.linear = linear
        self._vanishing: dict[int, list[int]] = {}
        self._texts: dict[tuple[int, tuple[int, ...]], LinearText | None] = {}

    def reach(self, problems: Ints, allowed: Bools, goals: Floats) -> Reach:
        layout = self.batch.take(problems)
        levels, by_candidate = np.zeros(len(problems)), np.zeros(layout.candidates)
        worth = np.zeros(layout.candidates)
        for row, (problem, goal) in enumerate(zip(problems.tolist(), goals.tolist(), strict=True)):
            part = slice(*layout.first_candidate[[row, row + 1]])
            found = self._reach_row(problem, allowed[part], goal)
            if found is not None:
                levels[row], by_candidate[part], worth[part] = found
        return Reach(levels, by_candidate, worth)

    def _reach_row(self, problem: int, allowed: Bools, goal: float) -> tuple[float, Floats, Floats] | None:
        """The reach of one set of choices; None if nothing can be said.

        A position where a word may vanish is closed in every way it can be: each is a set of choices of its own.
        """
        shape = self.batch[problem]
        counts = np.array(shape.counts, dtype=np.int64)
        starts = np.cumsum(counts) - counts
        if problem not in self._vanishing:
            self._vanishing[problem] = find_vanishing(self.linear, self.space.options[problem])
        positions = self._vanishing[problem]
        ways = [np.flatnonzero(allowed[starts[at] : starts[at] + counts[at]]).tolist() for at in positions]
        if np.prod([float(len(way)) for way in ways]) > MOST_WAYS:
            # Nothing is ruled out yet, but these positions are the ones to close first.
            first = np.isin(np.repeat(np.arange(len(counts)), counts), positions)
            return 0.0, np.where(allowed, 0.0, NEVER).astype(np.float64), first.astype(np.float64)
        pieces = self.objective.pieces(problem, len(self.linear.bias))
        level, by_candidate, worth = NEVER, np.full(len(allowed), NEVER), np.full(len(allowed), -np.inf)
        for way in product(*ways):
            text = self._read(problem, dict(zip(positions, way, strict=True)))
            if text is None:
                return None
            mine = allowed.copy()
            for at, option in zip(positions, way, strict=True):
                mine[starts[at] : starts[at] + counts[at]] = np.arange(counts[at]) == option
            view = View(self.linear, text, counts, mine, shape.budget)
            found = view.reach(pieces, goal, self.objective.any_piece)
            level, by_candidate = min(level, found[0]), np.minimum(by_candidate, found[1])
            worth = np.maximum(worth, found[2])
        return level, by_candidate, worth

    def _read(self, problem: int, only: dict[int, int]) -> LinearText | None:
        key = problem, tuple(only.values())
        if key not in self._texts:
            if len(self._texts) > MOST_TEXTS:
                self._texts.clear()
            self._texts[key] = read_text(self.linear, self.space.texts[problem], self.space.options[problem], only)
        return self._texts[key]
