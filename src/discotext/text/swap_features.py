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
PAIR: tuple[str, ...] = ("prior", "rank", "listed", "strength", "cosine", "frequency", "frequency_gain")
PAIR += ("shared_stem", "length")
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
        rows = [np.empty((0, len(PAIR) + 1), dtype=np.float32)]
        for one in asked:
            # Most words come back with the same candidates.
            key = (texts[one.text].lower[one.position], tags[one.text][one.position], one.candidates)
            if key not in self._groups:
                self._groups[key] = self._describe_pairs(*key)
            rows.append(self._groups[key])
        pairs = np.concatenate(rows)
        counts = np.array([len(one.candidates) for one in asked], dtype=np.int64)
        place, context = self._describe_places(texts, tags, asked, counts, pairs[:, 0].astype(np.int64))
        return np.concatenate([pairs[:, 1:], np.repeat(place, counts, axis=0), context], axis=1)

    def knows(
        self, texts: Sequence[Words], tags: Sequence[Sequence[str]], asked: Sequence[Occurrence]
    ) -> NDArray[np.bool_]:
        """(S,) whether anything is known of the word or the candidate: not in another language than English."""

        def known(word: str) -> bool:
            return word in vectors or lemmatise(word, tag) in vectors or bool(self._look_up(word, tag))

        found, vectors = [], self.vectors.row
        for one in asked:
            tag = tags[one.text][one.position]
            word = known(texts[one.text].lower[one.position])
            found += [word or known(candidate) for candidate in one.candidates]
        return np.array(found, dtype=bool)

    def prior(self, word: str, tag: str, candidate: str) -> float:
        """The logit of a swap in general; `UNLISTED` where the thesaurus does not have it."""
        listed = self._look_up(word, tag)
        return (listed.get(candidate) or listed.get(lemmatise(candidate, tag), (UNLISTED, 0)))[0]

    def _look_up(self, word: str, tag: str) -> dict[str, tuple[float, int]]:
        """The candidates of a word with logit and rank, by their lemmas."""
        if (word, tag) not in self._listed:
            listed = self.thesaurus.look_up(lemmatise(word, tag), PARTS.get(tag, ""))
            found = {name: (logit, rank) for rank, (name, logit) in enumerate(listed.items())}
            self._listed[word, tag] = found
        return self._listed[word, tag]

    def _describe_pairs(self, word: str, tag: str, candidates: Sequence[str]) -> Matrix:
        """A row for each candidate: the number of its vector, which fits a float32, and the features of the pair."""
        row, lemma, listed, rows = self.vectors.row, lemmatise(word, tag), self._look_up(word, tag), []
        related = self.wordnet.synonyms(lemma, PARTS.get(tag, ""))
        for candidate in candidates:
            other = lemmatise(candidate, tag)
            logit, rank = listed.get(other, (UNLISTED, len(listed)))
            # The logarithms of the ranks by frequency, about 0 for the commonest words.
            rare, rarer = (float(np.log(row.get(one, len(row)) + 10) - np.log(10)) / 4 for one in (lemma, other))
            differ = (at for at, (one, two) in enumerate(zip(lemma, other, strict=False)) if one != two)
            stem = next(differ, min(len(lemma), len(other))) / max(len(lemma), len(other), 1)
            cosine = self.vectors.cosine(lemma, other, unknown=-0.2)
            pair = [logit, np.log1p(rank), other in listed, related.get(other, 0.0), cosine]
            pair += [rarer, rarer - rare, stem, len(candidate) / 10, *(tag == name for name in TAGS)]
            rows.append([row.get(candidate, -1), *map(float, pair)])
        return np.array(rows, dtype=np.float32).reshape(-1, len(PAIR) + 1)

    def _describe_places(
        self,
        texts: Sequence[Words],
        tags: Sequence[Sequence[str]],
        asked: Sequence[Occurrence],
        counts: NDArray[np.int64],
        candidate_ids: NDArray[np.int64],
    ) -> tuple[Matrix, Matrix]:
        """(P, …) features of each occurrence, and (S, …) those of each swap in its context."""
        row, table = self.vectors.row, self.vectors.vectors
        # One long array of the words of all texts, function words and unknown ones as zeros.
        ids = [-1 if word in STOP_WORDS else row.get(word, -1) for text in texts for word in text.lower]
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
        described = [_describe_place(texts[one.text], tags[one.text], one.position) for one in asked]
        flags = np.array([flags for flags, _ in described], dtype=np.float32).reshape(-1, len(PLACE) - 2)
        beside = [[row.get(word, -1) for word in words] for _, words in described]
        originals, left, right = (self._vectors_of([words[side] for words in beside]) for side in range(3))
        candidates = self._vectors_of(candidate_ids)
        own = np.stack([_dot(originals, near), _dot(originals, far)], axis=1)
        swap = np.repeat(np.arange(len(asked)), counts)
        # How near the candidate is to each part of the context, less how near the word itself is.
        near_candidate = _dot(candidates, near[swap])
        context = [near_candidate - own[swap, 0], _dot(candidates, far[swap]) - own[swap, 1]]
        context += [_dot(candidates, one[swap]) - _dot(originals, one)[swap] for one in (left, right)]
        context.append(near_candidate)
        place = np.concatenate([flags, own], axis=1)
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


def _describe_place(text: Words, tags: Sequence[str], number: int) -> tuple[tuple[float, ...], tuple[str, str, str]]:
    """The features of a place that do not depend on vectors, and the word with the words on either side.

    Those are in lower case, and empty beyond punctuation that separates them.
    """
    lower, before_gap, after_gap = text.lower, *text.gaps[number : number + 2]
    left, right = number > 0, number + 1 < len(lower)
    before = tags[number - 1] if left and before_gap.isspace() else ""
    after = tags[number + 1] if right and after_gap.isspace() else ""
    noun = tags[number][:2] == "NN"
    flags = (
        noun and after[:2] == "NN",
        noun and before[:2] == "NN",
        not text.words[number].islower(),
        text.starts_sentence(number),
        before != "" and lower[number - 1] in ("a", "an"),
        after in ("IN", "RP", "TO"),
        before[:1] == "V" or before == "MD",
        before in ("DT", "PRP$"),
        not (QUOTES.isdisjoint(before_gap) and QUOTES.isdisjoint(after_gap)),
    )
    west = lower[number - 1] if left and BREAKS.isdisjoint(before_gap) else ""
    east = lower[number + 1] if right and BREAKS.isdisjoint(after_gap) else ""
    return tuple(map(float, flags)), (lower[number], west, east)
