"""Words, without losing a character.

A word is a maximal run of letters (with their marks), digits, and apostrophes or hyphens inside it. All the rest is
kept as it is: spaces, punctuation, emoji, control characters. Marks of HTML are no words either, whether written out
(`<br />`), as entities (`&amp;`, `&lt;b&gt;`) or with the ampersand lost, as AG News has them (`#39;`, `quot;`): they
are never attacked, and the `b` of a tag never counts as a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, InvalidOperation
from functools import cache, cached_property

TAGS = "a|abbr|b|big|blockquote|br|center|code|dd|div|dl|dt|em|font|h[1-6]|hr|i|img|li|ol|p|pre|q|s|small|span|strong"
TAGS += "|sub|sup|table|tbody|td|th|tr|tt|u|ul"
# Only names that are no words of a sentence before a semicolon; with the ampersand any name will do.
BARE_ENTITIES = "quot|amp|lt|gt|nbsp|apos"


@cache
def _pattern() -> re.Pattern[str]:
    # Python's \w leaves marks out, and an accent may be a character of its own. They all lie in these planes.
    planes = [*range(0x20000), *range(0xE0100, 0xE01F0)]
    marks = "".join(map(chr, (code for code in planes if unicodedata.category(chr(code))[0] == "M")))
    letter, more = r"[^\W_]", rf"(?:[^\W_]|[{re.escape(marks)}])"
    # No tag holds the beginning of another; to stop there keeps the search linear in texts full of beginnings.
    tag = rf"/?(?:{TAGS})(?:\s(?:(?!lt;)[^<>]){{0,300}}?)?/?\s*"
    skipped = [
        rf"<\s*{tag}>",
        rf"&?\blt;\s*{tag}&?gt;",
        r"&(?:[A-Za-z][A-Za-z0-9]{1,30}|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});",
        r"#[0-9]{1,7};",
        rf"\b(?:{BARE_ENTITIES});",
    ]
    word = rf"{letter}{more}*(?:['’ʼ\-‐‑]{letter}{more}*)*"
    return re.compile(rf"(?:{'|'.join(skipped)})|(?P<word>{word})", re.IGNORECASE)


@dataclass(frozen=True)
class Words:
    """A text seen as words with gaps around them: gaps[0] words[0] gaps[1] … words[-1] gaps[-1].

    >>> split("It #39;s good!").words
    ('It', 's', 'good')
    """

    words: tuple[str, ...]
    gaps: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.words)

    def __str__(self) -> str:
        """The text, character by character as it came."""
        return self.gaps[0] + "".join(word + gap for word, gap in zip(self.words, self.gaps[1:], strict=True))

    @cached_property
    def loud(self) -> bool:
        """Whether all words are in capitals, so that capitals say nothing."""
        return bool(self.words) and all(word == word.upper() for word in self.words)

    def spans(self) -> list[tuple[int, int]]:
        """Where each word begins and ends in the text."""
        found, at = [], len(self.gaps[0])
        for word, gap in zip(self.words, self.gaps[1:], strict=True):
            found.append((at, at + len(word)))
            at += len(word) + len(gap)
        return found

    def replaced(self, changes: Mapping[int, str]) -> Words:
        """The same text with some words, by their numbers, replaced.

        >>> str(split("A good film.").replaced({1: "fine"}))
        'A fine film.'
        """
        for number in changes:
            if not 0 <= number < len(self.words):
                raise IndexError(f"there is no word {number}; the text has {len(self.words)}, counted from 0")
        return Words(tuple(changes.get(number, word) for number, word in enumerate(self.words)), self.gaps)


def split(text: str) -> Words:
    """Find the words of a text; `str` of the answer is the text again, whatever it holds.

    >>> split("<br />Well-made & don't <b>miss</b> it: 10/10").words
    ('Well-made', "don't", 'miss', 'it', '10', '10')
    """
    words, gaps, at = [], [], 0
    for match in _pattern().finditer(text):
        if match["word"] is not None:
            gaps.append(text[at : match.start()])
            words.append(match["word"])
            at = match.end()
    return Words(tuple(words), (*gaps, text[at:]))


def match_case(original: str, replacement: str) -> str:
    """The replacement in the casing of the original; where that has no pattern, as it is.

    >>> [match_case(word, "nice") for word in ("good", "Good", "GOOD", "I", "iPhone")]
    ['nice', 'Nice', 'NICE', 'Nice', 'nice']
    """
    if len(original) > 1 and original.isupper():
        return replacement.upper()
    if original[:1].isupper() and original[1:] == original[1:].lower():
        return replacement[:1].upper() + replacement[1:]
    return replacement


def budget_for(words: int, share: float | str | Decimal) -> int:
    """How many of so many words may change: the share of them, rounded down, but at least one (and none of none).

    In exact decimals, so that 0.3 of 10 words is 3 and not 2.

    >>> budget_for(10, 0.3), budget_for(4, 0.05), budget_for(0, 0.5)
    (3, 1, 0)
    """
    try:
        exact = Decimal(str(share))
    except InvalidOperation:
        exact = Decimal("nan")
    if exact.is_nan() or not 0 < exact <= 1:
        raise ValueError(f"the share of words that may change is {share}; choose more than 0 and at most 1")
    return min(words, max(1, int((exact * words).to_integral_value(ROUND_FLOOR))))
