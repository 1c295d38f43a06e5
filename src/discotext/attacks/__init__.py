"""Attacks on many texts: what is asked, one task, how tasks are spread over workers, and the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discotext.support.lazy import lazy_names

if TYPE_CHECKING:
    from discotext.attacks.execution.processes import Processes as Processes
    from discotext.attacks.execution.ray import RayExecutor as RayExecutor
    from discotext.attacks.run import Serial as Serial

_HOMES = {"run": ["Serial"], "execution.processes": ["Processes"], "execution.ray": ["RayExecutor"]}
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
