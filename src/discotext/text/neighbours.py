"""Nearest words: for each word at most k others, all within a ball around it.

As in the paper each word has its own ball: its radius is ε = ball · R, where R is the distance of the furthest word and
distance is d = 1 − cosine. Selecting the k nearest from all distances would cost more than computing the distances:

    1.  Multiply float32 unit vectors with the vocabulary, slab by slab. Only the largest and the smallest product of
        each column are kept, where column j stands for the words j, j + G, j + 2G, …
    2.  The k nearest words are in columns whose maxima are among the k largest, the furthest is where the minimum is
        smallest. The words of these few columns are multiplied again, in float64.

The last digits of a float32 product depend on the shape of the block it is computed in. Round 1 therefore keeps
everything within rounding error, and round 2 rounds distances to multiples of 2⁻²³, the resolution of float32; ties go
to the lower row. The result is exactly that of a full sort, whatever the block size. A zero vector is at distance 1
from every word.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Ints
from discotext.text.vectors import Vectors, WordVectors

DISTANCE_STEPS = 2.0**23  # in a unit of distance: distances are rounded to the resolution of float32
MAX_SLABS = 32  # of the vocabulary: more make round 1 cheaper to sort and round 2 more expensive
BLOCK_BYTES = 24_000_000  # memory for the products of one block of words with one slab
PAIRS_PER_BATCH = 2**15  # multiplied at once in round 2


@dataclass(frozen=True)
class Neighbours:
    """Settings: the maximum number of neighbours, and the radius as a share (η) of the largest distance."""

    k: int = 8
    ball: float = 0.5

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"k is {self.k}, but a word needs room for a neighbour; choose 1 or more")
        if not 0 < self.ball <= 1:
            raise ValueError(f"ball is {self.ball}; choose a share of the largest distance, above 0 and up to 1")


@dataclass(frozen=True, eq=False)
class NearestTable:
    """The neighbours of some words, nearest first.

    rows: (M,) the words whose neighbours these are. The neighbours of rows[i] are the rows
    neighbours[offsets[i] : offsets[i + 1]], with their distances at the same indices of `distances`.

    >>> vectors = WordVectors(["good", "fine", "dog"], np.array([[4, 3], [3, 4], [-4, 3]], dtype=np.float32))
    >>> table = find_nearest(vectors)
    >>> [(word, round(distance, 2)) for word, distance in table.look_up("good")], table.look_up("unheard-of")
    ([('fine', 0.04)], [])
    """

    words: list[str]
    rows: Ints
    offsets: Ints
    neighbours: Ints
    distances: Vectors

    @cached_property
    def index(self) -> dict[str, int]:
        """The index into `rows` of each word."""
        return {self.words[row]: index for index, row in enumerate(self.rows.tolist())}

    def look_up(self, word: str) -> list[tuple[str, float]]:
        """The neighbours of a word and their distances; none if the word is not in the table."""
        if word not in self.index:
            return []
        here = slice(*self.offsets[self.index[word] : self.index[word] + 2].tolist())
        pairs = zip(self.neighbours[here].tolist(), self.distances[here].tolist(), strict=True)
        return [(self.words[row], distance) for row, distance in pairs]


def find_nearest(
    vectors: WordVectors,
    rows: Ints | None = None,
    settings: Neighbours = Neighbours(),  # noqa: B008 (frozen)
) -> NearestTable:
    """Find the neighbours of the words in these rows (None: all)."""
    count = len(vectors)
    asked = np.arange(count, dtype=np.int64) if rows is None else np.asarray(rows, dtype=np.int64)
    if len(invalid := asked[(asked < 0) | (asked >= count)]):
        raise ValueError(f"there is no row {invalid[0]}; the vectors have {count} words, counted from 0")
    space = _UnitVectors(vectors)
    slabs = max(1, min(MAX_SLABS, count // (32 * settings.k)))
    block = max(1, min(2048, slabs * BLOCK_BYTES // (4 * max(count, 1))))
    parts = [(asked[:0], asked[:0], np.empty(0))]
    for begin in range(0, len(asked), block):
        some = _search(space, asked[begin : begin + block], settings, slabs)
        parts += [(begin + at, words, far) for at, words, far in some]
    at, near, far = (np.concatenate(part) for part in zip(*parts, strict=True))
    offsets = np.append(0, np.cumsum(np.bincount(at, minlength=len(asked))))
    return NearestTable(vectors.words, asked, offsets, near, far.astype(np.float32))


class _UnitVectors:
    """Unit vectors of all words, and distances between them."""

    def __init__(self, vectors: WordVectors) -> None:
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors.vectors, vectors.vectors, dtype=np.float64))
        if len(bad := np.flatnonzero(~np.isfinite(lengths))):
            word = vectors.words[bad[0]]
            raise ValueError(f"the vector of {word!r} contains numbers that are not finite; remove the word")
        self.zero = lengths == 0
        self.unit: Vectors = np.empty(vectors.vectors.shape, dtype=np.float32)
        np.divide(vectors.vectors, np.where(self.zero, 1, lengths)[:, None], out=self.unit, casting="same_kind")
        # In float32 a unit vector's length is not exactly 1, so that a word would not be at distance 0 from its copy.
        self.length = np.sqrt(np.einsum("ij,ij->i", self.unit, self.unit, dtype=np.float64)) + self.zero
        # Twice the rounding error of a float32 product, and a step for words at equal distance.
        self.margin = np.float32((vectors.width + 8) * 2.0**-23 + 2 / DISTANCE_STEPS)

    def distance(self, left: Ints, right: Ints) -> NDArray[np.float64]:
        """The distances of pairs of rows, rounded to steps."""
        cosine = np.empty(len(left))
        for begin in range(0, len(left), PAIRS_PER_BATCH):
            a, b = left[begin : begin + PAIRS_PER_BATCH], right[begin : begin + PAIRS_PER_BATCH]
            products = np.einsum("ij,ij->i", self.unit[a], self.unit[b], dtype=np.float64)
            cosine[begin : begin + PAIRS_PER_BATCH] = products / (self.length[a] * self.length[b])
        return np.asarray(np.rint((1 - cosine).clip(0, 2) * DISTANCE_STEPS) / DISTANCE_STEPS)

    def extremes(self, rows: Ints, slabs: int) -> tuple[Vectors, Vectors]:
        """(rows, G) twice: in each column the largest product with another word, and the smallest with any."""
        size = -(-len(self.unit) // slabs)
        most, least, room = (np.full((len(rows), size), value, dtype=np.float32) for value in (-2, 2, 0))
        own = self.unit[rows]
        for first in range(0, len(self.unit), size):
            slab = self.unit[first : first + size]
            products = np.matmul(own, slab.T, out=room) if len(slab) == size else own @ slab.T
            np.minimum(least[:, : len(slab)], products, out=least[:, : len(slab)])
            here = np.flatnonzero((rows >= first) & (rows < first + size))
            products[here, rows[here] - first] = -2
            np.maximum(most[:, : len(slab)], products, out=most[:, : len(slab)])
        return most, least


def _iterate_pairs(chosen: NDArray[np.bool_], rows: Ints, count: int, slabs: int) -> Iterator[tuple[Ints, Ints]]:
    """Indices into rows and the words of their chosen columns; a few rows at a time, so that ties cost no memory."""
    ends = np.cumsum(np.count_nonzero(chosen, axis=1)) // (8 * PAIRS_PER_BATCH // slabs)
    for some in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(ends)) + 1):
        at, column = np.nonzero(chosen[some[0] : some[-1] + 1])
        words = column[:, None] + chosen.shape[1] * np.arange(slabs)
        at = np.broadcast_to(some[0] + at[:, None], words.shape)
        keep = (words < count) & (words != rows[at])
        yield at[keep], words[keep]


def _search(
    space: _UnitVectors, rows: Ints, settings: Neighbours, slabs: int
) -> Iterator[tuple[Ints, Ints, NDArray[Any]]]:
    """The neighbours of some rows, a few at a time: an index into rows, the neighbour's row, and the distance."""
    count, k, zero = len(space.unit), settings.k, space.zero[rows]
    most, least = space.extremes(rows, slabs)
    # A zero vector is at the same distance from every word: the first few suffice for round 2.
    most[zero, k + 1 :], least[zero, 2:] = -2, 2
    reach = np.zeros(len(rows))
    for at, words in _iterate_pairs(least <= least.min(axis=1, keepdims=True) + space.margin, rows, count, slabs):
        np.maximum.at(reach, at, space.distance(rows[at], words))
    reach *= settings.ball
    limit = 1 - reach[:, None].astype(np.float32)
    if k < most.shape[1]:
        limit = np.maximum(limit, np.partition(most, -k, axis=1)[:, -k, None])
    for at, words in _iterate_pairs(most >= limit - space.margin, rows, count, slabs):
        far = space.distance(rows[at], words)
        inside = np.flatnonzero(far <= reach[at])
        inside = inside[np.lexsort((words[inside], far[inside], at[inside]))]
        kept = inside[np.arange(len(inside)) - np.searchsorted(at[inside], at[inside]) < k]
        yield at[kept], words[kept], far[kept]
