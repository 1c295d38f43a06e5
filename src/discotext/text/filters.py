"""Filters: why a candidate may not stand where a source put it, each with a name and each to be switched off.

A filter is asked about one candidate in one place, in the form it would have there, and refuses it or not. The first
that refuses gives its name to the refusal. To add your own, write a class with a `name`, a `context` and a method
`refuses`. Where the word itself is a reason to refuse everything, a method `keeps` says so once, and saves time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from discotext.text.closed_class import CALENDAR, NEGATING, NEGATIONS, NUMBERS, STOP_WORDS
from discotext.text.embedded import embedded_vectors
from discotext.text.inflection import PARTS, agreeing, forms, lemma, lemmas
from discotext.text.place import Place
from discotext.text.vectors import WordVectors
from discotext.text.wordnet import WordNet, wordnet
from discotext.text.words import match_case


class Filter(Protocol):
    """Whatever can refuse a candidate.

    context: whether the words around matter to it, and not only the word as written, its tag, and whether a capital
    means something there (`Place.first`, `Words.loud`).
    """

    @property
    def name(self) -> str: ...

    @property
    def context(self) -> bool: ...

    def refuses(self, place: Place, candidate: str) -> bool:
        """Whether this candidate, in lower case, may not stand there."""
        ...


@dataclass(frozen=True)
class StopWords:
    """Words that hold a sentence together stay, and are not put for others."""

    name: str = "stop-words"
    context: bool = False

    def keeps(self, place: Place) -> bool:
        return self._is(place.lower)

    def refuses(self, place: Place, candidate: str) -> bool:
        return self.keeps(place) or self._is(candidate)

    @staticmethod
    def _is(word: str) -> bool:
        return word in STOP_WORDS or "'" in word or "’" in word or len(word) < 2


@dataclass(frozen=True)
class Numbers:
    """Numbers stay: a digit, a number written out, or a share."""

    name: str = "numbers"
    context: bool = False

    def keeps(self, place: Place) -> bool:
        return place.tag == "CD" or self._is(place.lower)

    def refuses(self, place: Place, candidate: str) -> bool:
        return self.keeps(place) or self._is(candidate)

    @staticmethod
    def _is(word: str) -> bool:
        return word in NUMBERS or (not word.isalpha() and any(sign.isdigit() for sign in word))


@dataclass(frozen=True)
class Names:
    """Names of people, places and things stay, and so do acronyms and days: other names are not synonyms.

    A capital within a sentence makes a name, even if the tagger thinks otherwise. (A text all in capitals has no names
    that could be told from its words.)
    """

    name: str = "names"
    context: bool = False

    def refuses(self, place: Place, candidate: str) -> bool:
        return candidate in CALENDAR or self.keeps(place)

    def keeps(self, place: Place) -> bool:
        if place.tag in ("NNP", "NNPS") or place.lower in CALENDAR:
            return True
        if place.word.islower() or place.text.loud:
            return False
        shape = place.word[1:].islower() or len(place.word) == 1
        # GOOD is a good word said loudly; NASA and iPhone are names.
        loud = place.word.isupper() and len(place.word) > 5
        return not loud and (not shape or not place.first)


@dataclass(frozen=True)
class PartOfSpeech:
    """Only nouns, verbs, adjectives and adverbs are replaced, and only by words that can be the same."""

    name: str = "part-of-speech"
    context: bool = False

    def keeps(self, place: Place) -> bool:
        return place.tag not in PARTS

    def refuses(self, place: Place, candidate: str) -> bool:
        return self.keeps(place) or not lemmas(candidate, PARTS[place.tag])


@dataclass(frozen=True)
class Inflection:
    """A candidate has the form of the word, and is not merely another form of it."""

    name: str = "inflection"
    context: bool = False

    def refuses(self, place: Place, candidate: str) -> bool:
        base = lemma(place.lower, place.tag)
        # `funniest` under the tag of a plain adjective: the tagger erred, and no form can be told.
        if base != place.lower and place.tag in PARTS and place.lower not in forms(base, place.tag):
            return True
        return agreeing(candidate, place.tag) != candidate or lemma(candidate, place.tag) == lemma(
            place.lower, place.tag
        )


@dataclass(frozen=True, eq=False)
class Antonyms:
    """Never the opposite: antonyms as WordNet lists them, words that deny, and words made of each other by denying."""

    source: WordNet = field(default_factory=wordnet)
    name: str = "antonyms"
    context: bool = False

    def refuses(self, place: Place, candidate: str) -> bool:
        word = place.lower
        if {word, candidate} & NEGATIONS or word.endswith("n't") or candidate.endswith("n't"):
            return True
        if self.source.opposed(word, candidate):
            return True
        base, other = lemma(word, place.tag), lemma(candidate, place.tag)
        return self.source.opposed(base, other) or denies(base, other) or denies(other, base)


def denies(word: str, other: str) -> bool:
    """Whether the second is made of the first by denying it.

    >>> denies("happy", "unhappy"), denies("useful", "useless"), denies("care", "careful")
    (True, True, False)
    """
    if other.endswith(word) and other[: len(other) - len(word)] in NEGATING:
        return True
    return other.endswith("less") and word in (other[:-4] + "ful", other[:-4], other[:-4] + "y")


@dataclass(frozen=True, eq=False)
class Similarity:
    """At least so near to the word in a vector space (cosine); words the space does not have are refused."""

    least: float = 0.5
    vectors: WordVectors = field(default_factory=embedded_vectors)
    name: str = "similarity"
    context: bool = False

    def refuses(self, place: Place, candidate: str) -> bool:
        return self.between(place, candidate) < self.least

    def between(self, place: Place, candidate: str) -> float:
        """The cosine of the word with the candidate, or of their dictionary forms; −1 where it cannot be told."""
        pairs = ((place.lower, candidate), (lemma(place.lower, place.tag), lemma(candidate, place.tag)))
        return max((self._cosine(a, b) for a, b in pairs if a in self.vectors and b in self.vectors), default=-1.0)

    def _cosine(self, word: str, other: str) -> float:
        return float(self.vectors[word] @ self.vectors[other])


@dataclass(frozen=True, eq=False)
class Sense:
    """Both words are commonly used in one sense, or in senses WordNet joins; at least so likely (see `wordnet`)."""

    least: float = 0.4
    source: WordNet = field(default_factory=wordnet)
    name: str = "sense"
    context: bool = False

    def refuses(self, place: Place, candidate: str) -> bool:
        if place.tag not in PARTS:
            return True
        related = self.source.synonyms(lemma(place.lower, place.tag), PARTS[place.tag])
        return related.get(lemma(candidate, place.tag), 0.0) < self.least


@dataclass(frozen=True, eq=False)
class Frequency:
    """Among so many most frequent words, as the vectors are ordered; a rare word gives itself away."""

    most: int = 30_000
    vectors: WordVectors = field(default_factory=embedded_vectors)
    name: str = "frequency"
    context: bool = False

    def refuses(self, place: Place, candidate: str) -> bool:
        return self.vectors.row.get(candidate, self.most) >= self.most


@dataclass(frozen=True, eq=False)
class UnknownToVictim:
    """Words the victim does not know: to put one in would only be to delete the word that was there."""

    vocabulary: Container[str]
    name: str = "unknown-to-victim"
    context: bool = False

    def refuses(self, place: Place, candidate: str) -> bool:
        # As it would be written there: some victims tell capitals apart.
        return match_case(place.word, candidate) not in self.vocabulary


@dataclass(frozen=True)
class Article:
    """After `a` or `an`, a candidate that begins with the other kind of sound."""

    name: str = "article"
    context: bool = True

    def refuses(self, place: Place, candidate: str) -> bool:
        return place.before(1) in ("a", "an") and vowel_sound(place.lower) != vowel_sound(candidate)


@lru_cache(1 << 16)
def vowel_sound(word: str) -> bool:
    """Whether `an` would stand before the word.

    >>> [vowel_sound(word) for word in ("old", "hour", "house", "user", "uncle", "one", "European")]
    [True, True, False, False, True, False, False]
    """
    word = word.lower()
    if word.startswith(("hour", "honest", "honor", "honour", "heir")):
        return True
    if word.startswith(("eu", "ew", "one", "once", "ubiq", "use", "usu", "uti", "ura", "uni")):
        return word.startswith(("unim", "unin", "uninv", "unid"))
    return word[:1] in "aeiou"


@dataclass(frozen=True, eq=False)
class Phrase:
    """Words of a set phrase stay, for alone they mean something else: phrases WordNet has (`prime minister`, `turned
    out`), words that are also written as one (`super heroes`), and a noun before a noun (`search results`)."""

    source: WordNet = field(default_factory=wordnet)
    name: str = "phrase"
    context: bool = True

    def refuses(self, place: Place, candidate: str) -> bool:
        return self.keeps(place)

    def keeps(self, place: Place) -> bool:
        if self._joined(place) or (place.tag.startswith("NN") and place.next_tag.startswith("NN")):
            return True
        here = {place.lower, lemma(place.lower, place.tag)}
        before, after = (place.before(2), place.before(1)), (place.after(1), place.after(2))
        first = self._forms(before[1])
        return any(
            phrase in self.source.phrases
            for word in here
            for phrase in [
                *((other, word) for other in first),
                (word, after[0]),
                (word, _singular(after[0])),
                *((other, word, after[0]) for other in first),
                *((other, before[1], word) for other in self._forms(before[0])),
                (word, *after),
            ]
        )

    def _joined(self, place: Place) -> bool:
        after, before = place.after(1), place.before(1)
        pairs = [(place.lower, after), (before, place.lower)]
        return any(
            len(a) > 2 and len(b) > 2 and {(a + b, "n"), (a + _singular(b), "n")} & self.source.parts for a, b in pairs
        )

    @staticmethod
    def _forms(word: str) -> set[str]:
        """A word and what it may be a form of, where a phrase begins with it (`turned out`)."""
        return {word, *lemmas(word, "VERB"), *lemmas(word, "NOUN")} if word else set()


def _singular(word: str) -> str:
    return lemma(word, "NNS") if word else word


# In the order in which they are asked: what spares most work first.
STANDARD: dict[str, Callable[[], Filter]] = {
    "stop-words": StopWords,
    "numbers": Numbers,
    "names": Names,
    "part-of-speech": PartOfSpeech,
    "antonyms": Antonyms,
    "sense": Sense,
    "inflection": Inflection,
    "frequency": Frequency,
    "similarity": Similarity,
    "phrase": Phrase,
    "article": Article,
}
# A list of one's own is believed as to meaning.
FOR_OWN_LISTS = tuple(name for name in STANDARD if name not in ("frequency", "similarity", "sense"))


def filters_named(names: Collection[str]) -> tuple[Filter, ...]:
    """Filters by their names, in the standard order.

    >>> [one.name for one in filters_named(["article", "numbers"])]
    ['numbers', 'article']
    """
    for name in names:
        if name not in STANDARD:
            raise ValueError(f"there is no filter {name!r}; choose among {', '.join(STANDARD)}")
    return tuple(make() for name, make in STANDARD.items() if name in names)
