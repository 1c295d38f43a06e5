"""The classifiers under attack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discotext.support.lazy import lazy_names

if TYPE_CHECKING:
    from discotext.victims.check import check_victim as check_victim
    from discotext.victims.encoded import Encoded as Encoded
    from discotext.victims.function import FunctionVictim as FunctionVictim
    from discotext.victims.http.victim import HttpVictim as HttpVictim
    from discotext.victims.neural.victim import NeuralVictim as NeuralVictim
    from discotext.victims.registry import load_victim as load_victim
    from discotext.victims.sklearn.victim import SklearnVictim as SklearnVictim
    from discotext.victims.transformers.victim import HuggingFaceVictim as HuggingFaceVictim
    from discotext.victims.victim import Capabilities as Capabilities
    from discotext.victims.victim import TextOracle as TextOracle
    from discotext.victims.victim import Victim as Victim

_HOMES = {
    "check": ["check_victim"],
    "encoded": ["Encoded"],
    "function": ["FunctionVictim"],
    "transformers.victim": ["HuggingFaceVictim"],
    "neural.victim": ["NeuralVictim"],
    "registry": ["load_victim"],
    "http.victim": ["HttpVictim"],
    "sklearn.victim": ["SklearnVictim"],
    "victim": ["Capabilities", "TextOracle", "Victim"],
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES, needs_torch=["NeuralVictim"])
