"""What is measured: data, victim and budget of each cell, its searches, and how many texts each search gets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from discotext.solvers import SOLVERS

NEIGHBOURS = "jia2019_counterfitted_neighbors.json"

PEERS = ("textattack-greedy", "textattack-wir-delete", "textattack-wir-gradient")
# These score thousands of texts per attack, so they get fewer texts if texts are long.
SLOW_PEERS = ("textattack-beam", "textattack-genetic", "textattack-pso")
SLOW_OURS = ("beam",)
# Relaxations from other papers: `benchmarks.relaxations`.
RELAXED = ("gbda", "ascc")
LEFT_OUT = ("exact",)  # not feasible for texts of this length
# One text at a time, as TextAttack does: shows what is gained by batching, and how time grows with the length.
ALONE = ("disco", "disco-high", "greedy")


@dataclass(frozen=True)
class Search:
    """A search by the name under which it is reported, and the texts it gets."""

    name: str
    texts: int

    @property
    def peer(self) -> bool:
        return self.name.startswith("textattack-")

    @property
    def alone(self) -> bool:
        return self.name.endswith("-alone")

    @property
    def solver(self) -> str:
        return self.name.removesuffix("-alone")


@dataclass(frozen=True)
class Cell:
    """share or words: how many words may change. slow: texts for the slow searches.

    dynamic: TextAttack also runs with a wrapper that pads to the longest text of a call (its own pads to the maximal
    length of the model). alone: some of our solvers also run on one text at a time.
    """

    name: str
    data: str
    victim: str
    texts: int
    share: str | None = None
    words: int | None = None
    slow: int = 0
    dynamic: bool = False
    alone: bool = False

    @property
    def budget(self) -> float | int:
        return self.words if self.words is not None else float(self.share or "nan")

    @property
    def searches(self) -> list[Search]:
        """Alternating between both packages, so that other load on the machine affects both."""
        usual = [name for name in (*SOLVERS, *RELAXED) if name not in LEFT_OUT and name not in SLOW_OURS]
        ours = [Search(name, self.texts) for name in usual] + [Search(name, self.slow) for name in SLOW_OURS]
        if self.alone:
            ours += [Search(f"{name}-alone", self.texts) for name in ALONE]
        peers = [Search(name, self.texts) for name in PEERS] + [Search(name, self.slow) for name in SLOW_PEERS]
        if self.dynamic:
            peers += [Search(f"{name}-dynamic", self.texts) for name in PEERS]
        return [search for search in _in_turn(ours, peers) if search.texts]


def _in_turn(ours: list[Search], peers: list[Search]) -> Iterator[Search]:
    for pair in zip_longest(ours, peers):
        yield from (search for search in pair if search is not None)


def _cells() -> Iterator[Cell]:
    for words in (1, 2, 3):
        yield Cell(f"trec-{words}w", "trec", "lstm_trec", 200, words=words, slow=200)
    for percent, share in ((5, "0.05"), (10, "0.1"), (20, "0.2")):
        yield Cell(f"ag_news-{percent}", "ag_news", "lstm_ag_news", 200, share=share, slow=200, alone=percent != 10)
    for percent, share in ((5, "0.05"), (10, "0.1"), (20, "0.2")):
        few = 20 if percent == 5 else 0
        yield Cell(f"imdb-{percent}", "imdb", "lstm_imdb", 50, share=share, slow=few, alone=percent == 5)
    yield Cell("minilm-10", "ag_news", "hf:minilm_ag_news", 50, share="0.1", dynamic=True)


CELLS = {cell.name: cell for cell in _cells()}
DATA = {"trec": "TREC", "ag_news": "AG News", "imdb": "IMDB"}


def title(cell: str) -> str:
    """A cell as a heading.

    >>> title("ag_news-20"), title("trec-2w"), title("minilm-10")
    ('AG News 20 %', 'TREC 2 words', 'AG News 10 %, MiniLM')
    """
    one = CELLS[cell]
    budget = f"{round(100 * float(one.budget))} %" if one.words is None else f"{one.words} word{'s' * (one.words > 1)}"
    return f"{DATA[one.data]} {budget}" + (", MiniLM" if one.victim.startswith("hf:") else "")
