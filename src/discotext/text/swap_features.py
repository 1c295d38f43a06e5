"""Features of swaps: what a scorer knows about a word, a candidate and the words around.

Most of it is computed for all swaps of many texts at once. What depends only on the word, its tag and the candidate is
computed once for each word with its tag and candidates, and kept.

    pair      the prior of the thesaurus and the candidate's rank by it, WordNet's strength, the cosine of the
              counter-fitted vectors, frequencies, a shared stem, the tag
    place     capitals, quotation marks, nouns beside nouns, an article, verb or preposition beside the word
    context   how much nearer the candidate is than the word to the words around: within 5 and 15 words, and on either
              side (differences of vectors times sums of vectors)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discotext.text.filters import STOP_WORDS
from discotext.text.inflection import PARTS, lemmatise
from discotext.text.thesaurus import UNLISTED, Thesaurus, WordNet, load_thesaurus, load_wordnet
from discotext.text.vectors import WordVectors, load_packaged_vectors
from discotext.text.words import Words

Matrix = NDArray[np.float32]

TAGS = tuple(PARTS)
PAIR: tuple[str, ...] = (
    "prior",
    "rank",
    "listed",
    "strength",
    "cosine",
    "frequency",
    "frequency_gain",
    "shared_stem",
    "length",
)
PAIR += tuple(f"tag {tag}" for tag in TAGS)
PLACE: tuple[str, ...] = ("noun_after", "noun_before", "capital", "starts_sentence", "article", "particle_after")
PLACE += ("verb_before", "determiner_before", "quoted", "near_original", "far_original")
CONTEXT = ("near", "far", "left", "right", "near_candidate")
FEATURES = PAIR + PLACE + CONTEXT
NEAR, FAR = 5, 15  # words on either side
QUOTES = frozenset("\"“”'")
BREAKS = frozenset('.!?;:,"()')  # between words that do not belong together


@dataclass(frozen=True)
class Occurrence:
    """A word of a text, by the numbers of both, and the candidates to judge there, in the form they would have."""

    text: int
    position: int
    candidates: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class SwapFeatures:
    """Computes the features of swaps; settings and tables only, so that one serves all texts."""

    vectors: WordVectors = field(default_factory=load_packaged_vectors)
    wordnet: WordNet = field(default_factory=load_wordnet)
    thesaurus: Thesaurus = field(default_factory=load_thesaurus)
    _groups: dict[tuple[str, str, tuple[str, ...]], Matrix] = field(default_factory=dict, init=False, repr=False)
    _listed: dict[tuple[str, str], dict[str, tuple[float, int]]] = field(default_factory=dict, init=False, repr=False)

    def compute(self, texts: Sequence[Words], tags: Sequence[Sequence[str]], asked: Sequence[Occurrence]) -> Matrix:
        """(S, F) a row for each candidate of each occurrence, in order."""
        counts = np.array([len(one.candidates) for one in asked], dtype=np.int64)
        pairs = [np.empty((0, len(PAIR) + 1), dtype=np.float32)]
        for one in asked:
            pairs.append(self._group(texts[one.text].lower[one.position], tags[one.text][one.position], one.candidates))
        rows = np.concatenate(pairs)
        pair_rows, candidate_ids = rows[:, 1:], rows[:, 0].astype(np.int64)
        place, context = self._places(texts, tags, asked, counts, candidate_ids)
        return np.concatenate([pair_rows, np.repeat(place, counts, axis=0), context], axis=1)

    def knows(
        self, texts: Sequence[Words], tags: Sequence[Sequence[str]], asked: Sequence[Occurrence]
    ) -> NDArray[np.bool_]:
        """(S,) whether anything is known of the word or the candidate: not in another language than English."""
        found = []
        for one in asked:
            tag = tags[one.text][one.position]
            word = self._is_known(texts[one.text].lower[one.position], tag)
            found += [word or self._is_known(candidate, tag) for candidate in one.candidates]
        return np.array(found, dtype=bool)

    def _is_known(self, word: str, tag: str) -> bool:
        return word in self.vectors or lemmatise(word, tag) in self.vectors or bool(self._look_up(word, tag))

    def prior(self, word: str, tag: str, candidate: str) -> float:
        """The logit of a swap in general; `UNLISTED` where the thesaurus does not have it."""
        listed = self._look_up(word, tag)
        return (listed.get(candidate) or listed.get(lemmatise(candidate, tag), (UNLISTED, 0)))[0]

    def _look_up(self, word: str, tag: str) -> dict[str, tuple[float, int]]:
        """The candidates of a word with logit and rank, by their lemmas."""
        found = self._listed.get((word, tag))
        if found is None:
            listed = self.thesaurus.look_up(lemmatise(word, tag), PARTS[tag]) if tag in PARTS else {}
            found = {name: (logit, rank) for rank, (name, logit) in enumerate(listed.items())}
            self._listed[word, tag] = found
        return found

    def _group(self, word: str, tag: str, candidates: tuple[str, ...]) -> Matrix:
        """A row for each candidate of a word: the number of its vector, which fits a float32, and the pair's features.

        Most words come back with the same candidates.
        """
        key = (word, tag, candidates)
        found = self._groups.get(key)
        if found is None:
            rows = [[self.vectors.row.get(one, -1), *self._describe_pair(word, tag, one)] for one in candidates]
            found = self._groups[key] = np.array(rows, dtype=np.float32).reshape(-1, len(PAIR) + 1)
        return found

    def _describe_pair(self, word: str, tag: str, candidate: str) -> list[float]:
        lemma, other = lemmatise(word, tag), lemmatise(candidate, tag)
        listed = self._look_up(word, tag)
        logit, rank = listed.get(other, (UNLISTED, len(listed)))
        strength = self.wordnet.synonyms(lemma, PARTS[tag]).get(other, 0.0) if tag in PARTS else 0.0
        frequency, gain = self._frequency(other), self._frequency(other) - self._frequency(lemma)
        stem = 0
        while stem < min(len(lemma), len(other)) and lemma[stem] == other[stem]:
            stem += 1
        shared = stem / max(len(lemma), len(other), 1)
        values = [logit, np.log1p(rank), other in listed, strength, self._cosine(lemma, other), frequency, gain, shared]
        return [*map(float, values), len(candidate) / 10, *(float(tag == name) for name in TAGS)]

    def _frequency(self, word: str) -> float:
        """The logarithm of the word's rank by frequency, about 0 for the commonest."""
        return float(np.log(self.vectors.row.get(word, len(self.vectors)) + 10) - np.log(10)) / 4

    def _cosine(self, word: str, other: str) -> float:
        if word not in self.vectors or other not in self.vectors:
            return -0.2
        return float(self.vectors[word] @ self.vectors[other])

    def _places(
        self,
        texts: Sequence[Words],
        tags: Sequence[Sequence[str]],
        asked: Sequence[Occurrence],
        counts: NDArray[np.int64],
        candidate_ids: NDArray[np.int64],
    ) -> tuple[Matrix, Matrix]:
        """(P, …) features of each occurrence, and (S, …) those of each swap in its context."""
        row, table = self.vectors.row, self.vectors.vectors
        lower = [text.lower for text in texts]
        # One long array of the words of all texts, function words and unknown ones as zeros.
        ids = [-1 if word in STOP_WORDS else row.get(word, -1) for text in lower for word in text]
        every = self._vectors_of(ids)
        sums = np.concatenate([np.zeros((1, table.shape[1])), np.cumsum(every, axis=0, dtype=np.float64)])
        starts = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
        text_of = np.array([one.text for one in asked], dtype=np.int64)
        at = starts[text_of] + np.array([one.position for one in asked], dtype=np.int64)
        first, last = starts[text_of], starts[text_of + 1]

        def around(width: int) -> Matrix:
            begin, end = np.maximum(at - width, first), np.minimum(at + width + 1, last)
            total = sums[end] - sums[begin] - every[at]
            # In single precision, what is left of large sums would be noise where no word around has a vector.
            return np.asarray(total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-6), dtype=np.float32)

        near, far = around(NEAR), around(FAR)
        flags = [_describe_place(texts[one.text], tags[one.text], one.position) for one in asked]
        beside = [_find_beside(texts[one.text], one.position) for one in asked]
        originals = self._vectors_of([row.get(lower[one.text][one.position], -1) for one in asked])
        candidates = self._vectors_of(candidate_ids)
        own = np.stack([_dot(originals, near), _dot(originals, far)], axis=1)
        left, right = (self._vectors_of([row.get(pair[side], -1) for pair in beside]) for side in (0, 1))
        swap = np.repeat(np.arange(len(asked)), counts)
        # How near the candidate is to each part of the context, less how near the word itself is.
        near_candidate = _dot(candidates, near[swap])
        context = [near_candidate - own[swap, 0], _dot(candidates, far[swap]) - own[swap, 1]]
        context += [_dot(candidates, one[swap]) - _dot(originals, one)[swap] for one in (left, right)]
        context.append(near_candidate)
        place = np.concatenate([np.array(flags, dtype=np.float32).reshape(-1, len(PLACE) - 2), own], axis=1)
        return place.astype(np.float32), np.stack(context, axis=1).astype(np.float32)

    def _vectors_of(self, ids: Sequence[int] | NDArray[np.int64]) -> Matrix:
        """(n, d) rows of the vectors; zeros for −1."""
        which = np.asarray(ids, dtype=np.int64)
        found = self.vectors.vectors[which]
        found[which < 0] = 0
        return np.asarray(found, dtype=np.float32)


def _dot(first: Matrix, second: Matrix) -> Matrix:
    """(R,) the inner products of rows."""
    return np.asarray(np.einsum("rd,rd->r", first, second))


def _describe_place(text: Words, tags: Sequence[str], number: int) -> tuple[float, ...]:
    """The features of a place that do not depend on vectors."""
    gaps, tag = text.gaps, tags[number]
    after_gap = gaps[number + 1]
    next_tag = tags[number + 1] if number + 1 < len(tags) and after_gap.isspace() else ""
    before, word_before = "", ""
    if number and gaps[number].isspace():
        before, word_before = tags[number - 1], text.lower[number - 1]
    noun = tag[:2] == "NN"
    return (
        float(noun and next_tag[:2] == "NN"),
        float(noun and before[:2] == "NN"),
        float(not text.words[number].islower()),
        float(text.starts_sentence(number)),
        float(word_before in ("a", "an")),
        float(next_tag in ("IN", "RP", "TO")),
        float(before[:1] == "V" or before == "MD"),
        float(before in ("DT", "PRP$")),
        float(not (QUOTES.isdisjoint(gaps[number]) and QUOTES.isdisjoint(after_gap))),
    )


def _find_beside(text: Words, number: int) -> tuple[str, str]:
    """The words on either side, in lower case; empty beyond punctuation that separates them."""
    lower, gaps = text.lower, text.gaps
    return (
        lower[number - 1] if number and BREAKS.isdisjoint(gaps[number]) else "",
        lower[number + 1] if number + 1 < len(lower) and BREAKS.isdisjoint(gaps[number + 1]) else "",
    )
