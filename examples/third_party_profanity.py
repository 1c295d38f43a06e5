"""A profanity detector that others trained, as a victim: a linear support vector machine on words.

    pip install alt-profanity-check

    discotext attack py:examples/third_party_profanity.py:scores comments.csv --solver greedy

The package loads its model by joblib, that is, from a pickle: importing it is to trust it, as with any package. It
wants exactly the scikit-learn its model was saved with, so an environment of its own is best.

It returns one number for each text, the probability of profanity; that would do as it is. Here it is made a log-odds,
which still moves where the probability has reached 0 or 1.
"""

import numpy as np
from profanity_check import predict_prob


def scores(texts: list[str]) -> np.ndarray:
    """(N, 2): how clean, and how profane."""
    p = np.clip(predict_prob(texts), 1e-12, 1 - 1e-12)
    return np.stack([np.log1p(-p), np.log(p)], axis=1)


scores.labels = ("clean", "profane")
