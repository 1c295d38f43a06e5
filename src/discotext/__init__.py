"""Choose one candidate per position, change at most m of them, and push a score as far as it goes.

Names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from discotext.version import __version__

if TYPE_CHECKING:
    from discotext.blackbox import Multilinear as Multilinear
    from discotext.data.examples import Examples as Examples
    from discotext.data.examples import examples_from as examples_from
    from discotext.data.named import load_data as load_data
    from discotext.embedding import EmbeddingOracle as EmbeddingOracle
    from discotext.experiment.attack import attack as attack
    from discotext.experiment.attack import compare as compare
    from discotext.experiment.on_ray import RayExecutor as RayExecutor
    from discotext.experiment.processes import Processes as Processes
    from discotext.experiment.quality import text_quality as text_quality
    from discotext.goals import OwnGoal as OwnGoal
    from discotext.goals import Targeted as Targeted
    from discotext.goals import Untargeted as Untargeted
    from discotext.laws import OracleReport as OracleReport
    from discotext.laws import check_oracle as check_oracle
    from discotext.oracle import BoundingOracle as BoundingOracle
    from discotext.oracle import DeletingOracle as DeletingOracle
    from discotext.oracle import FunctionOracle as FunctionOracle
    from discotext.oracle import Oracle as Oracle
    from discotext.oracle import RelaxedOracle as RelaxedOracle
    from discotext.problem import Batch as Batch
    from discotext.problem import Problem as Problem
    from discotext.solution import Solution as Solution
    from discotext.solution import Status as Status
    from discotext.solvers import Beam as Beam
    from discotext.solvers import Disco as Disco
    from discotext.solvers import Exact as Exact
    from discotext.solvers import GradientGreedy as GradientGreedy
    from discotext.solvers import Greedy as Greedy
    from discotext.solvers import LazyGreedy as LazyGreedy
    from discotext.solvers import LeftToRight as LeftToRight
    from discotext.solvers import LocalSearch as LocalSearch
    from discotext.solvers import Proposal as Proposal
    from discotext.solvers import Random as Random
    from discotext.solvers import RankedGreedy as RankedGreedy
    from discotext.solvers import Solver as Solver
    from discotext.solvers import StochasticGreedy as StochasticGreedy
    from discotext.solvers import solver_named as solver_named
    from discotext.solving import Stop as Stop
    from discotext.solving import solve as solve
    from discotext.text.candidates import Candidates as Candidates
    from discotext.text.configure import candidates_from as candidates_from
    from discotext.text.space import Space as Space
    from discotext.text.vectors import WordVectors as WordVectors
    from discotext.victims.check import check_victim as check_victim
    from discotext.victims.named import victim_from as victim_from
    from discotext.victims.victim import Victim as Victim
    from discotext.wrappers import Cached as Cached
    from discotext.wrappers import Chunked as Chunked
    from discotext.wrappers import Counted as Counted
    from discotext.wrappers import Guarded as Guarded

_HOME = {
    "blackbox": ["Multilinear"],
    "data.examples": ["Examples", "examples_from"],
    "data.named": ["load_data"],
    "embedding": ["EmbeddingOracle"],
    "experiment.attack": ["attack", "compare"],
    "experiment.on_ray": ["RayExecutor"],
    "experiment.processes": ["Processes"],
    "experiment.quality": ["text_quality"],
    "goals": ["OwnGoal", "Targeted", "Untargeted"],
    "laws": ["OracleReport", "check_oracle"],
    "oracle": ["BoundingOracle", "DeletingOracle", "FunctionOracle", "Oracle", "RelaxedOracle"],
    "problem": ["Batch", "Problem"],
    "solution": ["Solution", "Status"],
    "solvers": [
        "Beam",
        "Disco",
        "Exact",
        "GradientGreedy",
        "Greedy",
        "LazyGreedy",
        "LeftToRight",
        "LocalSearch",
        "Proposal",
        "Random",
        "RankedGreedy",
        "Solver",
        "StochasticGreedy",
        "solver_named",
    ],
    "solving": ["Stop", "solve"],
    "text.candidates": ["Candidates"],
    "text.configure": ["candidates_from"],
    "text.space": ["Space"],
    "text.vectors": ["WordVectors"],
    "victims.check": ["check_victim"],
    "victims.named": ["victim_from"],
    "victims.victim": ["Victim"],
    "wrappers": ["Cached", "Chunked", "Counted", "Guarded"],
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = ["__version__", *sorted(_MODULE_OF)]


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'discotext' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"discotext.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULE_OF])
