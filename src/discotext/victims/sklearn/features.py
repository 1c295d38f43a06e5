"""What scikit-learn's vectorisers make of a text and of mixtures of its candidates.

The count of a term in a mixture is a sum of products of weights. For n-grams of words the products are over the words
that make the n-gram, so that the count is exact for every choice, unless a token reaches across the edge of a word. For
n-grams of characters each candidate adds what it changes by itself between its own gaps: exact for every single swap,
and for several where no n-gram touches two of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.text.words import Words

# Patterns of tokens of word characters and hyphens. A range is one of letters or of digits: A-z would hold punctuation.
SET = r"\[-?([a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|[a-zA-Z0-9_](?!-[^\]]))+-?\]"
LOCAL = re.compile(rf"(\(\?u\))?(\\b)?((\\w|{SET})[+*]?(\{{\d+,?\d*\}})?)+(\\b)?")
LONGEST = 5  # words of the longest n-gram that is understood
MOST_FACTORS = 6  # words that may make a term together, those without a token included
REACH = 60  # characters to either side in which the end of a chunk is looked for
NONE_CLOSED: Mapping[int, int] = {}


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

    tf: "linear", "sublinear" or "binary". analyse: the terms of a text. lengths: of its shortest and longest n-gram.
    words: whether n-grams are of words, and not of characters. preprocess, tokens: what a piece of text becomes, and
    its words. vocabulary: the column of each term. begun: beginnings of its n-grams of words. dtype: of the counts.
    """

    tf: str
    analyse: Callable[[str], Sequence[str]]
    lengths: tuple[int, int]
    words: bool
    preprocess: Callable[[str], str]
    tokens: Callable[[str], tuple[str, ...]]
    vocabulary: dict[str, int]
    begun: frozenset[str]
    dtype: np.dtype[Any]

    def count(self, text: str) -> MixedCounts:
        """The counts of a text with nothing to change."""
        return self._collect(Counter(((), term) for term in self.analyse(text)), 0)

    def mix(self, text: Words, options: Sequence[Sequence[str]], only: Mapping[int, int] = NONE_CLOSED) -> MixedCounts:
        """The counts of mixtures of the options of a text's words.

        only: positions, with the only option that is looked at there; where features are words.
        """
        terms = self._mix_words(text, options, only) if self.words else self._mix_characters(text, options)
        return self._collect(terms, sum(map(len, options)))

    def _collect(self, terms: Terms, candidates: int) -> MixedCounts:
        known = [(who, self.vocabulary[term], n) for (who, term), n in terms.items() if term in self.vocabulary]
        columns, features = np.unique(np.array([one for _, one, _ in known], dtype=np.int64), return_inverse=True)
        factors = np.full((len(known), max((len(who) for who, *_ in known), default=0) or 1), candidates)
        for row, (who, *_) in enumerate(known):
            factors[row, : len(who)] = who
        times = np.array([n for *_, n in known], dtype=np.float64)
        given = (factors == candidates).all(axis=1)
        fixed = np.bincount(features[given], weights=times[given], minlength=len(columns)).astype(np.float64)
        return MixedCounts(columns, fixed, features[~given], factors[~given], times[~given])

    def _mix_words(self, text: Words, options: Sequence[Sequence[str]], only: Mapping[int, int]) -> Terms:
        """The n-grams of words, each word by itself: tokens that reach across its edges are not seen."""
        elements = list(self._list_elements(text, options, only))
        low, high = self.lengths
        terms: Terms = Counter()
        for at, element in enumerate(elements):
            for who, tokens in element:
                for size in range(low, high + 1):
                    for begin in range(len(tokens) - size + 1):
                        terms[who, " ".join(tokens[begin : begin + size])] += 1
                for size in range(1, min(high - 1, len(tokens)) + 1):
                    self._extend(elements, at + 1, tokens[-size:], who, terms)
        return terms

    def _list_elements(
        self, text: Words, options: Sequence[Sequence[str]], only: Mapping[int, int]
    ) -> Iterator[list[tuple[tuple[int, ...], tuple[str, ...]]]]:
        """The parts of a text in order: a candidate and its tokens for each option of a word, or () and what stays."""
        kept = [*self.tokens(text.gaps[0])]
        first = 0
        for position, (some, gap) in enumerate(zip(options, text.gaps[1:], strict=True)):
            tokens = [self.tokens(word) for word in some]
            if len(some) == 1 or position in only:
                kept += tokens[only.get(position, 0)]
            elif any(tokens):
                if kept:
                    yield [((), tuple(kept))]
                yield [((first + number,), one) for number, one in enumerate(tokens)]
                kept = []
            kept += self.tokens(gap)
            first += len(some)
        if kept:
            yield [((), tuple(kept))]

    def _extend(
        self,
        elements: Sequence[Sequence[tuple[tuple[int, ...], tuple[str, ...]]]],
        at: int,
        begun: tuple[str, ...],
        who: tuple[int, ...],
        terms: Terms,
    ) -> None:
        """Add the n-grams that begin with these tokens and end in the elements from this one on."""
        low, high = self.lengths
        if at == len(elements) or len(who) == MOST_FACTORS or " ".join(begun) not in self.begun:
            return
        for candidate, tokens in elements[at]:
            mine = (*who, *candidate)
            for end in range(1, min(len(tokens), high - len(begun)) + 1):
                term = " ".join((*begun, *tokens[:end]))
                if len(begun) + end >= low and term in self.vocabulary:
                    terms[mine, term] += 1
            if len(begun) + len(tokens) < high:
                self._extend(elements, at + 1, (*begun, *tokens), mine, terms)

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
    if name not in ("CountVectorizer", "TfidfVectorizer"):
        raise UnknownPartError(f"its {name} is not a vectoriser that is known")
    if callable(step.analyzer) or step.analyzer not in ("word", "char", "char_wb"):
        raise UnknownPartError(f"its {name} has a custom analyzer")
    if not step.tokenizer is step.preprocessor is None:
        raise UnknownPartError(f"its {name} has a custom tokenizer or preprocessor, which may look at whole texts")
    words, vocabulary = step.analyzer == "word", {str(term): int(at) for term, at in step.vocabulary_.items()}
    if words and not LOCAL.fullmatch(step.token_pattern):
        raise UnknownPartError(f"its token pattern {step.token_pattern!r} may look beyond a word")
    if words and step.ngram_range[1] > LONGEST:
        raise UnknownPartError(f"its features are of up to {step.ngram_range[1]} words, more than {LONGEST}")
    begun: set[str] = set()
    for term in vocabulary if words and step.ngram_range[1] > 1 else ():
        parts = term.split(" ")
        begun.update(" ".join(parts[:end]) for end in range(1, len(parts)))
    return Vectoriser(
        tf="binary" if step.binary else "linear",
        analyse=step.build_analyzer(),
        lengths=tuple(step.ngram_range),
        words=words,
        preprocess=step.build_preprocessor(),
        tokens=make_tokeniser(step),
        vocabulary=vocabulary,
        begun=frozenset(begun),
        dtype=np.dtype(step.dtype),
    )


def make_tokeniser(step: Any) -> Callable[[str], tuple[Any, ...]]:
    """What a word vectoriser makes of a piece of text, before n-grams."""
    if callable(step.analyzer):
        return lambda part: tuple(step.analyzer(part))
    preprocess, tokenise = step.build_preprocessor(), step.build_tokenizer()
    stopped = frozenset(step.get_stop_words() or ())
    return lru_cache(200_000)(lambda part: tuple(one for one in tokenise(preprocess(part)) if one not in stopped))
