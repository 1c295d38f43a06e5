"""Run one of our solvers (or of `benchmarks.relaxations`) on a chunk of texts, and measure its cost."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.peers.records import Record
from benchmarks.peers.texts import Chunk
from benchmarks.relaxations import make_search
from discotext import solve
from discotext.core import Untargeted
from discotext.core.objectives import predictions
from discotext.victims.victim import compute_scores


def attack(victim: Any, chunk: Chunk, solver: str, seed: int) -> list[Record]:
    """One record per text. Time is measured from the strings to the verification of the resulting strings.

    The time that `solve` reports for each text is scaled so that the sum over a chunk equals its wall-clock time, and
    likewise for processor time, which is more reliable on a busy machine.
    """
    began, busy = time.perf_counter(), time.process_time()
    predicted = predictions(compute_scores(victim, chunk.texts)).tolist()
    asking = time.perf_counter() - began
    right = [number for number, label in enumerate(chunk.labels) if predicted[number] == label]
    space = chunk.space.take(right)
    found, strings, after = [], [], []
    if right:
        oracle = victim.oracle(space, Untargeted([chunk.labels[number] for number in right]))
        found = solve(space.batch, oracle, make_search(solver), goal=0.0, seed=seed)
        strings = [space.text(number, one.choice) for number, one in enumerate(found)]
        again = time.perf_counter()
        after = predictions(compute_scores(victim, strings)).tolist()
        asking += time.perf_counter() - again
    wall, busy = time.perf_counter() - began, time.process_time() - busy
    share = asking / len(chunk)
    records = [
        {
            "id": row,
            "predicted": guess,
            "broken": False,
            "text": text,
            "changes": 0,
            "forwards": 1,
            "backwards": 0,
            "reached": 1,
            "seconds": share,
            "victim_seconds": share,
        }
        for row, guess, text in zip(chunk.ids, predicted, chunk.texts, strict=True)
    ]
    for place, number in enumerate(right):
        one = found[place]
        forwards = 1 + one.forwards + 1
        records[number] |= {
            "broken": after[place] != chunk.labels[number],
            "text": strings[place],
            "changes": one.changes,
            "forwards": forwards,
            "backwards": one.backwards,
            "reached": forwards,
            "seconds": share + one.seconds,
            "victim_seconds": share + one.oracle_seconds,
        }
    total = sum(record["seconds"] for record in records)
    for record in records:
        part = record["seconds"] / total
        record |= {"seconds": part * wall, "cpu_seconds": part * busy}
    return records
