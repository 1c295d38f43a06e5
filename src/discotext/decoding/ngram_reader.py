"""N-gram models on networks: words are looked up once, and contexts are rows of word ids."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.decoding.network import Network
from discotext.language.model import NGramModel


class NGramReader:
    """Reads the alternatives of networks with an n-gram model, many rows at once.

    Alternatives are named by their place in the concatenation of all positions of all networks. ids: (K, slots), the
    words of each, −1 where it has fewer than the longest phrase. A context is a row of `order − 1` ids.
    """

    def __init__(self, model: NGramModel, networks: Sequence[Network]) -> None:
        self.model = model
        phrases = [one.word.split() for network in networks for row in network.positions for one in row]
        words = sorted({word for phrase in phrases for word in phrase})
        number = dict(zip(words, model.ids(words).tolist(), strict=True))
        self.ids: Ints = np.full((len(phrases), max(map(len, phrases), default=0)), -1, dtype=np.int64)
        for row, phrase in enumerate(phrases):
            self.ids[row, : len(phrase)] = [number[word] for word in phrase]
        self.unknown = {word for word, found in number.items() if found == model.unknown}

    def begin(self, count: int) -> Ints:
        """The contexts at the start of sentences."""
        return np.full((count, self.model.order - 1), self.model.begin, dtype=np.int64)

    def read(self, contexts: Ints, alternatives: Ints) -> tuple[Ints, Floats]:
        """Read an alternative each after some contexts. Returns the new contexts, and the log-probabilities (R,)."""
        gains = np.zeros(len(contexts))
        for slot in range(self.ids.shape[1]):
            words = self.ids[alternatives, slot]
            there = np.flatnonzero(words >= 0)
            if not len(there):
                break
            gains[there] += self.model.log_probs(contexts[there], words[there])
            contexts = self._push(contexts, words)
        return contexts, gains

    def skip_over(self, contexts: Ints, alternatives: Ints) -> Ints:
        """The contexts after alternatives, whose probabilities are not asked for."""
        for slot in range(self.ids.shape[1]):
            contexts = self._push(contexts, self.ids[alternatives, slot])
        return contexts

    def finish(self, contexts: Ints) -> Floats:
        """(R,) the log-probability that a sentence ends here."""
        return self.model.log_probs(contexts, np.full(len(contexts), self.model.end, dtype=np.int64))

    def _push(self, contexts: Ints, words: Ints) -> Ints:
        if self.model.order == 1:
            return contexts
        pushed = np.concatenate([contexts[:, 1:], words[:, None]], axis=1)
        return np.where((words >= 0)[:, None], pushed, contexts)


def find_reach(networks: Sequence[Network], order: int) -> int:
    """How many positions a term looks at: `order`, and one more for each position in between that may be skipped.

    >>> find_reach([Network.of("1", [["a"], ["b", ""], ["c"], ["d"]])], 3)
    4
    """
    furthest = 1
    for network in networks:
        words = [min(len(one.word.split()) for one in row) for row in network.positions]
        first, seen = 0, 0  # the positions from `first` up to the one before `last` hold at least `seen` words
        # At the end of the text, its end is read too, after the last position.
        for last in range(len(words)):
            furthest = max(furthest, last - first + 1)
            seen += words[last]
            while first < last + 1 and seen - words[first] >= order - 1:
                seen -= words[first]
                first += 1
        if words:
            furthest = max(furthest, len(words) - first)
    return furthest
