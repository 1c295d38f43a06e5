"""How does the cost per problem grow with positions, candidates and the batch?

Measures the time that a Frank–Wolfe step and a climbing round take outside the oracle while one of the three doubles.
Cost is linear in Σk_i if the time per candidate is constant.
"""

from __future__ import annotations

from typing import Any

from benchmarks.results_file import draw, save, show
from benchmarks.step_cost import own_time
from discotext import Batch, Problem
from discotext.solvers import DiscoFrankWolfe, LocalSearch

BASE = {"positions": 100, "candidates": 8, "problems": 64}
FACTORS = (1, 2, 4, 8, 16)


def main() -> None:
    rows: list[dict[str, Any]] = []
    solvers = {"frank-wolfe step": DiscoFrankWolfe(steps=30), "climbing round": LocalSearch(proposals=8)}
    series: dict[str, tuple[list[float], list[float]]] = {}
    for what in BASE:
        for step, solver in solvers.items():
            label = f"{step}, more {what}"
            series[label] = ([], [])
            for factor in FACTORS:
                shape = {**BASE, what: BASE[what] * factor}
                problem = Problem((shape["candidates"],) * shape["positions"], shape["positions"] // 5)
                batch = Batch.of([problem] * shape["problems"])
                seconds = own_time(batch, solver, 5)
                series[label][0].append(float(batch.candidates))
                series[label][1].append(1e9 * seconds / batch.candidates)
                rows.append(
                    {
                        "step": step,
                        "grows": what,
                        **shape,
                        "ms a step": 1e3 * seconds,
                        "us per problem": 1e6 * seconds / shape["problems"],
                        "ns per candidate": 1e9 * seconds / batch.candidates,
                    }
                )
    show("Growth of the time outside the oracle", rows)
    axes = ("candidates of the batch, Σk", "ns per candidate and step")
    draw(
        "growth",
        "Time of a step per candidate, outside the oracle (constant = linear growth)",
        axes,
        series,
        xscale="log",
        ylim=(0, None),
    )
    save("growth", rows)


if __name__ == "__main__":
    main()
