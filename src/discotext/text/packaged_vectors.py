"""The word vectors that come with the package, so that candidates need no file and no network.

GloVe vectors of frequent English words, counter-fitted with WordNet's synonyms and antonyms, stored as integers from
−127 to 127: only directions matter, so rows are scaled to length 1 when read.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

import numpy as np

from discotext.text.vectors import WordVectors

VECTORS_FILE = "vectors.safetensors"


@cache
def load_packaged_vectors() -> WordVectors:
    """Load unit vectors of frequent words, the most frequent first.

    >>> vectors = load_packaged_vectors()
    >>> bool(vectors["movie"] @ vectors["film"] > 0.8 > vectors["good"] @ vectors["bad"])
    True
    """
    from safetensors.numpy import load

    arrays = load(resources.files("discotext.text.resources").joinpath(VECTORS_FILE).read_bytes())
    words = arrays["words"].tobytes().decode("utf-8").split("\n")
    return WordVectors(words, arrays["vectors"].astype(np.float32)).normalise()
