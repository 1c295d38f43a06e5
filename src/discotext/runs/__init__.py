"""What an attack leaves behind: records, their summaries and certificates, and the folders that keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discotext.support.lazy import lazy_names

if TYPE_CHECKING:
    from discotext.runs.record import Budget as Budget
    from discotext.runs.record import Change as Change
    from discotext.runs.record import Record as Record
    from discotext.runs.summary import Estimate as Estimate
    from discotext.runs.summary import SolverSummary as SolverSummary
    from discotext.runs.summary import Summary as Summary

_HOMES = {
    "record": ["Budget", "Change", "Record"],
    "summary": ["Estimate", "SolverSummary", "Summary"],
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
