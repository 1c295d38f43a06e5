"""The channel: how likely a writer who means one word types another.

A pair of words is described by a few counts (`describe_edits`): how many letters were left out, doubled, exchanged with
a neighbour on the keyboard or with a letter that sounds alike, whether the first letter is wrong, and so on. The
channel score is a weighted sum of them. The weights were fitted to texts of pupils and of learners by
`benchmarks/spelling_fit.py`: the likelihood of the right word among all candidates, with the language model's score as
one more term, whose weight is 1 here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType

# Pairs of letters that are next to each other on a keyboard.
NEIGHBOURS = frozenset(
    frozenset((letter, other))
    for row, below in pairwise(("qwertyuiop", "asdfghjkl", "zxcvbnm", ""))
    for place, letter in enumerate(row)
    for other in row[place + 1 : place + 2] + below[max(place - 1, 0) : place + 1]
)
VOWELS = frozenset("aeiouy")
ALIKE = frozenset(frozenset(pair) for pair in "ck cs sz fv dt bp gj iy mn kq uw wv gk cq xs ei ea ao ou ae io".split())
SUFFIXES = frozenset(["s", "es", "d", "ed", "ing", "er", "r", "ly", "n", "'s", "s'", "y"])
LONGEST = 48  # letters of a word that is compared


def align(typed: str, meant: str) -> list[tuple[str, int, int]]:
    """The fewest edits that make one word of another: (kind, place in typed, place in meant) of each.

    Kinds: `replace`, `extra` (typed has a letter too many), `missing` and `swap` (two neighbouring letters exchanged).

    >>> align("recieve", "receive"), align("untill", "until")
    ([('swap', 3, 3)], [('extra', 4, 3)])
    """
    rows, columns = len(typed), len(meant)
    cost = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows + 1):
        line, above = cost[i], cost[i - 1]
        for j in range(columns + 1):
            if not i or not j:
                line[j] = i + j
                continue
            line[j] = min(above[j - 1] + (typed[i - 1] != meant[j - 1]), above[j] + 1, line[j - 1] + 1)
            if i > 1 and j > 1 and typed[i - 2 : i] == meant[j - 2 : j][::-1]:
                line[j] = min(line[j], cost[i - 2][j - 2] + 1)
    found, i, j = [], rows, columns
    while i or j:
        here = cost[i][j]
        if i and j and typed[i - 1] == meant[j - 1] and cost[i - 1][j - 1] == here:
            i, j = i - 1, j - 1
        elif i > 1 and j > 1 and typed[i - 2 : i] == meant[j - 2 : j][::-1] and cost[i - 2][j - 2] + 1 == here:
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
    {'edits': 1.0, 'extra-double': 1.0, 'sounds': 1.0}
    """
    spaces = {"spaces": 1.0} if " " in meant else {}
    if typed.replace("'", "") == meant.replace("'", "").replace(" ", ""):
        return spaces or {"apostrophe": 1.0}
    edits = align(typed[:LONGEST], meant[:LONGEST])
    names = []
    for kind, i, j in edits:
        if kind == "swap":
            names.append(kind)
        elif kind == "replace":
            pair = frozenset((typed[i], meant[j]))
            names += ["alike"] * (pair in ALIKE) + ["keyboard"] * (pair in NEIGHBOURS)
            names.append("vowel" if pair <= VOWELS else kind)
        else:
            word, at = (typed, i) if kind == "extra" else (meant, j)
            doubled = word[at] in word[max(at - 1, 0) : at] + word[at + 1 : at + 2]
            names.append(f"{kind}-double" if doubled else f"{kind}-vowel" if word[at] in VOWELS else kind)
    found = {"edits": float(len(edits))} | {name: float(count) for name, count in Counter(names).items()} | spaces
    if typed[:1] != meant[:1]:
        found["first"] = 1.0
    if len(edits) > 1:
        found["several"] = float(len(edits) - 1)
    if is_inflected(typed, meant):
        found["inflected"] = 1.0
    if len(typed) <= 4:
        found["short"] = float(len(edits)) * (5 - len(typed))
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


def is_inflected(typed: str, meant: str) -> bool:
    """Whether two words differ in an ending alone, as forms of a word do.

    >>> is_inflected("end", "ends"), is_inflected("seem", "seen")
    (True, False)
    """
    shorter, longer = sorted((typed, meant), key=len)
    return longer.startswith(shorter) and longer[len(shorter) :] in SUFFIXES


# British spellings and what they are in America, for words of which both are right.
VARIANTS = tuple(
    (re.compile(pattern), american)
    for pattern, american in (
        ("is(?=(?:e|ed|es|er|ers|ing|ation|ations|able)$)", "iz"),
        ("ys(?=(?:e|ed|es|er|ing)$)", "yz"),
        ("our", "or"),
        ("re(?=s?$)", "er"),
        ("ll", "l"),
        ("ogue", "og"),
        ("enc(?=e)", "ens"),
        ("ae|oe", "e"),
        ("ey", "ay"),
    )
)


def are_variants(first: str, second: str) -> bool:
    """Whether two words are the British and the American spelling of one.

    >>> are_variants("centre", "center"), are_variants("recognisable", "recognizable"), are_variants("for", "four")
    (True, True, True)
    """

    def reduce(word: str) -> str:
        for pattern, american in VARIANTS:
            word = pattern.sub(american, word)
        return word

    return reduce(first) == reduce(second)


def weigh(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The weighted sum of features; those without a weight count nothing."""
    return sum(value * weights.get(name, 0.0) for name, value in features.items())


# Fitted by benchmarks/spelling_fit.py; natural logarithms, beside a language model's score of weight 1.
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "alike": 1.74,
        "apostrophe": 5.77,
        "capital": -2.0,
        "capital-known": 0.32,
        "dictionary-only": -4.53,
        "edits": 0.02,
        "extra": -0.7,
        "extra-double": -0.26,
        "extra-vowel": -0.53,
        "first": -2.38,
        "frequency": 0.58,
        "inflected": -1.25,
        "join": -4.52,
        "join-short": -3.95,
        "keyboard": -0.35,
        "known": -3.41,
        "listed": 4.0,
        "listed-share": 1.0,
        "missing": 1.61,
        "missing-double": 2.35,
        "missing-vowel": 0.93,
        "model-only": -1.04,
        "replace": -1.21,
        "several": -2.65,
        "short": -1.79,
        "sounds": 3.49,
        "spaces": -6.23,
        "swap": 0.09,
        "to-model-only": -2.28,
        "unknown": 6.66,
        "vowel": -2.26,
    }
)
