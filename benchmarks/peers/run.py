"""The benchmark at work: chunk after chunk, all searches in turn, each record kept as soon as it is made."""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.cells import CELLS, NEIGHBOURS, Cell, Search
from benchmarks.peers.ours import attack
from benchmarks.peers.peer import Peer, interpreter
from benchmarks.peers.records import Folder, Key, Record
from benchmarks.peers.texts import Chunk, Split, candidates, chunks, neighbours
from benchmarks.results_file import provenance
from discotext.victims import load_victim

CHUNK = 50  # texts that go through all searches before the next come; ours takes them in one go


@dataclass
class Run:
    """Settings of a run, and what is done. searches: only these; all where there are none."""

    out: Path
    victims: Path
    peer_python: Path
    searches: Collection[str] = ()
    split: Split = "test"
    seed: int = 0
    limit: int = 10**9
    threads: int = 1
    batch: int = 32
    done: dict[Key, Record] = field(default_factory=dict, init=False)
    session: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.folder = Folder(self.out)

    def begin(self) -> None:
        settings = {"split": self.split, "seed": self.seed, "threads": self.threads, "chunk": CHUNK}
        self.folder.begin({**settings, "peer_batch": self.batch, "candidates": NEIGHBOURS})
        self.session = self.folder.begin_session(provenance())
        self.done = self.folder.records()

    def check(self, cells: Collection[str]) -> None:
        """Raise, before hours of work, if something will be missing."""
        neighbours()
        for name in cells:
            self.address(CELLS[name])
            if any(search.peer for search in self.chosen(CELLS[name])):
                interpreter(self.peer_python)

    def chosen(self, cell: Cell) -> list[Search]:
        return [search for search in cell.searches if not self.searches or search.name in self.searches]

    def forget(self, cells: Collection[str]) -> int:
        """Drop what the searches found in these cells, so that it is done again."""
        dropped = self.folder.drop(cells, self.searches)
        self.done = self.folder.records()
        return dropped

    def cell(self, name: str) -> None:
        """Attack the texts of a cell by all its searches."""
        cell = CELLS[name]
        chosen = self.chosen(cell)
        address = self.address(cell)
        if not any(self.missing(cell, search) for search in chosen):
            return
        victim: Any = load_victim(address)
        peer: Peer | None = None
        start = 0
        try:
            for chunk in chunks(cell, candidates(victim), self.split, self.seed, self.limit, CHUNK):
                if not start:
                    attack(victim, chunk.first(2), "disco", seed=0)  # first calls are slower than those that follow
                for search in chosen:
                    part = chunk.first(max(search.texts - start, 0))
                    todo = [n for n, row in enumerate(part.ids) if (cell.name, search.name, row) not in self.done]
                    if todo and search.peer:
                        peer = peer or self.start(address)
                        self.theirs(cell, search, part, todo, peer)
                    elif todo:
                        self.ours(cell, search, part, todo, victim)
                start += len(chunk)
        finally:
            if peer is not None:
                peer.close()

    def missing(self, cell: Cell, search: Search) -> bool:
        """Whether a search may have texts left in a cell; asked before anything is loaded."""
        wanted = min(search.texts, self.limit)
        return sum(key[:2] == (cell.name, search.name) for key in self.done) < wanted

    def ours(self, cell: Cell, search: Search, part: Chunk, todo: list[int], victim: Any) -> None:
        """A part goes whole, also if some of it is done: records do not depend on where a run was stopped."""
        made: list[Record] = []
        for some in [part.take([number]) for number in todo] if search.alone else [part]:
            found = attack(victim, some, search.solver, seed_of(self.seed, some.ids[0]))
            made += self.keep(cell, search, some, found)
        tell(cell, search, made)

    def theirs(self, cell: Cell, search: Search, part: Chunk, todo: list[int], peer: Peer) -> None:
        """A text at a time, each kept at once: some take minutes."""
        made: list[Record] = []
        for number in todo:
            found = peer.attack(part, number, search.name, seed_of(self.seed, part.ids[number]))
            made += self.keep(cell, search, part, [found])
        tell(cell, search, made)

    def keep(self, cell: Cell, search: Search, part: Chunk, found: list[Record]) -> list[Record]:
        """Add to records what is known of their texts, and write them."""
        made = []
        for record in found:
            number = part.ids.index(record["id"])
            options = part.space.options[number]
            about = {
                "cell": cell.name,
                "search": search.name,
                "label": part.labels[number],
                "words": len(options),
                "budget": part.space.budgets[number],
                "candidates": sum(len(words) - 1 for words in options),
                "space": part.space.take([number]).hash,
                "session": self.session,
            }
            made.append({**about, **record})
        self.folder.append(made)
        self.done |= {(cell.name, search.name, record["id"]): record for record in made}
        return made

    def address(self, cell: Cell) -> str:
        """The victim as `load_victim` takes it, or a sentence about how to make it."""
        kind, _, name = cell.victim.rpartition(":")
        folder = self.victims / name
        if not folder.is_dir():
            how = "benchmarks.finetune_minilm" if kind else "discotext train"
            raise ValueError(
                f"there is no victim {folder}; make it by `python -m {how} {cell.data} --out {folder}`, "
                "or name the folder that holds it by --victims"
            )
        return f"{kind}:{folder.resolve()}" if kind else str(folder.resolve())

    def start(self, address: str) -> Peer:
        """TextAttack's process, and a new session that knows its versions."""
        peer = Peer(self.peer_python, address, self.threads, self.batch, self.out / "driver.log")
        self.session = self.folder.begin_session({**provenance(), "peer_versions": peer.versions})
        return peer


def seed_of(seed: int, row: int) -> int:
    return int(np.random.SeedSequence([seed, row]).generate_state(1)[0])


def tell(cell: Cell, search: Search, made: list[Record]) -> None:
    broken, right = sum(one["broken"] for one in made), sum(one["predicted"] == one["label"] for one in made)
    seconds = sum(one["seconds"] for one in made) / len(made)
    passes = sum(one["forwards"] + one["backwards"] for one in made) / len(made)
    print(
        f"{cell.name:12} {search.name:32} {broken:3} of {right:3} broken  {seconds:9.3f} s/text {passes:9,.0f} passes",
        file=sys.stderr,
        flush=True,
    )
