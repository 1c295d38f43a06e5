"""A stand-in for a victim without gradients: linear in the words, learnt from the victim's own scores.

The score of a text is taken to be a constant and the mean of a contribution of each word, one for each class. A word's
contribution comes from the word itself and from its vector, so that words which no text contained have one, too:

    score(text) ≈ b + mean over words w of (u_w + V · vector_w)          ridge regression on the victim's scores

Its slopes lead the search, and the victim gives every score. Each answer then corrects the slopes of its own text
(`Belief`): the gains of all swaps are normally distributed around what the stand-in says, those of one position alike,
because they all lose the same word. A swap of which little is known is given the benefit of the doubt.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np

from discotext.core.arrays import Choices, Floats, Ints
from discotext.core.objectives import Objective
from discotext.core.oracle import Oracle, RelaxedOracle, Request
from discotext.core.problem import Batch
from discotext.core.sampling import random_choices
from discotext.text.packaged_vectors import load_packaged_vectors
from discotext.text.space import Space
from discotext.text.vectors import WordVectors
from discotext.text.words import split
from discotext.victims.victim import Victim

# Chosen on training texts of AG News with an LSTM (see benchmarks/queries.py).
SHARED = 0.5  # of the variance of a swap's gain that is common to all candidates of a position
NOISE = 0.03  # variance that no sum over swaps explains, for each change, in units of that of a swap's gain
OPTIMISM = 1.0  # standard deviations that are added to what is believed of a swap
LEARNT, VARIANTS = 300, 4  # texts to learn from, and how often each is asked with words exchanged at random
PENALTIES = np.geomspace(1e-4, 10, 11)  # of the ridge regression, in units of the mean eigenvalue


@dataclass(frozen=True, eq=False)
class Surrogate:
    """What each word adds to the scores of a text, times the number of its words.

    own: (W, C) by the word, in the order of `words`. by_vector: (d, C). spread: the standard deviation of what it
    misses at a word. correlation: rank correlation of the gains it predicts for exchanged words with the true ones, for
    texts left out; None if there were too few. queries: what it took to learn.
    """

    words: tuple[str, ...]
    own: Floats
    by_vector: Floats
    spread: float
    correlation: float | None = None
    queries: int = 0

    @cached_property
    def _row(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def contributions(self, words: Sequence[str]) -> Floats:
        """(W, C) what words add, times the number of words of the text."""
        lower = [word.lower() for word in words]
        found = look_up(load_packaged_vectors(), lower) @ self.by_vector
        known = [(at, self._row[word]) for at, word in enumerate(lower) if word in self._row]
        if known:
            places, rows = np.array(known).T
            found[places] += self.own[rows]
        return np.asarray(found)

    def to_bytes(self) -> bytes:
        """The stand-in as the content of an .npz file, which `parse` reads."""
        file = io.BytesIO()
        numbers = [self.spread, np.nan if self.correlation is None else self.correlation, float(self.queries)]
        words = np.array(self.words, dtype=np.str_)
        np.savez(file, words=words, own=self.own, by_vector=self.by_vector, numbers=np.array(numbers))
        return file.getvalue()

    @classmethod
    def parse(cls, content: bytes, name: str) -> Surrogate:
        """Read what `to_bytes` wrote. name: of the file, for messages."""
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                words = tuple(map(str, file["words"].tolist()))
                own, by_vector, numbers = (file[key].astype(np.float64) for key in ("own", "by_vector", "numbers"))
        except Exception:  # what zip files and headers raise when they are damaged is a long list
            raise ValueError(
                f"{name} is not a stand-in; give a surrogate.npz that a run has kept, auto or none"
            ) from None
        finite = all(np.isfinite(one).all() for one in (own, by_vector))
        fits = (
            finite and own.ndim == by_vector.ndim == 2 and own.shape[1] == by_vector.shape[1] and numbers.shape == (3,)
        )
        if not fits or len(own) != len(words) or len(by_vector) != load_packaged_vectors().width:
            raise ValueError(f"{name} is damaged, or of another version; learn the stand-in again (surrogate auto)")
        spread, correlation, queries = numbers.tolist()
        return cls(words, own, by_vector, spread, None if np.isnan(correlation) else correlation, int(queries))

    @classmethod
    def learn(cls, texts: Sequence[str], scores: Floats, groups: Ints | None = None) -> Surrogate:
        """Learn from texts and their scores (N, C).

        groups: (N,) which texts are the same but for some words; the first of a group is the original.
        """
        vectors = load_packaged_vectors()
        read = [split(text).lower for text in texts]
        words = tuple(dict.fromkeys(chain.from_iterable(read)))
        if not words or len(texts) < 2:
            classes = scores.shape[1]
            return cls((), np.zeros((0, classes)), np.zeros((vectors.width, classes)), 1.0, None, len(texts))
        shares = _count_words(read, words)
        means = shares @ look_up(vectors, words)
        # Words and vectors shall explain as much.
        scale = float((shares**2).sum() / max((means**2).sum(), 1e-12))
        kernel = shares @ shares.T + scale * (means @ means.T)
        kernel -= kernel.mean(axis=0)
        kernel -= kernel.mean(axis=1, keepdims=True)
        wanted = scores - scores.mean(axis=0)
        weights, missed = _fit_ridge(kernel, wanted)
        length = float(np.mean([max(len(text), 1) for text in read]))
        return cls(
            words,
            shares.T @ weights,
            scale * (means.T @ weights),
            float(np.sqrt((missed**2).mean() * length)),
            None if groups is None else _correlate(wanted, wanted - missed, groups),
            len(texts),
        )


def read_surrogate(path: Path, victim: Victim) -> Surrogate:
    """Read a stand-in for a victim from a file; a ValueError says why it cannot be one."""
    try:
        found = Surrogate.parse(path.read_bytes(), str(path))
    except OSError as error:
        raise ValueError(f"the stand-in {path} cannot be read: {error.strerror}") from None
    if found.by_vector.shape[1] != len(victim.labels):
        raise ValueError(
            f"the stand-in {path} is of a victim with {found.by_vector.shape[1]} classes, but {victim.name} has "
            f"{len(victim.labels)}; use auto"
        )
    return found


def look_up(vectors: WordVectors, words: Sequence[str]) -> Floats:
    """(W, d) the vectors of words, 0 for unknown ones."""
    numbers = np.array([vectors.row.get(word, -1) for word in words], dtype=np.int64)
    found = np.zeros((len(words), vectors.width))
    known = numbers >= 0
    found[known] = vectors.vectors[numbers[known]]
    return found


def _count_words(texts: Sequence[Sequence[str]], words: Sequence[str]) -> Floats:
    """(N, W) the share of each text that each word has."""
    number = {word: at for at, word in enumerate(words)}
    found = np.zeros((len(texts), len(words)))
    for row, text in enumerate(texts):
        for word in text:
            found[row, number[word]] += 1 / len(text)
    return found


def _fit_ridge(kernel: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    """Weights (N, C) of kernel ridge regression with the penalty that predicts left-out rows best, and those errors."""
    values, basis = np.linalg.eigh(kernel)
    values = np.maximum(values, 0.0)
    inside = basis.T @ wanted
    best: tuple[float, Floats, Floats] | None = None
    for penalty in PENALTIES * max(float(values.mean()), 1e-12):
        inverse = 1 / (values + penalty)
        weights = basis @ (inverse[:, None] * inside)
        # The error of a row when it is left out, in closed form.
        missed = weights / ((basis**2) @ inverse)[:, None]
        error = float((missed**2).mean())
        if best is None or error < best[0]:
            best = error, weights, missed
    assert best is not None
    return best[1], best[2]


def _correlate(true: Floats, predicted: Floats, groups: Ints) -> float | None:
    """Rank correlation of true and predicted differences from the original of each group, over all classes."""
    first = {int(group): row for row, group in reversed(list(enumerate(groups.tolist())))}
    base = np.array([first[group] for group in groups.tolist()])
    rows = np.flatnonzero(base != np.arange(len(groups)))
    if len(rows) < 10:
        return None
    pairs = [(one[rows] - one[base[rows]]).ravel() for one in (true, predicted)]
    # A victim that answers labels says the same of most variants, which is no order to be predicted.
    moved = np.flatnonzero(np.abs(pairs[0]) > 1e-9 * max(float(np.abs(pairs[0]).max()), 1e-12))
    if len(moved) < 10:
        return None
    pairs = [one[moved] for one in pairs]
    ranks = [np.argsort(np.argsort(one, kind="stable"), kind="stable").astype(np.float64) for one in pairs]
    if any(one.std() == 0 for one in pairs):
        return 0.0
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def make_lessons(space: Space, seed: int) -> tuple[list[str], Ints]:
    """Texts to learn from: the originals, and variants with words exchanged at random; and the group of each."""
    rng = np.random.default_rng(seed)
    texts, groups = [str(text) for text in space.texts], list(range(len(space)))
    whole = space.with_budgets(share=1.0)
    for number in range(VARIANTS):
        # Within the budget, where the search will be, and with any number of changes, which say more of more words.
        some = whole if number % 2 else space
        for problem, choice in enumerate(random_choices(some.batch, rng)):
            if choice.any():
                texts.append(space.text(problem, choice))
                groups.append(problem)
    return texts, np.array(groups)


class Belief:
    """What is believed of the gains of one text's swaps, corrected by every answer.

    prior: (K,) gains by candidate. counts: the number of candidates of each position. size: the standard deviation of
    what the prior misses at one candidate.
    """

    def __init__(self, prior: Floats, counts: Ints, size: float) -> None:
        self.prior = prior
        self.first = np.cumsum(counts) - counts
        self.position = np.repeat(np.arange(len(counts)), counts)
        self.variance = max(size, 1e-9) ** 2
        self._chosen: list[Ints] = []
        self._gains: list[float] = []
        self._slopes: Floats | None = None

    def add(self, candidates: Ints, gain: float) -> None:
        """Learn that these candidates together gain so much."""
        self._chosen.append(candidates)
        self._gains.append(gain)
        self._slopes = None

    def slopes(self) -> Floats:
        """(K,) the gains that are believed now, and the benefit of the doubt; 0 for the words themselves."""
        if self._slopes is None:
            mean, variance = self.estimate()
            self._slopes = mean + OPTIMISM * np.sqrt(variance)
            self._slopes[self.first] = 0.0
        return self._slopes

    def estimate(self) -> tuple[Floats, Floats]:
        """(K,) the mean and the variance of every gain, given all answers."""
        rows, width = len(self._gains), len(self.prior)
        if not rows:
            return self.prior.copy(), np.full(width, self.variance)
        chosen, places = np.zeros((rows, width)), np.zeros((rows, len(self.first)))
        for row, candidates in enumerate(self._chosen):
            chosen[row, candidates] = 1.0
            places[row, self.position[candidates]] = 1.0
        shared, own = SHARED * self.variance, (1 - SHARED) * self.variance
        covariance = shared * places @ places.T + own * chosen @ chosen.T
        covariance[np.diag_indices(rows)] += NOISE * self.variance * np.maximum(chosen.sum(axis=1), 1)
        cross = own * chosen + shared * places[:, self.position]
        missed = np.array(self._gains) - chosen @ self.prior
        solved = np.linalg.solve(covariance, np.column_stack([missed, cross]))
        left = self.variance - (cross * solved[:, 1:]).sum(axis=0)
        return self.prior + cross.T @ solved[:, 0], np.maximum(left, 0.0)


class SurrogateOracle:
    """An oracle with the victim's scores and the slopes of a stand-in, which learns from every answer.

    oracle: of the victim. scores: (B, C) what the victim says of the original texts.
    """

    exact_at_vertices = False

    def __init__(
        self, oracle: Oracle, space: Space, objective: Objective, surrogate: Surrogate, scores: Floats
    ) -> None:
        self.oracle, self.space, self.objective, self.surrogate, self.scores = (
            oracle,
            space,
            objective,
            surrogate,
            scores,
        )
        everyone = np.arange(len(space))
        self._before = objective.value(scores, everyone)
        self._slope = objective.slope(scores, everyone)
        self._beliefs: dict[int, Belief] = {}

    @property
    def batch(self) -> Batch:
        return self.space.batch

    def score(self, problems: Ints, choices: Choices) -> Floats:
        found = np.asarray(self.oracle.score(problems, choices), dtype=np.float64)
        for row, problem in enumerate(problems.tolist()):
            belief = self._believe(problem)
            choice = choices[row, : int(self.batch.sizes[problem])].astype(np.int64)
            changed = np.flatnonzero(choice)
            if len(changed):
                belief.add(belief.first[changed] + choice[changed], float(found[row] - self._before[problem]))
        return found

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        layout = self.batch.take(problems)
        slopes = np.concatenate([self._believe(problem).slopes() for problem in problems.tolist()] or [np.empty(0)])
        gains = np.bincount(layout.row_of, weights=slopes * alpha, minlength=len(problems))
        return self._before[problems] + gains, slopes

    def cost(self, request: Request) -> tuple[Ints, Ints]:
        """A slope asks the victim nothing."""
        none = np.zeros(len(request), dtype=np.int64)
        return (none, none) if request.kind == "relaxed" else (np.ones_like(none), none)

    def _believe(self, problem: int) -> Belief:
        if problem not in self._beliefs:
            options = self.space.options[problem]
            counts = np.array([len(words) for words in options], dtype=np.int64)
            slope, length = self._slope[problem], max(len(options), 1)
            given = self.surrogate.contributions([word for words in options for word in words]) @ slope / length
            gains = given - np.repeat(given[np.cumsum(counts) - counts], counts)
            size = self.surrogate.spread * float(np.linalg.norm(slope)) / length
            self._beliefs[problem] = Belief(gains, counts, max(size, float(gains.std()) if len(gains) else 0.0))
        return self._beliefs[problem]


class TransferOracle:
    """An oracle with the victim's scores and the gradients of another victim."""

    exact_at_vertices = False

    def __init__(self, oracle: Oracle, lender: Oracle) -> None:
        if not isinstance(lender, RelaxedOracle):
            raise TypeError("the lender's oracle has no method `relaxed`; give a victim with gradients")
        self.oracle, self.lender = oracle, lender

    def score(self, problems: Ints, choices: Choices) -> Floats:
        return np.asarray(self.oracle.score(problems, choices))

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        return self.lender.relaxed(problems, alpha)

    def cost(self, request: Request) -> tuple[Ints, Ints]:
        """A slope asks the victim nothing."""
        none = np.zeros(len(request), dtype=np.int64)
        return (none, none) if request.kind == "relaxed" else (np.ones_like(none), none)
