"""Words, candidates and search spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discotext.support.lazy import lazy_names

if TYPE_CHECKING:
    from discotext.text.acceptability import LightScorer as LightScorer
    from discotext.text.acceptability import Scorer as Scorer
    from discotext.text.candidates import Candidates as Candidates
    from discotext.text.candidates import Replacements as Replacements
    from discotext.text.candidates import make_candidates as make_candidates
    from discotext.text.candidates import make_scorer as make_scorer
    from discotext.text.encoder_scorer import EncoderScorer as EncoderScorer
    from discotext.text.encoder_scorer import FullScorer as FullScorer
    from discotext.text.space import Space as Space
    from discotext.text.vectors import WordVectors as WordVectors
    from discotext.text.words import Words as Words
    from discotext.text.words import split as split

_HOMES = {
    "acceptability": ["LightScorer", "Scorer"],
    "encoder_scorer": ["EncoderScorer", "FullScorer"],
    "candidates": ["Candidates", "Replacements", "make_candidates", "make_scorer"],
    "space": ["Space"],
    "vectors": ["WordVectors"],
    "words": ["Words", "split"],
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
