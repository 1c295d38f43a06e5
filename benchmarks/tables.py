"""Puts measured results into the docs, between marks, so that pages and measurements cannot drift apart."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.results_file import PICTURES, RESULTS

NAMES = {
    "disco": "`Disco()`",
    "disco-high": '`Disco(effort="high")`',
    "disco, effort 3": "`Disco(effort=3)`",
    "disco-frank-wolfe": '`Disco(method="frank-wolfe")`',
    "disco-adam": '`Disco(method="adam")`',
    "disco-adam, confidence": '`Disco(method="adam", reading="confidence")`',
    "disco-proximal": '`Disco(method="proximal")`',
    "greedy": "`Greedy()`",
    "lazy-greedy": "`LazyGreedy()`",
    "stochastic-greedy": "`StochasticGreedy()`",
    "left-to-right": "`LeftToRight()`",
    "ranked-greedy": "`RankedGreedy()`",
    "gradient-greedy": "`GradientGreedy()`",
    "local-search": "`LocalSearch()`",
    "local-search, random": '`LocalSearch(guide="random")`',
    "beam 4": "`Beam(4)`",
    "beam 8": "`Beam(8)`",
    "random": "`Random(draws=135)`",
}


def rows_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (RESULTS / f"{name}.jsonl").read_text().splitlines()]


def table(headings: list[str], rows: list[list[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def optimality() -> str:
    found = {(row["networks"].split()[0], row["solver"]): row for row in rows_of("optimality")}
    cells = []
    for solver, shown in NAMES.items():
        line = [shown]
        for family in ("relu", "tanh"):
            row = found[family, solver]
            line += [f"{row['hits %']:.1f} %", f"{row['share of gain %']:.1f} %"]
            line += [f"{row['forwards']:.0f}", f"{row['backwards']:.0f}"]
        cells.append(line)
    four = ["share of gain", "forwards", "backwards"]
    return table(["solver", "ReLU: optimum found", *four, "tanh × 3: optimum found", *four], cells)


def short() -> str:
    found = {row["solver"]: row for row in rows_of("optimality") if row["networks"].startswith("relu")}
    cells = []
    for solver in ("disco, effort 3", "disco-high", "disco", "disco-frank-wolfe", "beam 8", "greedy", "left-to-right"):
        row = found[solver]
        shares = [f"{row['hits %']:.1f} %", f"{row['share of gain %']:.1f} %"]
        cells.append([NAMES[solver], *shares, f"{row['passes']:.0f}"])
    return table(["solver", "optimum found", "share of the optimal gain", "passes"], cells)


def step_cost() -> str:
    cells = [
        [
            row["solver"],
            f"{row['own ms a step']:.1f} ms",
            f"{row['LSTM forward+backward ms']:.0f} ms",
            f"{row['share %']:.1f} %",
        ]
        for row in rows_of("step_cost")
        if "solver" in row
    ]
    return table(["solver", "own time of a step", "LSTM forward + backward", "share"], cells)


def main() -> None:
    docs = PICTURES.parent
    for page, name, text in (
        (docs / "solvers.md", "optimality", optimality()),
        (docs / "solvers.md", "step-cost", step_cost()),
        (docs.parent / "README.md", "short", short()),
    ):
        whole = page.read_text()
        begin, end = f"<!-- {name} -->\n", "\n<!-- end -->"
        before, rest = whole.split(begin, 1)
        page.write_text(before + begin + text + end + rest.split(end, 1)[1])


if __name__ == "__main__":
    main()
