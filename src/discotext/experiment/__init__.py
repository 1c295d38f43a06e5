"""Attacks on many texts: records, summaries, run folders, workers and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discotext.support.lazy import lazy_names

if TYPE_CHECKING:
    from discotext.experiment.execution.executors import Serial as Serial
    from discotext.experiment.execution.processes import Processes as Processes
    from discotext.experiment.execution.ray import RayExecutor as RayExecutor
    from discotext.experiment.quality import text_quality as text_quality
    from discotext.experiment.record import Budget as Budget
    from discotext.experiment.record import Change as Change
    from discotext.experiment.record import Record as Record
    from discotext.experiment.summary import Estimate as Estimate
    from discotext.experiment.summary import SolverSummary as SolverSummary
    from discotext.experiment.summary import Summary as Summary

_HOMES = {
    "execution.executors": ["Serial"],
    "execution.processes": ["Processes"],
    "execution.ray": ["RayExecutor"],
    "quality": ["text_quality"],
    "record": ["Budget", "Change", "Record"],
    "summary": ["Estimate", "SolverSummary", "Summary"],
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
