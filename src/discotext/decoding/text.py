"""Plain text as networks: the words of each sentence, with candidates for those that may be misspelt.

Most candidates of most words are far worse than the word itself, whatever their neighbours. They are left out before
the search: a candidate stays if it would not make its sentence much worse on its own, the other words as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from discotext.decoding.changes import Sentences, score_changes
from discotext.decoding.code_blocks import Span
from discotext.decoding.network import Alternative, Network
from discotext.decoding.passages import find_protected
from discotext.decoding.spelling import Speller, Suggestion
from discotext.language.sentences import find_sentences, normalise
from discotext.text.words import Words, match_case

SLACK = 4.0  # how much worse than the original a candidate may be on its own, in natural logarithms, to be kept
LONGEST = 200  # words that are searched as one sentence; the time for each grows with their number


@dataclass(frozen=True)
class Passage:
    """A sentence with something to decide. text: its number. words: the number of the first word of each position, and
    one past the last. network: its candidates."""

    text: int
    words: tuple[int, ...]
    network: Network


@dataclass
class _Place:
    """One or two words of a sentence that may be replaced. start: the first word, in the text."""

    sentence: int
    start: int
    length: int
    suggestions: Sequence[Suggestion]


@dataclass(frozen=True)
class _Sentence:
    text: int
    start: int
    end: int


def make_passages(
    texts: Sequence[Words],
    speller: Speller,
    margin: float,
    slack: float = SLACK,
    blocks: Sequence[Sequence[Span]] | None = None,
) -> list[Passage]:
    """The sentences of texts that have words with candidates.

    margin: how much better than the original a text must score with a candidate, in natural logarithms, to take it. It
    is part of the candidates' channel scores, so that a search needs no thresholds. blocks: the code of each text; None
    to look for it.
    """
    sentences: list[_Sentence] = []
    places: list[_Place] = []
    lower = [[normalise(word) for word in text.lower] for text in texts]
    for number, text in enumerate(texts):
        protected = find_protected(text, None if blocks is None else blocks[number])
        for start, end in cut_sentences(find_sentences(text)):
            places += find_places(text, lower[number], protected, start, end, speller, len(sentences))
            sentences.append(_Sentence(number, start, end))
    kept = _keep_plausible(speller, [lower[one.text][one.start : one.end] for one in sentences], sentences, places,
                           margin, slack)  # fmt: skip
    by_sentence: dict[int, list[_Place]] = {}
    for place in kept:
        by_sentence.setdefault(place.sentence, []).append(place)
    return [
        _make_passage(texts[sentences[number].text], sentences[number], found, margin)
        for number, found in by_sentence.items()
    ]


def cut_sentences(sentences: Sequence[tuple[int, int]], longest: int = LONGEST) -> list[tuple[int, int]]:
    """The same sentences, very long ones in about equal pieces.

    >>> cut_sentences([(0, 2), (2, 9)], longest=3)
    [(0, 2), (2, 4), (4, 6), (6, 9)]
    """
    found = []
    for start, end in sentences:
        pieces = -(-(end - start) // longest)
        ends = [start + (end - start) * number // pieces for number in range(pieces + 1)]
        found += list(pairwise(ends))
    return found


def find_places(
    text: Words, lower: Sequence[str], protected: Sequence[bool], start: int, end: int, speller: Speller, sentence: int
) -> list[_Place]:
    found = []
    for number in range(start, end):
        word = text.words[number]
        listed = lower[number] in speller.confusions
        if protected[number]:
            continue
        capital = word[:1].isupper()
        # Inside a sentence a capital marks a name.
        if capital and not listed and not (number == start or text.starts_sentence(number)):
            continue
        suggestions = speller.suggest(lower[number], capital)
        if suggestions:
            found.append(_Place(sentence, number, 1, suggestions))
        if number + 1 < end and text.gaps[number + 1] == " " and not protected[number + 1]:
            joined = speller.join(lower[number], lower[number + 1])
            if joined is not None and text.words[number + 1].islower():
                found.append(_Place(sentence, number, 2, (joined,)))
    return found


def _keep_plausible(
    speller: Speller,
    words: Sequence[Sequence[str]],
    sentences: Sequence[_Sentence],
    places: Sequence[_Place],
    margin: float,
    slack: float,
) -> list[_Place]:
    """The places with those of their candidates that are not hopeless."""
    if not places:
        return []
    model = speller.model
    padded = Sentences.of(model, words)
    counts = np.array([len(place.suggestions) for place in places], dtype=np.int64)
    at = np.array([padded.starts[one.sentence] + one.start - sentences[one.sentence].start for one in places])
    lengths = np.array([place.length for place in places], dtype=np.int64)
    every = [one for place in places for one in place.suggestions]
    flat = model.ids([word for one in every for word in one.words]).tolist()
    ids, first = [], 0
    for one in every:
        ids.append(flat[first : first + len(one.words)])
        first += len(one.words)
    gains = score_changes(model, padded, np.repeat(at, counts), np.repeat(lengths, counts), ids)
    good = gains + np.array([one.score for one in every]) - margin > -slack
    kept, first = [], 0
    for place, count in zip(places, counts.tolist(), strict=True):
        chosen = [one for one, ok in zip(place.suggestions, good[first : first + count], strict=True) if ok]
        first += count
        if chosen:
            kept.append(_Place(place.sentence, place.start, place.length, chosen))
    return kept


def _make_passage(text: Words, sentence: _Sentence, places: Sequence[_Place], margin: float) -> Passage:
    """A position for each word; words that may be joined share one, in which each may also be replaced alone."""
    single = {place.start: place.suggestions for place in places if place.length == 1}
    joins = {place.start: place.suggestions for place in places if place.length == 2}
    starts: list[int] = []
    positions: list[tuple[Alternative, ...]] = []
    number = sentence.start
    while number < sentence.end:
        word = text.words[number]
        starts.append(number)
        options = {write_like(word, one.text): one.score for one in single.get(number, ())}
        original = word
        if number in joins:
            after = text.words[number + 1]
            original = f"{word} {after}"
            options = {f"{changed} {after}": score for changed, score in options.items()}
            options |= {f"{word} {write_like(after, one.text)}": one.score for one in single.get(number + 1, ())}
            options |= {one.text: one.score for one in joins[number]}
            number += 1
        cased = {match_case(word, option): score - margin for option, score in options.items()}
        cased.pop(original, None)
        positions.append((Alternative(original), *(Alternative(option, score) for option, score in cased.items())))
        number += 1
    return Passage(sentence.text, (*starts, sentence.end), Network("", tuple(positions)))


def write_like(original: str, word: str) -> str:
    """A word with the apostrophe that the original has, if it has one.

    >>> write_like("goverment’s", "government's")
    'government’s'
    """
    sign = next((sign for sign in "’ʼ" if sign in original), "'")
    return word.replace("'", sign)
