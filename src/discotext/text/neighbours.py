"""Nearest words: for each word at most k others, all within a ball around it.

As in the paper each word has its own ball: its radius is ε = ball · R, where R is the distance of the furthest word and
distance is d = 1 − cosine. The last digits of a product depend on the shape of the block it is computed in. Distances
are therefore computed in float64 and rounded to multiples of 2⁻²³, the resolution of float32; ties go to the lower row.
The result is that of a full sort, whatever the block size. A zero vector is at distance 1 from every word.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Ints
from discotext.text.vectors import Vectors, WordVectors

DISTANCE_STEPS = 2.0**23  # in a unit of distance: distances are rounded to the resolution of float32
BLOCK_BYTES = 64_000_000  # memory for the distances of one block of words from all words


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
    unit = vectors.vectors.astype(np.float64)
    lengths = np.linalg.norm(unit, axis=1)
    if len(bad := np.flatnonzero(~np.isfinite(lengths))):
        word = vectors.words[bad[0]]
        raise ValueError(f"the vector of {word!r} contains numbers that are not finite; remove the word")
    unit /= np.where(lengths == 0, 1, lengths)[:, None]
    block = max(1, BLOCK_BYTES // (8 * max(count, 1)))
    parts = [(asked[:0], asked[:0], np.empty(0))]
    for begin in range(0, len(asked), block):
        at, near, far = _search(unit, asked[begin : begin + block], settings)
        parts.append((begin + at, near, far))
    at, near, far = (np.concatenate(part) for part in zip(*parts, strict=True))
    offsets = np.append(0, np.cumsum(np.bincount(at, minlength=len(asked))))
    return NearestTable(vectors.words, asked, offsets, near, far.astype(np.float32))


def _search(unit: NDArray[np.float64], rows: Ints, settings: Neighbours) -> tuple[Ints, Ints, NDArray[np.float64]]:
    """The neighbours of some rows: an index into rows, the neighbour's row, and the distance."""
    far = np.rint((1 - unit[rows] @ unit.T).clip(0, 2) * DISTANCE_STEPS) / DISTANCE_STEPS
    reach = settings.ball * far.max(axis=1)
    far[np.arange(len(rows)), rows] = np.inf  # no word is its own neighbour
    last = min(settings.k, len(unit)) - 1
    at, near = np.nonzero(far <= np.minimum(reach, np.partition(far, last, axis=1)[:, last])[:, None])
    # Of words at equal distance the k-th may be followed by others.
    order = np.lexsort((near, far[at, near], at))
    kept = order[np.arange(len(order)) - np.searchsorted(at, at) < settings.k]
    return at[kept], near[kept], far[at[kept], near[kept]]
