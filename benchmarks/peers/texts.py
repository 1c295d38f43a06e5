"""The texts of a cell, in the order of attack, and their search spaces."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.peers.cells import NEIGHBOURS, Cell
from benchmarks.peers.coding import Coded
from discotext import Candidates
from discotext.data import load_data
from discotext.text import Space
from discotext.text.sources import Source, read_synonyms
from discotext.text.words import WordContext

Split = Literal["test", "train"]


@dataclass(frozen=True, eq=False)
class Chunk:
    """Texts that all searches attack before the next chunk. ids: their rows in the data."""

    ids: list[int]
    labels: list[int]
    texts: list[str]
    space: Space

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, numbers: Sequence[int]) -> Chunk:
        return Chunk(
            [self.ids[number] for number in numbers],
            [self.labels[number] for number in numbers],
            [self.texts[number] for number in numbers],
            self.space.take(numbers),
        )

    def first(self, n: int) -> Chunk:
        return self.take(range(min(n, len(self))))

    def coded(self, number: int) -> Coded:
        return Coded(self.space.texts[number].gaps, self.space.options[number])


def neighbours() -> Path:
    """The published list of candidates; the error says where it is expected."""
    folder = os.environ.get("DISCOTEXT_DATA")
    if not folder:
        raise ValueError(f"DISCOTEXT_DATA is not set; set it to the folder that contains neighbours/{NEIGHBOURS}")
    path = Path(folder) / "neighbours" / NEIGHBOURS
    if not path.is_file():
        raise ValueError(f"there is no {path}; DISCOTEXT_DATA names the folder that holds neighbours/{NEIGHBOURS}")
    return path


@dataclass(frozen=True)
class Published(Source):
    """A list as it was published: the entries of a word, and nothing for words that are not in it.

    (`--synonyms` also looks up the lemma of a word; others who used the list did not.)
    """

    words: Mapping[str, Sequence[str]]
    name = "published"

    def propose(self, context: WordContext) -> Sequence[str]:
        return self.words.get(context.lower, ())


def candidates(victim: Any) -> Candidates:
    """The entries of the published list that the victim knows."""
    finder = Candidates(Published(read_synonyms(neighbours())), filters=())
    return finder.restrict_to(getattr(victim, "vocabulary", None))


def chunks(cell: Cell, finder: Candidates, split: Split, seed: int, limit: int, size: int) -> Iterator[Chunk]:
    """The first texts in a seeded order of the data, the same for every cell, so that a run can be extended."""
    examples = load_data(cell.data, split)
    order = np.random.default_rng(seed).permutation(len(examples))[: min(limit, cell.texts)]
    for start in range(0, len(order), size):
        ids = order[start : start + size].tolist()
        texts = [examples.texts[row] for row in ids]
        space = Space.of(texts, finder, share=cell.share, words=cell.words)
        yield Chunk(ids, examples.labels[ids].tolist(), texts, space)
