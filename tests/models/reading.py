"""Reading sentences from left to right."""

import numpy as np

from discotext.models.model import make_sentence


def read_word_by_word(model, words):
    """The scores of two prefixes that read the same words, each continuing the other."""
    states, total = model.start(2), np.zeros(2)
    for token in make_sentence(words):
        states, gains = model.extend(states, np.array([1, 0]), [token, token])
        total += gains
    return total + model.finish(states)
