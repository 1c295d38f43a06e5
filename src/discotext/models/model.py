"""Language models: how likely is a sentence?

A sentence is a sequence of tokens, each a word with what stands before it, so that models of words and models of
characters or subwords read the same sentence. Every model scores whole sentences (`score`); what else it can do is
declared by its class:

    SequentialModel   goes through a sentence from left to right, and can go on from where it was
    NGramModel        looks at a fixed number of words before each word, so that exact search is possible

All scores are natural logarithms and include the end of the sentence.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discotext.core.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a sentence. before: what stands between the previous word and this one; word: empty if skipped.

    >>> Token(" ", "film")
    Token(before=' ', word='film')
    """

    before: str
    word: str


Sentence = Sequence[Token]


def make_sentence(words: Sequence[str]) -> list[Token]:
    """The tokens of words with single spaces between them.

    >>> make_sentence(["good", "film"])
    [Token(before='', word='good'), Token(before=' ', word='film')]
    """
    return [Token(" " if number else "", word) for number, word in enumerate(words)]


class LanguageModel(ABC):
    """Anything that says how likely sentences are. name: how messages refer to it."""

    name: str

    @abstractmethod
    def score(self, sentences: Sequence[Sentence]) -> Floats:
        """(S,) the log-probability of each sentence, its end included."""

    @abstractmethod
    def knows(self, word: str) -> bool:
        """Whether the model tells this word from other unknown words."""


class SequentialModel(LanguageModel):
    """A model that reads from left to right: the score of a sentence is the sum of what each token adds.

    States are opaque: they hold many prefixes at once, and `extend` names those it goes on from by their numbers.
    """

    @abstractmethod
    def start(self, count: int) -> Any:
        """The states of `count` empty prefixes."""

    @abstractmethod
    def extend(self, states: Any, parents: Ints, tokens: Sequence[Token]) -> tuple[Any, Floats]:
        """Add a token to prefixes. parents: (R,) the prefix that each row goes on from. Returns new states, and (R,)
        the log-probability of each token. A skipped token changes nothing and adds 0."""

    @abstractmethod
    def finish(self, states: Any) -> Floats:
        """The log-probability that the sentence ends, for each prefix."""

    def recombine(self, states: Any) -> list[Hashable] | None:
        """A key of each prefix: equal keys have equal futures. None if every prefix has a future of its own."""
        return None


class NGramModel(SequentialModel):
    """A model in which a word depends on the `order - 1` words before it.

    begin, end, unknown: the ids of the start and the end of a sentence and of unknown words. Skipped words are not in
    the sequence: the words on both sides of them are neighbours.
    """

    order: int
    begin: int
    end: int
    unknown: int

    @abstractmethod
    def ids(self, words: Sequence[str]) -> Ints:
        """The id of each word; that of the unknown word for unknown ones."""

    @abstractmethod
    def log_probs(self, contexts: Ints, words: Ints) -> Floats:
        """(R,) log-probabilities of words after contexts.

        contexts: (R, order − 1) ids, the last column stands next to the word; `begin` fills the columns before the
        start of a sentence. words: (R,) ids.
        """

    def knows(self, word: str) -> bool:
        return int(self.ids([word])[0]) != self.unknown

    def score(self, sentences: Sequence[Sentence]) -> Floats:
        return self.score_words([[token.word for token in sentence if token.word] for sentence in sentences])

    def score_words(self, sentences: Sequence[Sequence[str]]) -> Floats:
        """(S,) the log-probability of each sentence, given as words."""
        if not sentences:
            return np.zeros(0)
        flat = self.ids([word for sentence in sentences for word in sentence])
        lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
        padded, starts = pad_sentences(flat, lengths, self.order - 1, self.begin, self.end)
        # Every word with the words before it, the ends of the sentences included.
        owners = np.repeat(np.arange(len(lengths)), lengths + 1)
        at = starts[owners] + np.arange(len(owners)) - (np.cumsum(lengths + 1) - (lengths + 1))[owners]
        contexts, words = padded[at[:, None] + np.arange(1 - self.order, 0)], padded[at]
        return np.asarray(np.bincount(owners, weights=self.log_probs(contexts, words), minlength=len(sentences)))

    def start(self, count: int) -> Ints:
        return np.full((count, self.order - 1), self.begin, dtype=np.int64)

    def extend(self, states: Ints, parents: Ints, tokens: Sequence[Token]) -> tuple[Ints, Floats]:
        there = np.array([bool(token.word) for token in tokens], dtype=np.bool_)
        return self.append(states[parents], np.where(there, self.ids([token.word for token in tokens]), -1))

    def append(self, contexts: Ints, words: Ints) -> tuple[Ints, Floats]:
        """Put a word each behind contexts, −1 for none; the new contexts, and ln p of the words (0 for none)."""
        there, gains = np.flatnonzero(words >= 0), np.zeros(len(words))
        gains[there] = self.log_probs(contexts[there], words[there])
        return self.push(contexts, words), gains

    def push(self, contexts: Ints, words: Ints) -> Ints:
        """Contexts with one more word each; −1 stands for none."""
        pushed = np.concatenate([contexts, words[:, None]], axis=1)[:, 1:]
        return np.where((words >= 0)[:, None], pushed, contexts)

    def finish(self, states: Ints) -> Floats:
        return self.log_probs(states, np.full(len(states), self.end, dtype=np.int64))

    def recombine(self, states: Ints) -> list[Hashable] | None:
        return [tuple(row) for row in states.tolist()]


def pad_sentences(words: Ints, lengths: Ints, around: int, begin: int, end: int) -> tuple[Ints, Ints]:
    """Sentences in one array, each as so many starts, its words, an end, and as many times −1; and where words begin.

    >>> pad_sentences(np.array([5, 6]), np.array([2]), around=1, begin=0, end=1)
    (array([ 0,  5,  6,  1, -1]), array([1]))
    """
    sizes = lengths + 2 * around + 1
    starts = np.cumsum(sizes) - sizes + around
    padded = np.full(int(sizes.sum()), -1, dtype=np.int64)
    padded[starts[:, None] + np.arange(-around, 0)] = begin
    padded[starts + lengths] = end
    inside = np.arange(len(words)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    padded[np.repeat(starts, lengths) + inside] = words
    return padded, starts


def normalise(word: str) -> str:
    """A word with straight apostrophes and plain hyphens, as vocabularies have them.

    >>> normalise("don’t")
    "don't"
    """
    return word if word.isascii() else word.replace("’", "'").replace("ʼ", "'").replace("‐", "-").replace("‑", "-")
