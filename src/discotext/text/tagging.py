"""Parts of speech: which word is a noun, a verb or a name, in the tags of the Penn Treebank.

A swap that keeps the part of speech reads better than one that does not, and names are better left alone. The tagger
is a small model trained on spaCy's tags: an averaged perceptron that goes through a sentence from left to right and
chooses the tag with the highest score,

    score(tag) = Σ weights[feature, tag]    over the word, its endings and shape, its neighbours, the punctuation
                                            around it, and the two previous tags.

Only the features of the previous tags depend on the words before. The rest is summed for many words at once, and then
all sentences advance in parallel, word by word. Weights are integers, so nothing is rounded and a text gets the same
tags whatever else is in the batch. `scripts/build_tagger.py` made them. Every word of a name, of a person or of a film,
is tagged `NNP`, whatever it is otherwise.

A feature is a 32-bit hash of what it is about: a checksum, which is the same on every machine and in every run, unlike
Python's own. With tens of thousands of weights among four billion values, collisions are rarer than misprints. Texts
are split into sentences at full stops and line breaks, roughly: a wrong split costs a little context and nothing else.
Whether a capital marks a name depends on the capitals nearby: every word has one in a headline, none in lower-cased
text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Protocol
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Ints
from discotext.text.resources import read_arrays
from discotext.text.words import Words

Keys = NDArray[np.uint32]

PENN_TAGS = tuple(
    "CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH "
    "VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB".split()
)
EDGE = len(PENN_TAGS)  # stands for the tag before the first word of a sentence
WORDS_PER_CHUNK = 20_000  # whose scores are in memory at once
# The repetitions are bounded, so that matching stays linear in the length of a gap, whatever it contains.
MARKUP = re.compile(r"<[^<>]*>|&?lt;[^<>]{0,300}?gt;|&?#?[^\W_]{1,31};", re.IGNORECASE)
NEW_LINE = re.compile(r"\b(br|p|li|div)\b", re.IGNORECASE)
SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s|\n|[!?]")
ABBREVIATIONS = frozenset("mr mrs ms dr st jr sr vs prof lt col gen sen rep gov inc corp co ltd no vol".split())
QUOTES = str.maketrans("“”‘’", "\"\"''")
# The columns of a word's description (`_describe`).
LOWER, CASED, END1, END2, END3, END4, START1, START3, LAST_PART, SHAPE, CAPITAL = range(11)
CAPITALS_WINDOW = 3  # words on either side whose capitals are counted


class Tagger(Protocol):
    """Assigns a Penn Treebank tag to each word of each text, and `NNP` to every word of a name."""

    name: str

    def tag(self, texts: Sequence[Words]) -> list[list[str]]:
        """One tag per word of each text."""
        ...


def remove_markup(text: Words) -> Words:
    """Remove the markup between words, leaving what a reader would see.

    >>> from discotext.text.words import split
    >>> str(remove_markup(split("Well.<br /><br />It #39;s good &amp; short")))
    "Well.\\nIt 's good & short"
    """
    return Words(text.words, tuple(map(_clean_gap, text.gaps)))


@lru_cache(maxsize=4096)
def _clean_gap(gap: str) -> str:
    # In gaps, letters and digits occur only in markup. AG News has backslashes for line breaks.
    if "\\" not in gap and not any(map(str.isalnum, gap)):
        return gap

    def replace(match: re.Match[str]) -> str:
        found = match[0]
        known = html.unescape(f"&{found.lstrip('&')}") if found[0] != "<" else ""
        return known if len(known) == 1 else "\n" if NEW_LINE.search(found) else " "

    lines = MARKUP.sub(replace, gap).replace("\\", " ").split("\n")
    if len(lines) == 1:
        return lines[0]
    middle = [line for line in map(str.strip, lines[1:-1]) if line]
    return "\n".join([lines[0].rstrip(), *middle, lines[-1].lstrip()])


@lru_cache(maxsize=1 << 16)
def _describe(word: str) -> tuple[int, ...]:
    """Hashes of the parts and the shape of a word, and whether it has a capital: columns `LOWER` to `CAPITAL`."""
    word = re.sub(r"\d", "0", word.replace("’", "'"))
    lower, capital = word.lower(), word[:1].isupper()
    # Runs of upper case, lower case and digits, each written once; a single capital is an initial, or "I".
    shape = re.sub(r"(.)\1+", r"\1", re.sub(r"[^\W\d_]", lambda letter: "X" if letter[0].isupper() else "x", word))
    shape = shape[:5] + "1" * (capital and len(word) == 1)
    part = lower.rsplit("-", 1)[-1] if "-" in lower else ""
    ends = (lower[-1:], lower[-2:], lower[-3:], lower[-4:])
    parts = (lower, word if capital else "", *ends, lower[:1], lower[:3], part, shape)
    return (*(crc32(text.encode("utf-8", "replace")) for text in parts), int(capital))


@lru_cache(maxsize=4096)
def _hash_marks(gap: str) -> tuple[int, int]:
    """Hashes of the first punctuation marks of a gap, which follow a word, and of the last, which precede one."""
    marks = "".join(gap.split()).translate(QUOTES) or " " * bool(gap)
    return crc32(marks[:2].encode("utf-8", "replace")), crc32(marks[-2:].encode("utf-8", "replace"))


def mix_hashes(*columns: Any) -> Keys:
    """Combine several hashes into one, row by row; their order matters."""
    total = np.zeros(1, dtype=np.uint64)
    for column in columns:
        total = ((total ^ np.asarray(column, dtype=np.uint64)) * np.uint64(0x9E3779B1)) & np.uint64(0xFFFFFFFF)
        total ^= total >> np.uint64(15)
    return total.astype(np.uint32)


@dataclass(frozen=True)
class Features:
    """The features of N words, all texts concatenated, that do not depend on tags.

    keys: (N, F) hashes. partners: (N, D) hashes to be combined with the previous tag for further features.
    starts, sizes: the first word and the length of each sentence.
    """

    keys: Keys
    partners: Keys
    starts: Ints
    sizes: Ints


def extract_features(texts: Sequence[Words]) -> Features:
    """Compute the features of every word of some texts, at least one of which has words."""
    descriptions, before, after, begins = [], [], [], []
    for text in map(remove_markup, texts):
        begin = True
        for word, left, right in zip(text.words, text.gaps, text.gaps[1:], strict=False):
            descriptions.append(_describe(word))
            before.append(_hash_marks(left)[1])
            after.append(_hash_marks(right)[0])
            begins.append(begin)
            abbreviated = "." in right and (len(word) == 1 or word.lower() in ABBREVIATIONS)
            begin = not abbreviated and SENTENCE_END.search(right) is not None
    count = len(descriptions)
    # The extra last row stands for everything beyond the sentence.
    table = np.array([*descriptions, (1,) * CAPITAL + (0,)], dtype=np.uint64)
    starts = np.flatnonzero(begins)
    sizes = np.diff(np.append(starts, count))
    to_left, to_right = np.arange(-1, count), np.arange(1, count + 2)
    to_left[starts] = to_left[-1] = count
    to_right[starts + sizes - 1] = to_right[-1] = count
    around, west, east = np.zeros(count + 1, dtype=np.uint64), to_left, to_right
    for _ in range(CAPITALS_WINDOW):
        around += table[west, CAPITAL] + table[east, CAPITAL]
        west, east = to_left[west], to_right[east]
    sentence = np.repeat(np.arange(len(starts)), sizes)
    lower_cased = np.bincount(sentence, weights=table[:-1, CAPITAL])[sentence] == 0
    own, prev, next_, prev2, next2 = (
        table[rows][:-1].T for rows in (slice(None), to_left, to_right, to_left[to_left], to_right[to_right])
    )
    alone: list[tuple[Any, ...]] = [
        *((own[name],) for name in (LOWER, CASED, END1, END2, END3, END4, START1, START3, LAST_PART, SHAPE)),
        (own[SHAPE], around[:-1], begins),
        (own[SHAPE], lower_cased, begins),
        (own[SHAPE], before, begins),
        (own[CAPITAL], after),
        (own[SHAPE], prev[SHAPE], next_[SHAPE]),
        *((prev[name],) for name in (LOWER, END3)),
        *((next_[name],) for name in (LOWER, END3, END2)),
        (prev2[LOWER],),
        (next2[LOWER],),
        (prev[LOWER], own[LOWER]),
        (own[LOWER], next_[LOWER]),
        (prev[LOWER], own[END3]),
        (own[END3], next_[LOWER]),
        (prev[LOWER], next_[LOWER]),
    ]
    with_tag = [own[LOWER], own[END3], own[SHAPE], next_[LOWER], prev[LOWER]]
    keys = np.stack([mix_hashes(number, *column) for number, column in enumerate(alone)], axis=1)
    partners = np.stack([mix_hashes(100 + number, column) for number, column in enumerate(with_tag)], axis=1)
    return Features(keys, partners, starts, sizes)


@dataclass(frozen=True)
class Weights:
    """The weights of a perceptron.

    keys: (R,) the features that have weights, ascending. rows: (R + 1, tags) their weights; the last row is zero, for
    all other features. pairs: (tags + 1, tags + 1, tags) the weights of the two previous tags, by [before, last].
    """

    keys: Keys
    rows: NDArray[np.int32]
    pairs: NDArray[np.int32]

    @classmethod
    def of(cls, keys: Keys, rows: NDArray[np.int32]) -> Weights:
        """Build weights with the table of tag pairs precomputed, since every word needs it."""
        weights = cls(keys, rows, np.zeros((0, 0, EDGE), dtype=np.int32))
        last, before = np.meshgrid(np.arange(EDGE + 1), np.arange(EDGE + 1))
        found = sum(rows[weights.find(keys)] for keys in hash_tag_pairs(before.ravel(), last.ravel()).T)
        return cls(keys, rows, np.asarray(found).reshape(EDGE + 1, EDGE + 1, EDGE))

    def find(self, keys: Keys) -> Ints:
        """The row of each feature, for an array of any shape."""
        at = np.searchsorted(self.keys, keys)
        at[at == len(self.keys)] = 0
        return np.where(self.keys[at] == keys, at, len(self.keys))


def hash_tag_pairs(before: Ints, last: Ints) -> Keys:
    """(n, 2) the features of the previous tag, and of the two previous tags."""
    return np.stack([mix_hashes(200, last), mix_hashes(201, last, before)], axis=1)


def hash_with_tag(partners: Keys, last: Ints) -> Keys:
    """(n, D) the features that combine hashes (n, D) of a word with the previous tag."""
    return mix_hashes(partners, last[:, None])


@cache
def load_weights() -> Weights:
    """The weights that come with the package."""
    stored = read_arrays("tagger.safetensors")
    keys, counts = stored["keys"], stored["counts"].astype(np.int64)
    rows = np.zeros((len(keys) + 1, EDGE), dtype=np.int32)
    rows[np.repeat(np.arange(len(keys)), counts), stored["tags"]] = stored["weights"]
    return Weights.of(keys, rows)


class LightTagger:
    """The perceptron that comes with the package.

    >>> from discotext.text.words import split
    >>> LightTagger().tag([split("I can open the can.")])
    [['PRP', 'MD', 'VB', 'DT', 'NN']]
    """

    name = "light"

    def tag(self, texts: Sequence[Words]) -> list[list[str]]:
        """One tag per word of each text."""
        found, begin, size = [], 0, 0
        for end, text in enumerate(texts, start=1):
            size += len(text)
            if size >= WORDS_PER_CHUNK or end == len(texts):
                numbers = iter(decode(extract_features(texts[begin:end]), load_weights()) if size else ())
                found += [[PENN_TAGS[next(numbers)] for _ in one.words] for one in texts[begin:end]]
                begin, size = end, 0
        return found


def decode(features: Features, weights: Weights) -> list[int]:
    """The index of the tag of every word, going through all sentences in parallel from left to right."""
    scores = np.zeros((len(features.keys), EDGE), dtype=np.int32)
    for column in weights.find(features.keys).T:
        scores += weights.rows[column]
    # Longest first, so that the sentences that are not finished are always the first ones.
    order = np.argsort(-features.sizes, kind="stable")
    starts, sizes = features.starts[order], features.sizes[order]
    tags = np.empty(len(scores), dtype=np.int64)
    before = last = np.full(len(starts), EDGE)
    for step in range(int(sizes[0])):
        unfinished = int(np.searchsorted(-sizes, -step))
        here, before, last = starts[:unfinished] + step, before[:unfinished], last[:unfinished]
        joined = weights.find(hash_with_tag(features.partners[here], last))
        total = scores[here] + weights.pairs[before, last] + weights.rows[joined].sum(axis=1)
        before, last = last, total.argmax(axis=1)
        tags[here] = last
    return tags.tolist()
