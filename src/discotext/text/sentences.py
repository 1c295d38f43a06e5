"""Sentences as n-gram models read them: words alone, in lower case, without punctuation.

A sentence ends where a full stop, a question mark or an exclamation mark is followed by white space and the next word
does not go on in lower case, and at an empty line. The same rule cuts the texts that a model is trained on and those
that it decodes, which matters more than that it is always right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from discotext.models.model import normalise
from discotext.text.words import Words, split

# White space after a mark, perhaps behind quotes and brackets; or an empty line; or a list's or page's break.
BREAK = re.compile(r"[.!?…][\"'”’)\]»]*\s|\n\s*\n|<br")
ABBREVIATIONS = frozenset("mr mrs ms dr st vs jr sr prof gen sen rep gov lt col no etc eg ie al fig".split())


def find_sentences(text: Words) -> list[tuple[int, int]]:
    """The first word of each sentence of a text, and one past its last.

    >>> from discotext.text.words import split
    >>> find_sentences(split("It works. Mr. Smith, e.g. the old one, agrees!"))
    [(0, 2), (2, 10)]
    """
    if not text.words:
        return []
    inside = enumerate(text.gaps[1:-1], start=1)
    starts = [0, *(number for number, gap in inside if BREAK.search(gap) and _ends(text, number, gap))]
    return list(zip(starts, [*starts[1:], len(text.words)], strict=True))


def _ends(text: Words, number: int, gap: str) -> bool:
    """Whether a gap with a mark in it ends a sentence. number: that of the word after it."""
    if "\n" in gap.strip(" \t") or not gap.lstrip().startswith("."):
        return True
    before, after = text.words[number - 1], text.words[number]
    abbreviated = before.lower() in ABBREVIATIONS or (len(before) == 1 and before.isupper())
    return not abbreviated and not after[:1].islower()


def read_sentences(text: str) -> Iterator[list[str]]:
    """The sentences of a text, as lists of words in lower case.

    >>> list(read_sentences("It’s good. Don't miss it!"))
    [["it's", 'good'], ["don't", 'miss', 'it']]
    """
    words = split(text)
    plain = [normalise(word.lower()) for word in words.words]
    for start, end in find_sentences(words):
        yield plain[start:end]
