"""Statistics of the changes: the swaps that do most damage, their positions in the text, their parts of speech."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from discotext.experiment.record import Record
from discotext.text.tagging import LightTagger
from discotext.text.words import split

TENTHS = 10
TAGGED = 2000  # texts that are tagged: more would take longer and not move the shares
KINDS = {
    "nouns": "NN NNS", "names": "NNP NNPS", "verbs": "VB VBD VBG VBN VBP VBZ", "adjectives": "JJ JJR JJS",
    "adverbs": "RB RBR RBS",
}  # fmt: skip
KIND_OF = {tag: kind for kind, tags in KINDS.items() for tag in tags.split()}
REST = "all others"


@dataclass(frozen=True)
class Pair:
    """A swap: in how many flipped texts it occurs, and in how many texts at all."""

    old: str
    new: str
    flipped: int
    used: int


def count_pairs(records: Sequence[Record], most: int = 15) -> list[Pair]:
    """The swaps that occur in most flipped texts, most frequent first; case and repetition do not count."""
    used: Counter[tuple[str, str]] = Counter()
    flipped: Counter[tuple[str, str]] = Counter()
    for record in records:
        swaps = {(change.old.lower(), change.new.lower()) for change in record.changes}
        used.update(swaps)
        if record.succeeded:
            flipped.update(swaps)
    order = sorted(flipped, key=lambda swap: (-flipped[swap], used[swap], swap))
    return [Pair(*swap, flipped[swap], used[swap]) for swap in order[:most]]


def count_tenths(records: Sequence[Record]) -> list[int]:
    """How many changes fall into each tenth of the text, counted in words."""
    found = [0] * TENTHS
    for record in records:
        for change in record.changes:
            # The middle of the word, so that the first of four words is not all at the beginning.
            found[int(TENTHS * (change.position + 0.5) / record.words)] += 1
    return found


@dataclass(frozen=True)
class Kind:
    """A part of speech: how many of its words were changed, of how many there are."""

    name: str
    changed: int
    words: int


def count_kinds(records: Sequence[Record]) -> list[Kind]:
    """Parts of speech of the changed words, in the original texts of the first `TAGGED` attacked records."""
    tried = [record for record in records if record.attacked][:TAGGED]
    changed: Counter[str] = Counter()
    words: Counter[str] = Counter()
    tags = LightTagger().tag([split(record.text) for record in tried])
    for record, given in zip(tried, tags, strict=True):
        words.update(KIND_OF.get(tag, REST) for tag in given)
        # Records of another version may have counted words differently; what cannot be placed is left out.
        places = [change.position for change in record.changes if change.position < len(given)]
        changed.update(KIND_OF.get(given[place], REST) for place in places)
    return [Kind(name, changed[name], words[name]) for name in (*KINDS, REST) if words[name]]
