"""How far can a few word changes push a text classifier, and how near is that to the true worst case?

The names that most users need. Solvers are in `discotext.solvers`, oracles in `discotext.core`, data sets in
`discotext.data`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discotext.support.lazy import lazy_names
from discotext.version import __version__ as __version__

if TYPE_CHECKING:
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
    from discotext.text.space import Space as Space
    from discotext.victims.encoded import Encoded as Encoded
    from discotext.victims.function import FunctionVictim as FunctionVictim
    from discotext.victims.http.victim import HttpVictim as HttpVictim
    from discotext.victims.neural.victim import NeuralVictim as NeuralVictim
    from discotext.victims.sklearn.victim import SklearnVictim as SklearnVictim
    from discotext.victims.transformers.victim import HuggingFaceVictim as HuggingFaceVictim
    from discotext.victims.victim import Capabilities as Capabilities
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
    "text.space": ["Space"],
    "victims.encoded": ["Encoded"],
    "victims.function": ["FunctionVictim"],
    "victims.transformers.victim": ["HuggingFaceVictim"],
    "victims.neural.victim": ["NeuralVictim"],
    "victims.http.victim": ["HttpVictim"],
    "victims.sklearn.victim": ["SklearnVictim"],
    "victims.victim": ["Capabilities", "Victim"],
}
_NAMES = ("solvers", "core", "search", "data", "text", "victims", "runs", "attacks", "models", "decoding")
_FOLDERS = [f"discotext.{name}" for name in _NAMES]
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES, _FOLDERS, needs_torch=["NeuralVictim"])
