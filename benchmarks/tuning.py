"""What each constant of `Tuning` does: halve it, double it, and look.

    python -m benchmarks.tuning [VICTIM]

Three yardsticks. 300 random networks without a goal, where the optimum is known by enumeration: how often it is found.
And 400 film reviews with VICTIM (the folder `victim` of `discotext demo`), the neighbours of counter-fitted vectors
without any filter as candidates, and at most 20 % of the words changed: how many labels flip, and with how many words.
And 300 larger networks with a goal that about half of them reach: how many do, and with how many changes. Each for the
default and for a high effort. Without VICTIM only the last is measured; it takes a quarter of the time.
"""

from __future__ import annotations

import sys
from dataclasses import fields, replace
from typing import Any

import numpy as np
from rich.progress import track

from benchmarks.random_networks import RandomNetworks
from benchmarks.results_file import save, show
from discotext import solve
from discotext.core import Untargeted
from discotext.data import load_data
from discotext.search import Tuning
from discotext.solvers import Disco, Exact
from discotext.support.extras import flush_denormals_globally
from discotext.text import Space, make_candidates
from discotext.victims import load_victim

NETWORKS, TEXTS, BUDGET = 300, 400, 0.2


def variants() -> list[tuple[str, str, Tuning]]:
    """The defaults, and for each constant the same with that one halved and doubled."""
    usual = Tuning()
    found = [("", "as it is", usual)]
    for one in fields(Tuning):
        value = getattr(usual, one.name)
        for name, factor in (("half", 0.5), ("double", 2.0)):
            changed = min(value * factor, 0.9) if one.name in SHARES else type(value)(max(1, round(value * factor)))
            found.append((one.name, name, replace(usual, **{one.name: changed})))
    return found


SHARES = ("smoothing", "near_share", "high_share")


def measure_goals() -> list[dict[str, Any]]:
    """Networks that are too large to enumerate, with one goal for all: the median of the best scores known."""
    networks = RandomNetworks(range(NETWORKS), positions=30, candidates=6, budget=4)
    best = solve(networks.batch, networks, Disco(effort=3.0))
    goal = float(np.median([one.score for one in best]))
    rows = []
    for constant, change, tuning in track(variants(), description="goals"):
        row: dict[str, Any] = {"constant": constant, "change": change, "networks": NETWORKS, "goal": goal}
        for effort in ("default", "high"):
            solver = Disco(effort=effort, enumerate=False, tuning=tuning)  # type: ignore[arg-type]
            found = solve(networks.batch, networks, solver, goal=goal)
            row[f"{effort}: reached"] = sum(one.reached for one in found)
            row[f"{effort}: changes"] = float(np.mean([one.changes for one in found if one.reached]))
            row[f"{effort}: passes"] = float(np.mean([one.forwards + one.backwards for one in found]))
        rows.append(row)
    return rows


def measure_texts(folder: str) -> list[dict[str, Any]]:
    """Networks whose optimum is known, and film reviews."""
    flush_denormals_globally()
    networks = RandomNetworks(range(NETWORKS))
    optima = [one.score for one in solve(networks.batch, networks, Exact())]
    victim = load_victim(folder)
    examples = load_data("movie_reviews", "test").sample(TEXTS, 0)
    right = np.flatnonzero(victim.scores(examples.texts).argmax(axis=1) == examples.labels)
    examples = examples.take(right)
    finder = make_candidates(["neighbours"], without=["all"]).restrict_to(victim.capabilities.vocabulary)
    space = Space.of(examples.texts, finder, share=BUDGET)
    oracle = victim.oracle(space, Untargeted(examples.labels.tolist()))
    rows = []
    for constant, change, tuning in track(variants()):
        row: dict[str, Any] = {"constant": constant, "change": change, "texts": len(examples)}
        for effort in ("default", "high"):
            solver = Disco(effort=effort, enumerate=False, tuning=tuning)  # type: ignore[arg-type]
            found = solve(networks.batch, networks, solver)
            row[f"{effort}: optimum %"] = 100 * float(
                np.mean([one.score >= best - 1e-9 for one, best in zip(found, optima, strict=True)])
            )
            row[f"{effort}: passes"] = float(np.mean([one.forwards + one.backwards for one in found]))
            found = solve(space.batch, oracle, solver, goal=0.0)
            row[f"{effort}: flipped"] = sum(one.reached for one in found)
            row[f"{effort}: words"] = float(np.mean([one.changes for one in found if one.reached]))
            row[f"{effort}: passes, texts"] = float(np.mean([one.forwards + one.backwards for one in found]))
        rows.append(row)
    return rows


def main(folder: str | None = None) -> None:
    rows = measure_goals()
    show("With a goal", rows)
    save("tuning_goals", rows)
    if folder is not None:
        rows = measure_texts(folder)
        show("Networks with a known optimum, and film reviews", rows)
        save("tuning", rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
