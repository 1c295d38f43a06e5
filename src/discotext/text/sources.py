"""Candidate sources: given a word in its context, each proposes words that might replace it, best first.

A source proposes words in lower case and in any inflected form (`enjoy` for `enjoyed`): inflection, casing and all
checks come later (`discotext.text.filters`). To add a custom one, subclass `Source`.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from discotext.text.inflection import PARTS, lemmatise
from discotext.text.neighbours import Neighbours, find_nearest
from discotext.text.thesaurus import Thesaurus, WordNet, load_thesaurus, load_wordnet
from discotext.text.vectors import WordVectors, load_packaged_vectors, read_numbered_lines
from discotext.text.words import WordContext

# Filters refuse most neighbours, so more of them are proposed than a word may have candidates.
WIDE_SEARCH = Neighbours(k=24)


class Source(ABC):
    """Proposes words that might replace a word."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Identifies the source in settings."""

    @property
    def context_dependent(self) -> bool:
        """Whether proposals depend on more than the word and its tag. If not, they are made once per word and tag."""
        return False

    @abstractmethod
    def propose(self, context: WordContext) -> Sequence[str]:
        """Words that might replace the word, in lower case, best first."""

    def prepare(self, words: Iterable[str]) -> None:
        """Look up many words at once, if that is faster. Called before the texts that contain them are processed."""
        return


@dataclass(frozen=True, eq=False)
class VectorNeighbours(Source):
    """The nearest words of a vector space, within the paper's ball.

    Neighbours are looked up when a word is first asked for. `prepare` looks up many at once, which is faster.

    >>> from discotext.text.words import split
    >>> "movie" in VectorNeighbours().propose(WordContext(split("film"), ("NN",), 0))
    True
    """

    vectors: WordVectors = field(default_factory=load_packaged_vectors)
    settings: Neighbours = WIDE_SEARCH
    name = "neighbours"
    _cache: dict[str, tuple[str, ...]] = field(default_factory=dict, init=False, repr=False)

    def prepare(self, words: Iterable[str]) -> None:
        new = sorted({word for word in words if word in self.vectors and word not in self._cache})
        if new:
            rows = np.array([self.vectors.row[word] for word in new])
            at, near, _ = find_nearest(self.vectors, rows, self.settings)
            self._cache.update(dict.fromkeys(new, ()))
            for place, row in zip(at.tolist(), near.tolist(), strict=True):
                self._cache[new[place]] += (self.vectors.words[row],)

    def propose(self, context: WordContext) -> Sequence[str]:
        word = context.lower
        if word not in self._cache:
            self.prepare([word])
        return self._cache.get(word, ())


@dataclass(frozen=True, eq=False)
class ThesaurusWords(Source):
    """The packaged thesaurus: what WordNet, a large thesaurus and vector spaces propose, most acceptable first."""

    table: Thesaurus = field(default_factory=load_thesaurus)
    name = "thesaurus"

    def propose(self, context: WordContext) -> Sequence[str]:
        return tuple(self.table.look_up(lemmatise(context.lower, context.tag), PARTS.get(context.tag, "")))


@dataclass(frozen=True, eq=False)
class Synonyms(Source):
    """WordNet's synonyms and closely related words, for the part of speech the word has in its text."""

    source: WordNet = field(default_factory=load_wordnet)
    name = "wordnet"

    def propose(self, context: WordContext) -> Sequence[str]:
        return tuple(self.source.synonyms(lemmatise(context.lower, context.tag), PARTS.get(context.tag, "")))


@dataclass(frozen=True, eq=False)
class SynonymList(Source):
    """The user's own list: words, as written or in their dictionary form, and what may replace them.

    >>> from discotext.text.words import split
    >>> SynonymList({"enjoy": ["like"]}).propose(WordContext(split("enjoyed"), ("VBD",), 0))
    ('like',)
    """

    words: Mapping[str, Sequence[str]]
    name = "list"

    @classmethod
    def read(cls, paths: Iterable[str | Path]) -> SynonymList:
        """The lists of several files together."""
        found: dict[str, list[str]] = {}
        for path in paths:
            for word, synonyms in read_synonyms(path).items():
                found[word] = list(dict.fromkeys([*found.get(word, []), *synonyms]))
        return cls(found)

    def propose(self, context: WordContext) -> Sequence[str]:
        found = self.words.get(context.lower)
        return tuple(self.words.get(lemmatise(context.lower, context.tag), ()) if found is None else found)


@dataclass(frozen=True)
class AnyOf(Source):
    """Words that any of several sources proposes, those of the first source first."""

    sources: tuple[Source, ...]

    @property
    def name(self) -> str:
        return "+".join(source.name for source in self.sources)

    @property
    def context_dependent(self) -> bool:
        return any(source.context_dependent for source in self.sources)

    def prepare(self, words: Iterable[str]) -> None:
        words = list(words)
        for source in self.sources:
            source.prepare(words)

    def propose(self, context: WordContext) -> Sequence[str]:
        return tuple(dict.fromkeys(word for source in self.sources for word in source.propose(context)))


def read_synonyms(path: str | Path) -> dict[str, list[str]]:
    """Read a synonym list: `.json`, {"good": ["fine", …], …}, or `.tsv`, a word and its synonyms on each line.

    Published lists of neighbours are such JSON files. Everything is lower-cased. Synonyms of several words are skipped,
    since a candidate is a single word.
    """
    path = Path(path)
    if path.suffix == ".json":
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path} is not JSON: {error}") from None
        if not isinstance(content, dict):
            kind = type(content).__name__
            raise ValueError(f'{path} contains a {kind}; expected an object such as {{"good": ["fine"]}}')
        entries: list[tuple[str, str, Any]] = [
            (f"the entry {word!r}", word, others) for word, others in content.items()
        ]
    elif path.suffix in (".tsv", ".txt"):
        lines = [
            (number, [*filter(None, map(str.strip, line.split("\t")))]) for number, line in read_numbered_lines(path)
        ]
        entries = [(f"line {number}", parts[0], parts[1:]) for number, parts in lines if parts]
    else:
        raise ValueError(f"{path} ends in {path.suffix!r}; synonyms are read from .json and .tsv files")
    found: dict[str, list[str]] = {}
    for where, word, synonyms in entries:
        if not isinstance(synonyms, list) or not all(isinstance(item, str) for item in synonyms):
            raise ValueError(f"{path}, {where}: expected a list of words, found {json.dumps(synonyms)[:60]}")
        lower = [item.lower() for item in synonyms if item and not any(sign.isspace() for sign in item)]
        known = found.setdefault(word.lower(), [])
        known.extend(item for item in dict.fromkeys(lower) if item not in known and item != word.lower())
    if not found:
        raise ValueError(f"{path} contains no words; expected a word and its synonyms in each entry")
    return found
