"""Candidates: for every word of a text, the words that may replace it, and why others may not.

    source → inflection of the original → filters → probability of being accepted → casing → at most `limit`, best first

Most of this depends only on the word as written and its tag, so it is computed once for each such pair and cached.
What depends on the sentence (an article before the word, a set phrase, the probability) is checked at every occurrence.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from discotext.core.arrays import Floats
from discotext.support.garbage import no_cycle_collection
from discotext.text.acceptability import DEFAULT_ACCEPT, LightScorer, Scorer
from discotext.text.filters import (
    DEFAULT_FILTERS,
    STANDARD_FILTERS,
    Filter,
    Frequency,
    Sense,
    Similarity,
    UnknownToVictim,
    make_filters,
)
from discotext.text.inflection import match_inflection
from discotext.text.packaged_vectors import load_packaged_vectors
from discotext.text.polarity import Polarity
from discotext.text.scorers import make_scorer
from discotext.text.sources import (
    AllOf,
    AnyOf,
    Source,
    SynonymList,
    Synonyms,
    ThesaurusWords,
    VectorNeighbours,
    read_synonyms,
)
from discotext.text.swap_features import Occurrence
from discotext.text.tagging import LightTagger, Tagger, make_tagger
from discotext.text.vectors import WordVectors
from discotext.text.words import WordContext, Words, match_case, to_words

SPLITTING = "splitting"  # the name under which candidates are refused that would change how the text is split
TOO_MANY = "limit"  # those beyond the limit
ACCEPT = "accept"  # and those whose probability is too low
DIGITS = 3  # of probabilities: the last bits differ between machines

Refusals = tuple[tuple[str, str], ...]  # pairs of a word and the name of the filter that refused it


@dataclass(frozen=True)
class Replacements:
    """A word of a text, its start and end offset, the words that may replace it, and those refused, with the filter.

    accept: for each candidate, the probability that most people accept it here; None where nothing estimates it.
    """

    word: str
    start: int
    end: int
    candidates: tuple[str, ...]
    refused: Refusals = ()
    accept: tuple[float | None, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "word": self.word,
            "start": self.start,
            "end": self.end,
            "candidates": list(self.candidates),
            "accept": list(self.accept),
            "refused": [{"word": word, "filter": name} for word, name in self.refused],
        }


@dataclass(frozen=True, eq=False)
class Candidates:
    """Finds candidates: a source, filters, a scorer, a part-of-speech tagger, and a limit per word.

    limit: the most candidates a word may have. unknown_words: whether to allow words outside a victim's vocabulary.
    scorer: estimates the probability that most people accept a swap in its place; None estimates nothing.
    accept: the probability that a candidate must have; None accepts what the filters leave, whatever its probability.
        The default is 0.45 for the packaged thesaurus or with a scorer that you give, and None for your own sources.

    >>> [sorted(found.candidates) for found in Candidates()("They purchased it")]
    [[], ['bought'], []]
    """

    source: Source = field(default_factory=ThesaurusWords)
    filters: Sequence[Filter] = field(default_factory=lambda: make_filters(DEFAULT_FILTERS))
    tagger: Tagger = field(default_factory=LightTagger)
    limit: int = 8
    unknown_words: bool = False
    scorer: Scorer | Literal["default"] | None = "default"
    accept: float | Literal["default"] | None = "default"
    _cache: dict[tuple[str, str, bool, bool], tuple[tuple[str, ...], Refusals]] = field(
        default_factory=dict, init=False, repr=False
    )

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise ValueError(f"limit is {self.limit}, but a word needs room for a candidate; choose 1 or more")
        for part, base in ((self.source, Source), *((one, Filter) for one in self.filters)):
            if not isinstance(part, base):
                kind = base.__name__.lower()
                raise TypeError(f"{part!r} is not a {kind}; give an instance of a subclass of {base.__name__}")
        if self.accept == "default":
            judged = isinstance(self.source, ThesaurusWords) if self.scorer == "default" else self.scorer is not None
            object.__setattr__(self, "accept", DEFAULT_ACCEPT if judged else None)
        if self.scorer == "default":
            object.__setattr__(self, "scorer", LightScorer())
        if self.scorer is not None and not isinstance(self.scorer, Scorer):
            raise TypeError(f"{self.scorer!r} is not a scorer; give an instance of a subclass of Scorer, or None")
        if self.accept is not None and not (isinstance(self.accept, int | float) and 0 <= self.accept <= 1):
            raise ValueError(f"accept is {self.accept}; choose a probability, from 0 to 1")
        if self.accept is not None and self.scorer is None:
            raise ValueError(f"accept is {self.accept}, but nothing estimates a probability; give a scorer, too")

    @property
    def _scorer(self) -> Scorer | None:
        """The scorer; after the constructor it is never "default"."""
        return self.scorer if isinstance(self.scorer, Scorer) else None

    @property
    def _least(self) -> float | None:
        """The probability that a candidate must have; after the constructor it is never "default"."""
        return None if self.accept is None else float(self.accept)

    def restrict_to(self, vocabulary: Container[str] | None) -> Candidates:
        """The same without words outside a victim's vocabulary (None: the victim can read any word)."""
        if vocabulary is None or self.unknown_words:
            return self
        return replace(self, filters=(*self.filters, UnknownToVictim(vocabulary)))

    def __call__(self, text: str | Words) -> list[Replacements]:
        """Find what may replace each word of a text."""
        return self.find([text])[0]

    def find(self, texts: Iterable[str | Words]) -> list[list[Replacements]]:
        """Find what may replace each word of many texts, which is faster than text by text.

        texts: strings, or texts that have already been split into words.
        """
        with no_cycle_collection():  # a quarter of the time otherwise
            return self._find([to_words(text) for text in texts])

    def _find(self, words: Sequence[Words]) -> list[list[Replacements]]:
        tags = self.tagger.tag(words)
        self.source.prepare({word.lower() for text in words for word in text.words})
        found = [self._find_in_text(text, tuple(given)) for text, given in zip(words, tags, strict=True)]
        scorer = self._scorer
        if scorer is None:
            return [[self._limit(one, None) for one in text] for text in found]
        places = [(text, at) for text, ones in enumerate(found) for at, one in enumerate(ones) if one.candidates]
        # Where no probability is required, the order of the source decides which candidates are kept.
        most = self.limit if self._least is None else None
        asked = [Occurrence(text, at, found[text][at].candidates[:most]) for text, at in places]
        for (text, at), scores in zip(places, scorer.score(words, tags, asked, self._least or 0.0), strict=True):
            found[text][at] = self._limit(found[text][at], scores)
        return found

    def _find_in_text(self, text: Words, tags: tuple[str, ...]) -> list[Replacements]:
        """What filters leave of each word's candidates, in lower case."""
        context_filters = [one for one in self.filters if one.context_dependent]
        fixed = not self.source.context_dependent
        found = []
        for number, (word, (start, end)) in enumerate(zip(text.words, text.spans(), strict=True)):
            # A word in lower case is treated alike at the start of a sentence, elsewhere, and among capitals.
            lower = word.islower()
            key = (word, tags[number], lower or text.starts_sentence(number), lower or text.all_caps)
            known = self._cache.get(key) if fixed else None
            if known is None:
                known = self._cache[key] = self._find_for_word(WordContext(text, tags, number))
            allowed, refused = known
            if allowed and context_filters:
                context = WordContext(text, tags, number)
                for one in context_filters:
                    allowed, refused = _apply(one, context, allowed, refused)
            # A model reads the finished text, and no proof holds for one that is split into other words.
            unfit = tuple((one, SPLITTING) for one in allowed if not text.takes(number, match_case(word, one)))
            if unfit:
                allowed, refused = tuple(one for one in allowed if (one, SPLITTING) not in unfit), refused + unfit
            found.append(Replacements(word, start, end, allowed, refused))
        return found

    def _limit(self, found: Replacements, scores: Floats | None) -> Replacements:
        """The best candidates, in the casing of the word, with their probabilities. scores: NaN if one is not known."""
        allowed, refused, least = found.candidates, found.refused, self._least
        known = [] if scores is None else [None if np.isnan(one) else round(one, DIGITS) for one in scores.tolist()]
        pairs = list(itertools.zip_longest(allowed, known))
        if least is not None:
            refused += tuple((word, ACCEPT) for word, chance in pairs if (chance or 0.0) < least)
            pairs = sorted((pair for pair in pairs if (pair[1] or 0.0) >= least), key=lambda pair: -(pair[1] or 0.0))
        refused += tuple((word, TOO_MANY) for word, _ in pairs[self.limit :])
        kept: dict[str, float | None] = {}
        for word, chance in pairs[: self.limit]:
            kept.setdefault(match_case(found.word, word), chance)
        kept.pop(found.word, None)  # "us" becomes the word itself where that is written "US"
        return Replacements(found.word, found.start, found.end, tuple(kept), refused, tuple(kept.values()))

    def _find_for_word(self, context: WordContext) -> tuple[tuple[str, ...], Refusals]:
        """What does not depend on the sentence."""
        proposed: Sequence[str] = check_proposed(self.source, self.source.propose(context), context.word)
        refused: Refusals = ()
        scorer, least = self._scorer, self._least
        if scorer is not None and least is not None:
            # What no sentence can make acceptable need not be looked at.
            hopeful = [one for one in proposed if scorer.could_reach(context.lower, context.tag, one, least)]
            if len(hopeful) < len(proposed):
                refused = tuple((word, ACCEPT) for word in proposed if word not in hopeful)
            proposed = hopeful
        allowed = self._inflect(context, proposed)
        for one in self.filters:
            if not one.context_dependent:
                allowed, refused = _apply(one, context, allowed, refused)
        similarity = next((one for one in self.filters if isinstance(one, Similarity)), None)
        if similarity is not None:
            allowed = tuple(sorted(allowed, key=lambda word: -similarity.measure(context, word)))
        return allowed, refused

    def _inflect(self, context: WordContext, words: Sequence[str]) -> tuple[str, ...]:
        """The words, each once and, if there is a filter for that, in the right inflection."""
        inflects = any(one.name == "inflection" for one in self.filters)
        forms = (match_inflection(word, context.tag) or word if inflects else word for word in words)
        return tuple(word for word in dict.fromkeys(forms) if word != context.lower)

    @property
    def settings(self) -> dict[str, Any]:
        """What the candidates depend on, as JSON."""
        scored = {} if self._scorer is None else {"accept": self.accept, **self._scorer.settings()}
        return {
            "source": self.source.name,
            "filters": {one.name: one.settings() for one in self.filters},
            "tagger": self.tagger.name,
            "limit": self.limit,
            "unknown_words": self.unknown_words,
            **scored,
        }


def check_proposed(source: Source, proposed: Any, word: str) -> Sequence[str]:
    """What a source proposed; TypeError unless it is a sequence of words, as someone's own source may get it wrong."""
    listed = isinstance(proposed, Sequence) and not isinstance(proposed, str)
    if listed and all(isinstance(one, str) for one in proposed):
        return list(proposed)
    raise TypeError(f"the source {source.name} proposed {repr(proposed)[:60]} for {word!r}; return a list of words")


def _apply(
    one: Filter, context: WordContext, allowed: tuple[str, ...], refused: Refusals
) -> tuple[tuple[str, ...], Refusals]:
    """Split the allowed words into those a filter accepts and those it refuses; the latter join the refused ones."""
    if not allowed:
        return allowed, refused
    if one.keeps(context):
        return (), refused + tuple((word, one.name) for word in allowed)
    verdicts = [(word, one.refuses(context, word)) for word in allowed]
    no = tuple((word, one.name) for word, against in verdicts if against)
    return tuple(word for word, against in verdicts if not against), refused + no


SOURCES = ("thesaurus", "neighbours", "wordnet", "list", "masked-lm")
# What `without` accepts. "all" means all but the one for words unknown to the victim.
SWITCHES = (*STANDARD_FILTERS, ACCEPT, UnknownToVictim.name, "all")


def make_candidates(
    sources: Sequence[str] = (),
    combine: str = "any",
    synonyms: Sequence[str | Path] = (),
    vectors: str | Path | None = None,
    masked_lm: str | None = None,
    without: Sequence[str] = (),
    sentence_encoder: str | None = None,
    similarity: float | None = None,
    sense: float | None = None,
    tagger: str = "light",
    per_word: int = 8,
    accept: float | None = None,
    scorer: str = "light",
    encoder: str | None = None,
    language_model: str | None = None,
    keep_meaning: bool = False,
) -> Candidates:
    """Make candidates from the names of their parts.

    sources: among `SOURCES` [default: "list" with synonyms, "masked-lm" with a masked language model, otherwise
        "thesaurus"].
    combine: "any" for words that any of the sources proposes, "all" for words that all of them propose.
    synonyms: files for the source "list".
    vectors: a file of word vectors, for the source "neighbours" and the filters "similarity" and "frequency"
        [default: those that come with the package].
    masked_lm: a Hugging Face model for the source "masked-lm", by name or folder.
    without: filters to switch off, among `SWITCHES`.
    sentence_encoder: a Hugging Face model, by name or folder, that refuses changes of meaning.
    similarity, sense: thresholds of these filters; giving one switches the filter on.
    tagger: "light" or "spacy".
    per_word: the most candidates a word may have.
    accept: the least probability that most people accept a swap in its place [default: 0.45; off where your own list
        is the only source].
    scorer: what estimates that probability: "light", "encoder" or "full".
    encoder, language_model: folders of the scorer's models.
    keep_meaning: whether to refuse swaps that make a word more positive or negative (filter "polarity").

    >>> make_candidates(without=["phrase"], per_word=3).limit
    3
    """
    names = _choose_sources(sources, synonyms, masked_lm)
    _check_names(names, combine, without)
    space = load_packaged_vectors() if vectors is None else WordVectors.read(vectors).normalise()
    parts = tuple(_make_source(name, space, synonyms, masked_lm) for name in names)
    source = parts[0] if len(parts) == 1 else AnyOf(parts) if combine == "any" else AllOf(parts)
    filters = _make_filters(without, similarity, sense, space)
    if keep_meaning:
        # Before the filters that look at the sentence, since this one is decided once for each word.
        first = next((at for at, one in enumerate(filters) if one.context_dependent), len(filters))
        filters.insert(first, Polarity())
    if sentence_encoder:
        from discotext.text.masked_lm import SentenceSimilarity

        filters.append(SentenceSimilarity(sentence_encoder))
    # The user's own list is not filtered by meaning, unless a probability is asked for. It is estimated all the same.
    trusted = ACCEPT in without or (accept is None and (names == ["list"] or "all" in without))
    judge = make_scorer(scorer, encoder, language_model)
    least = None if trusted else DEFAULT_ACCEPT if accept is None else accept
    unknown = UnknownToVictim.name in without
    return Candidates(source, tuple(filters), make_tagger(tagger), per_word, unknown, judge, least)


def _choose_sources(sources: Sequence[str], synonyms: Sequence[str | Path], masked_lm: str | None) -> list[str]:
    """The names of the sources, given or by default, checked against what else is given."""
    names = list(sources) or (["list"] if synonyms else ["masked-lm"] if masked_lm else ["thesaurus"])
    for given, name, there, absent in (
        (synonyms, "list", "synonyms are given", "no synonyms are given"),
        (masked_lm, "masked-lm", "a masked language model is given", "no masked language model is given"),
    ):
        if given and name not in names:
            raise ValueError(f"{there}, but {name!r} is not among the sources; give both or neither")
        if not given and name in names:
            raise ValueError(f"{name!r} is among the sources, but {absent}; give both or neither")
    return names


def _check_names(sources: Sequence[str], combine: str, without: Sequence[str]) -> None:
    if combine not in ("any", "all"):
        raise ValueError(f"combine is {combine!r}; choose 'any' or 'all'")
    for name in sources:
        if name not in SOURCES:
            raise ValueError(f"there is no source {name!r}; choose among {', '.join(SOURCES)}")
    for name in without:
        if name not in SWITCHES:
            raise ValueError(f"there is no filter {name!r} to switch off; choose among {', '.join(SWITCHES)}")


def _make_source(name: str, space: WordVectors, synonyms: Sequence[str | Path], masked_lm: str | None) -> Source:
    if name == "thesaurus":
        return ThesaurusWords()
    if name == "neighbours":
        return VectorNeighbours(space)
    if name == "wordnet":
        return Synonyms()
    if name == "list":
        merged: dict[str, list[str]] = {}
        for path in synonyms:
            for word, found in read_synonyms(path).items():
                merged[word] = list(dict.fromkeys([*merged.get(word, []), *found]))
        return SynonymList(merged)
    from discotext.text.masked_lm import MaskedModel

    return MaskedModel(str(masked_lm))


def _make_filters(
    without: Sequence[str], similarity: float | None, sense: float | None, space: WordVectors
) -> list[Filter]:
    """The default filters that are not switched off, and those with a threshold, with these vectors."""
    standard = DEFAULT_FILTERS
    standard += tuple(name for name, least in (("similarity", similarity), ("sense", sense)) if least is not None)
    filters: list[Filter] = []
    for one in make_filters([] if "all" in without else [name for name in standard if name not in without]):
        if isinstance(one, Similarity):
            one = replace(one, least=one.least if similarity is None else similarity, vectors=space)
        elif isinstance(one, Sense) and sense is not None:
            one = replace(one, least=sense)
        elif isinstance(one, Frequency):
            one = replace(one, vectors=space)
        filters.append(one)
    return filters
