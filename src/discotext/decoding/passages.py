"""Plain text as networks: the words of each sentence, with candidates for those that may be misspelt.

Left alone are addresses, code and blocks of it, file names, tags, numbers, words in capitals or with inner capitals,
hyphenated words, words with invisible characters such as soft hyphens, and capitalised words that no vocabulary knows
(names), unless they stand at the start of a sentence.

Most candidates of most words are far worse than the word itself, whatever their neighbours. They are left out before
the search: a candidate stays if it would not make its sentence much worse on its own, the other words as they are. Only
the words within reach of an n-gram around a change are scored for that, before and after; the difference is what the
whole sentence gains or loses, exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.decoding.network import Alternative, Network
from discotext.decoding.speller import Speller, Suggestion
from discotext.models.model import NGramModel, normalise, pad_sentences
from discotext.models.ngram import BackoffModel
from discotext.text.sentences import find_sentences
from discotext.text.words import Words, match_case

Span = tuple[int, int]

# Three or more backticks or tildes, perhaps in a quotation or a list; backticks later on the line make it inline code.
FENCE = re.compile(r"[\ufeff \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:(`{3,})[^`]*|(~{3,}).*)$", re.DOTALL)
INDENTED = re.compile(r"(?: {4}| {0,3}\t)")


@dataclass
class CodeBlocks:
    r"""Finds code in the pieces of one text, given in their order.

    >>> blocks = CodeBlocks()
    >>> blocks.read("so:\n```\nx = 1\n"), blocks.read("y = 2\n"), blocks.read("```\n"), blocks.read("done\n")
    ([(4, 14)], [(0, 6)], [(0, 4)], [])
    """

    fence: str = ""  # what opened the block that a piece begins in
    indented: bool = False  # whether the last line that is not empty was indented code
    empty: bool = False  # whether the last line was empty
    broken: bool = False  # whether the last piece ended within a line
    inside: bool = False  # whether the last line was code

    def read(self, text: str) -> list[Span]:
        """The characters of the next piece that are code, as spans in their order."""
        found: list[Span] = []
        at = 0
        for line in re.split(r"(?<=\n)", text):
            if not line:
                continue
            if not self.broken:
                self.inside = self._is_code(line)
            self.broken = not line.endswith("\n")
            if self.inside:
                start = found.pop()[0] if found and found[-1][1] == at else at
                found.append((start, at + len(line)))
            at += len(line)
        return found

    def _is_code(self, line: str) -> bool:
        match = FENCE.match(line)
        if self.fence:
            bare = line.strip(" \t\r\n>")
            # As many of the same sign, and nothing else, end a block.
            if len(bare) >= len(self.fence) and not bare.strip(self.fence[0]):
                self.fence, self.empty, self.indented = "", False, False
            return True
        if match:
            self.fence = match[1] or match[2]
            return True
        if not line.strip():
            self.empty = True
            return self.indented
        self.indented = bool(INDENTED.match(line)) and (self.empty or self.indented)
        self.empty = False
        return self.indented


CODE = re.compile(r"`[^`\n]{1,2000}`|<[^<>\n]{1,300}>|\b(?:https?|ftp)://\S+|\bwww\.\S+|\S+@\S+\.\S+", re.IGNORECASE)
MAY_BE_CODE = re.compile(r"[`@<]|://|www\.", re.IGNORECASE)
# A piece of text between white space is code or an address if one of these is inside it.
INSIDE = re.compile(r"[_\\@#=<>{}$^*|~+&/]|\w\.\w|\w\(\w|::|\d")
INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060"  # soft hyphen, zero-width space, non-joiner and joiner, word joiner
EDGES = "\"'“”‘’()[]{}<>.,;:!?…-–—*"


# An apostrophe as an entity, which cuts isn't into isn and t.
CUT = re.compile(r"^\s?&?#(?:0?39|x27|8217);$|^&apos;$")


def find_protected(text: Words, blocks: Sequence[Span] | None = None) -> list[bool]:
    """Whether each word is to be left alone for what it looks like and where it stands.

    blocks: the blocks of code, as `CodeBlocks` finds them; None to look for them in this text alone.

    >>> from discotext.text.words import split
    >>> find_protected(split("see the file notes.txt, NASA and iPhone"))
    [False, False, False, True, True, True, False, True]
    """
    whole = str(text)
    spans = text.spans()
    protected = [_looks_special(word) for word in text.words]
    # Most texts have none of the signs, and are not searched.
    code = [match.span() for match in CODE.finditer(whole)] if MAY_BE_CODE.search(whole) else []
    for some in (code, CodeBlocks().read(whole) if blocks is None else blocks):
        at = 0
        for number, (start, end) in enumerate(spans):
            while at < len(some) and some[at][1] <= start:
                at += 1
            if at < len(some) and some[at][0] < end:
                protected[number] = True
    for number, gap in enumerate(text.gaps[1:-1], start=1):
        if ";" in gap and CUT.match(gap):
            protected[number - 1] = protected[number] = True
    for number, (start, end) in enumerate(spans):
        if not protected[number]:
            piece = _find_piece(whole, start, end)
            protected[number] = bool(INSIDE.search(piece)) or any(sign in piece for sign in INVISIBLE)
    return protected


def _looks_special(word: str) -> bool:
    """Capitals where a sentence has none, digits, hyphens."""
    return word[1:] != word[1:].lower() or not re.sub("['’ʼ]", "", word).isalpha()


def _find_piece(whole: str, start: int, end: int) -> str:
    """The text between white space around a word, without punctuation at its ends."""
    while start and end - start < 200 and not whole[start - 1].isspace():
        start -= 1
    while end < len(whole) and end - start < 400 and not whole[end].isspace():
        end += 1
    return whole[start:end].strip(EDGES)


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
    sentences: list[tuple[int, int, int]] = []  # the text, the first word, and one past the last
    places: list[_Place] = []
    lower = [[normalise(word) for word in text.lower] for text in texts]
    for number, text in enumerate(texts):
        protected = find_protected(text, None if blocks is None else blocks[number])
        for start, end in cut_sentences(find_sentences(text)):
            places += find_places(text, lower[number], protected, start, end, speller, len(sentences))
            sentences.append((number, start, end))
    padded = Sentences.of(speller.model, [lower[number][start:end] for number, start, end in sentences])
    firsts = [padded.starts[place.sentence] + place.start - sentences[place.sentence][1] for place in places]
    by_sentence: dict[int, list[_Place]] = {}
    for place in _keep_plausible(speller.model, padded, firsts, places, margin - slack):
        by_sentence.setdefault(place.sentence, []).append(place)
    return [_make_passage(texts, *sentences[number], found, margin) for number, found in by_sentence.items()]


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
    model: BackoffModel, sentences: Sentences, firsts: Sequence[int], places: Sequence[_Place], least: float
) -> Iterator[_Place]:
    """The places with those of their candidates that are not hopeless. firsts: where they are in the sentences."""
    counts = [len(place.suggestions) for place in places]
    every = [one for place in places for one in place.suggestions]
    ids = np.split(
        model.ids([word for one in every for word in one.words]), np.cumsum([len(one.words) for one in every])
    )
    at, lengths = (np.array(some, dtype=np.int64) for some in (firsts, [place.length for place in places]))
    gains = score_changes(model, sentences, np.repeat(at, counts), np.repeat(lengths, counts), ids[:-1])
    good = np.split(gains + np.array([one.score for one in every]) > least, np.cumsum(counts))
    for place, fine in zip(places, good[:-1], strict=True):
        chosen = [one for one, ok in zip(place.suggestions, fine, strict=True) if ok]
        if chosen:
            yield replace(place, suggestions=chosen)


def _make_passage(
    texts: Sequence[Words], text_number: int, number: int, end: int, places: Sequence[_Place], margin: float
) -> Passage:
    """A position for each word; words that may be joined share one, in which each may also be replaced alone."""
    text = texts[text_number]
    single = {place.start: place.suggestions for place in places if place.length == 1}
    joins = {place.start: place.suggestions for place in places if place.length == 2}
    starts: list[int] = []
    positions: list[tuple[Alternative, ...]] = []
    while number < end:
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
    return Passage(text_number, (*starts, end), Network("", tuple(positions)))


def write_like(original: str, word: str) -> str:
    """A word with the apostrophe that the original has, if it has one.

    >>> write_like("goverment’s", "government's")
    'government’s'
    """
    sign = next((sign for sign in "’ʼ" if sign in original), "'")
    return word.replace("'", sign)


@dataclass(frozen=True, eq=False)
class Sentences:
    """Sentences as ids in one array, with room around each for the words before its start and after its end.

    padded: each sentence as order − 1 starts, its words, an end, and order − 1 times −1. starts: (S,) where the
    words of each begin.
    """

    padded: Ints
    starts: Ints
    order: int

    @classmethod
    def of(cls, model: NGramModel, sentences: Sequence[Sequence[str]]) -> Sentences:
        """Look up the words of sentences."""
        lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
        ids = model.ids([word for sentence in sentences for word in sentence])
        padded, starts = pad_sentences(ids, lengths, model.order - 1, model.begin, model.end)
        return cls(padded, starts, model.order)


def score_changes(
    model: NGramModel, sentences: Sentences, places: Ints, lengths: Ints, replacements: Sequence[Ints | Sequence[int]]
) -> Floats:
    """(R,) by how much each change makes its sentence likelier, in natural logarithms.

    places: (R,) the first word of each change, as an index into `sentences.padded`. lengths: (R,) how many words are
    replaced. replacements: the ids of the new words.
    """
    after = _score_runs(model, sentences, places, places + lengths, replacements)
    # The same runs as they stand; many changes share theirs.
    runs, which = np.unique(np.stack([places, lengths], axis=1), axis=0, return_inverse=True)
    old = [sentences.padded[start : start + length].tolist() for start, length in runs.tolist()]
    before = _score_runs(model, sentences, runs[:, 0], runs[:, 0] + runs[:, 1], old)
    return np.asarray(after - before[which.reshape(-1)])


def _score_runs(
    model: NGramModel, sentences: Sentences, places: Ints, ends: Ints, middles: Sequence[Ints | Sequence[int]]
) -> Floats:
    """(R,) ln p of words put at places, and of the words after them that see them."""
    around = sentences.order - 1
    found = np.zeros(len(places))
    sizes = np.array([len(middle) for middle in middles], dtype=np.int64)
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        left = sentences.padded[places[rows, None] + np.arange(-around, 0)]
        middle = np.array([middles[row] for row in rows.tolist()], dtype=np.int64).reshape(len(rows), size)
        # A removed word lets its neighbours touch, so that a word after it may follow directly.
        right = sentences.padded[ends[rows, None] + np.arange(max(around, 1))]
        line = np.concatenate([left, middle, right], axis=1)
        targets = line[:, around:]
        real = targets >= 0
        windows = np.lib.stride_tricks.sliding_window_view(line, sentences.order, axis=1)
        contexts, words = windows[..., :-1][real], targets[real]
        sums = np.zeros(targets.shape)
        sums[real] = model.log_probs(contexts, words)
        found[rows] = sums.sum(axis=1)
    return found
