"""discotext optima: every solver on the same problems, beside the true optimum."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass

import click
import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from discotext.cli.options import Count
from discotext.oracle import Oracle
from discotext.problem import Batch
from discotext.setfunctions import read_subset, subset_sum
from discotext.solution import Solution, Status
from discotext.solvers import Disco, Exact, Solver, solver_named
from discotext.solving import solve
from discotext.yardstick import RandomNetworks

NAMES = [
    "exact",
    "disco-high",
    "disco",
    "disco-frank-wolfe",
    "disco-adam",
    "disco-proximal",
    "beam",
    "greedy",
    "lazy-greedy",
    "local-search",
    "ranked-greedy",
    "gradient-greedy",
    "left-to-right",
    "random",
]


@dataclass(frozen=True)
class Row:
    """One solver on one set of problems."""

    solver: str
    optimal: float
    share: float
    forwards: float
    backwards: float
    seconds: float
    proved: int


@click.command()
@click.option("--seed", default=0, show_default=True, type=Count(0), help="Which random problems.")
@click.option("--networks", default=50, show_default=True, type=Count(1), help="How many random networks.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output instead of tables.")
def command(seed: int, networks: int, as_json: bool) -> None:
    """Solve problems whose optimum is known with every solver, and show them side by side.

    First random neural networks over 12 words with 5 candidates each, at most 3 changes: 15,185 choices each, all
    enumerated, so that the true optimum is known and every solver can be measured against it. Then a subset-sum puzzle,
    the problem behind the proof that this is NP-hard.
    """
    talk = Console(stderr=True)
    integers, target = puzzle(seed)
    oracle = RandomNetworks(range(1000 * seed, 1000 * seed + networks))
    with Progress(console=talk, transient=True) as progress:
        task = progress.add_task("solving", total=2 * len(NAMES))
        answers = {}
        batch, puzzle_oracle = subset_sum(integers, target)
        for name in NAMES:
            answers[name] = solve(batch, puzzle_oracle, solver_without_enumeration(name), seed=seed)[0]
            progress.advance(task)
        rows = []
        best: list[Solution] = []
        for name in NAMES:
            row, solutions = measure(name, oracle.batch, oracle, best, seed)
            best = best or solutions
            rows.append(row)
            progress.advance(task)
    if as_json:
        report = {
            "subset_sum": {
                "integers": integers,
                "target": target,
                "solvers": {
                    name: {
                        "subset": read_subset(integers, answer.choice),
                        "off_by": off_by(integers, target, answer),
                        "forwards": answer.forwards,
                        "backwards": answer.backwards,
                        "proved": answer.proved,
                    }
                    for name, answer in answers.items()
                },
            },
            "networks": {"seed": seed, "n": networks, "solvers": {row.solver: asdict(row) for row in rows}},
        }
        sys.stdout.write(json.dumps(report) + "\n")
        return
    show_rows(rows, networks)
    show_puzzle(integers, target, answers)


def puzzle(seed: int) -> tuple[list[int], int]:
    """Eighteen integers and the sum of nine of them."""
    rng = np.random.default_rng(seed)
    integers = rng.integers(100, 10_000, size=18)
    return integers.tolist(), int(rng.choice(integers, size=9, replace=False).sum())


def solver_without_enumeration(name: str) -> Solver:
    """Disco enumerates small spaces, which would hide how well it searches."""
    if name == "disco":
        return Disco(enumerate=False)
    if name == "disco-high":
        return Disco(effort="high", enumerate=False)
    return solver_named(name)


def measure(name: str, batch: Batch, oracle: Oracle, best: list[Solution], seed: int) -> tuple[Row, list[Solution]]:
    """Run one solver on all networks. `best`: the optima, empty while they are being found."""
    began = time.perf_counter()
    solver = Exact() if name == "exact" else solver_without_enumeration(name)
    solutions = solve(batch, oracle, solver, seed=seed)
    seconds = time.perf_counter() - began
    best = best or solutions
    gain = [
        (found.score - found.original_score) / (optimum.score - optimum.original_score)
        for found, optimum in zip(solutions, best, strict=True)
        if optimum.score > optimum.original_score
    ]
    row = Row(
        solver=name,
        optimal=float(np.mean([share > 1 - 1e-9 for share in gain])),
        share=float(np.mean(gain)),
        forwards=float(np.mean([solution.forwards for solution in solutions])),
        backwards=float(np.mean([solution.backwards for solution in solutions])),
        seconds=seconds,
        proved=sum(solution.status is Status.OPTIMAL for solution in solutions),
    )
    return row, solutions


def show_puzzle(integers: list[int], target: int, answers: dict[str, Solution]) -> None:
    console = plain_console()
    console.print("\nA subset sum, the problem that makes all this NP-hard", style="bold")
    console.print(f"Which of {', '.join(map(str, integers))} add up to {target}?", soft_wrap=True)
    table = new_table("solver", "off by", "forwards", "backwards")
    for name, answer in answers.items():
        off = off_by(integers, target, answer)
        table.add_row(name, str(off), str(answer.forwards), str(answer.backwards), style="green" if off == 0 else None)
    console.print(table)
    solved = " + ".join(map(str, read_subset(integers, answers["exact"].choice)))
    console.print(f"Exact found {solved} = {target}.", soft_wrap=True)
    console.print(
        "To the others this is a landscape of traps: a sum that is nearly right\nsays nothing about where to look."
    )


def off_by(integers: list[int], target: int, answer: Solution) -> int:
    return abs(sum(read_subset(integers, answer.choice)) - target)


def show_rows(rows: list[Row], networks: int) -> None:
    console = plain_console()
    title = f"{networks} random networks, 12 words × 5 candidates, at most 3 changes"
    console.print(title, style="bold")
    table = new_table("solver", "optimum", "gain", "forwards", "backwards", "seconds", "proved")
    for row in rows:
        table.add_row(
            row.solver,
            f"{row.optimal:.0%}",
            f"{row.share:.1%}",
            f"{row.forwards:,.0f}",
            f"{row.backwards:,.0f}",
            f"{row.seconds:.2f}",
            str(row.proved) if row.proved else "",
            style="bold" if row.solver == "disco-high" else None,
        )
    console.print(table)
    console.print("optimum: how often the best of all 15,185 choices was found; gain: share of the")
    console.print("best gain; forwards, backwards: model calls per network; seconds: all together.")


def new_table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "solver" else "right", no_wrap=True)
    return table


def plain_console() -> Console:
    """Standard output, as wide as the table needs when it is no terminal."""
    return Console(width=None if sys.stdout.isatty() else 200)
