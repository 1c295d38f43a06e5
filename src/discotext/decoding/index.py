"""Words within a few edits of another, found by deletions (the idea of SymSpell, by W. Garbe).

Two words within d edits share what is left of them after at most d deletions each. The index holds a hash of every
such rest of every word of a vocabulary, in one sorted array; a query looks up the hashes of its own rests, and what
shares one is compared letter by letter. Only the first few letters of a word take part in deletions, which keeps the
index small. Hashes of all words are computed at once, pattern by pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Floats, Ints, ranges

PREFIX = 7  # letters of a word that take part in deletions
LONGEST = 32  # letters; longer words are not indexed
BASE = np.uint64(1_000_003)


class DeletionIndex:
    """A vocabulary that is searched by edit distance (insertions, deletions, replacements, exchanged neighbours).

    words: in any order. distance: the most edits that can be found, 1 or 2.

    >>> index = DeletionIndex(["film", "firm", "form", "farm"], distance=1)
    >>> [(index.words[number], edits) for number, edits in index.find("frim")]
    [('firm', 1)]
    """

    def __init__(self, words: Sequence[str], distance: int = 2) -> None:
        if distance not in (1, 2):
            raise ValueError(f"the edit distance is {distance}; choose 1 or 2")
        self.words, self.distance = list(words), distance
        self._codes, self._lengths = _encode(self.words)
        usable = np.flatnonzero((self._lengths > 0) & (self._lengths <= LONGEST))
        hashes, owners = [], []
        for rows, values in _hash_rests(self._codes[usable], self._lengths[usable], distance):
            hashes.append(values)
            owners.append(usable[rows])
        every = np.concatenate(hashes) if hashes else np.zeros(0, np.uint64)
        owner = np.concatenate(owners).astype(np.int32) if owners else np.zeros(0, np.int32)
        order = np.argsort(every, kind="stable")
        self._hashes, self._owners = every[order], owner[order]

    def find(self, word: str, distance: int | None = None) -> list[tuple[int, int]]:
        """The numbers of all words within a distance, without the word itself, and their distances; nearest first."""
        most = self.distance if distance is None else min(distance, self.distance)
        codes, lengths = _encode([word])
        if not 0 < lengths[0] <= LONGEST:
            return []
        rests = np.concatenate([values for _, values in _hash_rests(codes, lengths, most)])
        rests = np.unique(rests)
        first = np.searchsorted(self._hashes, rests, side="left")
        last = np.searchsorted(self._hashes, rests, side="right")
        near = np.unique(self._owners[ranges(first, last - first)]).astype(np.int64)
        near = near[np.abs(self._lengths[near] - lengths[0]) <= most]
        if not len(near):
            return []
        edits = count_edits(codes[0, : lengths[0]], self._codes[near], self._lengths[near])
        good = np.flatnonzero((edits <= most) & (edits > 0))
        good = good[np.argsort(edits[good], kind="stable")]
        return list(zip(near[good].tolist(), edits[good].astype(int).tolist(), strict=True))


def _encode(words: Sequence[str]) -> tuple[NDArray[np.uint32], Ints]:
    """(N, LONGEST) character codes, 0 beyond the end, and (N,) lengths."""
    lengths = np.array([len(word) for word in words], dtype=np.int64)
    table = np.array([word[:LONGEST] for word in words], dtype=f"<U{LONGEST}")
    return table.view(np.uint32).reshape(len(words), LONGEST), lengths


def _hash_rests(codes: NDArray[np.uint32], lengths: Ints, distance: int) -> list[tuple[Ints, NDArray[np.uint64]]]:
    """For each pattern of deletions: the words that it applies to, and the hashes of what is left of their prefixes."""
    found = []
    prefix = np.minimum(lengths, PREFIX)
    letters = codes[:, :PREFIX].astype(np.uint64)
    for length in range(1, PREFIX + 1):
        rows = np.flatnonzero(prefix == length)
        if not len(rows):
            continue
        for deleted in range(min(distance, length) + 1):
            for gone in combinations(range(length), deleted):
                value = np.full(len(rows), length - deleted, dtype=np.uint64)
                for place in range(length):
                    if place not in gone:
                        value = (value * BASE) ^ letters[rows, place]
                found.append((rows, value * BASE))
    return found


def count_edits(word: NDArray[np.uint32], others: NDArray[np.uint32], lengths: Ints) -> Floats:
    """(N,) the edit distance of a word to others (N, LONGEST); neighbours may be exchanged, each letter once."""
    rows, columns = len(word), int(lengths.max(initial=0))
    before, above = None, np.repeat(np.arange(columns + 1.0)[None], len(others), axis=0)
    for i in range(1, rows + 1):
        line = np.empty_like(above)
        line[:, 0] = i
        same = others[:, :columns] == word[i - 1]
        for j in range(1, columns + 1):
            best = np.minimum(above[:, j - 1] + ~same[:, j - 1], np.minimum(above[:, j], line[:, j - 1]) + 1)
            if before is not None and j > 1:
                swapped = same[:, j - 2] & (others[:, j - 1] == word[i - 2])
                best = np.where(swapped, np.minimum(best, before[:, j - 2] + 1), best)
            line[:, j] = best
        before, above = above, line
    return np.asarray(above[np.arange(len(others)), lengths])
