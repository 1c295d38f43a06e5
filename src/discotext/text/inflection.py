"""Inflection: a replacement takes the form of the word it replaces (enjoyed → liked, mice → rodents).

Forms are told by tags of the Penn Treebank (`NNS` a plural, `VBD` a past tense). The tables are those of lemminflect.
They leave out many words, so for nouns and verbs that WordNet has, its rules may guess (`act`, `acts`); adjectives are
never guessed (`beautifuler`).
"""

from __future__ import annotations

import importlib
import sys
from functools import cache, lru_cache
from typing import Any

from discotext.text.wordnet import LETTERS, wordnet

# The part of speech of each tag, by the name the tables use. Tags that are not here are not inflected, nor replaced.
PARTS = {
    **dict.fromkeys(("NN", "NNS"), "NOUN"),
    **dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ"), "VERB"),
    **dict.fromkeys(("JJ", "JJR", "JJS"), "ADJ"),
    **dict.fromkeys(("RB", "RBR", "RBS"), "ADV"),
}
# The tags under which a word stands in a dictionary. (VBP is the same form as VB but for "be", a stop word.)
PLAIN = {"NOUN": ("NN",), "VERB": ("VB", "VBP"), "ADJ": ("JJ",), "ADV": ("RB",)}
GUESSED = ("NOUN", "VERB")
CACHED = 1 << 17


def lemma(word: str, tag: str) -> str:
    """The dictionary form of a word seen under a tag; the word itself where the tables do not know it.

    >>> lemma("mice", "NNS"), lemma("left", "VBD"), lemma("left", "JJ"), lemma("frobnicated", "VBD")
    ('mouse', 'leave', 'left', 'frobnicated')
    """
    found = lemmas(word, PARTS[tag]) if tag in PARTS else ()
    if not found or (tag in PLAIN[PARTS[tag]] and word in found):
        return word
    # "better" is a form of "good" and of "well": the one that has this very form under this tag.
    return next((base for base in found if word in forms(base, tag)), found[0])


@lru_cache(CACHED)
def lemmas(word: str, part: str) -> tuple[str, ...]:
    """The dictionary forms a word may come from as this part of speech; none where it cannot be that.

    >>> lemmas("acts", "NOUN"), lemmas("abandoned", "ADJ"), lemmas("of", "NOUN")
    (('act',), ('abandoned',), ())
    """
    if not word:
        return ()
    found = tuple(_tables().getAllLemmas(word, upos=part).get(part, ()))
    if not found and _listed(word, part):
        return (word,)
    if not found and part in GUESSED:
        guesses = _tables().getAllLemmasOOV(word, part).get(part, ())
        found = tuple(guess for guess in guesses if guess != word and _listed(guess, part))
    return found


class _WithoutSpacy:
    """Says that there is no spaCy."""

    def find_spec(self, name: str, *more: Any) -> None:
        if name == "spacy":
            raise ModuleNotFoundError("spaCy is left out here", name=name)


@cache
def _tables() -> Any:
    """lemminflect, without spaCy: where that is installed it would be imported too, and PyTorch with it."""
    finder = _WithoutSpacy()
    sys.meta_path.insert(0, finder)
    try:
        return importlib.import_module("lemminflect")
    finally:
        sys.meta_path.remove(finder)


def _listed(base: str, part: str) -> bool:
    return (base, LETTERS[part]) in wordnet().parts


@lru_cache(CACHED)
def forms(base: str, tag: str) -> tuple[str, ...]:
    """The forms of a dictionary form under a tag, the usual one first.

    >>> forms("like", "VBD"), forms("act", "NNS"), forms("beautiful", "JJR")
    (('liked',), ('acts',), ())
    """
    part = PARTS[tag]
    if tag in PLAIN[part]:
        return (base,)
    found = _tables().getInflection(base, tag, inflect_oov=False)
    if not found and part in GUESSED and _listed(base, part):
        found = _tables().getInflection(base, tag, inflect_oov=True)
    # Some forms lead nowhere: guesses, and entries of one table that the other does not have.
    return tuple(form for form in found if base in lemmas(form, part))


@lru_cache(CACHED)
def agreeing(candidate: str, tag: str) -> str | None:
    """The candidate in the form that a tag asks for, or None where it has none.

    >>> agreeing("liked", "VBD"), agreeing("like", "VBD"), agreeing("film", "NNS"), agreeing("of", "NN")
    ('liked', 'liked', 'films', None)
    """
    if tag not in PARTS:
        return None
    found = lemmas(candidate, PARTS[tag])
    inflected = [(base, forms(base, tag)) for base in found if forms(base, tag)]
    # A word that already has the form stays as it is: "better" needs no other comparative. But where the tables allow
    # the bare word as a second form ("film" as a plural), the usual form is meant.
    if any(candidate in have and (candidate != base or have[0] == base) for base, have in inflected):
        return candidate
    return inflected[0][1][0] if inflected else None
