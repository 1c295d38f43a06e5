"""What scikit-learn's vectorisers make of a text and of mixtures of its candidates.

The count of a term in a mixture is a sum of products of weights. For n-grams of words the products are over the words
that make the n-gram, so that the count is exact for every choice, unless a token reaches across the edge of a word. For
n-grams of characters each candidate adds what it changes by itself between its own gaps: exact for every single swap,
and for several where no n-gram touches two of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.text.words import Words

# Patterns of tokens of word characters and hyphens. A range is one of letters or of digits: A-z would hold punctuation.
SET = r"\[-?([a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|[a-zA-Z0-9_](?!-[^\]]))+-?\]"
LOCAL = re.compile(rf"(\(\?u\))?(\\b)?((\\w|{SET})[+*]?(\{{\d+,?\d*\}})?)+(\\b)?")
LONGEST = 5  # words of the longest n-gram that is understood
MOST_FACTORS = 6  # words that may make a term together, those without a token included
MOST_CHANGED = 2  # changed words in a hashed n-gram of three and more: any words make one, so that more are too many
REACH = 60  # characters to either side in which the end of a chunk is looked for


class UnknownPartError(ValueError):
    """A pipeline has a part of which nothing is known here. The message names it."""


Terms = Counter[tuple[tuple[int, ...], str]]  # how often candidates together make a term


@dataclass(frozen=True, eq=False)
class MixedCounts:
    """The counts of terms in mixtures of a text's K candidates.

    columns: (F,) of the vectoriser. fixed: (F,) what no candidate changes. features: (S,) where each summand belongs.
    factors: (S, W) the candidates whose weights are multiplied, K for none. times: (S,) how often, negative for what a
    candidate takes away.
    """

    columns: Ints
    fixed: Floats
    features: Ints
    factors: Ints
    times: Floats

    def count(self, alpha: Floats) -> Floats:
        """(F,) the counts of a mixture."""
        weights = np.append(alpha, 1.0)[self.factors].prod(axis=1) * self.times
        return self.fixed + np.bincount(self.features, weights=weights, minlength=len(self.fixed))

    def pull_back(self, falling: Floats, rising: Floats, alpha: Floats) -> Floats:
        """(K,) the gradient by the mixture, from those (F,) by the counts as they fall and as they rise.

        The two differ where a function of the counts has a kink, and at texts it always has. What is there can only go,
        and what is not there can only come.
        """
        weights = np.append(alpha, 1.0)[self.factors]
        falls = (weights.prod(axis=1) > 0) == (self.times > 0)
        gradient = np.where(falls, falling[self.features], rising[self.features]) * self.times
        found = np.zeros(len(alpha) + 1)
        for place in range(weights.shape[1]):
            each = gradient * np.delete(weights, place, axis=1).prod(axis=1)
            found += np.bincount(self.factors[:, place], weights=each, minlength=len(found))
        return found[:-1]


@dataclass(frozen=True, eq=False)
class Vectoriser:
    """A fitted vectoriser, taken apart.

    size: its columns. tf: "linear", "sublinear" or "binary". signed: whether counts may be below 0.
    analyse: the terms of a text. lengths: of the shortest and the longest n-gram, in words or characters.
    tokenise: the tokens of a piece of text; None for n-grams of characters. preprocess: what is done to it before.
    vocabulary: the column of each term; None where `hash_terms` gives columns and signs of any terms.
    dtype: the precision of the counts.
    """

    size: int
    tf: str
    signed: bool
    analyse: Callable[[str], Sequence[str]]
    lengths: tuple[int, int]
    tokenise: Callable[[str], list[str]] | None
    preprocess: Callable[[str], str]
    vocabulary: dict[str, int] | None
    dtype: np.dtype[Any]
    hash_terms: Callable[[Sequence[str]], tuple[Ints, Floats]] | None = None
    _tokens: dict[str, tuple[str, ...]] = field(default_factory=dict, init=False, repr=False)
    _begun: set[str] = field(default_factory=set, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.tokenise is not None and self.vocabulary is not None and self.lengths[1] > 1:
            for term in self.vocabulary:
                words = term.split(" ")
                self._begun.update(" ".join(words[:end]) for end in range(1, len(words)))

    def locate(self, terms: Sequence[str]) -> tuple[Ints, Floats]:
        """The column of each term, −1 for one that is not a feature, and by how much it is counted there."""
        if self.hash_terms is not None:
            columns, signs = self.hash_terms(terms)
            return columns, signs if self.signed else np.ones(len(terms))
        known = self.vocabulary or {}
        return np.array([known.get(term, -1) for term in terms], dtype=np.int64), np.ones(len(terms))

    def knows(self, term: str) -> bool:
        """Whether a term has a column."""
        return self.vocabulary is None or term in self.vocabulary

    def continues(self, words: Sequence[str]) -> bool:
        """Whether some term begins with these words and has more."""
        return self.vocabulary is None or " ".join(words) in self._begun

    def tokens(self, part: str) -> tuple[str, ...]:
        """The tokens of a piece of text."""
        assert self.tokenise is not None
        found = self._tokens.get(part)
        if found is None:
            if len(self._tokens) > 200_000:
                self._tokens.clear()
            found = self._tokens[part] = tuple(self.tokenise(part))
        return found

    def count(self, text: str) -> MixedCounts:
        """The counts of a text with nothing to change."""
        return self._collect(Counter(((), term) for term in self.analyse(text)), 0)

    def mix(self, text: Words, options: Sequence[Sequence[str]]) -> MixedCounts:
        """The counts of mixtures of the options of a text's words."""
        terms = self._mix_characters(text, options) if self.tokenise is None else self._mix_words(text, options)
        return self._collect(terms, sum(map(len, options)))

    def _collect(self, terms: Terms, candidates: int) -> MixedCounts:
        names = sorted({term for _, term in terms})
        found, signs = self.locate(names)
        places = {name: number for number, name in enumerate(names)}
        columns, feature_of = np.unique(found[found >= 0], return_inverse=True)
        features = np.full(len(names), -1)
        features[found >= 0] = feature_of
        entries = [(who, places[term], times) for (who, term), times in terms.items() if features[places[term]] >= 0]
        width = max((len(who) for who, *_ in entries), default=0)
        factors = np.full((len(entries), max(width, 1)), candidates, dtype=np.int64)
        for row, (who, *_) in enumerate(entries):
            factors[row, : len(who)] = who
        numbers = np.array([number for _, number, _ in entries], dtype=np.int64)
        times = np.array([float(times) for *_, times in entries]) * signs[numbers]
        given = (factors == candidates).all(axis=1)
        rows = features[numbers]
        fixed = np.bincount(rows[given], weights=times[given], minlength=len(columns)).astype(np.float64)
        return MixedCounts(columns, fixed, rows[~given], factors[~given], times[~given])

    def _mix_words(self, text: Words, options: Sequence[Sequence[str]]) -> Terms:
        """The n-grams of words, each word by itself: tokens that reach across its edges are not seen."""
        elements = list(self._list_elements(text, options))
        low, high = self.lengths
        terms: Terms = Counter()
        for at, element in enumerate(elements):
            for number, (candidate, tokens) in enumerate(element):
                who = () if candidate < 0 else (candidate,)
                for size in range(low, high + 1):
                    for begin in range(len(tokens) - size + 1):
                        terms[who, " ".join(tokens[begin : begin + size])] += 1
                for size in range(1, min(high - 1, len(tokens)) + 1):
                    self._extend(elements, at + 1, tokens[-size:], who, int(number > 0), terms)
        return Counter({key: times for key, times in terms.items() if self.knows(key[1])})

    def _list_elements(
        self, text: Words, options: Sequence[Sequence[str]]
    ) -> Iterator[list[tuple[int, tuple[str, ...]]]]:
        """The parts of a text in order: (candidate, tokens) for each option of a word, or −1 and what stays."""
        kept: list[str] = [*self.tokens(text.gaps[0])]
        first = 0
        for some, gap in zip(options, text.gaps[1:], strict=True):
            if len(some) == 1:
                kept += self.tokens(some[0])
            else:
                if kept:
                    yield [(-1, tuple(kept))]
                yield [(first + number, self.tokens(word)) for number, word in enumerate(some)]
                kept = []
            kept += self.tokens(gap)
            first += len(some)
        if kept:
            yield [(-1, tuple(kept))]

    def _extend(
        self,
        elements: Sequence[Sequence[tuple[int, tuple[str, ...]]]],
        at: int,
        begun: tuple[str, ...],
        who: tuple[int, ...],
        changed: int,
        terms: Terms,
    ) -> None:
        """Add the n-grams that begin with these tokens and end in the elements from this one on."""
        low, high = self.lengths
        if at == len(elements) or len(who) == MOST_FACTORS or not self.continues(begun):
            return
        for number, (candidate, tokens) in enumerate(elements[at]):
            now = changed + int(number > 0)
            if self.vocabulary is None and high > 2 and now > MOST_CHANGED:
                break
            mine = who if candidate < 0 else (*who, candidate)
            for end in range(1, min(len(tokens), high - len(begun)) + 1):
                if len(begun) + end >= low:
                    term = " ".join((*begun, *tokens[:end]))
                    if self.knows(term):
                        terms[mine, term] += 1
            if len(begun) + len(tokens) < high:
                self._extend(elements, at + 1, (*begun, *tokens), mine, now, terms)

    def _mix_characters(self, text: Words, options: Sequence[Sequence[str]]) -> Terms:
        """The n-grams of the text, and what each candidate adds to them and takes away."""
        whole = str(text)
        terms: Terms = Counter(((), term) for term in self.analyse(whole))
        first = 0
        for (begin, end), some in zip(text.spans(), options, strict=True):
            if len(some) > 1:
                left, right = self._cut(whole, begin, end)
                before = Counter(self.analyse(left + some[0] + right))
                for number, word in enumerate(some[1:], start=first + 1):
                    after = Counter(self.analyse(left + word + right))
                    for term in before.keys() | after.keys():
                        if before[term] != after[term]:
                            terms[(number,), term] += after[term] - before[term]
            first += len(some)
        return terms

    def _cut(self, whole: str, begin: int, end: int) -> tuple[str, str]:
        """As much of the text before and after a word as terms with the word can see: up to white space beyond."""
        low, high = max(begin - self.lengths[1], 0), min(end + self.lengths[1], len(whole))
        while low > max(begin - REACH, 0) and not whole[low - 1].isspace():
            low -= 1
        while high < min(end + REACH, len(whole)) and not whole[high].isspace():
            high += 1
        return whole[low:begin], whole[end:high]


def read_vectoriser(step: Any) -> Vectoriser:
    """Take a fitted vectoriser apart; UnknownPartError says why it cannot be."""
    name = type(step).__name__
    if name not in ("CountVectorizer", "TfidfVectorizer", "HashingVectorizer"):
        raise UnknownPartError(f"its {name} is not a vectoriser that is known")
    if callable(step.analyzer) or step.analyzer not in ("word", "char", "char_wb"):
        raise UnknownPartError(f"its {name} has a custom analyzer")
    if not step.tokenizer is step.preprocessor is None:
        raise UnknownPartError(f"its {name} has a custom tokenizer or preprocessor, which may look at whole texts")
    words = step.analyzer == "word"
    if words and not LOCAL.fullmatch(step.token_pattern):
        raise UnknownPartError(f"its token pattern {step.token_pattern!r} may look beyond a word")
    if words and step.ngram_range[1] > LONGEST:
        raise UnknownPartError(f"its features are of up to {step.ngram_range[1]} words, more than {LONGEST}")
    hashes = name == "HashingVectorizer"
    preprocess, tokenise = step.build_preprocessor(), step.build_tokenizer()
    stop_words = frozenset(step.get_stop_words() or ())
    return Vectoriser(
        size=int(step.n_features) if hashes else len(step.vocabulary_),
        tf="binary" if step.binary else "linear",
        signed=hashes and bool(step.alternate_sign) and not step.binary,
        analyse=step.build_analyzer(),
        lengths=tuple(step.ngram_range),
        tokenise=(lambda part: [one for one in tokenise(preprocess(part)) if one not in stop_words]) if words else None,
        preprocess=preprocess,
        dtype=np.dtype(step.dtype),
        vocabulary=None if hashes else {str(term): int(column) for term, column in step.vocabulary_.items()},
        hash_terms=make_hash(step) if hashes else None,
    )


def make_hash(step: Any) -> Callable[[Sequence[str]], tuple[Ints, Floats]]:
    """The columns and signs that a hashing vectoriser gives to terms, found by asking scikit-learn's own hasher."""
    from sklearn.feature_extraction import FeatureHasher

    hasher = FeatureHasher(n_features=step.n_features, input_type="string", alternate_sign=step.alternate_sign)

    def hash_terms(terms: Sequence[str]) -> tuple[Ints, Floats]:
        if not len(terms):
            return np.empty(0, dtype=np.int64), np.empty(0)  # the hasher would stop at nothing
        found = hasher.transform([term] for term in terms)
        return found.indices.astype(np.int64), found.data.astype(np.float64)

    return hash_terms
