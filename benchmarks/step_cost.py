"""What does a step of Disco cost beside the model it steps for?

256 problems of 200 positions × 8 candidates. The solver's own time is the time of a whole run less the time inside the
oracle, a linear one that costs next to nothing, divided by the steps. Beside it: one forward and backward of a 200-unit
LSTM over the same mixtures. Memory: the peak of a step, for ragged problems and for the padded size.
"""

from __future__ import annotations

import time
import tracemalloc
from typing import Any

import numpy as np
import torch

from benchmarks.results_file import save, show
from discotext import Batch, Disco, EmbeddingOracle, LocalSearch, Problem, Solver
from discotext.sampling import interior_point
from discotext.wrappers import Counted

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
    """Seconds of one step of a solver outside the oracle, the best of three runs."""
    best = np.inf
    for _ in range(3):
        counted = Counted(Linear(batch), batch)
        proposals = solver.propose(batch, counted, np.random.default_rng(0))
        everyone = np.arange(len(batch))
        next(proposals)
        inside, began = counted.seconds.sum(), time.perf_counter()
        for _ in range(steps):
            proposals.send(everyone)
        best = min(best, (time.perf_counter() - began - (counted.seconds.sum() - inside)) / steps)
        proposals.close()
    return best


def lstm_time(batch: Batch) -> float:
    """Seconds of one forward and backward of a 200-unit LSTM through the mixtures, the best of three."""
    # The model at its best: without this a fading gradient makes it fifteen times slower, and us look better.
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
    """Megabytes of Python's peak over one Frank–Wolfe step."""
    oracle = Counted(Linear(batch), batch)
    proposals = Disco(method="frank-wolfe", proposals=0).propose(batch, oracle, np.random.default_rng(0))
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
        "disco-frank-wolfe (and the first steps of disco)": Disco(method="frank-wolfe", steps=30),
        "a climbing round of disco, 8 moves scored besides": LocalSearch(proposals=8),
        "disco-adam": Disco(method="adam"),
        "disco-proximal, constant step": Disco(method="proximal", step=0.01),
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
