"""The channel: how likely a writer who means one word types another.

A pair of words is described by a few counts (`describe_edits`): how many letters were left out, doubled, exchanged with
a neighbour on the keyboard or with a letter that sounds alike, whether the first letter is wrong, and so on. The channel
score is a weighted sum of them. The weights were fitted to texts of pupils and of learners by
`scripts/fit_spelling.py`: the likelihood of the right word among all candidates, with the language model's score as one
more term, whose weight is 1 here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType

ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
VOWELS = frozenset("aeiouy")
ALIKE = frozenset(
    frozenset(pair)
    for pair in "ck cs sz fv dt bp gj iy mn kq uw wv gk cq xs ei ea ao ou ae io".split()
)
SUFFIXES = frozenset(["s", "es", "d", "ed", "ing", "er", "r", "ly", "n", "'s", "s'", "y"])
LONGEST = 48  # letters of a word that is compared


@cache
def find_neighbours() -> frozenset[frozenset[str]]:
    """Pairs of letters that are next to each other on a keyboard."""
    found = set()
    for number, row in enumerate(ROWS):
        for place, letter in enumerate(row):
            near = row[place + 1 : place + 2]
            if number + 1 < len(ROWS):
                near += ROWS[number + 1][max(place - 1, 0) : place + 1]
            found |= {frozenset((letter, other)) for other in near}
    return frozenset(found)


def align(typed: str, meant: str) -> list[tuple[str, int, int]]:
    """The fewest edits that make one word of another: (kind, place in typed, place in meant) of each.

    Kinds: `replace`, `extra` (typed has a letter too many), `missing` and `swap` (two neighbouring letters exchanged).

    >>> align("recieve", "receive"), align("untill", "until")
    ([('swap', 3, 3)], [('extra', 5, 4)])
    """
    rows, columns = len(typed), len(meant)
    cost = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows + 1):
        line, above = cost[i], cost[i - 1]
        for j in range(columns + 1):
            if not i or not j:
                line[j] = i + j
                continue
            best = above[j - 1] + (typed[i - 1] != meant[j - 1])
            best = min(best, above[j] + 1, line[j - 1] + 1)
            if i > 1 and j > 1 and typed[i - 1] == meant[j - 2] and typed[i - 2] == meant[j - 1]:
                best = min(best, cost[i - 2][j - 2] + 1)
            line[j] = best
    found, i, j = [], rows, columns
    while i or j:
        here = cost[i][j]
        if i and j and typed[i - 1] == meant[j - 1] and cost[i - 1][j - 1] == here:
            i, j = i - 1, j - 1
        elif (
            i > 1
            and j > 1
            and typed[i - 1] == meant[j - 2]
            and typed[i - 2] == meant[j - 1]
            and cost[i - 2][j - 2] + 1 == here
        ):
            found.append(("swap", i - 2, j - 2))
            i, j = i - 2, j - 2
        elif i and j and cost[i - 1][j - 1] + 1 == here:
            found.append(("replace", i - 1, j - 1))
            i, j = i - 1, j - 1
        elif i and cost[i - 1][j] + 1 == here:
            found.append(("extra", i - 1, j - 1))
            i -= 1
        else:
            found.append(("missing", i - 1, j - 1))
            j -= 1
    return found[::-1]


def describe_edits(typed: str, meant: str) -> dict[str, float]:
    """The counts that the channel weighs. Both words are in lower case.

    >>> describe_edits("untill", "until")
    {'edits': 1.0, 'extra-double': 1.0}
    """
    if typed.replace("'", "") == meant.replace("'", "").replace(" ", ""):
        return {"spaces" if " " in meant else "apostrophe": 1.0}
    edits = align(typed[:LONGEST], meant[:LONGEST])
    found = {"edits": float(len(edits))}

    def add(name: str) -> None:
        found[name] = found.get(name, 0.0) + 1.0

    for kind, i, j in edits:
        if kind == "swap":
            add("swap")
        elif kind == "extra":
            add("extra-double" if _doubles(typed, i) else "extra-vowel" if typed[i] in VOWELS else "extra")
        elif kind == "missing":
            add("missing-double" if _doubles(meant, j) else "missing-vowel" if meant[j] in VOWELS else "missing")
        else:
            pair = frozenset((typed[i], meant[j]))
            if pair in ALIKE:
                add("alike")
            if pair in find_neighbours():
                add("keyboard")
            add("vowel" if pair <= VOWELS else "replace")
    if typed[:1] != meant[:1]:
        found["first"] = 1.0
    if len(edits) > 1:
        found["several"] = float(len(edits) - 1)
    if _inflects(typed, meant):
        found["inflected"] = 1.0
    if len(typed) <= 4:
        found["short"] = float(len(edits)) * (5 - len(typed))
    if " " in meant:
        found["spaces"] = 1.0
    if sound_out(typed) == sound_out(meant):
        found["sounds"] = 1.0
    return found


# Spellings of one sound, in the order in which they are replaced.
SOUNDS = tuple(
    (re.compile(pattern), sound)
    for pattern, sound in (
        ("^(?:kn|gn|pn)", "n"),
        ("^wr", "r"),
        ("^wh", "w"),
        ("^x", "s"),
        ("mb$", "m"),
        ("t?ch|tsh|ti(?=on)|ci(?=[aou])|sh|ss?i(?=on)", "X"),
        ("ph|gh(?=$|t)", lambda match: "f" if match[0] == "ph" else ""),
        ("gh", "g"),
        ("dg(?=[eiy])", "j"),
        ("sc(?=[eiy])", "s"),
        ("c(?=[eiy])", "s"),
        ("ck|[cq]", "k"),
        ("x", "ks"),
        ("z", "s"),
        ("th", "O"),
        ("g(?=[eiy])", "j"),
        ("v", "f"),
        ("(?<=.)[hw]", ""),
        ("(?<=.)[aeiouy']+", ""),
        ("^[aeiouy]+", "A"),
        (r"(.)\1+", r"\1"),
    )
)


@lru_cache(maxsize=1 << 17)
def sound_out(word: str) -> str:
    """A rough key of how an English word in lower case sounds: its consonants, and whether it begins with a vowel.

    >>> sound_out("nock"), sound_out("knock"), sound_out("kild"), sound_out("killed")
    ('nk', 'nk', 'kld', 'kld')
    """
    for pattern, sound in SOUNDS:
        word = pattern.sub(sound, word)
    return word


def _doubles(word: str, place: int) -> bool:
    """Whether a letter stands beside the same letter."""
    return word[place] in (word[place - 1 : place] if place else "", word[place + 1 : place + 2])


def _inflects(typed: str, meant: str) -> bool:
    """Whether two words differ in an ending alone, as forms of a word do."""
    shorter, longer = sorted((typed, meant), key=len)
    return longer.startswith(shorter) and longer[len(shorter) :] in SUFFIXES


def weigh(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The weighted sum of features; those without a weight count nothing."""
    return sum(value * weights.get(name, 0.0) for name, value in features.items())


# Fitted by scripts/fit_spelling.py; natural logarithms, beside a language model's score of weight 1.
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {'alike': 3.83, 'apostrophe': 3.29, 'capital': -1.98, 'dictionary-only': -0.15, 'edits': -0.12, 'extra': -1.83, 'extra-double': 0.15, 'extra-vowel': 0.32, 'first': -3.73, 'inflected': -3.15, 'join': -6.46, 'keyboard': -0.39, 'known': -8.9, 'missing': 0.83, 'missing-double': 4.71, 'missing-vowel': 2.24, 'model-only': -5.46, 'replace': -3.93, 'several': -4.29, 'short': -1.41, 'spaces': -7.8, 'swap': 0.51, 'to-model-only': -2.2, 'unknown': 7.68, 'vowel': -3.15}
)
