"""What a solver is: settings, and a loop that tells what it tried.

A solver keeps no score board. It yields proposals and is told which problems go on; `solve` keeps the best, watches the
clock and the limits, takes back what is not needed and checks what is returned, once, for every solver.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from discotext.oracle import Wrapper
from discotext.problem import Batch
from discotext.segments import Bools, Choices, Floats, Ints


@dataclass(frozen=True)
class Proposal:
    """Choices that were tried, with their scores.

    problems: (R,) numbers in the full batch, in any order; a problem may occur many times.
    choices: (R, n_max), within budget. scores: (R,).
    proved: problems for which everything else has been ruled out: the best seen so far is the best there is.
    below: everything with fewer changes than this has been tried before, for all problems named here.
    """

    problems: Ints
    choices: Choices
    scores: Floats
    proved: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    below: int = 0


Proposals = Generator[Proposal, Ints, None]


class Solver(Protocol):
    """Settings, and how to propose.

    needs: what the oracle must be able to do (`Oracle`, `RelaxedOracle`, …); `solve` checks it before any work.
    """

    @property
    def needs(self) -> type: ...

    def propose(self, batch: Batch, oracle: Wrapper, rng: np.random.Generator) -> Proposals:
        """Yield proposals; each yield returns the numbers of the problems that go on, in increasing order.

        The oracle can do all that `needs` asks for, and counts what it is asked (`wrappers.passes_spent`). Start from
        `batch.originals()`, whose scores are already known and cost nothing to ask for.
        """
        ...


def among(problems: Ints, active: Ints) -> Bools:
    """(R,) True for rows whose problem goes on."""
    return np.isin(problems, active)
