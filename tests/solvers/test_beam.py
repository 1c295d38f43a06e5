"""Beam search."""

import numpy as np
import pytest
from benchmarks.random_networks import RandomNetworks
from hypothesis import given
from hypothesis import strategies as st

from discotext import Batch, solve
from discotext.solvers import (
    Beam,
)
from tests.conftest import Table, problems


@given(problems(4, 3), st.integers(0, 1000))
def test_a_beam_wide_enough_is_exact(problem, seed):
    batch = Batch.of([problem])
    table = Table(batch, seed)
    (solution,) = solve(batch, table, Beam(width=100))
    assert solution.score == pytest.approx(table.best(0))


def test_a_wider_beam_is_no_worse_on_average():
    networks = RandomNetworks(range(30), budget=3)
    means = [
        np.mean([solution.score for solution in solve(networks.batch, networks, Beam(width))]) for width in (1, 3, 9)
    ]
    assert means == sorted(means)
