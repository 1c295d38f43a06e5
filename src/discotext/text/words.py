"""Splitting texts into words without losing a character.

A word is a maximal run of letters (with combining marks), digits, and apostrophes or hyphens between them. Everything
else is kept unchanged as the gap between words: spaces, punctuation, emoji, control characters. HTML markup belongs to
the gaps, whether as tags (`<br />`), as entities (`&amp;`, `&lt;b&gt;`) or as entities without their ampersand, as in
AG News (`#39;`, `quot;`): it is never attacked, and the `b` of a tag never counts as a word.

A word may become part of markup when it is put in another's place: *They need a <large> room* has five words, and with
*big* only four, since `<big>` is a tag. `Words.takes` tells which words leave all others as they are. What it allows in
one place is independent of what stands in the others, so every choice of such words is split into just these words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, InvalidOperation
from functools import cache, cached_property, lru_cache

HTML_TAGS = "a|abbr|b|big|blockquote|br|center|code|dd|div|dl|dt|em|font|h[1-6]|hr|i|img|li|ol|p|pre|q|s|small|span"
HTML_TAGS += "|strong|sub|sup|table|tbody|td|th|tr|tt|u|ul"
# What stands before the name of a tag.
TAG_OPENING = re.compile(r"(?:<|lt;)\s*/?$", re.IGNORECASE)
TAG_NAME = re.compile(HTML_TAGS, re.IGNORECASE)
# Entities recognised without an ampersand: only names that are unlikely as the last word before a semicolon.
BARE_ENTITIES = "quot|amp|lt|gt|nbsp|apos"
MEMO_LENGTH = 5000  # characters of the longest text whose words are remembered
# After one of these a capital may mark the start of a sentence rather than a name.
SENTENCE_BREAKS = frozenset('.!?:;…"“”«»()[]*>\n•')


@cache
def _compile_pattern() -> re.Pattern[str]:
    # Python's \w excludes combining marks, but an accent may be a character of its own. All marks are in these planes.
    planes = [*range(0x20000), *range(0xE0100, 0xE01F0)]
    marks = "".join(map(chr, (code for code in planes if unicodedata.category(chr(code))[0] == "M")))
    letter, more = r"[^\W_]", rf"(?:[^\W_]|[{re.escape(marks)}])"
    # A tag contains no opening of another tag. Stopping there keeps matching linear in texts full of openings.
    tag = rf"/?(?:{HTML_TAGS})(?:\s(?:(?!lt;)[^<>]){{0,300}}?)?/?\s*"
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
    """A text as words with gaps around them: gaps[0] words[0] gaps[1] … words[-1] gaps[-1].

    >>> split("It #39;s good!").words
    ('It', 's', 'good')
    """

    words: tuple[str, ...]
    gaps: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.words)

    def __str__(self) -> str:
        """The original text, character for character."""
        return self.gaps[0] + "".join(word + gap for word, gap in zip(self.words, self.gaps[1:], strict=True))

    @cached_property
    def all_caps(self) -> bool:
        """Whether all words are in capitals, so that capitals carry no information."""
        return bool(self.words) and all(word == word.upper() for word in self.words)

    @cached_property
    def lower(self) -> tuple[str, ...]:
        """The words in lower case."""
        return tuple(word.lower() for word in self.words)

    @cached_property
    def adjacent(self) -> tuple[bool, ...]:
        """For each gap, whether it is white space alone, so that the words around it stand next to each other."""
        return tuple(gap.isspace() for gap in self.gaps)

    def starts_sentence(self, number: int) -> bool:
        """Whether a sentence, a line or a quotation starts at this word."""
        return number == 0 or not SENTENCE_BREAKS.isdisjoint(self.gaps[number])

    @cached_property
    def _in_markup(self) -> frozenset[int]:
        """Words after an opening and the name of a tag that never became one, up to the next angle bracket.

        Whether they are a tag depends on all of them together (its attributes may be too long, or contain `result;`,
        which looks like the opening of another), so that none of them can change by itself.
        """
        found: set[int] = set()
        for number, gap in enumerate(self.gaps[:-1]):
            opens = TAG_OPENING.search(gap) and TAG_NAME.fullmatch(self.words[number])
            if opens or (number - 1 in found and not ("<" in gap or ">" in gap)):
                found.add(number)
        return frozenset(found)

    def takes(self, number: int, word: str) -> bool:
        """Whether the text with this word in this place is split as before, whatever else is exchanged that may be.

        >>> text = split("They need a <large> room; now")
        >>> text.takes(3, "big"), text.takes(3, "huge"), text.takes(4, "amp"), text.takes(5, "o.k.")
        (False, True, False, False)
        """
        if not is_word(word) or number in self._in_markup:
            return False
        before, after = self.gaps[number], self.gaps[number + 1]
        opens = TAG_OPENING.search(before) is not None
        if opens and TAG_NAME.fullmatch(word):
            return False
        # An entity is a single word with a semicolon behind it; all other markup has the name of a tag.
        if opens or after.startswith(";"):
            return split(before + word + after) == Words((word,), (before, after))
        return True

    def around(self, number: int, before: int, after: int) -> tuple[str, str]:
        """The text before a word and the text after it, up to so many words each.

        >>> split("Well, a good film. Really!").around(2, 1, 2)
        ('a ', ' film. Really')
        """
        first, last = max(0, number - before), number + after + 1
        left = zip(self.words[first:number], self.gaps[first + 1 :], strict=False)
        right = zip(self.gaps[number + 1 : last], self.words[number + 1 :], strict=False)
        return "".join(map("".join, left)), "".join(map("".join, right))

    def spans(self) -> list[tuple[int, int]]:
        """The start and end offset of each word in the text."""
        offsets, at = [], len(self.gaps[0])
        for word, gap in zip(self.words, self.gaps[1:], strict=True):
            offsets.append((at, at + len(word)))
            at += len(word) + len(gap)
        return offsets

    def replace(self, changes: Mapping[int, str]) -> Words:
        """The same text with some words replaced. changes: the new words by position.

        >>> str(split("A good film.").replace({1: "fine"}))
        'A fine film.'
        """
        for number in changes:
            if not 0 <= number < len(self.words):
                raise IndexError(f"there is no word {number}; the text has {len(self.words)} words, counted from 0")
        return Words(tuple(changes.get(number, word) for number, word in enumerate(self.words)), self.gaps)


def split(text: str) -> Words:
    """Split a text into words and gaps; `str` of the result is the original text, for any input.

    >>> split("<br />Well-made & don't <b>miss</b> it: 10/10").words
    ('Well-made', "don't", 'miss', 'it', '10', '10')
    """
    return _split_once(text) if len(text) <= MEMO_LENGTH else _split_anew(text)


def to_words(text: str | Words) -> Words:
    """A text as words, whether it has been split already or not."""
    if isinstance(text, Words):
        return text
    if not isinstance(text, str):
        raise TypeError(f"a text is {str(text)[:40]!r}, of type {type(text).__name__}; expected a string")
    return split(text)


def _split_anew(text: str) -> Words:
    words, gaps, at = [], [], 0
    for match in _compile_pattern().finditer(text):
        if match["word"] is not None:
            gaps.append(text[at : match.start()])
            words.append(match["word"])
            at = match.end()
    return Words(tuple(words), (*gaps, text[at:]))


# The same few texts are split by the search space, by the victim and by reports; long ones would fill the memory.
_split_once = lru_cache(maxsize=1024)(_split_anew)


@lru_cache(1 << 16)
def is_word(text: str) -> bool:
    """Whether this is exactly one word.

    >>> is_word("well-made"), is_word("o.k."), is_word("'tis"), is_word("of course")
    (True, False, False, False)
    """
    return _split_anew(text).words == (text,)


def match_case(original: str, replacement: str) -> str:
    """Give the replacement the casing of the original; unchanged if that follows no pattern.

    >>> [match_case(word, "nice") for word in ("good", "Good", "GOOD", "I", "iPhone")]
    ['nice', 'Nice', 'NICE', 'Nice', 'nice']
    """
    if len(original) > 1 and original.isupper():
        return replacement.upper()
    if original[:1].isupper() and original[1:] == original[1:].lower():
        return replacement[:1].upper() + replacement[1:]
    return replacement


def compute_budget(words: int, share: float | str | Decimal) -> int:
    """The number of words that may change: a share of them, rounded down, at least 1 (0 if there are no words).

    Computed in exact decimals, so that 0.3 of 10 words is 3 and not 2.

    >>> compute_budget(10, 0.3), compute_budget(4, 0.05), compute_budget(0, 0.5)
    (3, 1, 0)
    """
    try:
        exact = Decimal(str(share))
    except InvalidOperation:
        exact = Decimal("nan")
    if exact.is_nan() or not 0 < exact <= 1:
        raise ValueError(f"the share of words that may change is {share}; choose a number above 0 and up to 1")
    return min(words, max(1, int((exact * words).to_integral_value(ROUND_FLOOR))))


@dataclass(frozen=True)
class WordContext:
    """One word of a text, with the text around it and all part-of-speech tags (Penn Treebank).

    number: the position of the word, counted from 0.

    >>> from discotext.text.words import split
    >>> context = WordContext(split("A Good film."), ("DT", "JJ", "NN"), 1)
    >>> context.word, context.lower, context.tag, context.before(1), context.before(2)
    ('Good', 'good', 'JJ', 'a', '')
    """

    text: Words
    tags: tuple[str, ...]
    number: int

    @property
    def word(self) -> str:
        return self.text.words[self.number]

    @property
    def lower(self) -> str:
        return self.text.lower[self.number]

    @property
    def tag(self) -> str:
        return self.tags[self.number]

    @property
    def next_tag(self) -> str:
        """The tag of the next word if only white space lies between, else an empty string."""
        return self.tags[self.number + 1] if self.after(1) else ""

    @property
    def starts_sentence(self) -> bool:
        """Whether a sentence, a line or a quotation starts here."""
        return self.text.starts_sentence(self.number)

    def before(self, steps: int) -> str:
        """The word `steps` words earlier, in lower case; empty past the start of the text or any punctuation."""
        there = self.number - steps
        joined = there >= 0 and all(self.text.adjacent[there + 1 : self.number + 1])
        return self.text.lower[there] if joined else ""

    def after(self, steps: int) -> str:
        """The word `steps` words later, in lower case; empty past the end of the text or any punctuation."""
        there = self.number + steps
        joined = there < len(self.text.words) and all(self.text.adjacent[self.number + 1 : there + 1])
        return self.text.lower[there] if joined else ""
