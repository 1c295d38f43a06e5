"""Harden a scikit-learn pipeline: try several defences, choose one on held-out texts, and attack it in several ways.

    pip install ".[demo,sklearn]"
    python examples/harden.py [SENTENCES [UNSEEN]]

The last lines compare both models on sentences that neither has seen: without attack, under the attack that the
defence was built for, and under the worst of the others.
"""

import sys

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import discotext as d
from discotext.data import load_data


def main(sentences: int = 6824, unseen: int = 300) -> None:
    known = load_data("movie_reviews", "train").sample(sentences)
    tested = load_data("movie_reviews", "test").sample(unseen)
    found = d.harden(known, make_pipeline(TfidfVectorizer(), MultinomialNB()), test=tested)
    figures = found.as_dict()["test"]
    print(f"chosen: {found.chosen}")
    for when in ("before", "after"):
        clean, attacked, worst = (100 * figures[f"{name}_{when}"] for name in ("clean", "attacked", "worst"))
        print(f"{when:7} accuracy {clean:.1f} %, {attacked:.1f} % under attack, {worst:.1f} % under the worst attack")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
