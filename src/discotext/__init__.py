"""How far can a few word changes push a text classifier, and how near is that to the true worst case?

The names that most users need. Kinds of victims are in `discotext.victims`, solvers in `discotext.solvers`, oracles in
`discotext.core`, data sets in `discotext.data`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discotext.support.lazy import lazy_names
from discotext.version import __version__ as __version__

if TYPE_CHECKING:
    from discotext import attacks as attacks
    from discotext import core as core
    from discotext import data as data
    from discotext import decoding as decoding
    from discotext import models as models
    from discotext import runs as runs
    from discotext import search as search
    from discotext import solvers as solvers
    from discotext import text as text
    from discotext import victims as victims
    from discotext.attacks.attack import attack as attack
    from discotext.attacks.attack import certify as certify
    from discotext.attacks.attack import compare as compare
    from discotext.attacks.result import Result as Result
    from discotext.attacks.settings import Settings as Settings
    from discotext.core.problem import Batch as Batch
    from discotext.core.problem import Problem as Problem
    from discotext.decoding.decode import decode as decode
    from discotext.hardening.harden import harden as harden
    from discotext.search.loop import solve as solve
    from discotext.text.candidates import Candidates as Candidates
    from discotext.victims.victim import Victim as Victim

_HOMES = {
    "core.problem": ["Batch", "Problem"],
    "decoding.decode": ["decode"],
    "attacks.attack": ["attack", "certify", "compare"],
    "attacks.settings": ["Settings"],
    "hardening.harden": ["harden"],
    "attacks.result": ["Result"],
    "search.loop": ["solve"],
    "text.candidates": ["Candidates"],
    "victims.victim": ["Victim"],
}
_NAMES = ("solvers", "core", "search", "data", "text", "victims", "runs", "attacks", "models", "decoding")
_FOLDERS = [f"discotext.{name}" for name in _NAMES]
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES, _FOLDERS)
