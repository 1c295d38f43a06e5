"""Problems and oracles that several tests share."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from discotext import Batch, Problem
from discotext.attacks.job import Job
from discotext.attacks.settings import Settings
from discotext.runs.record import Record

# Tests run side by side; threads of one would only wait for those of the others, here and in the processes they start.
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("default", deadline=None, max_examples=50, derandomize=True)
settings.load_profile("default")

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
needs_sklearn = pytest.mark.skipif(find_spec("sklearn") is None, reason="scikit-learn is not installed")


def heed_ctrl_c() -> None:
    """To be called in a new process: whoever runs the tests in the background may have told them to ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def small_numbers() -> Iterator[None]:
    """A command that runs in this process may have told the processor to treat the smallest numbers as zero."""
    yield
    if "torch" in sys.modules:
        sys.modules["torch"].set_flush_denormal(False)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with real data that `DISCOTEXT_DATA` names."""
    folder = os.environ.get("DISCOTEXT_DATA")
    if not folder:
        pytest.skip("DISCOTEXT_DATA does not name a folder with data")
    return Path(folder)


def feasible(problem: Problem) -> list[tuple[int, ...]]:
    """Every choice within budget, by the definition."""
    return [
        choice
        for choice in product(*(range(count) for count in problem.counts))
        if sum(candidate != 0 for candidate in choice) <= problem.budget
    ]


class Table:
    """An oracle that looks scores up: every choice of every problem has its own, from a seed. No gradients."""

    def __init__(self, batch: Batch, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.batch = batch
        self.asked: list[tuple[int, tuple[int, ...]]] = []
        self.scores = [
            {choice: float(rng.normal()) for choice in feasible(batch[index])} for index in range(len(batch))
        ]

    def score(self, problems, choices):
        rows = [
            (problem, tuple(choice[: self.batch.sizes[problem]]))
            for problem, choice in zip(problems.tolist(), choices.tolist(), strict=True)
        ]
        self.asked += rows
        return np.array([self.scores[problem][choice] for problem, choice in rows])

    def best(self, index: int) -> float:
        return max(self.scores[index].values())


class Quadratic:
    """A smooth oracle with interactions: score = ⟨a, α⟩ + αᵀQα per problem, gradient in closed form."""

    exact_at_vertices = True

    def __init__(self, batch: Batch, seed: int = 0, curve: float = 1.0) -> None:
        rng = np.random.default_rng(seed)
        self.batch = batch
        self.linear = [rng.normal(size=width) for width in batch.widths]
        self.square = []
        for width in batch.widths:
            matrix = rng.normal(size=(width, width)) * curve / np.sqrt(max(width, 1))
            self.square.append((matrix + matrix.T) / 2)

    def score(self, problems, choices):
        return self.relaxed(problems, self.batch.take(problems).one_hot(choices))[0]

    def relaxed(self, problems, alpha):
        layout = self.batch.take(problems)
        scores, gradient = np.empty(len(problems)), np.empty(len(alpha))
        for row, problem in enumerate(problems):
            here = slice(layout.first_candidate[row], layout.first_candidate[row + 1])
            weights = alpha[here]
            curved = self.square[problem] @ weights
            scores[row] = self.linear[problem] @ weights + weights @ curved
            gradient[here] = self.linear[problem] + 2 * curved
        return scores, gradient


SHAPES = [
    Problem((3, 2, 4), 2),
    Problem((1, 1), 1),  # nothing may change
    Problem((), 0),  # no words
    Problem((4, 3), 0),  # no budget
    Problem((2, 1, 3, 2, 2), 3),
    Problem((5,), 1),
    Problem((2, 2, 2, 2), 4),
]


@pytest.fixture
def batch() -> Batch:
    """Ragged problems, the degenerate ones among them."""
    return Batch.of(SHAPES)


def problems(max_positions: int = 5, max_candidates: int = 4) -> st.SearchStrategy[Problem]:
    """Any small problem."""
    return st.lists(st.integers(1, max_candidates), max_size=max_positions).flatmap(
        lambda counts: st.integers(0, len(counts)).map(lambda budget: Problem(tuple(counts), budget))
    )


def untimed(records):
    """Records, or lines of a file, without what differs from run to run."""
    raw = (record.as_dict() if isinstance(record, Record) else record for record in records)
    return [{key: value for key, value in one.items() if "seconds" not in key} for one in raw]


def job_for(victim, data, solvers, **settings):
    """The job of a call of `compare`, identified."""
    return Job.of(victim, data, solvers, Settings(**settings)).identify()


def stop_after(units, error):
    """A `watch` that raises an error after so many units."""

    def watch(done, of, made):
        if done == units:
            raise error

    return watch


EMPTY_RECORD = Record(
    id=0, text="", label=0, predicted=None, adversarial_text="", adversarial_predicted=None, score=None,
    adversarial_score=None, changes=(), words=0, budget=0, status="failed", solver="", seed=0, space=None, forwards=0,
    backwards=0, seconds=0.0, victim_seconds=0.0, share="0.2", allowed=None,
)  # fmt: skip
