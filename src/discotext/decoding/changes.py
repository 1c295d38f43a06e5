"""What a language model says to single changes of sentences, many at once.

A change replaces a run of words by others. Only the words within reach of an n-gram around it are scored, before and
after; the difference is what the whole sentence gains or loses, exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.language.model import NGramModel


@dataclass(frozen=True, eq=False)
class Sentences:
    """Sentences as ids in one array, with room around each for the words before its start and after its end.

    padded: each sentence as order − 1 starts, its words, an end, and order − 1 times −1. starts: (S,) where the
    words of each begin.
    """

    padded: Ints
    starts: Ints
    order: int

    @classmethod
    def of(cls, model: NGramModel, sentences: Sequence[Sequence[str]]) -> Sentences:
        """Look up the words of sentences."""
        around = model.order - 1
        lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
        sizes = lengths + 2 * around + 1
        starts = np.cumsum(sizes) - sizes + around
        padded = np.full(int(sizes.sum()), -1, dtype=np.int64)
        for step in range(1, around + 1):
            padded[starts - step] = model.begin
        padded[starts + lengths] = model.end
        inside = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        padded[np.repeat(starts, lengths) + inside] = model.ids([word for sentence in sentences for word in sentence])
        return cls(padded, starts, model.order)


def score_changes(
    model: NGramModel, sentences: Sentences, places: Ints, lengths: Ints, replacements: Sequence[Sequence[int]]
) -> Floats:
    """(R,) by how much each change makes its sentence likelier, in natural logarithms.

    places: (R,) the first word of each change, as an index into `sentences.padded`. lengths: (R,) how many words are
    replaced. replacements: the ids of the new words.
    """
    after = _score_runs(model, sentences, places, places + lengths, replacements)
    # The same runs as they stand; many changes share theirs.
    runs, which = np.unique(np.stack([places, lengths], axis=1), axis=0, return_inverse=True)
    old = [sentences.padded[start : start + length].tolist() for start, length in runs.tolist()]
    before = _score_runs(model, sentences, runs[:, 0], runs[:, 0] + runs[:, 1], old)
    return np.asarray(after - before[which.reshape(-1)])


def _score_runs(
    model: NGramModel, sentences: Sentences, places: Ints, ends: Ints, middles: Sequence[Sequence[int]]
) -> Floats:
    """(R,) ln p of words put at places, and of the words after them that see them."""
    around = sentences.order - 1
    found = np.zeros(len(places))
    sizes = np.array([len(middle) for middle in middles], dtype=np.int64)
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        left = sentences.padded[places[rows, None] + np.arange(-around, 0)]
        middle = np.array([middles[row] for row in rows.tolist()], dtype=np.int64).reshape(len(rows), size)
        # A removed word lets its neighbours touch, so that a word after it may follow directly.
        right = sentences.padded[ends[rows, None] + np.arange(max(around, 1))]
        line = np.concatenate([left, middle, right], axis=1)
        targets = line[:, around:]
        real = targets >= 0
        windows = np.lib.stride_tricks.sliding_window_view(line, sentences.order, axis=1)
        contexts, words = windows[..., :-1][real], targets[real]
        sums = np.zeros(targets.shape)
        sums[real] = model.log_probs(contexts, words)
        found[rows] = sums.sum(axis=1)
    return found
