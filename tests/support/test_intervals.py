"""Intervals: published examples, symmetries, how often they hold the truth, and a second road to the same ends."""

from itertools import product
from unittest.mock import patch

import numpy as np
import pytest

from discotext.support.intervals import bootstrap, newcombe_paired


def test_newcombes_interval_is_that_of_published_examples():
    # Cavo et al. 2012, as Fagerland, Lydersen and Laake print it; and without any difference.
    assert newcombe_paired(59, 16, 6, 80) == pytest.approx((-0.1186, -0.0046), abs=5e-5)
    low, high = newcombe_paired(50, 0, 0, 50)
    assert low == -high


def test_newcombes_interval_changes_sides_with_the_pairs_and_holds_the_difference():
    for table in product((0, 1, 3, 10), repeat=4):
        both, first, second, neither = table
        n = sum(table)
        low, high = newcombe_paired(*table)
        other = newcombe_paired(both, second, first, neither)
        assert other == pytest.approx((-high, -low))
        if n:
            assert -1 <= low <= (second - first) / n <= high <= 1


def test_newcombes_interval_holds_the_true_difference_in_95_of_100_cases():
    rng, n = np.random.default_rng(5), 100
    for shares in ([0.5, 0.2, 0.1, 0.2], [0.8, 0.02, 0.08, 0.1], [0.6, 0.05, 0.05, 0.3]):
        drawn = rng.multinomial(n, shares, size=4000)
        ends = np.array([newcombe_paired(*map(int, row)) for row in drawn])
        truth = shares[2] - shares[1]
        covered = np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
        assert 0.94 < covered < 0.985


def test_of_very_many_values_the_normal_interval_is_that_of_drawing_again():
    values = np.random.default_rng(0).gamma(0.5, 0.1, 20_000)
    with patch("discotext.support.intervals.BOOTSTRAP_LIMIT", 100):
        quick = bootstrap(values, seed=1)
    assert quick == pytest.approx(bootstrap(values, seed=1), rel=2e-3)
    assert quick != bootstrap(values, seed=1)
