"""Numbers on the command line."""

from __future__ import annotations

import math
from typing import Any

import click


class Count(click.IntRange):
    """An integer with a lower bound that fits into 64 bits."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if found >= 2**63:
            self.fail(f"{str(value)[:40]} is too large; choose less than 2⁶³.", param, ctx)
        return found


class Number(click.FloatRange):
    """A number in a range. NaN is in none, although comparisons do not say so."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if math.isnan(found):
            limited = self.min is not None or self.max is not None
            expected = f"in the range {self._describe_range()}" if limited else "a number"
            self.fail(f"{value!r} is not {expected}.", param, ctx)
        return found
