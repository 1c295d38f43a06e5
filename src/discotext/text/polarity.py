"""Polarity: a swap can read well and still change what is said of a thing (`the film was great` → `fine`).

The filter here compares how positive two words are, by the ratings that people gave to 7,000 words, each rated by ten
of them from −4 to 4 (the lexicon of VADER; Hutto and Gilbert 2014). A word that is not rated counts as neutral. It
serves tasks whose classes are opinions. For topics there is nothing to keep, and it refuses little.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from discotext.text.filters import Filter
from discotext.text.inflection import lemmatise
from discotext.text.words import WordContext

POLARITY_FILE = "polarity.txt.gz"


@cache
def load_polarity() -> dict[str, float]:
    """How positive words are, from −4 to 4.

    >>> load_polarity()["great"] > load_polarity()["fine"] > 0 > load_polarity()["awful"]
    True
    """
    content = resources.files("discotext.text.resources").joinpath(POLARITY_FILE).read_bytes()
    lines = (line.split() for line in gzip.decompress(content).decode("ascii").splitlines())
    return {word: float(rating) for word, rating in lines}


@dataclass(frozen=True, eq=False)
class Polarity(Filter):
    """A candidate is about as positive or negative as the word.

    most: by how much the ratings may differ. ratings: of words, in lower case; others count as neutral, 0.

    >>> from discotext.text.words import split
    >>> context = WordContext(split("a great film"), ("DT", "JJ", "NN"), 1)
    >>> Polarity().refuses(context, "fine"), Polarity().refuses(context, "wonderful")
    (True, False)
    """

    most: float = 1.0
    ratings: Mapping[str, float] = field(default_factory=load_polarity)
    name = "polarity"

    def refuses(self, context: WordContext, candidate: str) -> bool:
        ours, theirs = self._rate(context.lower, context.tag), self._rate(candidate, context.tag)
        return abs(ours - theirs) > self.most or ours * theirs < 0

    def _rate(self, word: str, tag: str) -> float:
        found = self.ratings.get(word)
        return self.ratings.get(lemmatise(word, tag), 0.0) if found is None else found

    def settings(self) -> dict[str, float | int | str]:
        return {"most": self.most}
