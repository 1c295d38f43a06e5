"""Bounds for pipelines that are linear after a word vectoriser; nearly always exact.

A wrong class c beats the true one by at least g if v·t/‖t‖ + b ≥ g, where t are the weighted counts of the text and v
is the difference of the two classes' weights. That is v·t + (b − g)·‖t‖ ≥ 0. The first part is a sum over words and
neighbouring words. The length ‖t‖ is not, but

    ‖t‖ ≤ (‖t‖² + s²) / 2s    for any s > 0,    and    ‖t‖ ≥ t₀·t / ‖t₀‖    for any t₀,

and which of the two is needed depends on the sign of b − g. Both are sums again, and equalities at s = ‖t‖ and t = t₀,
so they are taken at the text itself and then at the best choice that this allows; the better answer of the two holds.
Words that occur several times are allowed for by the largest step that their count can make.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from discotext.core.arrays import Bools, Floats, Ints
from discotext.core.objectives import DifferenceObjective
from discotext.core.reach import NEVER, ROUNDING, ChainBound, Reach, find_first
from discotext.text.space import Space
from discotext.text.words import Words
from discotext.victims.sklearn.features import Vectoriser
from discotext.victims.sklearn.model import LinearModel, LinearOracle, decide, take_log_shares, transform
from discotext.victims.victim import Victim

LONGEST = 2  # words of the longest n-gram for which there are bounds
REFINEMENTS = 2
MOST_TEXTS = 512  # whose features are kept
MOST_WAYS = 16  # in which positions where a word may vanish are closed


def find_obstacle(model: LinearModel) -> str:
    """Why there are no bounds for a model; "" if there are."""
    if len(model.blocks) > 1 or model.link not in (decide, take_log_shares):
        return "it has several vectorisers, or a classifier that is calibrated"
    (block,), vectoriser = model.blocks, model.blocks[0].vectoriser
    if not vectoriser.words:
        return "its features are n-grams of characters"
    if vectoriser.lengths[1] > LONGEST:
        return f"its features are of up to {vectoriser.lengths[1]} words, more than {LONGEST}"
    if vectoriser.dtype not in (np.dtype(np.float64), np.dtype(np.int64)):
        return f"it counts in {vectoriser.dtype}, not in double precision"
    return "some of its features have a negative factor" if (block.factors < 0).any() else ""


@dataclass(frozen=True, eq=False)
class LinearText:
    """The features of one text.

    columns: (F,) of the pipeline that occur in any choice. fixed: (F,) how often each occurs whatever is chosen.
    own: for each candidate, the features (by their place in `columns`) that it adds.
    pairs: by position, the position that comes next without other tokens between, and (k, l) the feature that
        candidates of both make together, −1 for none.
    silent: positions whose options leave no token: changing them changes nothing.
    """

    columns: Ints
    fixed: Floats
    own: tuple[Ints, ...]
    pairs: dict[int, tuple[int, Ints]]
    silent: frozenset[int]


def read_text(
    vectoriser: Vectoriser, text: Words, options: Sequence[Sequence[str]], only: Mapping[int, int]
) -> LinearText | None:
    """The features of a text with these options; None if its words cannot be told apart from what is around them.

    only: positions, with the only option that is looked at there: all where some options leave no token, and some do.
    """
    tokens = vectoriser.tokens
    if not all(separates(vectoriser.preprocess(gap)) for gap in text.gaps[1:-1]):
        return None  # a token might reach from one word into the next
    if any("Σ" in word for some in options for word in some):
        return None  # its small letter depends on what follows
    alone = [*tokens(text.gaps[0])]
    for position, some in enumerate(options):
        before, after = text.gaps[position][-40:], text.gaps[position + 1][:40]
        for word in some:
            if tokens(before + word + after) != (*tokens(before), *tokens(word), *tokens(after)):
                return None  # a token crosses the edge of the word
        alone += [*tokens(some[0]), *tokens(text.gaps[position + 1])]
    if tokens(str(text)) != tuple(alone):
        return None
    mixed = vectoriser.mix(text, options, only)
    counts = np.array([len(some) for some in options], dtype=np.int64)
    starts, position_of = np.cumsum(counts) - counts, np.repeat(np.arange(len(counts)), counts)
    own: list[list[int]] = [[] for _ in position_of]
    pairs: dict[int, tuple[int, Ints]] = {}
    for feature, who, times in zip(mixed.features.tolist(), mixed.factors, mixed.times.tolist(), strict=True):
        made = who[who < len(own)]
        if len(made) == 1:
            own[made[0]] += [feature] * int(times)
            continue
        left, right = position_of[made].tolist()
        if left not in pairs:
            pairs[left] = (right, np.full((counts[left], counts[right]), -1))
        pairs[left][1][tuple(made - starts[[left, right]])] = feature
    silent = frozenset(position for position, some in enumerate(options) if not any(map(tokens, some)))
    features = tuple(np.array(one, dtype=np.int64) for one in own)
    return LinearText(mixed.columns, mixed.fixed, features, pairs, silent)


def separates(gap: str) -> bool:
    """Whether a gap, as the vectoriser sees it, has a character that no token holds.

    >>> separates(", "), separates("_"), separates("")
    (True, False, False)
    """
    return any(not (sign.isalnum() or sign in "_-" or unicodedata.category(sign)[0] == "M") for sign in gap)


@dataclass(frozen=True, eq=False)
class Steps:
    """What one more or one less of each feature may add to the value that is bounded; and the value at the base."""

    more: Floats
    less: Floats
    constant: float


class View:
    """A set of choices of one text. The base of a position is its first allowed candidate."""

    def __init__(self, model: LinearModel, text: LinearText, counts: Ints, allowed: Bools, budget: int) -> None:
        (self.block,), self.bias = model.blocks, model.bias
        self.text, self.allowed, self.budget = text, allowed, budget
        self.starts = np.cumsum(counts) - counts
        self.position = np.repeat(np.arange(len(counts)), counts)
        self.numbers = np.flatnonzero(allowed)
        first = np.full(len(counts), len(allowed))
        np.minimum.at(first, self.position[self.numbers], self.numbers)
        self.base = first
        kept = np.bincount(self.position[self.numbers], minlength=len(counts))
        # Neighbours in the chain below are neighbours in the text: what leaves no token does not stand between them.
        speaks = np.array([position not in text.silent for position in range(len(counts))], dtype=bool)
        self.open = np.flatnonzero((kept > 1) & speaks)
        # Changes that are made in every choice, and those that may come on top.
        self.made = int(((first != self.starts) & (kept == 1)).sum())
        self.left = max(budget - self.made, 0)
        self.left_of = {right: left for left, (right, _) in text.pairs.items()}
        self.idf = self.block.factors[text.columns]
        self.counts = text.fixed.copy()  # (F,) how often each feature occurs at the base
        for candidate in self.base.tolist():
            np.add.at(self.counts, text.own[candidate], 1)
        for left, (right, _) in text.pairs.items():
            feature = self._pair(int(self.base[left]), int(self.base[right]))
            if feature >= 0:
                self.counts[feature] += 1
        self._find_ranges()

    def _transform(self, counts: Floats) -> Floats:
        return transform(self.block.vectoriser.tf, counts)

    def _local(self, candidate: int) -> int:
        """The number of a candidate within its position."""
        return candidate - int(self.starts[self.position[candidate]])

    def _pair(self, left: int, right: int) -> int:
        """The feature that two candidates of neighbours make; −1 for none."""
        return int(self.text.pairs[int(self.position[left])][1][self._local(left), self._local(right)])

    def _beside(self, candidate: int) -> tuple[list[int], list[int]]:
        """The features that a candidate adds and takes away where all other positions are at their base."""
        here = int(self.position[candidate])
        base = int(self.base[here])
        added, taken = self.text.own[candidate].tolist(), self.text.own[base].tolist()
        if here in self.text.pairs:
            right = int(self.base[self.text.pairs[here][0]])
            added.append(self._pair(candidate, right))
            taken.append(self._pair(base, right))
        if here in self.left_of:
            left = int(self.base[self.left_of[here]])
            added.append(self._pair(left, candidate))
            taken.append(self._pair(left, base))
        return [one for one in added if one >= 0], [one for one in taken if one >= 0]

    def _find_ranges(self) -> None:
        """Between which counts each feature may move, and the features that candidates add and take away."""
        n = len(self.counts)
        self.changes: dict[int, tuple[list[int], list[int]]] = {}
        moves = np.zeros((2, n))  # more and less, over all positions
        largest = np.zeros((2, n))  # by one position
        for here in self.open.tolist():
            most = np.zeros((2, n))
            for candidate in self.numbers[self.position[self.numbers] == here].tolist():
                self.changes[candidate] = self._beside(candidate)
                for side, features in enumerate(self.changes[candidate]):
                    touched, times = np.unique(np.array(features, dtype=np.int64), return_counts=True)
                    most[side, touched] = np.maximum(most[side, touched], times)
            moves, largest = moves + most, np.maximum(largest, most)
        # Neighbours that both change may make a pair that neither makes alone.
        for left, (right, pair) in self.text.pairs.items():
            if left in self.open and right in self.open:
                touched = np.unique(pair[pair >= 0])
                moves[0, touched] += 1
                largest[0, touched] += 1
        up, down = np.minimum(moves, self.left * largest)
        self.high, self.low = self.counts + up, np.maximum(self.counts - down, 0)

    def _steps(self, slope: Floats, square: float, constant: float) -> Steps:
        """Steps of Σ slope·f(count) + square·Σ (idf·f(count))², whatever the counts within their ranges."""
        if self.block.vectoriser.tf == "linear":
            rise_low = rise_high = np.ones_like(slope)
            square_low, square_high = 2 * self.low + 1, np.maximum(2 * self.high - 1, 1)
        else:
            # The functions are concave, so the first step is the largest.
            first, last = self.low, np.maximum(self.high - 1, self.low)
            rise_high = self._transform(first + 1) - self._transform(first)
            rise_low = self._transform(last + 1) - self._transform(last)
            steps = [self._transform(at + 1) ** 2 - self._transform(at) ** 2 for at in (first, last)]
            # The square of 1 + log is not concave near 1; between the ends it is at most this.
            inner = np.where(first < 1, self._transform(np.full_like(first, 2.0)) ** 2 - 1, 0.0)
            square_low, square_high = np.minimum(*steps), np.maximum(np.maximum(*steps), inner)
        more = np.where(slope > 0, slope * rise_high, slope * rise_low)
        less = np.where(slope > 0, -slope * rise_low, -slope * rise_high)
        weight = square * self.idf**2
        return Steps(more + weight * square_high, less - weight * square_low, constant)

    def reach(self, pieces: Floats, goal: float, any_piece: bool) -> tuple[float, Floats, Floats]:
        """The fewest changes that reach the goal, for any choice and by candidate, and what candidates may add."""
        levels, by_candidate = [], []
        worth = np.full(len(self.allowed), -np.inf)
        for piece in pieces:
            level, each, gains = self._reach_piece(piece, goal)
            levels.append(level)
            by_candidate.append(each)
            worth = np.maximum(worth, gains)
        join = np.minimum if any_piece else np.maximum
        return float(join.reduce(levels)), join.reduce(by_candidate), worth

    def _reach_piece(self, piece: Floats, goal: float) -> tuple[float, Floats, Floats]:
        piece = piece @ decide(self.bias)[1]  # by outputs, which are the scores up to a common shift
        weights = piece @ self.block.weights[:, self.text.columns] * self.idf
        offset = float(piece @ self.bias) - goal
        level, by_candidate = 0.0, np.where(self.allowed, 0.0, NEVER)
        values = self._transform(self.counts)
        gains = np.full(len(self.allowed), -np.inf)
        for _ in range(REFINEMENTS if self.block.norm == "l2" else 1):
            steps, scale = self._bound_length(weights, offset, values)
            chain, gains, local = self._chain(steps)
            best = chain.best(self.left)
            needed = float(np.nan_to_num(-ROUNDING * (1 + scale) - steps.constant, nan=-np.inf))
            mine = np.full(len(self.allowed), NEVER)
            mine[local] = self.made + find_first(best, needed)
            lowest = float(mine.min(initial=NEVER)) if len(self.open) else self.made if needed <= 0 else NEVER
            mine[np.setdiff1d(self.numbers, local)] = lowest
            level, by_candidate = max(level, lowest), np.maximum(by_candidate, mine)
            if level > self.budget:
                break
            values = self._values_of_best(chain, best, local)
        return level, by_candidate, gains

    def _bound_length(self, weights: Floats, offset: float, values: Floats) -> tuple[Steps, float]:
        """Steps of v·t + offset·‖t‖, or of a sum above it. values: f(count) of the text where the bound is tight."""
        now = self._transform(self.counts)
        base = float(weights @ now)
        scale = float(np.abs(weights) @ np.maximum(now, self._transform(self.high)))
        if self.block.norm is None:
            return self._steps(weights, 0.0, base + offset), scale + abs(offset)
        if self.block.norm == "l1":
            return self._steps(weights + offset * self.idf, 0.0, base + offset * float(self.idf @ now)), scale
        there = values * self.idf
        size = float(np.sqrt(there @ there))
        if size == 0:
            # Nothing is known of the length of an empty text: rule nothing out.
            return self._steps(weights, 0.0, np.inf), scale
        if offset < 0:
            slope = weights + offset * self.idf * there / size
            return self._steps(slope, 0.0, float(slope @ now)), scale + abs(offset) * size
        square = offset / (2 * size)
        length = float(((now * self.idf) ** 2).sum())
        return self._steps(weights, square, base + square * (length + size**2)), scale + offset * size

    def _chain(self, steps: Steps) -> tuple[ChainBound, Floats, Ints]:
        """The sum that is to be maximised, over the positions that are open; gains; and the candidates it is over."""
        gains = np.zeros(len(self.allowed))
        for candidate, (added, taken) in self.changes.items():
            gains[candidate] = steps.more[added].sum() + steps.less[taken].sum()
        gains[self.base] = 0.0
        mine = self.numbers[np.isin(self.position[self.numbers], self.open)]
        counts = np.bincount(np.searchsorted(self.open, self.position[mine]), minlength=len(self.open))
        pairs = {}
        for place, here in enumerate(self.open.tolist()):
            if here in self.text.pairs and self.text.pairs[here][0] in self.open:
                pairs[place] = self._together(here, steps)
        changed = mine != self.starts[self.position[mine]]
        return ChainBound(counts, changed, gains[mine], pairs), gains, mine

    def _together(self, here: int, steps: Steps) -> Floats:
        """(k, l) what candidates of two neighbours gain beyond what each gains alone."""
        there, pair = self.text.pairs[here]
        ours, theirs = (self.numbers[self.position[self.numbers] == one] for one in (here, there))
        own, other = int(self.base[here]), int(self.base[there])
        features = pair[np.ix_(ours - self.starts[here], theirs - self.starts[there])]
        more = np.append(steps.more, 0.0)  # the last, −1, stands for no feature
        less = np.append(steps.less, 0.0)
        with_base = pair[ours - self.starts[here], self._local(other)]
        base_with = pair[self._local(own), theirs - self.starts[there]]
        lost = less[pair[self._local(own), self._local(other)]]
        found = more[features] - more[with_base][:, None] - more[base_with][None] - lost
        found[ours == own] = 0.0
        found[:, theirs == other] = 0.0
        return np.asarray(found)

    def _values_of_best(self, chain: ChainBound, best: Floats, local: Ints) -> Floats:
        """f(count) of a choice that is nearly the best: of each position what is best with most changes."""
        if not len(self.open):
            return self._transform(self.counts)
        top = best.max(axis=1)
        order = np.argsort(-top, kind="stable")
        counts, left, seen = self.counts.copy(), self.left, set()
        for number in order.tolist():
            candidate = int(local[number])
            here = int(self.position[candidate])
            if here in seen:
                continue
            seen.add(here)
            if candidate != self.base[here] and chain.gains[number] > 0 and left > 0:
                left -= 1
                added, taken = self.changes[candidate]
                np.add.at(counts, added, 1)
                np.add.at(counts, taken, -1)
        return self._transform(np.maximum(counts, 0))


class BoundedLinearOracle(LinearOracle):
    """A `LinearOracle` with bounds."""

    objective: DifferenceObjective

    def __init__(self, victim: Victim, space: Space, objective: DifferenceObjective, model: LinearModel) -> None:
        super().__init__(victim, space, objective, model)
        self.vectoriser = model.blocks[0].vectoriser
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
        positions = []  # where some of the options leave no token: then words beyond them become neighbours
        if self.vectoriser.lengths[1] > 1:
            kinds = ({bool(self.vectoriser.tokens(word)) for word in some} for some in self.space.options[problem])
            positions = [position for position, found in enumerate(kinds) if len(found) == 2]
        ways = [np.flatnonzero(allowed[starts[at] : starts[at] + counts[at]]).tolist() for at in positions]
        if np.prod([float(len(way)) for way in ways]) > MOST_WAYS:
            # Nothing is ruled out yet, but these positions are the ones to close first.
            first = np.isin(np.repeat(np.arange(len(counts)), counts), positions)
            return 0.0, np.where(allowed, 0.0, NEVER).astype(np.float64), first.astype(np.float64)
        pieces = self.objective.pieces(problem, max(2, len(self.model.bias)))
        level, by_candidate, worth = NEVER, np.full(len(allowed), NEVER), np.full(len(allowed), -np.inf)
        for way in product(*ways):
            text = self._read(problem, dict(zip(positions, way, strict=True)))
            if text is None:
                return None
            mine = allowed.copy()
            for at, option in zip(positions, way, strict=True):
                mine[starts[at] : starts[at] + counts[at]] = np.arange(counts[at]) == option
            view = View(self.model, text, counts, mine, shape.budget)
            found = view.reach(pieces, goal, self.objective.any_piece)
            level, by_candidate = min(level, found[0]), np.minimum(by_candidate, found[1])
            worth = np.maximum(worth, found[2])
        return level, by_candidate, worth

    def _read(self, problem: int, only: dict[int, int]) -> LinearText | None:
        key = problem, tuple(only.values())
        if key not in self._texts:
            if len(self._texts) > MOST_TEXTS:
                self._texts.clear()
            self._texts[key] = read_text(self.vectoriser, self.space.texts[problem], self.space.options[problem], only)
        return self._texts[key]
