"""Which words an attack changes: the swaps that do most damage, their places in the text, their parts of speech."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from discotext.experiment.metrics import attacked, succeeded
from discotext.experiment.work import Record
from discotext.text.tagging import LightTagger
from discotext.text.words import split

TENTHS = 10
TAGGED = 2000  # texts whose parts of speech are looked at: some seconds' work, and more would not move the shares
KINDS = {
    "nouns": "NN NNS", "names": "NNP NNPS", "verbs": "VB VBD VBG VBN VBP VBZ", "adjectives": "JJ JJR JJS",
    "adverbs": "RB RBR RBS",
}  # fmt: skip
KIND_OF = {tag: kind for kind, tags in KINDS.items() for tag in tags.split()}
REST = "all others"


@dataclass(frozen=True)
class Pair:
    """A swap: in how many turned texts it stands, and in how many texts at all."""

    old: str
    new: str
    turned: int
    used: int


def pairs(records: Sequence[Record], most: int = 15) -> list[Pair]:
    """The swaps that stand in most turned texts, the most frequent first; case does not count, nor does repetition."""
    used: Counter[tuple[str, str]] = Counter()
    turned: Counter[tuple[str, str]] = Counter()
    for record in records:
        swaps = {(change["old"].lower(), change["new"].lower()) for change in record["changes"]}
        used.update(swaps)
        if succeeded(record):
            turned.update(swaps)
    order = sorted(turned, key=lambda swap: (-turned[swap], used[swap], swap))
    return [Pair(*swap, turned[swap], used[swap]) for swap in order[:most]]


def tenths(records: Sequence[Record]) -> list[int]:
    """How many changes fall into each tenth of the text, counted in words.

    >>> tenths([{"words": 4, "changes": [{"position": 0}, {"position": 3}]}])
    [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    """
    found = [0] * TENTHS
    for record in records:
        for change in record["changes"]:
            # The middle of the word, so that the first of four words is not all at the beginning.
            found[int(TENTHS * (change["position"] + 0.5) / record["words"])] += 1
    return found


@dataclass(frozen=True)
class Kind:
    """A part of speech: how many of its words were changed, of how many there are."""

    name: str
    changed: int
    words: int


def kinds(records: Sequence[Record]) -> list[Kind]:
    """Parts of speech of the changed words, in the original texts of the first `TAGGED` attacked records."""
    tried = [record for record in records if attacked(record)][:TAGGED]
    changed: Counter[str] = Counter()
    words: Counter[str] = Counter()
    tags = LightTagger().tags([split(record["text"]) for record in tried])
    for record, given in zip(tried, tags, strict=True):
        words.update(KIND_OF.get(tag, REST) for tag in given)
        # Records of another version may have counted words differently; what cannot be placed is left out.
        places = [change["position"] for change in record["changes"] if change["position"] < len(given)]
        changed.update(KIND_OF.get(given[place], REST) for place in places)
    return [Kind(name, changed[name], words[name]) for name in (*KINDS, REST) if words[name]]
