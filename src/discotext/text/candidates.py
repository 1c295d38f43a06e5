"""Candidates: for every word of a text, the words that may replace it, and why others may not.

    source → form of the original → filters → casing → at most so many, most similar first

Most of this depends only on the word, as written, and its tag. It is worked out once for each such pair and kept; what
depends on the sentence (an article before the word, a set phrase) is looked at in every place.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from discotext.text.filters import STANDARD, Filter, Similarity, UnknownToVictim, filters_named
from discotext.text.inflection import agreeing
from discotext.text.place import Place
from discotext.text.sources import AnyOf, Source, Synonyms, VectorNeighbours, prepare
from discotext.text.tagging import LightTagger, Tagger
from discotext.text.words import Words, match_case, split

TOO_MANY = "limit"  # the name under which candidates beyond the limit are refused


@dataclass(frozen=True)
class Replacements:
    """A word of a text, where it begins and ends, what may replace it, and what was refused by which filter."""

    word: str
    start: int
    end: int
    candidates: tuple[str, ...]
    refused: tuple[tuple[str, str], ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "word": self.word,
            "start": self.start,
            "end": self.end,
            "candidates": list(self.candidates),
            "refused": [{"word": word, "filter": name} for word, name in self.refused],
        }


@dataclass(frozen=True, eq=False)
class Candidates:
    """Settings: sources, filters, a tagger, and how many candidates a word may have.

    unknown_words: whether words that a victim does not know may be put in.

    >>> [sorted(found.candidates) for found in Candidates()("They purchased it")]
    [[], ['acquired', 'bought'], []]
    """

    source: Source = field(default_factory=lambda: AnyOf((VectorNeighbours(), Synonyms())))
    filters: Sequence[Filter] = field(default_factory=lambda: filters_named(STANDARD))
    tagger: Tagger = field(default_factory=LightTagger)
    limit: int = 8
    unknown_words: bool = False
    _known: dict[tuple[str, str, bool, bool], tuple[tuple[str, ...], tuple[tuple[str, str], ...]]] = field(
        default_factory=dict, init=False, repr=False
    )

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise ValueError(f"limit is {self.limit}, but a word needs room for a candidate; choose 1 or more")

    def known_to(self, vocabulary: Container[str] | None) -> Candidates:
        """The same without words that are not in a victim's vocabulary (None: it can read anything)."""
        if vocabulary is None or self.unknown_words:
            return self
        return replace(self, filters=(*self.filters, UnknownToVictim(vocabulary)))

    def __call__(self, text: str) -> list[Replacements]:
        """What may replace each word of a text."""
        return self.of_texts([text])[0]

    def of_texts(self, texts: Iterable[str]) -> list[list[Replacements]]:
        """What may replace each word of many texts; much is shared among them."""
        cut = [split(text) for text in texts]
        tags = self.tagger.tags(cut)
        prepare(self.source, {word.lower() for text in cut for word in text.words})
        return [self._of_text(text, tuple(given)) for text, given in zip(cut, tags, strict=True)]

    def _of_text(self, text: Words, tags: tuple[str, ...]) -> list[Replacements]:
        in_context = [one for one in self.filters if one.context]
        found = []
        for number, (start, end) in enumerate(text.spans()):
            place = Place(text, tags, number)
            allowed, refused = self._of_word(place)
            for one in in_context:
                allowed, refused = _apply(one, place, allowed, refused)
            refused += tuple((word, TOO_MANY) for word in allowed[self.limit :])
            kept = [match_case(place.word, word) for word in allowed[: self.limit]]
            found.append(Replacements(place.word, start, end, tuple(dict.fromkeys(kept)), refused))
        return found

    def _of_word(self, place: Place) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
        """What no sentence matters to; kept, unless the source looks at the sentence itself."""
        small = place.word.islower()  # and then capitals, first places and loud texts do not matter
        key = (place.word, place.tag, small or place.first, small or place.text.loud)
        if key in self._known and not self.source.context:
            return self._known[key]
        inflects = any(one.name == "inflection" for one in self.filters)
        proposed = (agreeing(word, place.tag) or word if inflects else word for word in self.source.of(place))
        allowed = tuple(word for word in dict.fromkeys(proposed) if word != place.lower)
        refused: tuple[tuple[str, str], ...] = ()
        for one in self.filters:
            if not one.context:
                allowed, refused = _apply(one, place, allowed, refused)
        similarity = next((one for one in self.filters if isinstance(one, Similarity)), None)
        if similarity is not None:
            allowed = tuple(sorted(allowed, key=lambda word: -similarity.between(place, word)))
        self._known[key] = allowed, refused
        return allowed, refused

    @property
    def settings(self) -> dict[str, Any]:
        """What the candidates depend on, in words and numbers."""
        return {
            "source": self.source.name,
            "filters": {one.name: _plain(one) for one in self.filters},
            "tagger": self.tagger.name,
            "limit": self.limit,
            "unknown_words": self.unknown_words,
        }


def _apply(
    one: Filter, place: Place, allowed: tuple[str, ...], refused: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    if not allowed:
        return allowed, refused
    # A filter that keeps the word whatever is proposed says so once.
    if hasattr(one, "keeps") and one.keeps(place):
        return (), refused + tuple((word, one.name) for word in allowed)
    verdicts = [(word, one.refuses(place, word)) for word in allowed]
    no = tuple((word, one.name) for word, against in verdicts if against)
    return tuple(word for word, against in verdicts if not against), refused + no


def _plain(one: Filter) -> dict[str, float | int | str]:
    return {
        name: value
        for name, value in vars(one).items()
        if isinstance(value, float | int | str) and name not in ("name", "context")
    }
