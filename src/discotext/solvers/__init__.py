"""Ways to search, on equal terms. Every solver is a frozen set of settings; `solve` runs it."""

from __future__ import annotations

from collections.abc import Callable

from discotext.solvers.adam import DiscoAdam
from discotext.solvers.beam import Beam
from discotext.solvers.disco import Disco
from discotext.solvers.exact import Exact
from discotext.solvers.frank_wolfe import DiscoFrankWolfe
from discotext.solvers.gradient_greedy import GradientGreedy
from discotext.solvers.greedy import Greedy, StochasticGreedy
from discotext.solvers.guided import DiscoGuided
from discotext.solvers.lazy_greedy import LazyGreedy
from discotext.solvers.local_search import LocalSearch
from discotext.solvers.proposal import Proposal, Proposals, Solver
from discotext.solvers.proximal import DiscoProximal
from discotext.solvers.random import Random
from discotext.solvers.sweep import LeftToRight, RankedGreedy

SOLVERS: dict[str, Callable[[], Solver]] = {
    "disco": lambda: Disco(),
    "disco-high": lambda: Disco(effort="high"),
    "disco-proximal": lambda: Disco(method="proximal"),
    "disco-adam": lambda: Disco(method="adam"),
    "disco-frank-wolfe": lambda: Disco(method="frank-wolfe"),
    "greedy": Greedy,
    "lazy-greedy": LazyGreedy,
    "stochastic-greedy": StochasticGreedy,
    "left-to-right": LeftToRight,
    "ranked-greedy": RankedGreedy,
    "gradient-greedy": GradientGreedy,
    "beam": Beam,
    "local-search": LocalSearch,
    "exact": Exact,
    "random": Random,
}


def solver_named(name: str) -> Solver:
    """The solver of a name, with its default settings; underscores are accepted for hyphens.

    >>> solver_named("lazy_greedy")
    LazyGreedy()
    """
    solver = SOLVERS.get(name.replace("_", "-"))
    if solver is None:
        raise ValueError(f"there is no solver {name!r}; choose one of {', '.join(SOLVERS)}")
    return solver()


__all__ = [
    "SOLVERS",
    "Beam",
    "Disco",
    "DiscoAdam",
    "DiscoFrankWolfe",
    "DiscoGuided",
    "DiscoProximal",
    "Exact",
    "GradientGreedy",
    "Greedy",
    "LazyGreedy",
    "LeftToRight",
    "LocalSearch",
    "Proposal",
    "Proposals",
    "Random",
    "RankedGreedy",
    "Solver",
    "StochasticGreedy",
    "solver_named",
]
