"""The classifiers under attack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discotext.support.lazy import lazy_names

if TYPE_CHECKING:
    from discotext.victims.check import check_victim as check_victim
    from discotext.victims.function import FunctionVictim as FunctionVictim
    from discotext.victims.huggingface import HuggingFaceVictim as HuggingFaceVictim
    from discotext.victims.neural.victim import NeuralVictim as NeuralVictim
    from discotext.victims.registry import load_victim as load_victim
    from discotext.victims.remote import HttpVictim as HttpVictim
    from discotext.victims.scikit import SklearnVictim as SklearnVictim
    from discotext.victims.spacy_pipeline import SpacyVictim as SpacyVictim
    from discotext.victims.victim import Capabilities as Capabilities
    from discotext.victims.victim import TextOracle as TextOracle
    from discotext.victims.victim import Victim as Victim

_HOMES = {
    "check": ["check_victim"],
    "function": ["FunctionVictim"],
    "huggingface": ["HuggingFaceVictim"],
    "neural.victim": ["NeuralVictim"],
    "registry": ["load_victim"],
    "remote": ["HttpVictim"],
    "scikit": ["SklearnVictim"],
    "spacy_pipeline": ["SpacyVictim"],
    "victim": ["Capabilities", "TextOracle", "Victim"],
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES, needs_torch=["NeuralVictim"])
