"""WordNet, as much of it as candidates need: which words can mean the same, how likely, and which mean the opposite.

WordNet lists senses, and two words of one sense are synonyms in it. But `great` and `bully` share a sense that hardly
anyone means. So the extract that is shipped gives each pair a strength, the chance that both words are meant alike:

    strength(w → c) = Σ P(s | w as this part of speech) · weight · P(s′ | c)    over senses s of w and s′ of c

with weight 1 where s′ is s itself, 0.7 where it is an adjective close to it, 0.5 where it lies one step above it
(mouse → rodent) or beside it in a cluster of adjectives. The chances are from the counts of WordNet's own tagged texts.
For the most frequent words what WordNet and the vectors propose has been read; what was kept has a strength near 1
and what was refused one below 0.1. `scripts/build_resources.py` makes the extract; docs/candidates.md has its source
and licence.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources

LETTERS = {"NOUN": "n", "VERB": "v", "ADJ": "a", "ADV": "r"}  # parts of speech as WordNet names them
FILE = "wordnet.txt.gz"


@dataclass(frozen=True, eq=False)
class WordNet:
    """related: (lemma, part) → {candidate: strength}, strongest first; opposites: pairs; phrases: of several words.

    parts: (lemma, part) for every part of speech a lemma can be.
    """

    parts: frozenset[tuple[str, str]]
    related: dict[tuple[str, str], dict[str, float]]
    opposites: frozenset[tuple[str, str]]
    phrases: frozenset[tuple[str, ...]]

    def synonyms(self, lemma: str, part: str) -> dict[str, float]:
        """What may stand for a lemma as this part of speech, with strengths, strongest first.

        >>> list(wordnet().synonyms("movie", "NOUN"))[:1]
        ['film']
        """
        return self.related.get((lemma, LETTERS[part]), {})

    def opposed(self, word: str, other: str) -> bool:
        """Whether one lemma means the opposite of the other.

        >>> wordnet().opposed("good", "bad"), wordnet().opposed("good", "nice")
        (True, False)
        """
        return (word, other) in self.opposites or (other, word) in self.opposites


@cache
def wordnet() -> WordNet:
    """The extract that comes with the package."""
    packed = resources.files("discotext.resources").joinpath(FILE).read_bytes()
    return parse(gzip.decompress(packed).decode("utf-8").splitlines())


def parse(lines: Iterable[str]) -> WordNet:
    """Read an extract: lines `. part lemma …`, `~ lemma part candidate strength …` in hundredths, `! word opposite …`
    and `_ a phrase`."""
    parts: set[tuple[str, str]] = set()
    related: dict[tuple[str, str], dict[str, float]] = {}
    opposites: set[tuple[str, str]] = set()
    phrases: set[tuple[str, ...]] = set()
    for line in lines:
        kind, *words = line.split(" ")
        if kind == ".":
            parts.update((word, words[0]) for word in words[1:])
        elif kind == "~":
            strengths = map(int, words[3::2])
            related[words[0], words[1]] = {
                word: strength / 100 for word, strength in zip(words[2::2], strengths, strict=True)
            }
        elif kind == "!":
            opposites.update((words[0], word) for word in words[1:])
        elif kind == "_":
            phrases.add(tuple(words))
    return WordNet(frozenset(parts), related, frozenset(opposites), frozenset(phrases))
