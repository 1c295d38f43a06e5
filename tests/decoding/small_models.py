"""Small language models and networks for tests of decoding."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from discotext.decoding.network import Alternative, Network
from discotext.models.kneser_ney import train_kneser_ney
from discotext.models.model import LanguageModel, SequentialModel

TEXT = """\
i went to the cinema with my sister
my sister went to the cinema with me
we saw a really good film about a brave dog
it was the best film that i have ever seen
i have to say that it is definitely good
sometimes the film was a little slow
the dog was sometimes really funny
she said that the letters were good
i receive a letter from my sister every week
they said it was the worst film of the week
my sister's letter was really good
"""
SENTENCES = [line.split() for line in TEXT.splitlines()] * 5
WORDS = ["a", "the", "good", "bad", "film", "plot", "was", "is", "it", "so"]


def make_ngram(order: int = 3, seed: int = 0):
    """An n-gram model of random sentences."""
    rng = np.random.default_rng(seed)
    sentences = [[str(word) for word in rng.choice(WORDS[:-1], size=rng.integers(1, 8))] for _ in range(60)]
    return train_kneser_ney(sentences, order=order, least=1)


class OnlyWhole(LanguageModel):
    """A model that can do no more than score sentences."""

    name = "whole"

    def __init__(self, model) -> None:
        self.model = model

    def score(self, sentences):
        return self.model.score(sentences)

    def knows(self, word):
        return self.model.knows(word)


class OnlySequential(SequentialModel):
    """A model that reads from left to right, and does not say what it looks at."""

    name = "sequential"

    def __init__(self, model, *, keys: bool = True) -> None:
        self.model, self.keys = model, keys
        self.start, self.extend, self.finish = model.start, model.extend, model.finish

    def score(self, sentences):
        return self.model.score(sentences)

    def knows(self, word):
        return self.model.knows(word)

    def start(self, count): ...

    def extend(self, states, parents, tokens): ...

    def finish(self, states): ...

    def recombine(self, states):
        return self.model.recombine(states) if self.keys else None


def distance(one, other, *, swaps=False):
    """The edit distance, by its definition; slow. swaps: whether to exchange two neighbours is one edit."""
    if not one or not other:
        return len(one) + len(other)
    same = distance(one[1:], other[1:], swaps=swaps) + (one[0] != other[0])
    found = [same, distance(one[1:], other, swaps=swaps) + 1, distance(one, other[1:], swaps=swaps) + 1]
    if swaps and len(one) > 1 and one[:2] == other[:2][::-1]:
        found.append(distance(one[2:], other[2:], swaps=swaps) + 1)
    return min(found)


@st.composite
def networks(draw, *, skips: bool = True, spans: bool = False, forbidden: bool = True) -> Network:
    """Any small network."""
    size = draw(st.integers(0, 5))
    words = [*WORDS, "a good", *([""] if skips else [])]
    scores = st.floats(-4, 0, width=16)
    positions = []
    for position in range(size):
        picked = draw(st.lists(st.sampled_from(words), min_size=1, max_size=3, unique=True))
        row = [Alternative(word, draw(scores)) for word in picked]
        if forbidden and len(row) > 1 and draw(st.integers(0, 4)) == 0:
            row[draw(st.integers(0, 1))] = Alternative(row[0].word + "x", -np.inf)
        if spans and size - position > 1 and draw(st.booleans()):
            row.append(Alternative("wide", draw(scores), draw(st.integers(2, size - position))))
        positions.append(tuple({one.word: one for one in row}.values()))
    return Network("n", tuple(positions))
