"""Nearest words: for each word at most k others, all within a ball around it.

As in the paper each word has its own ball: its radius is ε = ball · R, where R is the distance of the furthest word and
distance is d = 1 − cosine. The last digits of a product depend on the shape of the block it is computed in. Distances
are therefore computed in float64 and rounded to multiples of 2⁻²³, the resolution of float32; ties go to the lower row.
The result is that of a full sort, whatever the block size. A zero vector is at distance 1 from every word.
"""

from __future__ import annotations

from dataclasses import dataclass

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


def find_nearest(vectors: WordVectors, rows: Ints, settings: Neighbours) -> tuple[Ints, Ints, Vectors]:
    """The neighbours of the words in these rows: (P,) indices into rows, rows of the neighbours, and distances.

    They are in the order of the words, nearest first.

    >>> vectors = WordVectors(["good", "fine", "dog"], np.array([[4, 3], [3, 4], [-4, 3]], dtype=np.float32))
    >>> at, near, distances = find_nearest(vectors, np.array([2, 0]), Neighbours())
    >>> at, near, distances.round(2)
    (array([1]), array([1]), array([0.04], dtype=float32))
    """
    unit = vectors.vectors.astype(np.float64)
    lengths = np.linalg.norm(unit, axis=1)
    if len(bad := np.flatnonzero(~np.isfinite(lengths))):
        word = vectors.words[bad[0]]
        raise ValueError(f"the vector of {word!r} contains numbers that are not finite; remove the word")
    unit /= np.where(lengths == 0, 1, lengths)[:, None]
    block = max(1, BLOCK_BYTES // (8 * max(len(unit), 1)))
    parts = [(rows[:0], rows[:0], np.empty(0))]
    for begin in range(0, len(rows), block):
        at, near, far = _search(unit, rows[begin : begin + block], settings)
        parts.append((begin + at, near, far))
    at, near, far = (np.concatenate(part) for part in zip(*parts, strict=True))
    return at, near, far.astype(np.float32)


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
