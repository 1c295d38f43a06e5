"""95 % confidence intervals of proportions, of their differences, and of means."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

Z = 1.959963984540054  # the 97.5 % quantile of the normal distribution
# With more values than this the mean is as good as normal, and a bootstrap would take minutes.
BOOTSTRAP_LIMIT = 50_000


def wilson(good: int, n: int) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion, good out of n; (0, 1) for n = 0.

    >>> [round(end, 3) for end in wilson(45, 50)]
    [0.786, 0.957]
    """
    if n == 0:
        return 0.0, 1.0
    share = good / n
    middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)
    # At 0 and 1 the ends are exact, but rounding would leave the share itself outside.
    return min(share, max(0.0, middle - half)), max(share, min(1.0, middle + half))


def newcombe_paired(both: int, first: int, second: int, neither: int) -> tuple[float, float]:
    """Return Newcombe's interval of a difference of paired proportions: second minus first; (-1, 1) of nothing.

    Method 10 of Newcombe (1998, Statistics in Medicine 17, 2635-2650): the distances to the ends of Wilson's intervals,
    squared and added, with the correlation of the pairs.

    both, first, second, neither: how many pairs are good in both, only in the first, only in the second, in none.

    >>> [round(end, 4) for end in newcombe_paired(59, 16, 6, 80)]  # -0.0621
    [-0.1186, -0.0046]
    """
    n = both + first + second + neither
    if n == 0:
        return -1.0, 1.0
    ones, twos = both + first, both + second
    p1, p2 = ones / n, twos / n
    (low1, high1), (low2, high2) = wilson(ones, n), wilson(twos, n)
    product = ones * (n - ones) * twos * (n - twos)
    agreement = both * neither - first * second
    corrected = max(0.0, agreement - n / 2) if agreement > 0 else agreement
    phi = corrected / math.sqrt(product) if product else 0.0

    def add(a: float, b: float) -> float:
        return math.sqrt(max(0.0, a * a - 2 * phi * a * b + b * b))

    difference = p2 - p1
    low, high = difference - add(p2 - low2, high1 - p1), difference + add(high2 - p2, p1 - low1)
    return max(-1.0, low), min(1.0, high)


def bootstrap(values: ArrayLike, seed: int, draws: int = 2000) -> tuple[float, float]:
    """Return the bootstrap interval of a mean, or the normal one for very many values; NaN if there are none.

    >>> low, high = bootstrap([0.0, 1.0] * 50, seed=0)
    >>> 0.3 < low < 0.5 < high < 0.7
    True
    """
    found = np.asarray(values, dtype=np.float64)
    if not len(found):
        return math.nan, math.nan
    if len(found) > BOOTSTRAP_LIMIT:
        mean, half = float(found.mean()), Z * float(found.std()) / math.sqrt(len(found))
        return mean - half, mean + half
    rng = np.random.default_rng(seed)
    means = [found[rng.integers(0, len(found), len(found))].mean() for _ in range(draws)]
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
