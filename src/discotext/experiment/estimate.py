"""Shares and means with their 95 % intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discotext.support.intervals import bootstrap, wilson


class Estimate(float):
    """A share or a mean, with its 95 % interval in `low` and `high`.

    >>> estimate = Estimate(0.5, 0.4, 0.6)
    >>> 100 * estimate, estimate.low, estimate.high
    (50.0, 0.4, 0.6)
    """

    low: float
    high: float

    def __new__(cls, value: float, low: float, high: float) -> Estimate:
        made = super().__new__(cls, value)
        made.low, made.high = low, high
        return made

    def __getnewargs__(self) -> tuple[float, float, float]:  # type: ignore[override]
        return float(self), self.low, self.high


def spread(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    """An estimate as JSON has it."""
    if estimate is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    return {name: float(estimate), f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def estimate_share(values: NDArray[Any]) -> Estimate | None:
    """The share of True, with Wilson's interval; None of nothing."""
    if not len(values):
        return None
    good = int(values.sum())
    return Estimate(good / len(values), *wilson(good, len(values)))


def estimate_mean(values: NDArray[Any] | Sequence[float], seed: int) -> Estimate | None:
    """The mean, with a bootstrap's interval; None of nothing."""
    return Estimate(float(np.mean(values)), *bootstrap(values, seed)) if len(values) else None
