"""Merging synonyms: a model that reads several words as one cannot be misled by an exchange among them.

Words that candidates connect are put into groups, and each word is read as the most frequent of its group. Merging
costs what the words said about the label when they were apart: with N(w, c) texts of class c that contain w, that is

    loss(a, b) = f(N(a)) + f(N(b)) − f(N(a) + N(b)),     f(n) = Σ n_c log n_c − (Σ n_c) log (Σ n_c)

in nats, the mutual information of word and label that is lost. It buys that an exchange has no effect any more, at
every place where one was possible. Groups with the least loss for each such place are merged first, up to a limit. So
words merge that an attacker often finds side by side and that say little about the label, and rare ones, which an
attack lives on and accuracy hardly needs. Without a limit, groups are the connected components of the candidates.

The idea of a code for each group of synonyms is from Jones et al. (2020, robust encodings); the loss is that of the
agglomerative information bottleneck (Slonim and Tishby 1999).
"""

from __future__ import annotations

import heapq
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.text.candidates import Candidates
from discotext.text.words import Words, match_case, split

CHUNK = 512  # texts whose candidates are looked up together
LARGEST_FILE = 100_000_000  # bytes
Pair = tuple[str, str]


@dataclass(frozen=True, eq=False)
class MergedWords:
    """Words, each with the word of its group that a model reads instead. A function from texts to texts.

    >>> merged = MergedWords({"film": "film", "movie": "film"})
    >>> merged("Movies? A Movie!"), merged.read_word("films")
    ('Movies? A Film!', 'films')
    """

    codes: Mapping[str, str]

    def __post_init__(self) -> None:
        for word, code in self.codes.items():
            if self.codes.get(code, code) != code:
                raise ValueError(
                    f"{word!r} is read as {code!r}, and that as {self.codes[code]!r}; give each the one of its group"
                )

    def __len__(self) -> int:
        """How many words share their code with another."""
        return len(self.codes)

    def __call__(self, text: str) -> str:
        """A text as the model reads it: it can be the preprocessor of a vectoriser."""
        return str(self.read(split(text)))

    def read(self, text: Words) -> Words:
        """The same for a text that has been split into words."""
        return Words(tuple(self.read_at(text, number, word) for number, word in enumerate(text.words)), text.gaps)

    def read_at(self, text: Words, number: int, word: str) -> str:
        """What is read instead of a word in this place of a text.

        That is the word itself where the code would change how the text is split, since what a model reads is split
        once more.
        """
        code = self.read_word(word)
        return code if code == word or text.takes(number, code) else word

    def read_word(self, word: str) -> str:
        """The word that is read instead of a word, in the same case."""
        lower = word.lower()
        code = self.codes.get(lower)
        return word if code is None or code == lower else match_case(word, code)

    @property
    def groups(self) -> list[list[str]]:
        """The words of each group, the one that is read first; large groups first."""
        found: dict[str, list[str]] = defaultdict(list)
        for word, code in self.codes.items():
            found[code].append(word)
        ordered = [[code, *sorted(word for word in words if word != code)] for code, words in found.items()]
        return sorted(ordered, key=lambda words: (-len(words), words[0]))

    def to_json(self) -> bytes:
        """The groups as the content of a JSON file, which `parse` reads."""
        return (json.dumps({"groups": self.groups}, ensure_ascii=False) + "\n").encode()

    @classmethod
    def parse(cls, content: bytes, name: str) -> MergedWords:
        """Read what `to_json` wrote. name: of the file, for messages."""
        try:
            found = json.loads(content) if len(content) <= LARGEST_FILE else None
        except (ValueError, RecursionError):
            found = None
        groups: Any = found.get("groups") if isinstance(found, dict) else None
        listed = isinstance(groups, list) and all(isinstance(group, list) and group for group in groups)
        if not listed or not all(isinstance(word, str) for group in groups for word in group):
            raise ValueError(f'{name} does not contain merged words; expected {{"groups": [[word, word, …], …]}}')
        codes = {word: group[0] for group in groups for word in group}
        if len(codes) != sum(map(len, groups)):
            raise ValueError(f"{name} has a word in two groups; make it again")
        return cls(codes)


NOTHING_MERGED = MergedWords({})


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """In how many texts of each class a word occurs, and in how many texts that were counted.

    counts: (C,) by word in lower case.
    """

    counts: Mapping[str, Floats]
    texts: int
    classes: int

    @classmethod
    def of(cls, texts: Iterable[str], labels: Sequence[int] | Ints, classes: int) -> LabelCounts:
        """Count the words of texts, each once in a text."""
        found: dict[str, Floats] = {}
        number = 0
        for text, label in zip(texts, labels, strict=True):
            number += 1
            for word in set(split(text).lower):
                if word not in found:
                    found[word] = np.zeros(classes)
                found[word][int(label)] += 1
        return cls(found, number, classes)

    def __getitem__(self, word: str) -> Floats:
        found = self.counts.get(word)
        return np.zeros(self.classes) if found is None else found


@dataclass(frozen=True, eq=False)
class Exchanges:
    """Pairs of words that may be exchanged, in lower case and alphabetical order.

    places: for each pair, at how many places of the texts that were looked at.
    """

    places: Mapping[Pair, float]
    texts: int

    @classmethod
    def find(
        cls,
        candidates: Candidates,
        texts: Sequence[str],
        words: Iterable[str] = (),
        progress: Callable[[float], None] | None = None,
    ) -> Exchanges:
        """Look for the candidates of all words of texts.

        words: looked up alone, too, since a word that the texts lack may occur in others; these are at no place.
        progress: called with the share that is done.
        """
        found: dict[Pair, float] = {}
        alone = [word for word in dict.fromkeys(words) if split(word).words == (word,)]
        asked = list(chain(texts, alone))
        for begin in range(0, len(asked), CHUNK):
            if progress is not None:
                progress(begin / len(asked))
            for number, text in enumerate(candidates.find(asked[begin : begin + CHUNK]), start=begin):
                for one in text:
                    old = one.word.lower()
                    for new in map(str.lower, one.candidates):
                        if new != old:
                            pair = (min(old, new), max(old, new))
                            found[pair] = found.get(pair, 0.0) + (number < len(texts))
        return cls(found, len(texts))


def merge_words(
    exchanges: Exchanges, counts: LabelCounts, max_loss: float = math.inf, unseen: bool = True
) -> MergedWords:
    """Put words that may be exchanged into groups.

    max_loss: the most that a merge may lose about the label, in nats for each place where it prevents an exchange.
    unseen: whether words that the counted texts lack join a group, too. They should unless the model cannot read them.

    Such words say nothing about the label, so nothing would stop them from connecting all the others: each joins the
    group, or else the word, with which it has most exchanges.

    >>> counts = LabelCounts.of(["good film", "bad movie", "fine film", "bad film"], [1, 0, 1, 0], 2)
    >>> pairs = {("film", "movie"): 3.0, ("bad", "good"): 1.0, ("fine", "good"): 1.0, ("fine", "nice"): 0.0}
    >>> merge_words(Exchanges(pairs, 4), counts, max_loss=0.3).groups
    [['fine', 'good', 'nice'], ['film', 'movie']]
    """
    scale = counts.texts / max(exchanges.texts, 1)
    near: dict[str, dict[str, float]] = defaultdict(dict)
    for (a, b), places in exchanges.places.items():
        near[a][b] = near[b][a] = places * scale
    groups = _Groups(near, counts)
    groups.merge(max_loss)
    code_of: dict[str, str] = {}
    for words in groups.words.values():
        if len(words) > 1:  # the code is the most frequent word, the first in the alphabet of equal ones
            code = min(words, key=lambda word: (-counts[word].sum(), word))
            code_of |= dict.fromkeys(sorted(words), code)
    for word, code in _attach(near, counts, code_of) if unseen else ():
        code_of[word] = code
        code_of.setdefault(code, code)
    return MergedWords(dict(sorted(code_of.items())))


class _Groups:
    """Groups of words that occur in the counted texts, by number; at first each word is one."""

    def __init__(self, near: Mapping[str, Mapping[str, float]], counts: LabelCounts) -> None:
        seen = [word for word in sorted(near) if word in counts.counts]
        number = {word: at for at, word in enumerate(seen)}
        self.words = {at: [word] for at, word in enumerate(seen)}
        self.counts = {at: counts[word] for at, word in enumerate(seen)}
        self.value = {at: _negative_entropy(held) for at, held in self.counts.items()}
        self.near = {at: {number[b]: n for b, n in near[word].items() if b in number} for at, word in enumerate(seen)}

    def merge(self, max_loss: float) -> None:
        """Merge the pair with the least loss for each place, again and again, up to a limit."""
        heap = [(self._loss(a, b), a, b) for a, others in self.near.items() for b in others if a < b]
        heapq.heapify(heap)
        made = len(self.words)
        while heap:
            loss, a, b = heapq.heappop(heap)
            if loss > max_loss:
                return
            if a in self.words and b in self.words:  # else one of them has been merged since
                self._join(a, b, made)
                for other in self.near[made]:
                    heapq.heappush(heap, (self._loss(other, made), other, made))
                made += 1

    def _loss(self, a: int, b: int) -> float:
        lost = self.value[a] + self.value[b] - _negative_entropy(self.counts[a] + self.counts[b])
        return max(0.0, lost) / (1 + self.near[a][b])  # one place more: a pair may occur in other texts

    def _join(self, a: int, b: int, made: int) -> None:
        self.words[made] = self.words.pop(a) + self.words.pop(b)
        self.counts[made] = self.counts.pop(a) + self.counts.pop(b)
        self.value[made] = _negative_entropy(self.counts[made])
        around = self.near.pop(a)
        for other, places in self.near.pop(b).items():
            around[other] = around.get(other, 0.0) + places
        around = {other: places for other, places in around.items() if other not in (a, b)}
        for other, places in around.items():
            self.near[other].pop(a, None)
            self.near[other].pop(b, None)
            self.near[other][made] = places
        self.near[made] = around


def _attach(
    near: Mapping[str, Mapping[str, float]], counts: LabelCounts, code_of: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield words that the texts lack, each with the code of the words it may be exchanged with, most often."""
    known: dict[str, str] = dict(code_of)
    left = [word for word in sorted(near) if word not in counts.counts]
    while left:
        found = {}
        for word in left:
            votes: Counter[str] = Counter()
            for other in near[word]:
                code = known.get(other, other if other in counts.counts else None)
                if code is not None:
                    votes[code] += 1
            if votes:
                found[word] = min(votes, key=lambda code: (-votes[code], code))
        if not found:  # what is left is connected with nothing that the texts contain
            first = left[0]
            found = {first: first}
        known |= found
        yield from found.items()
        left = [word for word in left if word not in found]


def _negative_entropy(counts: Floats) -> float:
    """Σ n log n − N log N."""
    total, value = 0.0, 0.0
    for count in counts.tolist():
        if count:
            total += count
            value += count * math.log(count)
    return value - total * math.log(total) if total else 0.0
