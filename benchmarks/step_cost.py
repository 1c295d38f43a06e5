"""What does a step of Disco cost, compared with the model?

256 problems of 200 positions × 8 candidates. The solver's own time is the time of a run outside the oracle, divided by
the number of steps; the oracle is linear and costs almost nothing. It is compared with one forward and backward pass of
a 200-unit LSTM over the same mixtures. Memory is the peak during a step, for problems of equal and of unequal size.
"""

from __future__ import annotations

import time
import tracemalloc
from typing import Any

import numpy as np
import torch

from benchmarks.results_file import save, show
from discotext import Batch, Problem
from discotext.core import EmbeddingOracle
from discotext.core.problem import interior_point
from discotext.core.wrappers import Counted
from discotext.search import Search, Solver
from discotext.solvers import DiscoAdam, DiscoFrankWolfe, DiscoProximal, LocalSearch

PROBLEMS, POSITIONS, CANDIDATES, BUDGET = 256, 200, 8, 40


class Linear:
    """score = ⟨w, α⟩: as cheap as an oracle can be."""

    exact_at_vertices = True

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.weights = np.random.default_rng(0).normal(size=batch.candidates)

    def score(self, problems: Any, choices: Any) -> Any:
        layout = self.batch.take(problems)
        picked = self.weights[self.batch.flat_rows(problems)][layout.chosen(choices)]
        return np.bincount(layout.problem_of_position, weights=picked, minlength=len(layout))

    def relaxed(self, problems: Any, alpha: Any) -> Any:
        weights = self.weights[self.batch.flat_rows(problems)]
        owner = np.repeat(np.arange(len(problems)), self.batch.widths[problems])
        return np.bincount(owner, weights=weights * alpha, minlength=len(problems)), weights


def own_time(batch: Batch, solver: Solver, steps: int) -> float:
    """Seconds per step of a solver outside the oracle, the best of three runs."""
    best = np.inf
    for _ in range(3):
        counted = Counted(Linear(batch), batch)
        proposals = solver.propose(batch, counted, Search.of(counted))
        everyone = np.arange(len(batch))
        next(proposals)
        inside, began = counted.seconds.sum(), time.perf_counter()
        for _ in range(steps):
            proposals.send(everyone)
        best = min(best, (time.perf_counter() - began - (counted.seconds.sum() - inside)) / steps)
        proposals.close()
    return best


def lstm_time(batch: Batch) -> float:
    """Seconds of one forward and backward pass of a 200-unit LSTM over the mixtures, the best of three."""
    # A fair comparison: with denormal numbers the vanishing gradient would make the LSTM fifteen times slower.
    torch.set_flush_denormal(True)
    torch.manual_seed(0)
    lstm = torch.nn.LSTM(100, 200, batch_first=True).eval().requires_grad_(False)
    head = torch.nn.Linear(200, 1).requires_grad_(False)
    table = torch.randn(10_000, 100)
    ids = np.random.default_rng(0).integers(10_000, size=batch.candidates)
    oracle = EmbeddingOracle(batch, ids, table, lambda vectors, lengths: head(lstm(vectors)[0][:, -1])[:, 0])
    problems = np.arange(len(batch))
    alpha = interior_point(batch, np.random.default_rng(0))
    best = np.inf
    for _ in range(3):
        began = time.perf_counter()
        oracle.relaxed(problems, alpha)
        best = min(best, time.perf_counter() - began)
    return best


def peak(batch: Batch) -> float:
    """Peak of the memory allocated by Python during one Frank–Wolfe step, in megabytes."""
    oracle = Counted(Linear(batch), batch)
    proposals = DiscoFrankWolfe(proposals=0).propose(batch, oracle, Search.of(oracle))
    next(proposals)
    tracemalloc.start()
    proposals.send(np.arange(len(batch)))
    megabytes = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return megabytes


def main() -> None:
    batch = Batch.of([Problem((CANDIDATES,) * POSITIONS, BUDGET)] * PROBLEMS)
    model = lstm_time(batch)
    solvers = {
        "disco-frank-wolfe (and the first steps of disco)": DiscoFrankWolfe(steps=30),
        "a climbing round of disco, 8 moves scored besides": LocalSearch(proposals=8),
        "disco-adam": DiscoAdam(),
        "disco-proximal, constant step": DiscoProximal(step=0.01),
    }
    rows = []
    for name, solver in solvers.items():
        seconds = own_time(batch, solver, 10)
        rows.append(
            {
                "solver": name,
                "own ms a step": 1e3 * seconds,
                "LSTM forward+backward ms": 1e3 * model,
                "share %": 100 * seconds / model,
            }
        )
    show(f"{PROBLEMS} problems × {POSITIONS} positions × {CANDIDATES} candidates", rows)
    ragged = Batch.of([Problem((CANDIDATES * POSITIONS - 2 * POSITIONS,) + (2,) * (POSITIONS - 1), BUDGET)] * PROBLEMS)
    memory = [
        {
            "shape": name,
            "candidates": layout.candidates,
            "padded": len(layout) * layout.n_max * int(layout.counts.max()),
            "peak MB": peak(layout),
        }
        for name, layout in {"even": batch, "one long list, the others short": ragged}.items()
    ]
    show("Memory of a step", memory)
    save("step_cost", rows + memory)


if __name__ == "__main__":
    main()
