"""What all solvers share: the loop that runs them, and the moves they are built from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discotext.support.lazy import lazy_names

if TYPE_CHECKING:
    from discotext.search.loop import Stop as Stop
    from discotext.search.loop import solve as solve
    from discotext.search.solver import Proposal as Proposal
    from discotext.search.solver import Search as Search
    from discotext.search.solver import Solver as Solver
    from discotext.search.solver import Tuning as Tuning

_HOMES = {
    "loop": ["Stop", "solve"],
    "solver": ["Proposal", "Search", "Solver", "Tuning"],
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
