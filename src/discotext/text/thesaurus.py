"""What the package knows about words: an extract of WordNet, and a thesaurus of words that may replace a word.

WordNet lists senses, and two words that share a sense are synonyms. But `great` and `bully` share a sense that hardly
anyone means. The extract therefore gives each pair a strength, the probability that both words are used in the same
sense:

    strength(w → c) = Σ P(s | w as this part of speech) · weight · P(s′ | c)    over senses s of w and s′ of c

with weight 1 if s′ = s, 0.7 if s′ is a similar adjective, 0.5 if it is a hypernym (mouse → rodent) or in the same
cluster of adjectives. The probabilities come from the counts in WordNet's own sense-tagged texts. For the most frequent
words the proposals of WordNet and of the vectors were reviewed: accepted pairs have a strength near 1, rejected ones
below 0.1. `scripts/build_resources.py` builds the extract.

The thesaurus says how often people accept a swap in general. Whether one is acceptable depends on the sentence; how
often it is does not. So much is known beforehand, for a word, a part of speech and a candidate: the *prior*, learnt
from substitutions that people proposed and judged, from what WordNet, a thesaurus and several vector spaces say of the
pair. `python -m scripts.scorer` builds the table from all pairs whose prior is not negligible.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Ints
from discotext.text.resources import read_arrays, read_resource

LETTERS = {"NOUN": "n", "VERB": "v", "ADJ": "a", "ADV": "r"}  # WordNet's letter for each part of speech
# Logits of the thesaurus are stored as bytes: byte / LOGIT_SCALE + LOGIT_FLOOR.
LOGIT_SCALE, LOGIT_FLOOR = 32.0, -5.0
UNLISTED = -5.5  # the logit of a pair that is not in the table


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

    def synonyms(self, lemma: str, part: str) -> dict[str, float]:
        """Words that may replace a lemma as this part of speech, with strengths, strongest first.

        >>> list(load_wordnet().synonyms("movie", "NOUN"))[:1]
        ['film']
        """
        return self.related.get((lemma, LETTERS.get(part, "")), {})

    def are_antonyms(self, word: str, other: str) -> bool:
        """Whether one lemma means the opposite of the other.

        >>> load_wordnet().are_antonyms("good", "bad"), load_wordnet().are_antonyms("good", "nice")
        (True, False)
        """
        return (word, other) in self.opposites or (other, word) in self.opposites


@cache
def load_wordnet() -> WordNet:
    """Load the extract that comes with the package.

    Its lines are `. part lemma …`, `~ lemma part candidate strength …` in hundredths, `! word opposite …` and
    `_ a phrase`.
    """
    parts: set[tuple[str, str]] = set()
    related: dict[tuple[str, str], dict[str, float]] = {}
    opposites: set[tuple[str, str]] = set()
    phrases: set[tuple[str, ...]] = set()
    for line in gzip.decompress(read_resource("wordnet.txt.gz")).decode("utf-8").splitlines():
        kind, *words = line.split(" ")
        if kind == ".":
            parts.update((word, words[0]) for word in words[1:])
        elif kind == "~":
            pairs = zip(words[2::2], words[3::2], strict=True)
            related[words[0], words[1]] = {word: int(strength) / 100 for word, strength in pairs}
        elif kind == "!":
            opposites.update((words[0], word) for word in words[1:])
        elif kind == "_":
            phrases.add(tuple(words))
    return WordNet(frozenset(parts), related, frozenset(opposites), frozenset(phrases))


@dataclass(frozen=True, eq=False)
class Thesaurus:
    """Candidates of lemmas by part of speech, most acceptable first.

    words: the vocabulary. first: where each entry starts among `candidates`, and the end. entries: the number of the
    entry of (lemma, letter of the part of speech). candidates: numbers of words. logits: log-odds that a swap is
    accepted, whatever the sentence.
    """

    words: list[str]
    entries: dict[tuple[str, str], int]
    first: Ints
    candidates: NDArray[np.uint16]
    logits: NDArray[np.float32]

    def look_up(self, lemma: str, part: str) -> dict[str, float]:
        """The candidates of a lemma as this part of speech with their logits, most acceptable first.

        >>> list(load_thesaurus().look_up("movie", "NOUN"))[:1]
        ['film']
        """
        entry = self.entries.get((lemma, LETTERS.get(part, "")))
        if entry is None:
            return {}
        begin, end = self.first[entry], self.first[entry + 1]
        names = (self.words[number] for number in self.candidates[begin:end].tolist())
        return dict(zip(names, self.logits[begin:end].tolist(), strict=True))


@cache
def load_thesaurus() -> Thesaurus:
    """Load the table that comes with the package."""
    arrays = read_arrays("thesaurus.safetensors")
    words = arrays["words"].tobytes().decode("utf-8").split("\n")
    letters = list(LETTERS.values())
    named = zip(arrays["lemmas"].tolist(), arrays["parts"].tolist(), strict=True)
    entries = {(words[lemma], letters[part]): number for number, (lemma, part) in enumerate(named)}
    first = np.concatenate([[0], np.cumsum(arrays["counts"].astype(np.int64))])
    logits = arrays["logits"].astype(np.float32) / np.float32(LOGIT_SCALE) + np.float32(LOGIT_FLOOR)
    return Thesaurus(words, entries, first, arrays["candidates"], logits)
