"""Every solver on problems whose optimum is known: `python -m benchmarks.optima [--networks N] [--seed S] [--json]`.

First on random neural networks over 12 words with 5 candidates each and at most 3 changes: all 15,185 choices are
enumerated, so that every solver can be measured against the true optimum. Then on a subset-sum puzzle, the problem
behind the proof of NP-hardness: a sum that is nearly right does not say which numbers to exchange.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np

from benchmarks.random_networks import RandomNetworks
from discotext.core.problem import Solution
from discotext.search.loop import solve
from discotext.search.solver import Solver
from discotext.solvers import SOLVERS, Disco, make_solver
from discotext.theory import read_subset, subset_sum

COMPARED = ["exact", *(name for name in SOLVERS if name != "exact")]


def make_searching_solver(name: str) -> Solver:
    """Make a solver; Disco without enumerating small spaces, which would hide how well it searches."""
    if name in ("disco", "disco-high"):
        return Disco(effort="high" if name == "disco-high" else "default", enumerate=False)
    return make_solver(name)


def measure_networks(networks: int, seed: int) -> dict[str, dict[str, float]]:
    """By solver: share of optima found, share of the best gain, passes and seconds of each network, proofs."""
    oracle = RandomNetworks(range(1000 * seed, 1000 * seed + networks))
    best: list[Solution] = []
    found = {}
    for name in COMPARED:
        began = time.perf_counter()
        solutions = solve(oracle.batch, oracle, make_searching_solver(name), seed=seed)
        seconds = time.perf_counter() - began
        best = best or solutions  # the exact solver comes first
        gains = [
            (one.score - one.original_score) / (optimum.score - optimum.original_score)
            for one, optimum in zip(solutions, best, strict=True)
            if optimum.score > optimum.original_score
        ]
        found[name] = {
            "optimal": float(np.mean([gain > 1 - 1e-9 for gain in gains])),
            "share": float(np.mean(gains)),
            "forwards": float(np.mean([one.forwards for one in solutions])),
            "backwards": float(np.mean([one.backwards for one in solutions])),
            "seconds": seconds,
            "proved": sum(one.proved for one in solutions),
        }
    return found


def measure_puzzle(seed: int) -> dict[str, Any]:
    """Eighteen integers, the sum of nine of them, and how near each solver comes to that sum."""
    rng = np.random.default_rng(seed)
    integers = rng.integers(100, 10_000, size=18).tolist()
    target = int(rng.choice(integers, size=9, replace=False).sum())
    batch, oracle = subset_sum(integers, target)
    solvers = {}
    for name in COMPARED:
        (answer,) = solve(batch, oracle, make_searching_solver(name), seed=seed)
        subset = read_subset(integers, answer.choice)
        passes = {"forwards": answer.forwards, "backwards": answer.backwards, "proved": answer.proved}
        solvers[name] = {"subset": subset, "off_by": abs(sum(subset) - target), **passes}
    return {"integers": integers, "target": target, "solvers": solvers}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=int, default=50, help="number of random networks")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    given = parser.parse_args()
    networks, puzzle = measure_networks(given.networks, given.seed), measure_puzzle(given.seed)
    if given.json:
        print(json.dumps({"networks": {"seed": given.seed, "solvers": networks}, "subset_sum": puzzle}))
        return
    print(f"{given.networks} random networks, 12 words × 5 candidates, at most 3 changes\n")
    print(f"{'solver':18} {'optimum':>8} {'gain':>7} {'forwards':>9} {'backwards':>10} {'proved':>7}")
    for name, row in networks.items():
        line = f"{name:18} {row['optimal']:8.0%} {row['share']:7.1%} {row['forwards']:9,.0f} {row['backwards']:10,.0f}"
        print(f"{line} {row['proved']:7}")
    print(f"\nWhich of {', '.join(map(str, puzzle['integers']))} add up to {puzzle['target']}?\n")
    print(f"{'solver':18} {'off by':>8} {'forwards':>9} {'backwards':>10}")
    for name, row in puzzle["solvers"].items():
        print(f"{name:18} {row['off_by']:8} {row['forwards']:9,} {row['backwards']:10,}")


if __name__ == "__main__":
    main()
