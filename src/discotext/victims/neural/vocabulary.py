"""Which row of the table a word has. Words are those of `split`, in lower case; row 0 is for words nobody knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discotext.segments import Ints
from discotext.text.vectors import Vectors, WordVectors
from discotext.text.words import split

UNKNOWN = 0


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Words, the first of which has row 1.

    >>> Vocabulary(["good", "film"]).rows(["Good", "gnu", "film"])
    [1, 0, 2]
    """

    words: Sequence[str]

    @cached_property
    def row(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, start=1)}

    def __len__(self) -> int:
        """How many rows a table has: one more than words."""
        return len(self.words) + 1

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and word.lower() in self.row

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def rows(self, words: Iterable[str]) -> list[int]:
        """The rows of words, 0 for those that are unknown."""
        row = self.row
        return [row.get(word.lower(), UNKNOWN) for word in words]

    def read(self, texts: Iterable[str]) -> list[Ints]:
        """For each text the rows of its words."""
        return [np.array(self.rows(split(text).words), dtype=np.int64) for text in texts]


def build(texts: Iterable[str], vectors: WordVectors, least: int, seed: int) -> tuple[Vocabulary, Vectors]:
    """The words of the vectors and those of the texts met at least so often, and a table of their vectors.

    A word without a vector gets a random one of the usual length, so that it is told apart from others; row 0 is zero.
    """
    met = Counter(word.lower() for text in texts for word in split(text).words)
    new = sorted(word for word, count in met.items() if count >= least and word not in vectors)
    rng = np.random.default_rng(seed)
    scale = float(np.sqrt(np.mean(np.square(vectors.vectors[:5000])))) if len(vectors) else 1.0
    drawn = rng.normal(0.0, scale, size=(len(new), vectors.width))
    table = np.concatenate([np.zeros((1, vectors.width)), vectors.vectors, drawn]).astype(np.float32)
    return Vocabulary([*vectors.words, *new]), table
