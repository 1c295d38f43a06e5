"""Attack a plain Python function: a word list of the kind that many teams filter texts with.

    pip install "discotext[demo]"
    python examples/function.py [TEXTS]

How far do synonyms carry it, and which? Anything that takes texts and returns scores can be asked so: rules, a model
of any library, a call to a service.
"""

import sys
from collections import Counter

import discotext as d

GOOD = """best brilliant charming clever delightful enjoyable entertaining excellent fascinating fresh fun funny good
great hilarious honest intelligent love moving original perfect powerful smart solid sweet touching wonderful""".split()
BAD = """awful bad bland boring cheap confused contrived dull dumb empty fails flat lacks lame mediocre mess nothing
pointless poor predictable problem sad silly slow stale stupid tedious terrible thin tired waste weak worst""".split()


def scores(texts: list[str]) -> list[list[float]]:
    """A row for each text: how bad, how good. Where neither is said, the first counts."""
    words = [text.lower().split() for text in texts]
    return [[sum(word in BAD for word in text), sum(word in GOOD for word in text)] for text in words]


scores.labels = ("negative", "positive")


def main(texts: int) -> None:
    examples = d.load_data("movie_reviews", "test").sample(texts)
    result = d.attack(scores, examples, "exact", budget=0.2)
    figures = result.summary["solvers"]["exact"]
    turned = [record for record in result.records if record["status"] in ("reached", "fewest")]
    before, after = (100 * figures[f"{when}_accuracy"] for when in ("original", "adversarial"))
    print(f"The list is right about {before:.1f} % of {texts} reviews, and about {after:.1f} % of them under synonyms.")
    swaps = Counter((one["old"], one["new"]) for record in turned for one in record["changes"])
    print("The swaps that turn it most often:")
    for (old, new), times in swaps.most_common(8):
        print(f"  {old} → {new} ({times})")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
