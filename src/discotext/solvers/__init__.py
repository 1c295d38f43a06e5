"""Ways to search, on equal terms. Every solver is a frozen set of settings; `solve` runs it."""

from __future__ import annotations

from collections.abc import Callable

from discotext.search.solver import Solver
from discotext.solvers.beam import Beam
from discotext.solvers.disco import Disco
from discotext.solvers.disco_adam import DiscoAdam
from discotext.solvers.disco_frank_wolfe import DiscoFrankWolfe
from discotext.solvers.disco_proximal import DiscoProximal
from discotext.solvers.exact import Exact
from discotext.solvers.genetic import Genetic
from discotext.solvers.gradient_greedy import GradientGreedy
from discotext.solvers.greedy import Greedy
from discotext.solvers.lazy_greedy import LazyGreedy
from discotext.solvers.left_to_right import LeftToRight
from discotext.solvers.local_search import LocalSearch
from discotext.solvers.particle_swarm import ParticleSwarm
from discotext.solvers.prefix_beam import PrefixBeam
from discotext.solvers.random import Random
from discotext.solvers.ranked_greedy import RankedGreedy
from discotext.solvers.stochastic_greedy import StochasticGreedy
from discotext.solvers.viterbi import Viterbi

SOLVERS: dict[str, Callable[[], Solver]] = {
    "disco": Disco,
    "disco-high": lambda: Disco(effort="high"),
    "disco-proximal": DiscoProximal,
    "disco-adam": DiscoAdam,
    "disco-frank-wolfe": DiscoFrankWolfe,
    "greedy": Greedy,
    "lazy-greedy": LazyGreedy,
    "stochastic-greedy": StochasticGreedy,
    "left-to-right": LeftToRight,
    "ranked-greedy": RankedGreedy,
    "gradient-greedy": GradientGreedy,
    "beam": Beam,
    "local-search": LocalSearch,
    "genetic": Genetic,
    "particle-swarm": ParticleSwarm,
    "exact": Exact,
    "random": Random,
}
# These go along a text, and need an oracle that does so too (`MarkovOracle`, `SequentialOracle`).
SEQUENCE_SOLVERS: dict[str, Callable[[], Solver]] = {
    "viterbi": Viterbi,
    "prefix-beam": PrefixBeam,
}


def make_solver(name: str) -> Solver:
    """The solver of a name, with its default settings; underscores are accepted for hyphens.

    >>> make_solver("lazy_greedy")
    LazyGreedy()
    """
    solvers = {**SOLVERS, **SEQUENCE_SOLVERS}
    solver = solvers.get(name.replace("_", "-"))
    if solver is None:
        raise ValueError(f"there is no solver {name!r}; choose one of {', '.join(solvers)}")
    return solver()


__all__ = [
    "SEQUENCE_SOLVERS",
    "SOLVERS",
    "Beam",
    "Disco",
    "DiscoAdam",
    "DiscoFrankWolfe",
    "DiscoProximal",
    "Exact",
    "Genetic",
    "GradientGreedy",
    "Greedy",
    "LazyGreedy",
    "LeftToRight",
    "LocalSearch",
    "ParticleSwarm",
    "PrefixBeam",
    "Random",
    "RankedGreedy",
    "StochasticGreedy",
    "Viterbi",
    "make_solver",
]
