"""The vectors that come with the package, so that there are candidates without any file or network.

GloVe's vectors of frequent English words, counter-fitted with WordNet's synonyms and antonyms, in whole numbers from
−127 to 127: only directions matter, so rows are scaled to length 1 again when read.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

import numpy as np

from discotext.text.vectors import WordVectors

FILE = "vectors.safetensors"


@cache
def embedded_vectors() -> WordVectors:
    """Unit vectors of frequent words, the most frequent first.

    >>> vectors = embedded_vectors()
    >>> bool(vectors["movie"] @ vectors["film"] > 0.8 > vectors["good"] @ vectors["bad"])
    True
    """
    from safetensors.numpy import load

    arrays = load(resources.files("discotext.resources").joinpath(FILE).read_bytes())
    words = arrays["words"].tobytes().decode("utf-8").split("\n")
    return WordVectors(words, arrays["vectors"].astype(np.float32)).unit()
