"""A surrogate for a victim without gradients: linear in the words, learnt from the victim's own scores.

The score of a text is taken to be a constant and the mean of a contribution of each word, one for each class. A word's
contribution comes from the word itself and from its vector, so that words which no text contained have one, too:

    score(text) ≈ b + mean over words w of (u_w + V · vector_w)          ridge regression on the victim's scores

It says beforehand what swaps gain; the victim gives every score, and each answer corrects what is believed of its text
(`discotext.core.gain_model`).
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.core.objectives import Objective
from discotext.core.oracle import RelaxedOracle
from discotext.core.problem import Batch, random_choices
from discotext.core.rounding import best_vertex
from discotext.text.space import Space
from discotext.text.vectors import WordVectors, load_packaged_vectors
from discotext.text.words import split
from discotext.victims.victim import Victim

LEARNT, VARIANTS = 300, 4  # texts to learn from, and how often each is asked with words exchanged at random
POOR = 0.2  # rank correlation below which a surrogate is worse than none
PENALTIES = np.geomspace(1e-4, 10, 11)  # of the ridge regression, in units of the mean eigenvalue


@dataclass(frozen=True, eq=False)
class Surrogate:
    """What each word adds to the scores of a text, times the number of its words.

    own: (W, C) by the word, in the order of `words`. by_vector: (d, C). spread: the standard deviation of what it
    misses at a word. correlation: rank correlation of the gains it predicts for exchanged words with the true ones, for
    texts left out; None if there were too few. queries: what it took to learn. labels_only: whether the victim
    answered nothing but labels.
    """

    words: tuple[str, ...]
    own: Floats
    by_vector: Floats
    spread: float
    correlation: float | None = None
    queries: int = 0
    labels_only: bool = False

    @property
    def poor(self) -> bool:
        """Whether its gains have little to do with the true ones."""
        return self.correlation is not None and self.correlation < POOR

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
        """The surrogate as the content of an .npz file, which `parse` reads."""
        file = io.BytesIO()
        numbers = [self.spread, np.nan if self.correlation is None else self.correlation]
        numbers += [float(self.queries), float(self.labels_only)]
        words = np.array(self.words, dtype=np.str_)
        np.savez(file, words=words, own=self.own, by_vector=self.by_vector, numbers=np.array(numbers))
        return file.getvalue()

    @classmethod
    def parse(cls, content: bytes, name: str) -> Surrogate:
        """Read what `to_bytes` wrote. name: of the file, for messages."""
        width = load_packaged_vectors().width
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                words = tuple(map(str, file["words"].tolist()))
                own, by_vector, numbers = (file[key].astype(np.float64) for key in ("own", "by_vector", "numbers"))
            spread, correlation, queries, labels = numbers.tolist()
            sound = own.shape == (len(words), by_vector.shape[1]) and by_vector.shape == (width, by_vector.shape[1])
            if not (sound and np.isfinite(own).all() and np.isfinite(by_vector).all()):
                raise ValueError("the parts do not fit together")
            known = None if np.isnan(correlation) else correlation
            return cls(words, own, by_vector, spread, known, int(queries), bool(labels))
        except Exception:  # what zip files and headers raise when they are damaged is a long list
            raise ValueError(
                f"{name} is not a surrogate of this version, or damaged; give a surrogate.npz that a run has kept, "
                "auto or none"
            ) from None

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
        number = {word: at for at, word in enumerate(words)}
        shares = np.zeros((len(read), len(words)))  # (N, W) that each word has of each text
        for row, text in enumerate(read):
            for word in text:
                shares[row, number[word]] += 1 / len(text)
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
            len(np.unique(scores)) <= 2,
        )


def read_surrogate(path: Path, victim: Victim) -> Surrogate:
    """Read a surrogate for a victim from a file; a ValueError says why it cannot be one."""
    try:
        found = Surrogate.parse(path.read_bytes(), str(path))
    except OSError as error:
        raise ValueError(f"the surrogate {path} cannot be read: {error.strerror}") from None
    if found.by_vector.shape[1] != len(victim.labels):
        raise ValueError(
            f"the surrogate {path} is of a victim with {found.by_vector.shape[1]} classes, but {victim.name} has "
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


def _fit_ridge(kernel: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    """Weights (N, C) of kernel ridge regression with the penalty that predicts left-out rows best, and those errors."""
    values, basis = np.linalg.eigh(kernel)
    values = np.maximum(values, 0.0)
    inside = basis.T @ wanted
    found = []
    for penalty in PENALTIES * max(float(values.mean()), 1e-12):
        inverse = 1 / (values + penalty)
        weights = basis @ (inverse[:, None] * inside)
        # The error of a row when it is left out, in closed form.
        missed = weights / ((basis**2) @ inverse)[:, None]
        found.append((float((missed**2).mean()), weights, missed))
    return min(found, key=lambda one: one[0])[1:]


def _correlate(true: Floats, predicted: Floats, groups: Ints) -> float | None:
    """Rank correlation of true and predicted differences from the original of each group, over all classes."""
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    base = first[group]
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


def foresee_gains(surrogate: Surrogate, space: Space, objective: Objective, scores: Floats) -> tuple[Floats, Floats]:
    """What a surrogate says that each candidate of a space gains, flat, and (B,) how far that is off at one swap.

    A poor one says nothing, and all is left to the answers. scores: (B, C) what the victim says of the original texts.
    """
    gradient = objective.gradient(scores, np.arange(len(space)))
    words = [word for options in space.options for some in options for word in some]
    batch = space.batch
    lengths = np.maximum(batch.sizes, 1)
    given = surrogate.contributions(words) if words else np.zeros((0, gradient.shape[1]))
    worth = (given * (gradient / lengths[:, None])[batch.row_of]).sum(axis=1)
    gains = worth - worth[batch.starts][batch.position_of]
    sizes = surrogate.spread * np.linalg.norm(gradient, axis=1) / lengths
    squares = np.bincount(batch.row_of, weights=gains**2, minlength=len(batch))
    sizes = np.maximum(sizes, np.sqrt(squares / np.maximum(batch.widths, 1)))
    return (np.zeros_like(gains) if surrogate.poor else gains), sizes


def borrow_gains(other: RelaxedOracle, batch: Batch, before: Floats) -> tuple[Floats, Floats]:
    """What another victim's gradients say that candidates gain, flat, and (B,) how far that is off at one swap.

    before: (B,) the margins of the victim itself. The other may score in other units, so its gains are scaled: the best
    choice within the budget is taken to close the margin.
    """
    gradient = other.relaxed(np.arange(len(batch)), batch.one_hot(batch.originals()))[1]
    gains = gradient - gradient[batch.starts][batch.position_of]
    chosen = gains[batch.chosen(best_vertex(gains, batch))]
    promised = np.bincount(batch.problem_of_position, weights=chosen, minlength=len(batch))
    scale = np.divide(np.abs(before), promised, out=np.ones(len(promised)), where=promised > 0)
    gains = gains * scale[batch.row_of]
    squares = np.bincount(batch.row_of, weights=gains**2, minlength=len(batch))
    return gains, np.sqrt(squares / np.maximum(batch.widths, 1))
