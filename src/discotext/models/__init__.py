"""Language models: how likely is a sentence?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discotext.support.lazy import lazy_names

if TYPE_CHECKING:
    from discotext.models.arpa import read_arpa as read_arpa
    from discotext.models.arpa import write_arpa as write_arpa
    from discotext.models.kneser_ney import train_kneser_ney as train_kneser_ney
    from discotext.models.model import LanguageModel as LanguageModel
    from discotext.models.model import NGramModel as NGramModel
    from discotext.models.model import SequentialModel as SequentialModel
    from discotext.models.model import Token as Token
    from discotext.models.ngram import BackoffModel as BackoffModel
    from discotext.models.registry import load_language_model as load_language_model

_HOMES = {
    "arpa": ["read_arpa", "write_arpa"],
    "kneser_ney": ["train_kneser_ney"],
    "model": ["LanguageModel", "NGramModel", "SequentialModel", "Token"],
    "ngram": ["BackoffModel"],
    "registry": ["load_language_model"],
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
