"""Which words of a text may be corrected.

Left alone: addresses, code and blocks of it, file names, tags, numbers, words in capitals or with inner capitals,
hyphenated words, words with invisible characters such as soft hyphens, and capitalised words that no vocabulary knows
(names), unless they stand at the start of a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from discotext.decoding.code_blocks import CodeBlocks, Span
from discotext.text.words import Words

CODE = re.compile(r"`[^`\n]{1,2000}`|<[^<>\n]{1,300}>|\b(?:https?|ftp)://\S+|\bwww\.\S+|\S+@\S+\.\S+", re.IGNORECASE)
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
    code = [match.span() for match in CODE.finditer(whole)] if _may_hold_code(whole) else []
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
        if not protected[number] and not _stands_free(text, number):
            piece = _find_piece(whole, start, end)
            protected[number] = bool(INSIDE.search(piece)) or any(sign in piece for sign in INVISIBLE)
    return protected


def _may_hold_code(text: str) -> bool:
    return any(sign in text for sign in ("`", "://", "www.", "@", "<"))


def _looks_special(word: str) -> bool:
    """Capitals where a sentence has none, digits, hyphens."""
    rest = word[1:]
    return (
        rest != rest.lower()
        or "-" in word
        or "‐" in word
        or "‑" in word
        or not word.replace("'", "a").replace("’", "a").replace("ʼ", "a").isalpha()
    )


def _stands_free(text: Words, number: int) -> bool:
    """Whether white space (or an end) is on both sides, so that nothing else belongs to the word."""
    before, after = text.gaps[number], text.gaps[number + 1]
    return (not before or before[-1].isspace()) and (not after or after[0].isspace())


def _find_piece(whole: str, start: int, end: int) -> str:
    """The text between white space around a word, without punctuation at its ends."""
    while start and end - start < 200 and not whole[start - 1].isspace():
        start -= 1
    while end < len(whole) and end - start < 400 and not whole[end].isspace():
        end += 1
    return whole[start:end].strip(EDGES)
