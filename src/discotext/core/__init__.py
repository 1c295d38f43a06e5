"""Problems, oracles and the mathematics of the relaxation: arrays in, arrays out, and no text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discotext.support.lazy import lazy_names

if TYPE_CHECKING:
    from discotext.core.embedding import EmbeddingOracle as EmbeddingOracle
    from discotext.core.objectives import CustomObjective as CustomObjective
    from discotext.core.objectives import Objective as Objective
    from discotext.core.objectives import Targeted as Targeted
    from discotext.core.objectives import Untargeted as Untargeted
    from discotext.core.oracle import BoundingOracle as BoundingOracle
    from discotext.core.oracle import DeletingOracle as DeletingOracle
    from discotext.core.oracle import FunctionOracle as FunctionOracle
    from discotext.core.oracle import Oracle as Oracle
    from discotext.core.oracle import PricedOracle as PricedOracle
    from discotext.core.oracle import RelaxedOracle as RelaxedOracle
    from discotext.core.oracle import UnavailableError as UnavailableError
    from discotext.core.oracle_check import OracleReport as OracleReport
    from discotext.core.oracle_check import check_oracle as check_oracle
    from discotext.core.problem import Batch as Batch
    from discotext.core.problem import Problem as Problem
    from discotext.core.problem import Solution as Solution
    from discotext.core.problem import Status as Status
    from discotext.core.wrappers import Cached as Cached
    from discotext.core.wrappers import Chunked as Chunked
    from discotext.core.wrappers import Counted as Counted
    from discotext.core.wrappers import Guarded as Guarded

_HOMES = {
    "embedding": ["EmbeddingOracle"],
    "objectives": ["CustomObjective", "Objective", "Targeted", "Untargeted"],
    "oracle": [
        "BoundingOracle",
        "DeletingOracle",
        "FunctionOracle",
        "Oracle",
        "PricedOracle",
        "RelaxedOracle",
        "UnavailableError",
    ],
    "oracle_check": ["OracleReport", "check_oracle"],
    "problem": ["Batch", "Problem", "Solution", "Status"],
    "wrappers": ["Cached", "Chunked", "Counted", "Guarded"],
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
