"""Training n-gram models: interpolated modified Kneser–Ney smoothing (Chen and Goodman, 1999).

The probability of a word w after a context h is its discounted share, and the rest goes to the shorter context h′:

    p(w | h) = (a(hw) − D(a(hw))) / Σ a(hv) + γ(h) p(w | h′),      γ(h) = 1 − Σ (a(hv) − D(a(hv))) / Σ a(hv)

The sums go over all v seen after h. For the highest order, a counts how often an n-gram occurs; for lower orders, after
how many different words it occurs (or, at the start of a sentence, how often, since only one thing can stand there).
Below the single words lies the uniform distribution. D takes one of three values for a = 1, a = 2 and a ≥ 3, which are
estimated for each order from how many n-grams have a count of 1, 2, 3 and 4.

An n-gram seen too seldom may be left out of the model (`prune`): its share is then part of γ, and everything still sums
to 1. Counting is sorting: an n-gram is the number of its beginning, times the size of the vocabulary, plus its last
word, so that each order takes one pass over one array of integers.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Floats, Ints
from discotext.models.ngram import MARKS, MAX_ORDER, BackoffModel, find_links

BEGIN = MARKS.index("<s>")
NEVER = -99.0 * float(np.log(10))  # ln p of the start of a sentence, which is never predicted: the custom of ARPA files
FALLBACK = (0.5, 1.0, 1.5)  # discounts of an order with too few different counts to estimate them

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Corpus:
    """Sentences as integers: each is a start, its words and an end, one after another.

    words: the vocabulary by id, the marks first. ids: (T,).
    """

    words: list[str]
    ids: NDArray[np.int32]

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], least: int = 2, most: int | None = None) -> Corpus:
        """Number the words of sentences. least: how often a word must occur to be in the vocabulary. most: how many
        words the vocabulary may have at most; the most frequent stay.

        >>> corpus = Corpus.of([["a", "film"], ["a", "book"]])
        >>> corpus.words, corpus.ids.tolist()
        (['<unk>', '<s>', '</s>', 'a'], [1, 3, 0, 2, 1, 3, 0, 2])
        """
        if least < 1:
            raise ValueError(f"a word must occur {least} times to be in the vocabulary; choose 1 or more")
        number = {mark: place for place, mark in enumerate(MARKS)}
        unknown, begin, end = range(3)
        stored = array("i")
        for sentence in sentences:
            stored.append(begin)
            # A mark in a text stands for an unknown word; as itself it would end sentences at random.
            stored.extend(
                unknown if word in MARKS else number.setdefault(word, len(number)) for word in sentence if word
            )
            stored.append(end)
        ids = np.frombuffer(stored, dtype=np.int32)
        if len(ids) == 0:
            raise ValueError("there are no sentences to train on; give some text")
        counts = np.bincount(ids, minlength=len(number))
        kept = np.flatnonzero(counts >= least)
        kept = kept[kept >= len(MARKS)]
        kept = kept[np.argsort(-counts[kept], kind="stable")][:most]
        words = list(number)
        new = np.zeros(len(number), dtype=np.int32)
        new[: len(MARKS)] = np.arange(len(MARKS))
        new[kept] = len(MARKS) + np.arange(len(kept))
        return cls([*MARKS, *(words[place] for place in kept)], new[ids])


def train_kneser_ney(
    sentences: Iterable[Sequence[str]] | Corpus,
    order: int = 3,
    prune: Sequence[int] = (0,),
    least: int = 2,
    most: int | None = None,
    name: str = "n-gram",
    progress: Progress | None = None,
) -> BackoffModel:
    """Train a model. sentences: of words, without marks for start and end.

    order: 1 to 5. prune: n-grams of order 2, 3, … seen at most so often are left out; the last number holds for all
    higher orders. least, most: see `Corpus.of`. progress: called with an activity and the share that is done.

    >>> model = train_kneser_ney([["a", "film"], ["a", "good", "film"]], order=2, least=1)
    >>> round(float(np.exp(model.log_probs(model.ids(["a"])[:, None], model.ids(["film"])))[0]), 3)
    0.4
    """
    if not 1 <= order <= MAX_ORDER:
        raise ValueError(f"the order is {order}; choose 1 to {MAX_ORDER}")
    least_counts = [0, *prune, *[prune[-1] if prune else 0] * order][:order]
    if any(a > b or a < 0 for a, b in pairwise(least_counts)):
        raise ValueError(
            f"n-grams are pruned at counts {', '.join(map(str, prune))}; choose numbers that do not fall from one "
            "order to the next, since a model has the beginning of each of its n-grams"
        )
    corpus = sentences if isinstance(sentences, Corpus) else Corpus.of(sentences, least, most)
    tell = progress or (lambda activity, done: None)
    levels = _count(corpus, order, tell)
    tell("estimating", 0.0)
    return _estimate(corpus.words, levels, least_counts, name)


@dataclass
class _Level:
    """All n-grams of one order, by their keys. parents: indices into the order below; last: their last words.

    links: for each, the index of the n-gram without its first word, in the order below.
    """

    keys: Ints
    parents: Ints
    last: Ints
    counts: Ints
    links: Ints


def _count(corpus: Corpus, order: int, tell: Progress) -> list[_Level]:
    """Count the n-grams of every order. Those of order 1 are all words, whether they occur or not."""
    ids, size = corpus.ids, len(corpus.words)
    # The n-gram that ends at each place; −1 where it would reach over the start of a sentence.
    ending = ids.astype(np.int64)
    words, root = np.arange(size), np.zeros(size, np.int64)
    levels = [_Level(words, root, words, np.bincount(ids, minlength=size), root)]
    for n in range(2, order + 1):
        tell(f"counting n-grams of order {n}", (n - 2) / max(order - 1, 1))
        # Nothing reaches from one sentence into the next: no n-gram has a start as its last word.
        there = 1 + np.flatnonzero((ending[:-1] >= 0) & (ids[1:] != BEGIN))
        keys, where, counts = np.unique(ending[there - 1] * size + ids[there], return_inverse=True, return_counts=True)
        ending = np.full(len(ids), -1, np.int64)
        ending[there] = where
        parents, last = np.divmod(keys, size)
        below = levels[-1]
        links = last if n == 2 else np.searchsorted(below.keys, below.links[parents] * size + last)
        levels.append(_Level(keys, parents, last, counts, links))
    return levels


def _estimate(words: list[str], levels: list[_Level], least_counts: Sequence[int], name: str) -> BackoffModel:
    """Turn counts into probabilities, from single words to the highest order."""
    size = len(words)
    key_parts: list[Ints] = []
    prob_parts, backoff_parts = [np.ones(1)], [np.ones(1)]
    starts = [1]
    # Of the order below: probabilities by index, and the nodes that its n-grams have in the model (0: left out).
    probs, nodes = np.full(1, 1 / (size - 1)), np.zeros(1, np.int64)
    at_start = np.arange(size) == BEGIN  # which n-grams begin with a start
    for n, level in enumerate(levels, start=1):
        if n > 1:
            at_start = at_start[level.parents]
        counts = level.counts
        if n < len(levels):
            # Different words before; at a start there are none, and the plain count stands for it.
            different = np.bincount(levels[n].links, minlength=len(counts))
            counts = np.where(at_start, counts, different)
        if n == 1:
            counts = np.where(at_start, 0, counts)  # a start is never predicted
        kept = (level.counts > least_counts[n - 1]) | (n == 1)
        discounted = np.maximum(counts - _find_discounts(counts)[np.minimum(counts, 3)], 0.0)
        contexts = len(probs)
        totals = np.bincount(level.parents, weights=counts, minlength=contexts)
        left = totals - np.bincount(level.parents, weights=np.where(kept, discounted, 0.0), minlength=contexts)
        gammas = np.divide(left, totals, out=np.ones(contexts), where=totals > 0)
        shorter = probs[level.links] if n > 1 else probs[np.zeros(size, np.int64)]
        share = np.divide(discounted, totals[level.parents], out=np.zeros(len(counts)), where=totals[level.parents] > 0)
        probs = share + gammas[level.parents] * shorter
        if n > 1:
            backoff_parts.append(gammas[nodes > 0])
        # What is left out of the model has the probability that the shorter context gives.
        probs = np.where(kept, probs, gammas[level.parents] * shorter)
        key_parts.append(nodes[level.parents[kept]] * size + level.last[kept])
        prob_parts.append(probs[kept])
        nodes = np.where(kept, starts[-1] + np.cumsum(kept) - 1, 0)
        starts.append(starts[-1] + int(kept.sum()))
        if n == len(levels) or not kept.any():
            break
    keys, backoffs = np.concatenate(key_parts), np.ones(starts[-1])
    seen = np.concatenate(backoff_parts)
    backoffs[: len(seen)] = seen
    with np.errstate(divide="ignore"):
        # A factor of 0 is possible where every word was seen after a context; a float cannot hold its logarithm.
        logs, bows = (np.maximum(np.log(one), NEVER) for one in (np.concatenate(prob_parts), backoffs))
    logs[1 + BEGIN] = NEVER
    links = find_links(keys, size, starts)
    return BackoffModel(words, keys, logs.astype(np.float32), bows.astype(np.float32), links, name)


def _find_discounts(counts: Ints) -> Floats:
    """(4,) what is taken from a count of 0, of 1, of 2, and of 3 or more: D_k = k − (k + 1) Y n_{k+1} / n_k,
    Y = n₁ / (n₁ + 2 n₂)."""
    n1, n2, n3, n4 = (float(np.count_nonzero(counts == k)) for k in (1, 2, 3, 4))
    if min(n1, n2, n3) == 0:
        return np.array([0.0, *FALLBACK])
    y = n1 / (n1 + 2 * n2)
    found = np.array([0.0, 1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3])
    usable = (found[1:] >= 0).all() and (found[1:] <= np.arange(1, 4)).all()
    return found if usable else np.array([0.0, *FALLBACK])
