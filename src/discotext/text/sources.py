"""Where candidates come from: each source is asked about a word in its place, and answers with words, best first.

A source answers in lower case and may answer with any form (`enjoy` for `enjoyed`): form, casing and all doubts are
the business of what follows (`discotext.text.filters`). To add your own, write a class with a `name`, a `context` and
a method `of`; that is all there is to the interface.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np

from discotext.text.embedded import embedded_vectors
from discotext.text.inflection import PARTS, lemma
from discotext.text.neighbours import Neighbours, cached, nearest
from discotext.text.place import Place
from discotext.text.vectors import WordVectors, numbered_lines
from discotext.text.wordnet import WordNet, wordnet

# Filters refuse most neighbours, so more are looked at than a word may have candidates.
WIDE = Neighbours(k=24)
WHOLE = 0.2  # share of the vocabulary above which all neighbours are looked up, and kept


class Source(Protocol):
    """Whatever proposes words for a place. context: whether more than the word and its tag matters to it."""

    @property
    def name(self) -> str: ...

    @property
    def context(self) -> bool: ...

    def of(self, place: Place) -> Sequence[str]:
        """Words that might replace the word, in lower case, best first."""
        ...


@dataclass(frozen=True, eq=False)
class VectorNeighbours:
    """The nearest words of a vector space, within the paper's ball.

    Neighbours are looked up when a word is first asked for; `prepare` looks up many at once, which is faster, and for a
    good part of the vocabulary makes the table of all words, which is kept on disk.

    >>> from discotext.text.words import split
    >>> "movie" in VectorNeighbours().of(Place(split("film"), ("NN",), 0))
    True
    """

    vectors: WordVectors = field(default_factory=embedded_vectors)
    settings: Neighbours = WIDE
    name: str = "neighbours"
    context: bool = False
    _known: dict[str, tuple[str, ...]] = field(default_factory=dict, init=False, repr=False)

    def prepare(self, words: Iterable[str]) -> None:
        new = sorted({word for word in words if word in self.vectors and word not in self._known})
        if new:
            if len(new) > WHOLE * len(self.vectors):
                table = cached(self.vectors, self.settings)
            else:
                table = nearest(self.vectors, np.array([self.vectors.row[word] for word in new]), self.settings)
            self._known.update((word, tuple(near for near, _ in table.of(word))) for word in new)

    def of(self, place: Place) -> Sequence[str]:
        word = place.lower
        if word not in self._known:
            self.prepare([word])
        return self._known.get(word, ())


@dataclass(frozen=True, eq=False)
class Synonyms:
    """WordNet's synonyms and words close to them, for the part of speech the word has in its place."""

    source: WordNet = field(default_factory=wordnet)
    name: str = "wordnet"
    context: bool = False

    def of(self, place: Place) -> Sequence[str]:
        if place.tag not in PARTS:
            return ()
        return tuple(self.source.synonyms(lemma(place.lower, place.tag), PARTS[place.tag]))


@dataclass(frozen=True, eq=False)
class Listed:
    """A list of one's own: a word, or its dictionary form, and what may replace it.

    >>> from discotext.text.words import split
    >>> Listed({"enjoy": ["like"]}).of(Place(split("enjoyed"), ("VBD",), 0))
    ('like',)
    """

    words: Mapping[str, Sequence[str]]
    name: str = "list"
    context: bool = False

    def of(self, place: Place) -> Sequence[str]:
        found = self.words.get(place.lower)
        return tuple(self.words.get(lemma(place.lower, place.tag), ()) if found is None else found)


@dataclass(frozen=True)
class AnyOf:
    """The union: what any of the sources proposes, those of the first source first."""

    sources: tuple[Source, ...]

    @property
    def name(self) -> str:
        return "+".join(source.name for source in self.sources)

    @property
    def context(self) -> bool:
        return any(source.context for source in self.sources)

    def of(self, place: Place) -> Sequence[str]:
        return tuple(dict.fromkeys(word for source in self.sources for word in source.of(place)))


@dataclass(frozen=True)
class AllOf:
    """The intersection: what every source proposes, in the order of the first."""

    sources: tuple[Source, ...]

    @property
    def name(self) -> str:
        return "&".join(source.name for source in self.sources)

    @property
    def context(self) -> bool:
        return any(source.context for source in self.sources)

    def of(self, place: Place) -> Sequence[str]:
        if not self.sources:
            return ()
        first, *others = [source.of(place) for source in self.sources]
        return tuple(word for word in first if all(word in other for other in others))


def prepare(source: Source, words: Iterable[str]) -> None:
    """Let a source look up many words at once, where it or what it is made of can."""
    words = list(words)
    if hasattr(source, "prepare"):
        source.prepare(words)
    for part in getattr(source, "sources", ()):
        prepare(part, words)


def read_synonyms(path: str | Path) -> dict[str, list[str]]:
    """Read a list of synonyms: `.json`, {"good": ["fine", …], …}, or `.tsv`, a word and its synonyms on each line.

    Published lists of neighbours are such JSON files. Everything is taken in lower case; candidates of several words
    are left out, for a candidate is a single word.
    """
    path = Path(path)
    if path.suffix == ".json":
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is not JSON: {error}") from None
        if not isinstance(content, dict):
            raise ValueError(
                f'{path} holds a {type(content).__name__}, expected an object such as {{"good": ["fine"]}}'
            )
        entries = [(f"the entry {word!r}", word, listed) for word, listed in content.items()]
    elif path.suffix in (".tsv", ".txt"):
        entries = [
            (f"line {number}", fields[0], fields[1:])
            for number, line in numbered_lines(path)
            if (fields := [part.strip() for part in line.split("\t") if part.strip()])
        ]
    else:
        raise ValueError(f"{path} ends in {path.suffix!r}; synonyms are read from .json and .tsv files")
    found: dict[str, list[str]] = {}
    for where, word, listed in entries:
        if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
            raise ValueError(f"{path}, {where}: expected a list of words, found {json.dumps(listed)[:60]}")
        lower = [item.lower() for item in listed if item and not any(sign.isspace() for sign in item)]
        known = found.setdefault(word.lower(), [])
        known.extend(item for item in dict.fromkeys(lower) if item not in known and item != word.lower())
    if not found:
        raise ValueError(f"{path} holds no words; expected a word and its synonyms in each entry")
    return found
