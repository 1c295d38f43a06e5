"""Words, candidates and search spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discotext.support.lazy import lazy_names

if TYPE_CHECKING:
    from discotext.text.candidates import Candidates as Candidates
    from discotext.text.candidates import Replacements as Replacements
    from discotext.text.candidates import make_candidates as make_candidates
    from discotext.text.space import Space as Space
    from discotext.text.vectors import WordVectors as WordVectors
    from discotext.text.words import Words as Words
    from discotext.text.words import split as split

_HOMES = {
    "candidates": ["Candidates", "Replacements", "make_candidates"],
    "space": ["Space"],
    "vectors": ["WordVectors"],
    "words": ["Words", "split"],
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
