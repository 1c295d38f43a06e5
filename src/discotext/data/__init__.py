"""Labelled texts: named data sets, files and objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discotext.support.lazy import lazy_names

if TYPE_CHECKING:
    from discotext.data.examples import Examples as Examples
    from discotext.data.examples import make_examples as make_examples
    from discotext.data.registry import load_data as load_data

_HOMES = {
    "examples": ["Examples", "make_examples"],
    "registry": ["load_data"],
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
