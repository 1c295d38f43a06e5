"""Nearest words: for each word at most k others, and none outside a ball around it.

As in the paper the ball is the word's own: it reaches to ε = ball · R, where R is the distance of the word furthest
from it, and distance is d = 1 − cosine. Picking the k from all distances would cost more than the distances do:

    1.  Products of float32 unit vectors, slab after slab of the vocabulary. Of all slabs only the largest and the
        smallest product at each place are kept: place j stands for the words j, j + G, j + 2G, …
    2.  The k nearest are in places whose maxima are among the k largest, the furthest where the minimum is smallest.
        The words of these few places are multiplied again, in float64.

A product in float32 depends, in its last digits, on its company. Round 1 therefore keeps whatever is within rounding,
and round 2 counts distances in steps of 2⁻²³, finer than which float32 vectors do not tell them; ties go to the lower
row. So the answer is that of sorting everything, whatever the blocks. A zero vector is at distance 1 from all.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save

from discotext.text.vectors import Vectors, WordVectors

Rows = NDArray[np.int64]
Watch = Callable[[int, int], None]

STEPS = 2.0**23  # to which distances are counted: to 1, of float32
SLABS = 32  # of the vocabulary, at most: more make the first round's sorting cheaper and the second round dearer
BLOCK = 24_000_000  # bytes of the products of one block of words with one slab
PAIRS = 2**15  # multiplied again at once
ARRAYS = ("offsets", "neighbours", "distances")  # that a file holds
FORMAT = 1  # of the files; a new one whenever another answer or another layout is written


@dataclass(frozen=True)
class Neighbours:
    """Settings: how many neighbours at most, and how far they may be as a share (η) of the furthest word's distance."""

    k: int = 8
    ball: float = 0.5

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"k is {self.k}, but a word needs room for a neighbour; choose 1 or more")
        if not 0 < self.ball <= 1:
            raise ValueError(f"ball is {self.ball}, a share of the furthest distance; choose above 0 and up to 1")


@dataclass(frozen=True, eq=False)
class NearestTable:
    """The neighbours of some words, nearest first.

    rows: (M,) whose neighbours these are. Those of rows[i] are neighbours[offsets[i] : offsets[i + 1]], rows as well,
    and as far as the distances at the same places.

    >>> table = nearest(WordVectors(["good", "fine", "dog"], np.array([[4, 3], [3, 4], [-4, 3]], dtype=np.float32)))
    >>> [(word, round(distance, 2)) for word, distance in table.of("good")], table.of("unheard-of")
    ([('fine', 0.04)], [])
    """

    words: list[str]
    rows: Rows
    offsets: Rows
    neighbours: Rows
    distances: Vectors

    @cached_property
    def place(self) -> dict[str, int]:
        """Where in `rows` each word is."""
        return {self.words[row]: place for place, row in enumerate(self.rows.tolist())}

    def of(self, word: str) -> list[tuple[str, float]]:
        """The neighbours of a word and their distances; none for words that are not here."""
        if word not in self.place:
            return []
        here = slice(*self.offsets[self.place[word] : self.place[word] + 2].tolist())
        pairs = zip(self.neighbours[here].tolist(), self.distances[here].tolist(), strict=True)
        return [(self.words[row], distance) for row, distance in pairs]


def nearest(
    vectors: WordVectors,
    rows: Rows | None = None,
    settings: Neighbours = Neighbours(),  # noqa: B008 (frozen)
    watch: Watch | None = None,
) -> NearestTable:
    """The neighbours of the words in these rows (None: of all); `watch` is told how many words of how many are done."""
    count = len(vectors)
    asked = np.arange(count, dtype=np.int64) if rows is None else np.asarray(rows, dtype=np.int64)
    if len(strange := asked[(asked < 0) | (asked >= count)]):
        raise ValueError(f"row {strange[0]} is asked for, but there are {count} words; rows begin at 0")
    space = _Space(vectors)
    slabs = max(1, min(SLABS, count // (32 * settings.k)))
    block = max(1, min(2048, slabs * BLOCK // (4 * max(count, 1))))
    parts = [(asked[:0], asked[:0], np.empty(0))]
    for begin in range(0, len(asked), block):
        some = _search(space, asked[begin : begin + block], settings, slabs)
        parts += [(begin + at, words, far) for at, words, far in some]
        if watch is not None:
            watch(min(begin + block, len(asked)), len(asked))
    at, near, far = (np.concatenate(part) for part in zip(*parts, strict=True))
    offsets = np.append(0, np.cumsum(np.bincount(at, minlength=len(asked))))
    return NearestTable(vectors.words, asked, offsets, near, far.astype(np.float32))


class _Space:
    """Unit vectors of all words, and their distances."""

    def __init__(self, vectors: WordVectors) -> None:
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors.vectors, vectors.vectors, dtype=np.float64))
        if len(bad := np.flatnonzero(~np.isfinite(lengths))):
            raise ValueError(f"the vector of {vectors.words[bad[0]]!r} holds numbers that are not finite; leave it out")
        self.zero = lengths == 0
        self.unit: Vectors = np.empty(vectors.vectors.shape, dtype=np.float32)
        np.divide(vectors.vectors, np.where(self.zero, 1, lengths)[:, None], out=self.unit, casting="same_kind")
        # In float32 a unit vector's length is not quite 1, and a word would not be at distance 0 from its own copy.
        self.length = np.sqrt(np.einsum("ij,ij->i", self.unit, self.unit, dtype=np.float64)) + self.zero
        # Twice the rounding error of a product in float32, and a step for words that are equally near.
        self.margin = np.float32((vectors.width + 8) * 2.0**-23 + 2 / STEPS)

    def distance(self, left: Rows, right: Rows) -> NDArray[np.float64]:
        """Of pairs of rows, in whole steps."""
        cosine = np.empty(len(left))
        for begin in range(0, len(left), PAIRS):
            a, b = left[begin : begin + PAIRS], right[begin : begin + PAIRS]
            products = np.einsum("ij,ij->i", self.unit[a], self.unit[b], dtype=np.float64)
            cosine[begin : begin + PAIRS] = products / (self.length[a] * self.length[b])
        return np.asarray(np.rint((1 - cosine).clip(0, 2) * STEPS) / STEPS)

    def extremes(self, rows: Rows, slabs: int) -> tuple[Vectors, Vectors]:
        """(rows, G) twice: the largest product with another word at each place, and the smallest with any."""
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


def _pairs(chosen: NDArray[np.bool_], rows: Rows, count: int, slabs: int) -> Iterator[tuple[Rows, Rows]]:
    """Indices into rows, and the words of their chosen places; some rows at a time, so that ties cost no memory."""
    ends = np.cumsum(np.count_nonzero(chosen, axis=1)) // (8 * PAIRS // slabs)
    for some in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(ends)) + 1):
        at, place = np.nonzero(chosen[some[0] : some[-1] + 1])
        words = place[:, None] + chosen.shape[1] * np.arange(slabs)
        at = np.broadcast_to(some[0] + at[:, None], words.shape)
        keep = (words < count) & (words != rows[at])
        yield at[keep], words[keep]


def _search(space: _Space, rows: Rows, settings: Neighbours, slabs: int) -> Iterator[tuple[Rows, Rows, NDArray[Any]]]:
    """The neighbours of these rows, some at a time: whose they are (an index into rows), rows and distances."""
    count, k, zero = len(space.unit), settings.k, space.zero[rows]
    most, least = space.extremes(rows, slabs)
    # A zero vector is as far from all: its first words stand for the rest, lest it take all of them to round 2.
    most[zero, k + 1 :], least[zero, 2:] = -2, 2
    reach = np.zeros(len(rows))
    for at, words in _pairs(least <= least.min(axis=1, keepdims=True) + space.margin, rows, count, slabs):
        np.maximum.at(reach, at, space.distance(rows[at], words))
    reach *= settings.ball
    limit = 1 - reach[:, None].astype(np.float32)
    if k < most.shape[1]:
        limit = np.maximum(limit, np.partition(most, -k, axis=1)[:, -k, None])
    for at, words in _pairs(most >= limit - space.margin, rows, count, slabs):
        far = space.distance(rows[at], words)
        inside = np.flatnonzero(far <= reach[at])
        inside = inside[np.lexsort((words[inside], far[inside], at[inside]))]
        kept = inside[np.arange(len(inside)) - np.searchsorted(at[inside], at[inside]) < k]
        yield at[kept], words[kept], far[kept]


def cache_folder() -> Path:
    """Where tables are kept: `$DISCOTEXT_CACHE`, or discotext's part of where this system keeps such things."""
    if chosen := os.environ.get("DISCOTEXT_CACHE"):
        return Path(chosen)
    places = {"win32": ("LOCALAPPDATA", "AppData/Local"), "darwin": ("", "Library/Caches")}
    variable, below = places.get(sys.platform, ("XDG_CACHE_HOME", ".cache"))
    return Path(os.environ.get(variable) or Path.home() / below) / "discotext"


def cached(
    vectors: WordVectors, settings: Neighbours, folder: Path | None = None, watch: Watch | None = None
) -> NearestTable:
    """`nearest` of all words, kept in a folder (None: `cache_folder()`) under a name that tells what it was made from.

    A file that is damaged is made anew; a folder that cannot be written costs a warning, and the time.
    """
    name = _digest([FORMAT, settings.k, float(settings.ball), vectors.words], vectors.vectors)
    path = (cache_folder() if folder is None else folder) / f"neighbours-{name}.safetensors"
    if (table := _read(path, vectors.words)) is None:
        table = nearest(vectors, None, settings, watch)
        try:
            _write(path, table)
        except OSError as error:
            trouble = f"neighbours cannot be kept in {path.parent} ({error}) and are made anew each time"
            warnings.warn(f"{trouble}; name another folder in DISCOTEXT_CACHE", stacklevel=2)
    return table


def _digest(about: Any, *arrays: NDArray[Any]) -> str:
    digest = hashlib.sha256(repr([about, *((array.dtype.str, array.shape) for array in arrays)]).encode())
    for array in arrays:
        digest.update(array.ravel().data)
    return digest.hexdigest()


def _read(path: Path, words: list[str]) -> NearestTable | None:
    """A table that was kept; None where there is none that is whole."""
    try:
        with safe_open(path, framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in ARRAYS}
            promised = (file.metadata() or {}).get("checksum")
        # The name belongs to it, so that a file under the name of another is not believed.
        if promised == _digest(path.stem, *arrays.values()):
            return NearestTable(words, np.arange(len(words), dtype=np.int64), **arrays)
        trouble = "its checksum is another"
    except FileNotFoundError:
        return None
    except Exception as error:  # whatever it is: the file can be made anew
        trouble = str(error)
    warnings.warn(f"{path} is damaged ({trouble}) and is made anew", stacklevel=3)
    return None


def _write(path: Path, table: NearestTable) -> None:
    """All of a file or nothing: in a place of its own first, which several writers do not share."""
    arrays = {name: getattr(table, name) for name in ARRAYS}
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        whole = Path(scratch) / path.name
        whole.write_bytes(save(arrays, metadata={"checksum": _digest(path.stem, *arrays.values())}))
        os.replace(whole, path)
