"""The part of WordNet that candidates need: which words can mean the same, how likely, and which are opposites.

WordNet lists senses, and two words that share a sense are synonyms. But `great` and `bully` share a sense that hardly
anyone means. The extract shipped with the package therefore gives each pair a strength, the probability that both
words are used in the same sense:

    strength(w → c) = Σ P(s | w as this part of speech) · weight · P(s′ | c)    over senses s of w and s′ of c

with weight 1 if s′ = s, 0.7 if s′ is a similar adjective, 0.5 if it is a hypernym (mouse → rodent) or in the same
cluster of adjectives. The probabilities come from the counts in WordNet's own sense-tagged texts. For the most frequent
words the proposals of WordNet and of the vectors were reviewed: accepted pairs have a strength near 1, rejected ones
below 0.1. `scripts/build_resources.py` builds the extract; docs/reference/packaged-data.md has its source and licence.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources

LETTERS = {"NOUN": "n", "VERB": "v", "ADJ": "a", "ADV": "r"}  # WordNet's letter for each part of speech
WORDNET_FILE = "wordnet.txt.gz"


@dataclass(frozen=True, eq=False)
class WordNet:
    """Synonyms with strengths, antonyms and set phrases.

    parts: (lemma, part) for every part of speech a lemma can be. related: (lemma, part) → {candidate: strength},
    strongest first. opposites: pairs of antonyms. phrases: multi-word expressions.
    """

    parts: frozenset[tuple[str, str]]
    related: dict[tuple[str, str], dict[str, float]]
    opposites: frozenset[tuple[str, str]]
    phrases: frozenset[tuple[str, ...]]

    @cached_property
    def beginnings(self) -> frozenset[tuple[str, ...]]:
        """The first two words of the phrases of three."""
        return frozenset(phrase[:2] for phrase in self.phrases if len(phrase) == 3)

    def synonyms(self, lemma: str, part: str) -> dict[str, float]:
        """Words that may replace a lemma as this part of speech, with strengths, strongest first.

        >>> list(load_wordnet().synonyms("movie", "NOUN"))[:1]
        ['film']
        """
        return self.related.get((lemma, LETTERS[part]), {})

    def are_antonyms(self, word: str, other: str) -> bool:
        """Whether one lemma means the opposite of the other.

        >>> load_wordnet().are_antonyms("good", "bad"), load_wordnet().are_antonyms("good", "nice")
        (True, False)
        """
        return (word, other) in self.opposites or (other, word) in self.opposites


@cache
def load_wordnet() -> WordNet:
    """Load the extract that comes with the package."""
    packed = resources.files("discotext.text.resources").joinpath(WORDNET_FILE).read_bytes()
    return parse_wordnet(gzip.decompress(packed).decode("utf-8").splitlines())


def parse_wordnet(lines: Iterable[str]) -> WordNet:
    """Parse an extract: lines `. part lemma …`, `~ lemma part candidate strength …` in hundredths, `! word opposite …`
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
