"""Randomised black-box checks of the package, which share no code with it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """The number of tries, and one line per failure."""

    name: str
    tries: int
    failures: tuple[str, ...]


def main(run: Callable[[int, int], Outcome], tries: int, what: str) -> int:
    """Run one kind of check from the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--tries", type=int, default=tries, help="number of tries (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: %(default)s)")
    given = parser.parse_args()
    outcome = run(given.tries, given.seed)
    for line in outcome.failures:
        print(line)
    print(f"{outcome.name}: {outcome.tries:,} tries, {len(outcome.failures):,} failures")
    return 1 if outcome.failures else 0
