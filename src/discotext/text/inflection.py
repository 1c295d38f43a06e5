"""Inflection: a replacement takes the form of the word it replaces (enjoyed → liked, mice → rodents).

Forms are identified by Penn Treebank tags (`NNS` for a plural, `VBD` for a past tense). The tables are lemminflect's.
They lack many words, so for nouns and verbs listed in WordNet its rules may guess the form (`act`, `acts`); adjectives
are never guessed (`beautifuler`).
"""

from __future__ import annotations

import importlib
import sys
from functools import cache, lru_cache
from typing import Any

from discotext.text.thesaurus import LETTERS, load_wordnet

# The part of speech of each tag, as the tables name it. Words with other tags are neither inflected nor replaced.
PARTS = {
    **dict.fromkeys(("NN", "NNS"), "NOUN"),
    **dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ"), "VERB"),
    **dict.fromkeys(("JJ", "JJR", "JJS"), "ADJ"),
    **dict.fromkeys(("RB", "RBR", "RBS"), "ADV"),
}
# Tags of the dictionary form. (VBP is the same form as VB except for "be", a stop word.)
BASE_TAGS = {"NOUN": ("NN",), "VERB": ("VB", "VBP"), "ADJ": ("JJ",), "ADV": ("RB",)}
GUESSED_PARTS = ("NOUN", "VERB")
CACHE_SIZE = 1 << 17


@lru_cache(CACHE_SIZE)
def lemmatise(word: str, tag: str) -> str:
    """Return the dictionary form of a word with this tag; the word itself if it is not in the tables.

    >>> lemmatise("mice", "NNS"), lemmatise("left", "VBD"), lemmatise("left", "JJ"), lemmatise("frobnicated", "VBD")
    ('mouse', 'leave', 'left', 'frobnicated')
    """
    found = find_lemmas(word, PARTS[tag]) if tag in PARTS else ()
    if not found or (tag in BASE_TAGS[PARTS[tag]] and word in found):
        return word
    # "better" is a form of "good" and of "well": choose the one with this form under this tag.
    return next((base for base in found if word in inflect(base, tag)), found[0])


@lru_cache(CACHE_SIZE)
def find_lemmas(word: str, part: str) -> tuple[str, ...]:
    """Return the possible dictionary forms of a word as this part of speech; none if it cannot be one.

    >>> find_lemmas("acts", "NOUN"), find_lemmas("abandoned", "ADJ"), find_lemmas("of", "NOUN")
    (('act',), ('abandoned',), ())
    """
    if not word:
        return ()
    found = tuple(load_tables().getAllLemmas(word, upos=part).get(part, ()))
    if not found and _is_in_wordnet(word, part):
        return (word,)
    if not found and part in GUESSED_PARTS:
        guesses = load_tables().getAllLemmasOOV(word, part).get(part, ())
        found = tuple(guess for guess in guesses if guess != word and _is_in_wordnet(guess, part))
    return found


class _HideSpacy:
    """An import finder that reports spaCy as not installed."""

    def find_spec(self, name: str, *more: Any) -> None:
        if name == "spacy":
            raise ModuleNotFoundError("spaCy is hidden from lemminflect", name=name)


@cache
def load_tables() -> Any:
    """Import lemminflect without spaCy, which it would load if installed, and PyTorch with it."""
    finder = _HideSpacy()
    sys.meta_path.insert(0, finder)
    try:
        return importlib.import_module("lemminflect")
    finally:
        sys.meta_path.remove(finder)


def _is_in_wordnet(base: str, part: str) -> bool:
    return (base, LETTERS[part]) in load_wordnet().parts


@lru_cache(CACHE_SIZE)
def inflect(base: str, tag: str) -> tuple[str, ...]:
    """Return the forms of a dictionary form under a tag, the usual one first.

    >>> inflect("like", "VBD"), inflect("act", "NNS"), inflect("beautiful", "JJR")
    (('liked',), ('acts',), ())
    """
    part = PARTS[tag]
    if tag in BASE_TAGS[part]:
        return (base,)
    found = load_tables().getInflection(base, tag, inflect_oov=False)
    if not found and part in GUESSED_PARTS and _is_in_wordnet(base, part):
        found = load_tables().getInflection(base, tag, inflect_oov=True)
    # Drop forms that do not lead back to the base: wrong guesses, and entries that only one of the tables has.
    return tuple(form for form in found if base in find_lemmas(form, part))


@lru_cache(CACHE_SIZE)
def match_inflection(candidate: str, tag: str) -> str | None:
    """Return the candidate in the form that a tag requires, or None if it has none.

    >>> [match_inflection(word, "VBD") for word in ("liked", "like", "of")], match_inflection("film", "NNS")
    (['liked', 'liked', None], 'films')
    """
    if tag not in PARTS:
        return None
    bases = find_lemmas(candidate, PARTS[tag])
    inflected = [(base, inflect(base, tag)) for base in bases if inflect(base, tag)]
    # A word that already has the form is kept: "better" needs no other comparative. But where the tables also allow
    # the bare word ("film" as a plural), the usual form is preferred.
    if any(candidate in found and (candidate != base or found[0] == base) for base, found in inflected):
        return candidate
    return inflected[0][1][0] if inflected else None


# British and American spellings, and letters that may or may not be doubled.
SPELLINGS = "our/or ise/ize isa/iza yse/yze re/er ence/ense ogue/og ll/l ae/e oe/e ey/ay que/ck ou/o mme/m".split()


@lru_cache(CACHE_SIZE)
def is_spelling_of(word: str, other: str) -> bool:
    """Whether two words are spellings of one.

    >>> is_spelling_of("honor", "honour"), is_spelling_of("theatre", "theater"), is_spelling_of("grey", "great")
    (True, True, False)
    """
    if min(len(word), len(other)) < 4 or abs(len(word) - len(other)) > 2 or word[:2] != other[:2]:
        return False
    pairs = (pair.split("/") for pair in SPELLINGS)
    return word.replace("-", "") == other.replace("-", "") or any(
        word.replace(one, two, 1) == other or other.replace(one, two, 1) == word for one, two in pairs
    )
