"""What the light tagger sees of a word: numbers of 32 bits, one for each feature.

A feature is made from checksums of what it looks at: the word, its endings, its shape, its neighbours, the marks
around it. Checksums are the same on every machine and in every run, which Python's own hashes are not. With tens of
thousands of weights among four thousand million numbers, two features that meet by chance are rarer than misprints.

Sentences are cut at full stops and line breaks, roughly: a wrong cut costs a little context and nothing else. Whether a
capital means a name depends on the capitals nearby: all of them in a headline, none of them in lower-cased text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from discotext.text.words import Words

Keys = NDArray[np.uint32]
Numbers = NDArray[np.int64]

# Bounded, and a sentence's end with one full stop: whatever a gap holds, the search stays linear in it.
MARKUP = re.compile(r"<[^<>]*>|&?lt;[^<>]{0,300}?gt;|&?#?[^\W_]{1,31};", re.IGNORECASE)
NEW_LINE = re.compile(r"\b(br|p|li|div)\b", re.IGNORECASE)
SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s|\n|[!?]")
ABBREVIATIONS = frozenset("mr mrs ms dr st jr sr vs prof lt col gen sen rep gov inc corp co ltd no vol".split())
QUOTES = str.maketrans("“”‘’", "\"\"''")
# The columns of a word's description (`_sheet`).
LOWER, CASED, END1, END2, END3, END4, START1, START3, LAST_PART, SHAPE, CAPITAL = range(11)
WINDOW = 3  # words on either side whose capitals are counted


def plain(text: Words) -> Words:
    """The same words without markup between them: what a reader would see.

    >>> from discotext.text.words import split
    >>> str(plain(split("Well.<br /><br />It #39;s good &amp; short")))
    "Well.\\nIt 's good & short"
    """
    return Words(text.words, tuple(map(_readable, text.gaps)))


@lru_cache(maxsize=4096)
def _readable(gap: str) -> str:
    # Outside of words, letters and digits occur in markup only. AG News has backslashes for line breaks.
    if "\\" not in gap and not any(map(str.isalnum, gap)):
        return gap

    def mark(match: re.Match[str]) -> str:
        found = match[0]
        known = html.unescape(f"&{found.lstrip('&')}") if found[0] != "<" else ""
        return known if len(known) == 1 else "\n" if NEW_LINE.search(found) else " "

    lines = MARKUP.sub(mark, gap).replace("\\", " ").split("\n")
    if len(lines) == 1:
        return lines[0]
    middle = [line for line in map(str.strip, lines[1:-1]) if line]
    return "\n".join([lines[0].rstrip(), *middle, lines[-1].lstrip()])


@lru_cache(maxsize=1 << 16)
def _sheet(word: str) -> tuple[int, ...]:
    word = re.sub(r"\d", "0", word.replace("’", "'"))
    lower, capital = word.lower(), word[:1].isupper()
    # Runs of capitals, small letters and digits, each written once; one capital alone is an initial, or I.
    shape = re.sub(r"(.)\1+", r"\1", re.sub(r"[^\W\d_]", lambda letter: "X" if letter[0].isupper() else "x", word))
    shape = shape[:5] + "1" * (capital and len(word) == 1)
    part = lower.rsplit("-", 1)[-1] if "-" in lower else ""
    ends = (lower[-1:], lower[-2:], lower[-3:], lower[-4:])
    seen = (lower, word if capital else "", *ends, lower[:1], lower[:3], part, shape)
    return (*(crc32(text.encode("utf-8", "replace")) for text in seen), int(capital))


@lru_cache(maxsize=4096)
def _marks(gap: str) -> tuple[int, int]:
    """A gap as what follows a word and as what comes before one: its first and its last marks."""
    marks = "".join(gap.split()).translate(QUOTES) or " " * bool(gap)
    return crc32(marks[:2].encode("utf-8", "replace")), crc32(marks[-2:].encode("utf-8", "replace"))


def mixed(*columns: Any) -> Keys:
    """One number from several, row by row; their order counts."""
    total = np.zeros(1, dtype=np.uint64)
    for column in columns:
        total = ((total ^ np.asarray(column, dtype=np.uint64)) * np.uint64(0x9E3779B1)) & np.uint64(0xFFFFFFFF)
        total ^= total >> np.uint64(15)
    return total.astype(np.uint32)


@dataclass(frozen=True)
class Seen:
    """What there is to see at N words, all texts one after the other, before any tag is given.

    keys: (N, F) the features. partners: (N, D) what joins with the last tag to make more of them.
    starts, sizes: of each sentence.
    """

    keys: Keys
    partners: Keys
    starts: Numbers
    sizes: Numbers


def see(texts: Sequence[Words]) -> Seen:
    """Look at every word of some texts, of which one at least has words."""
    sheets, before, after, begins = [], [], [], []
    for text in map(plain, texts):
        begin = True
        for word, left, right in zip(text.words, text.gaps, text.gaps[1:], strict=False):
            sheets.append(_sheet(word))
            before.append(_marks(left)[1])
            after.append(_marks(right)[0])
            begins.append(begin)
            abbreviated = "." in right and (len(word) == 1 or word.lower() in ABBREVIATIONS)
            begin = not abbreviated and SENTENCE_END.search(right) is not None
    count = len(sheets)
    # The row after the last stands for all that is beyond the sentence.
    sheet = np.array([*sheets, (1,) * CAPITAL + (0,)], dtype=np.uint64)
    starts = np.flatnonzero(begins)
    sizes = np.diff(np.append(starts, count))
    to_left, to_right = np.arange(-1, count), np.arange(1, count + 2)
    to_left[starts] = to_left[-1] = count
    to_right[starts + sizes - 1] = to_right[-1] = count
    around, west, east = np.zeros(count + 1, dtype=np.uint64), to_left, to_right
    for _ in range(WINDOW):
        around += sheet[west, CAPITAL] + sheet[east, CAPITAL]
        west, east = to_left[west], to_right[east]
    sentence = np.repeat(np.arange(len(starts)), sizes)
    lower_cased = np.bincount(sentence, weights=sheet[:-1, CAPITAL])[sentence] == 0
    keys, partners = _features(
        sheet[:-1].T,
        sheet[to_left][:-1].T,
        sheet[to_right][:-1].T,
        sheet[to_left[to_left]][:-1].T,
        sheet[to_right[to_right]][:-1].T,
        np.array([before, after, around[:-1], lower_cased, begins], dtype=np.uint64),
    )
    return Seen(keys, partners, starts, sizes)


def _features(own: Any, prev: Any, next_: Any, prev2: Any, next2: Any, place: Any) -> tuple[Keys, Keys]:
    """(N, F), (N, D) from descriptions (11, N) of each word and its neighbours, and of its place (5, N)."""
    before, after, around, lower_cased, begins = place
    alone = [
        *((own[name],) for name in (LOWER, CASED, END1, END2, END3, END4, START1, START3, LAST_PART, SHAPE)),
        (own[SHAPE], around, begins),
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
    joined = [(own[LOWER],), (own[END3],), (own[SHAPE],), (next_[LOWER],), (prev[LOWER],)]
    return (
        np.stack([mixed(number, *column) for number, column in enumerate(alone)], axis=1),
        np.stack([mixed(100 + number, *column) for number, column in enumerate(joined)], axis=1),
    )
