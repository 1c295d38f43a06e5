"""How far can a few word changes push a text classifier, and how near is that to the true worst case?

The names that most users need. Solvers are in `discotext.solvers`, oracles in `discotext.core`, data sets in
`discotext.data`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discotext.support.lazy import lazy_names
from discotext.version import __version__ as __version__

if TYPE_CHECKING:
    from discotext.core.problem import Batch as Batch
    from discotext.core.problem import Problem as Problem
    from discotext.decoding.decode import decode as decode
    from discotext.experiment.attack import attack as attack
    from discotext.experiment.attack import compare as compare
    from discotext.experiment.certify import certify as certify
    from discotext.experiment.hardening.harden import harden as harden
    from discotext.experiment.result import Result as Result
    from discotext.search.loop import solve as solve
    from discotext.text.candidates import Candidates as Candidates
    from discotext.text.space import Space as Space
    from discotext.victims.encoded import Encoded as Encoded
    from discotext.victims.function import FunctionVictim as FunctionVictim
    from discotext.victims.huggingface import HuggingFaceVictim as HuggingFaceVictim
    from discotext.victims.neural.victim import NeuralVictim as NeuralVictim
    from discotext.victims.remote import HttpVictim as HttpVictim
    from discotext.victims.scikit import SklearnVictim as SklearnVictim
    from discotext.victims.spacy_pipeline import SpacyVictim as SpacyVictim
    from discotext.victims.victim import Capabilities as Capabilities
    from discotext.victims.victim import Victim as Victim

_HOMES = {
    "core.problem": ["Batch", "Problem"],
    "decoding.decode": ["decode"],
    "experiment.attack": ["attack", "compare"],
    "experiment.certify": ["certify"],
    "experiment.hardening.harden": ["harden"],
    "experiment.result": ["Result"],
    "search.loop": ["solve"],
    "text.candidates": ["Candidates"],
    "text.space": ["Space"],
    "victims.encoded": ["Encoded"],
    "victims.function": ["FunctionVictim"],
    "victims.huggingface": ["HuggingFaceVictim"],
    "victims.neural.victim": ["NeuralVictim"],
    "victims.remote": ["HttpVictim"],
    "victims.scikit": ["SklearnVictim"],
    "victims.spacy_pipeline": ["SpacyVictim"],
    "victims.victim": ["Capabilities", "Victim"],
}
_NAMES = ("solvers", "core", "search", "data", "text", "victims", "experiment", "language", "decoding")
_FOLDERS = [f"discotext.{name}" for name in _NAMES]
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES, _FOLDERS, needs_torch=["NeuralVictim"])
