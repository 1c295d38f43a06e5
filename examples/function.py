"""Attack a plain Python function: a word list of the kind that many teams filter texts with.

    pip install ".[demo]"
    python examples/function.py [TEXTS]

Prints how far synonyms lower its accuracy, and which swaps flip it. Any function from texts to scores can be attacked
in this way: rules, a model from any library, a call to a service.
"""

import sys
from collections import Counter

import discotext as d
from discotext.data import load_data

GOOD = """best brilliant charming clever delightful enjoyable entertaining excellent fascinating fresh fun funny good
great hilarious honest intelligent love moving original perfect powerful smart solid sweet touching wonderful""".split()
BAD = """awful bad bland boring cheap confused contrived dull dumb empty fails flat lacks lame mediocre mess nothing
pointless poor predictable problem sad silly slow stale stupid tedious terrible thin tired waste weak worst""".split()


def scores(texts: list[str]) -> list[list[float]]:
    """One row per text: the number of bad words and of good words. A tie counts as negative."""
    words = [text.lower().split() for text in texts]
    return [[sum(word in BAD for word in text), sum(word in GOOD for word in text)] for text in words]


scores.labels = ("negative", "positive")


def main(texts: int) -> None:
    examples = load_data("movie_reviews", "test").sample(texts)
    result = d.attack(scores, examples, "exact", budget=0.2)
    figures = result.summary.solvers["exact"]
    before, after = 100 * figures.original_accuracy, 100 * figures.adversarial_accuracy
    print(f"Accuracy of the word list on {texts} reviews: {before:.1f} %, and {after:.1f} % after the attack.")
    flipped = [record for record in result.records if record.succeeded]
    swaps = Counter((change.old, change.new) for record in flipped for change in record.changes)
    print("The swaps that flip it most often:")
    for (old, new), count in swaps.most_common(8):
        print(f"  {old} → {new} ({count})")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
