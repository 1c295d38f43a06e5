"""discotext optima: every solver on problems whose optimum is known."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from discotext.cli.help import GroupedCommand, option
from discotext.cli.number_types import Count
from discotext.cli.options import json_option, seed_option
from discotext.cli.output import make_console, make_table, write_json
from discotext.cli.progress import make_progress

if TYPE_CHECKING:
    from discotext.core.oracle import Oracle
    from discotext.core.problem import Batch
    from discotext.core.solution import Solution
    from discotext.search.solver import Solver

COMPARED = [
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


@click.command(cls=GroupedCommand)
@option("--networks", section="Problems", default=50, type=Count(1), metavar="N", help="Number of random networks.")
@seed_option("Problems")
@json_option("one JSON object instead of tables")
def command(networks: int, seed: int, as_json: bool) -> None:
    """Compare solvers on problems whose optimum is known.

    First on random neural networks over 12 words with 5 candidates each and at most 3 changes: all 15,185 choices are
    enumerated, so that every solver can be measured against the true optimum. Then on a subset-sum puzzle, the problem
    behind the proof of NP-hardness.

    \b
    Examples:
      discotext optima
      discotext optima --networks 10 --seed 1
      discotext optima --json > optima.json
    """
    from discotext.search.loop import solve
    from discotext.theory import read_subset, subset_sum
    from discotext.theory.random_networks import RandomNetworks

    integers, target = make_puzzle(seed)
    oracle = RandomNetworks(range(1000 * seed, 1000 * seed + networks))
    with make_progress() as progress:
        task = progress.add_task("solving", total=2 * len(COMPARED))
        answers = {}
        batch, puzzle_oracle = subset_sum(integers, target)
        for name in COMPARED:
            answers[name] = solve(batch, puzzle_oracle, make_searching_solver(name), seed=seed)[0]
            progress.advance(task)
        rows = []
        best: list[Solution] = []
        for name in COMPARED:
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
                        "off_by": measure_error(integers, target, answer),
                        "forwards": answer.forwards,
                        "backwards": answer.backwards,
                        "proved": answer.proved,
                    }
                    for name, answer in answers.items()
                },
            },
            "networks": {"seed": seed, "n": networks, "solvers": {row.solver: asdict(row) for row in rows}},
        }
        write_json(report)
        return
    print_networks(rows, networks)
    print_puzzle(integers, target, answers)


def make_puzzle(seed: int) -> tuple[list[int], int]:
    """Draw eighteen integers, and return them with the sum of nine of them."""
    import numpy as np

    rng = np.random.default_rng(seed)
    integers = rng.integers(100, 10_000, size=18)
    return integers.tolist(), int(rng.choice(integers, size=9, replace=False).sum())


def make_searching_solver(name: str) -> Solver:
    """Make a solver; Disco without enumerating small spaces, which would hide how well it searches."""
    from discotext.solvers import Disco, make_solver

    if name == "disco":
        return Disco(enumerate=False)
    if name == "disco-high":
        return Disco(effort="high", enumerate=False)
    return make_solver(name)


def measure(name: str, batch: Batch, oracle: Oracle, best: list[Solution], seed: int) -> tuple[Row, list[Solution]]:
    """Run one solver on all networks. best: the optima; empty for the exact solver, which finds them."""
    import numpy as np

    from discotext.core.solution import Status
    from discotext.search.loop import solve
    from discotext.solvers import Exact

    began = time.perf_counter()
    solver = Exact() if name == "exact" else make_searching_solver(name)
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


def print_puzzle(integers: list[int], target: int, answers: dict[str, Solution]) -> None:
    """Print how close each solver comes to the sum."""
    from discotext.theory import read_subset

    console = make_console()
    console.print("\nA subset-sum puzzle, the problem behind NP-hardness", style="bold")
    console.print(f"Which of {', '.join(map(str, integers))} add up to {target}?", soft_wrap=True)
    table = make_table("solver", "off by", "forwards", "backwards", left=["solver"])
    for name, answer in answers.items():
        off = measure_error(integers, target, answer)
        table.add_row(name, str(off), str(answer.forwards), str(answer.backwards), style="green" if off == 0 else None)
    console.print(table)
    solved = " + ".join(map(str, read_subset(integers, answers["exact"].choice)))
    console.print(f"Exact found {solved} = {target}.", soft_wrap=True)
    console.print(
        "The others have nothing to follow: a sum that is nearly right does not say\nwhich numbers to exchange."
    )


def measure_error(integers: list[int], target: int, answer: Solution) -> int:
    """Return how far the sum of the chosen integers is from the target."""
    from discotext.theory import read_subset

    return abs(sum(read_subset(integers, answer.choice)) - target)


def print_networks(rows: list[Row], networks: int) -> None:
    """Print how each solver does on the random networks."""
    console = make_console()
    title = f"{networks} random networks, 12 words × 5 candidates, at most 3 changes"
    console.print(title, style="bold")
    table = make_table("solver", "optimum", "gain", "forwards", "backwards", "seconds", "proved", left=["solver"])
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
    console.print("optimum: share of networks whose best choice of 15,185 was found; gain: share of")
    console.print("the best gain; forwards, backwards: passes per network; seconds: in total;")
    console.print("proved: networks whose optimum was proved.")
