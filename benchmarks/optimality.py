"""How often does each solver find the true optimum, and in how many passes?

500 random networks (seeds 0 to 499) over 12 positions with 5 candidates of 8 dimensions, at most 3 changes, two hidden
layers of 64 units. `Exact` enumerates all 15,185 choices of each, so the optimum is known. The enumeration of small
spaces inside `Disco` is switched off, since the benchmark is about the search.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks.random_networks import RandomNetworks
from benchmarks.results_file import draw, save, show
from discotext import solve
from discotext.search import Solver
from discotext.solvers import Beam, Disco, DiscoAdam, Exact, LocalSearch, Random, make_solver

NETWORKS = 500
SOLVERS: dict[str, Solver] = {
    "disco": Disco(enumerate=False),
    "disco-high": Disco(effort="high", enumerate=False),
    "disco, effort 1": Disco(effort=1, enumerate=False),
    "disco, effort 3": Disco(effort=3, enumerate=False),
    **{
        name: make_solver(name)
        for name in (
            "disco-frank-wolfe",
            "disco-adam",
            "disco-proximal",
            "greedy",
            "left-to-right",
            "ranked-greedy",
            "gradient-greedy",
            "local-search",
        )
    },
    "local-search, random": LocalSearch(guide="random"),
    "disco-adam, confidence": DiscoAdam(reading="confidence"),
    "beam 4": Beam(4),
    "beam 8": Beam(8),
    "random": Random(draws=135),
}


def measure(activation: Any, scale: float) -> list[dict[str, Any]]:
    """Every solver on one family of networks."""
    networks = RandomNetworks(range(NETWORKS), activation=activation, scale=scale)
    family = f"{activation} × {scale:g}"
    console = Console(stderr=True)
    console.print(f"{family}: enumerating {NETWORKS} networks …")
    optima = solve(networks.batch, networks, Exact())
    assert all(optimum.proved for optimum in optima)
    rows = []
    for name, solver in track(SOLVERS.items(), description=family, console=console):
        began = time.perf_counter()
        solutions = solve(networks.batch, networks, solver)
        seconds = time.perf_counter() - began
        pairs = list(zip(solutions, optima, strict=True))
        rows.append(
            {
                "networks": family,
                "solver": name,
                "hits %": 100 * float(np.mean([found.score >= best.score - 1e-9 for found, best in pairs])),
                "share of gain %": 100
                * float(
                    np.mean([(f.score - f.original_score) / (best.score - best.original_score) for f, best in pairs])
                ),
                "forwards": float(np.mean([found.forwards for found in solutions])),
                "backwards": float(np.mean([found.backwards for found in solutions])),
                "passes": float(np.mean([found.forwards + found.backwards for found in solutions])),
                "seconds": seconds,
            }
        )
    return rows


def main() -> None:
    rows = []
    for activation, scale in (("relu", 1.0), ("tanh", 3.0)):
        part = measure(activation, scale)
        show(f"{NETWORKS} networks, {activation}, weights × {scale:g}", part)
        points = {row["solver"]: ([row["passes"]], [row["hits %"]]) for row in part}
        title = f"Optimum found, {NETWORKS} random networks ({activation}, weights × {scale:g})"
        draw(f"optimality_{activation}", title, ("passes per problem", "optimum found, %"), points, xscale="log")
        rows += part
    save("optimality", rows)


if __name__ == "__main__":
    main()
