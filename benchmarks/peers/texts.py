"""The texts of a cell, in the order in which they are attacked, and their search spaces."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.peers.cells import NEIGHBOURS, Cell
from benchmarks.peers.coding import Coded
from discotext import Candidates, Space, load_data
from discotext.text.place import Place
from discotext.text.sources import read_synonyms

Split = Literal["test", "train"]


@dataclass(frozen=True, eq=False)
class Chunk:
    """Texts that go through all searches before the next come. ids: their rows in the data."""

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
    """The published list of candidates, or a sentence about where it is looked for."""
    folder = os.environ.get("DISCOTEXT_DATA")
    if not folder:
        raise ValueError(f"DISCOTEXT_DATA is not set; name the folder that holds neighbours/{NEIGHBOURS}")
    path = Path(folder) / "neighbours" / NEIGHBOURS
    if not path.is_file():
        raise ValueError(f"there is no {path}; DISCOTEXT_DATA names the folder that holds neighbours/{NEIGHBOURS}")
    return path


@dataclass(frozen=True)
class Published:
    """A list as it was published: what stands beside a word, and nothing for words that it does not have.

    (Our own `--synonyms` also looks a word up by its dictionary form; others who used the list did not.)
    """

    words: Mapping[str, Sequence[str]]
    name: str = "published"
    context: bool = False

    def of(self, place: Place) -> Sequence[str]:
        return self.words.get(place.lower, ())


def candidates(victim: Any) -> Candidates:
    """All that the published list has for a word, less what the victim does not know."""
    finder = Candidates(Published(read_synonyms(neighbours())), filters=())
    return finder.known_to(getattr(victim, "vocabulary", None))


def chunks(cell: Cell, finder: Candidates, split: Split, seed: int, limit: int, size: int) -> Iterator[Chunk]:
    """The first texts of a seeded order of the data, the same for every cell of a data set: so a larger run goes on."""
    examples = load_data(cell.data, split)
    order = np.random.default_rng(seed).permutation(len(examples))[: min(limit, cell.texts)]
    for start in range(0, len(order), size):
        ids = order[start : start + size].tolist()
        texts = [examples.texts[row] for row in ids]
        space = Space.of(texts, finder, share=cell.share, words=cell.words)
        yield Chunk(ids, examples.labels[ids].tolist(), texts, space)
