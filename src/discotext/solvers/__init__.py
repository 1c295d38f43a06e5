"""Ways to search, on equal terms. Every solver is a frozen set of settings; `solve` runs it."""

from __future__ import annotations

from collections.abc import Callable

from discotext.search.solver import Solver
from discotext.solvers.disco import Disco, DiscoFrankWolfe
from discotext.solvers.disco_proximal import DiscoAdam, DiscoProximal
from discotext.solvers.exact import Exact
from discotext.solvers.greedy import Beam, GradientGreedy, Greedy, LeftToRight, RankedGreedy
from discotext.solvers.local_search import LocalSearch
from discotext.solvers.random import Random

SOLVERS: dict[str, Callable[[], Solver]] = {
    "disco": Disco,
    "disco-high": lambda: Disco(effort="high"),
    "disco-proximal": DiscoProximal,
    "disco-adam": DiscoAdam,
    "disco-frank-wolfe": DiscoFrankWolfe,
    "greedy": Greedy,
    "left-to-right": LeftToRight,
    "ranked-greedy": RankedGreedy,
    "gradient-greedy": GradientGreedy,
    "beam": Beam,
    "local-search": LocalSearch,
    "exact": Exact,
    "random": Random,
}
# Solvers of earlier versions, each with the way now.
REMOVED = {
    "lazy-greedy": "use greedy",
    "stochastic-greedy": "use greedy, or ranked-greedy for long texts",
    "genetic": "use disco, which takes far fewer queries",
    "particle-swarm": "use disco, which takes far fewer queries",
}


def make_solver(name: str) -> Solver:
    """The solver of a name, with its default settings; underscores are accepted for hyphens.

    >>> make_solver("ranked_greedy")
    RankedGreedy(rank='auto')
    """
    spelt = name.replace("_", "-")
    if spelt in REMOVED:
        raise ValueError(f"the solver {spelt} is gone: {REMOVED[spelt]}")
    if spelt not in SOLVERS:
        raise ValueError(f"there is no solver {name!r}; choose one of {', '.join(SOLVERS)}")
    return SOLVERS[spelt]()


__all__ = [
    "SOLVERS",
    "Beam",
    "Disco",
    "DiscoAdam",
    "DiscoFrankWolfe",
    "DiscoProximal",
    "Exact",
    "GradientGreedy",
    "Greedy",
    "LeftToRight",
    "LocalSearch",
    "Random",
    "RankedGreedy",
    "make_solver",
]
