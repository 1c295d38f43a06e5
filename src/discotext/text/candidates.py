"""Candidates: for every word of a text, the words that may replace it, and why others may not.

    source → inflection of the original → filters → probability of being accepted → casing → at most `limit`, best first

Most of this depends only on the word as written and its tag, so it is computed once for each such pair and cached.
What depends on the sentence (an article before the word, a set phrase, the probability) is checked at every occurrence.
"""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np

from discotext.core.arrays import Floats
from discotext.text.acceptability import DEFAULT_ACCEPT, LightScorer, Scorer
from discotext.text.filters import DEFAULT_FILTERS, STANDARD_FILTERS, Filter, Similarity, UnknownToVictim, make_filters
from discotext.text.inflection import match_inflection
from discotext.text.sources import AnyOf, Source, SynonymList, Synonyms, ThesaurusWords, VectorNeighbours
from discotext.text.swap_features import Occurrence
from discotext.text.tagging import LightTagger, Tagger
from discotext.text.vectors import WordVectors, load_packaged_vectors
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
        The default is 0.45 for the packaged thesaurus or with a custom scorer, and None for custom sources.

    >>> [sorted(found.candidates) for found in Candidates()("They purchased it")]
    [[], ['bought'], []]
    """

    source: Source = field(default_factory=ThesaurusWords)
    filters: Sequence[Filter] = field(default_factory=lambda: make_filters(DEFAULT_FILTERS))
    tagger: Tagger = field(default_factory=LightTagger)
    limit: int = 8
    unknown_words: bool = False
    scorer: Scorer | None = field(default_factory=LightScorer)
    accept: float | Literal["default"] | None = "default"
    _cache: dict[tuple[str, str, bool, bool], tuple[tuple[str, ...], Refusals]] = field(
        default_factory=dict, init=False, repr=False
    )

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise ValueError(f"limit is {self.limit}, but a word needs room for a candidate; choose 1 or more")
        parts: list[tuple[object, type]] = [(self.source, Source), *((one, Filter) for one in self.filters)]
        parts += [] if self.scorer is None else [(self.scorer, Scorer)]
        for part, base in parts:
            if not isinstance(part, base):
                kind = base.__name__.lower()
                raise TypeError(f"{part!r} is not a {kind}; give an instance of a subclass of {base.__name__}")
        if self.accept == "default":
            custom = self.scorer is not None and not isinstance(self.scorer, LightScorer)
            judged = custom or (self.scorer is not None and isinstance(self.source, ThesaurusWords))
            object.__setattr__(self, "accept", DEFAULT_ACCEPT if judged else None)
        if self.accept is not None and not (isinstance(self.accept, int | float) and 0 <= self.accept <= 1):
            raise ValueError(f"accept is {self.accept}; choose a probability, from 0 to 1")
        if self.accept is not None and self.scorer is None:
            raise ValueError(f"accept is {self.accept}, but nothing estimates a probability; give a scorer, too")

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
        # Millions of small objects are made and no reference cycles: the collector would take a quarter of the time.
        collects = gc.isenabled()
        gc.disable()
        try:
            words = [to_words(text) for text in texts]
            tags = self.tagger.tag(words)
            self.source.prepare({word.lower() for text in words for word in text.words})
            found = [self._find_in_text(text, tuple(given)) for text, given in zip(words, tags, strict=True)]
            places = [(text, at) for text, ones in enumerate(found) for at, one in enumerate(ones) if one.candidates]
            scores: dict[tuple[int, int], Floats] = {}
            if self.scorer is not None:
                # Where no probability is required, the order of the source decides which candidates are kept.
                most = self.limit if self._least is None else None
                asked = [Occurrence(text, at, found[text][at].candidates[:most]) for text, at in places]
                estimated = self.scorer.score(words, tags, asked, self._least or 0.0)
                scores = dict(zip(places, estimated, strict=True))
            for text, at in places:
                found[text][at] = self._limit(found[text][at], scores.get((text, at)))
            return found
        finally:
            if collects:
                gc.enable()

    def _find_in_text(self, text: Words, tags: tuple[str, ...]) -> list[Replacements]:
        """What filters leave of each word's candidates, in lower case."""
        context_filters = [one for one in self.filters if one.context_dependent]
        fixed = not self.source.context_dependent
        found = []
        for number, (word, (start, end)) in enumerate(zip(text.words, text.spans(), strict=True)):
            context = WordContext(text, tags, number)
            # A word in lower case is treated alike at the start of a sentence, elsewhere, and among capitals.
            lower = word.islower()
            key = (word, context.tag, lower or context.starts_sentence, lower or text.all_caps)
            known = self._cache.get(key) if fixed else None
            if known is None:
                known = self._cache[key] = self._find_for_word(context)
            allowed, refused = self._filter(context_filters, context, *known)
            # A model reads the finished text, and no proof holds for one that is split into other words.
            unfit = [one for one in allowed if not text.takes(number, match_case(word, one))]
            allowed = tuple(one for one in allowed if one not in unfit)
            refused += tuple((one, SPLITTING) for one in unfit)
            found.append(Replacements(word, start, end, allowed, refused))
        return found

    def _find_for_word(self, context: WordContext) -> tuple[tuple[str, ...], Refusals]:
        """What does not depend on the sentence."""
        proposed = check_proposed(self.source, self.source.propose(context), context.word)
        refused: Refusals = ()
        scorer, least = self.scorer, self._least
        if scorer is not None and least is not None:
            # What no sentence can make acceptable need not be looked at.
            hopeful = [one for one in proposed if scorer.could_reach(context.lower, context.tag, one, least)]
            refused = tuple((word, ACCEPT) for word in proposed if word not in hopeful)
            proposed = hopeful
        if any(one.name == "inflection" for one in self.filters):
            proposed = [match_inflection(word, context.tag) or word for word in proposed]
        distinct = tuple(word for word in dict.fromkeys(proposed) if word != context.lower)
        fixed = [one for one in self.filters if not one.context_dependent]
        allowed, refused = self._filter(fixed, context, distinct, refused)
        if similarity := next((one for one in self.filters if isinstance(one, Similarity)), None):
            allowed = tuple(sorted(allowed, key=lambda word: -similarity.measure(context, word)))
        return allowed, refused

    @staticmethod
    def _filter(
        filters: Iterable[Filter], context: WordContext, allowed: tuple[str, ...], refused: Refusals
    ) -> tuple[tuple[str, ...], Refusals]:
        """What filters leave of the allowed words, and those refused with what they refuse."""
        for one in filters:
            if allowed:
                kept = one.keeps(context)
                no = allowed if kept else tuple(word for word in allowed if one.refuses(context, word))
                allowed = tuple(word for word in allowed if word not in no)
                refused += tuple((word, one.name) for word in no)
        return allowed, refused

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

    @property
    def settings(self) -> dict[str, Any]:
        """What the candidates depend on, as JSON."""
        scored = {} if self.scorer is None else {"accept": self.accept, **self.scorer.settings()}
        return {
            "source": self.source.name,
            "filters": {one.name: one.settings() for one in self.filters},
            "tagger": self.tagger.name,
            "limit": self.limit,
            "unknown_words": self.unknown_words,
            **scored,
        }


def check_proposed(source: Source, proposed: Any, word: str) -> Sequence[str]:
    """What a source proposed; TypeError unless it is a sequence of words, as a custom source may get it wrong."""
    listed = isinstance(proposed, Sequence) and not isinstance(proposed, str)
    if listed and all(isinstance(one, str) for one in proposed):
        return list(proposed)
    raise TypeError(f"the source {source.name} proposed {repr(proposed)[:60]} for {word!r}; return a list of words")


SCORERS = ("light", "encoder", "full")
SOURCES = ("thesaurus", "neighbours", "wordnet", "list", "masked-lm")
# What `without` accepts. "all" means all but the one for words unknown to the victim.
SWITCHES = (*STANDARD_FILTERS, ACCEPT, UnknownToVictim.name, "all")


def make_candidates(
    sources: Sequence[str] = (),
    synonyms: Sequence[str | Path] = (),
    vectors: str | Path | None = None,
    masked_lm: str | None = None,
    without: Sequence[str] = (),
    similarity: float | None = None,
    per_word: int = 8,
    accept: float | None = None,
    scorer: str | Scorer = "light",
) -> Candidates:
    """Make candidates from the names of their parts.

    sources: among `SOURCES`; with several, words that any of them proposes [default: "list" with synonyms, "masked-lm"
        with a masked language model, otherwise "thesaurus"].
    synonyms: files for the source "list".
    vectors: a file of word vectors, for the source "neighbours" and the filter "similarity" [default: those that come
        with the package].
    masked_lm: a Hugging Face model for the source "masked-lm", by name or folder.
    without: filters to switch off, among `SWITCHES`.
    similarity: the least cosine similarity of the word vectors; giving it switches the filter on.
    per_word: the most candidates a word may have.
    accept: the least probability that most people accept a swap in its place [default: 0.45; off where a custom list
        is the only source].
    scorer: what estimates that probability: "light", "encoder", "full", or a `Scorer`.

    >>> make_candidates(without=["phrase"], per_word=3).limit
    3
    """
    names = list(sources) or (["list"] if synonyms else ["masked-lm"] if masked_lm else ["thesaurus"])
    for given, known, what in ((names, SOURCES, "source"), (without, SWITCHES, "filter to switch off")):
        for name in given:
            if name not in known:
                raise ValueError(f"there is no {what} {name!r}; choose among {', '.join(known)}")
    for name, needed, what in (("list", synonyms, "synonyms"), ("masked-lm", masked_lm, "a masked language model")):
        if bool(needed) != (name in names):
            raise ValueError(f"the source {name!r} and {what} belong together; give both or neither")
    space = load_packaged_vectors() if vectors is None else WordVectors.read(vectors).normalise()
    make_source: dict[str, Callable[[], Source]] = {
        "thesaurus": ThesaurusWords,
        "neighbours": lambda: VectorNeighbours(space),
        "wordnet": Synonyms,
        "list": lambda: SynonymList.read(synonyms),
        "masked-lm": lambda: import_module("discotext.text.masked_lm").MaskedWords(str(masked_lm)),
    }
    parts = tuple(make_source[name]() for name in names)
    least, wanted = (0.0, DEFAULT_FILTERS) if similarity is None else (similarity, tuple(STANDARD_FILTERS))
    filters = make_filters([name for name in wanted if not {name, "all"} & {*without}])
    # The user's own list is not filtered by meaning, unless a probability is asked for. It is estimated all the same.
    trusted = ACCEPT in without or (accept is None and (names == ["list"] or "all" in without))
    return Candidates(
        parts[0] if len(parts) == 1 else AnyOf(parts),
        tuple(Similarity(least, space) if isinstance(one, Similarity) else one for one in filters),
        limit=per_word,
        unknown_words=UnknownToVictim.name in without,
        scorer=make_scorer(scorer) if isinstance(scorer, str) else scorer,
        accept=None if trusted else DEFAULT_ACCEPT if accept is None else accept,
    )


def make_scorer(name: str) -> Scorer:
    """Make the scorer of that name; its models are those of the installed packages, else of the model hub.

    >>> make_scorer("light").name
    'light'
    """
    if name not in SCORERS:
        raise ValueError(f"there is no scorer {name!r}; choose one of {', '.join(SCORERS)}")
    if name == "light":
        return LightScorer()
    from discotext.text.encoder_scorer import EncoderScorer, FullScorer

    return EncoderScorer() if name == "encoder" else FullScorer()
