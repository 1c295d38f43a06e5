"""Attack a scikit-learn pipeline: how does accuracy fall as the budget grows?

    pip install ".[demo,sklearn]"
    python examples/sklearn_pipeline.py [TEXTS]

Trains TF-IDF with logistic regression and plots its accuracy for several budgets. Exact search is often feasible for a
linear model: where `proved` says 100 %, the accuracy shown is the true worst case.
"""

import sys

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import discotext as d
from discotext.data import load_data

BUDGETS = [0.05, 0.1, 0.2, 0.3]


def main(texts: int) -> None:
    known, unseen = load_data("movie_reviews", "train"), load_data("movie_reviews", "test").sample(texts)
    pipeline = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), LogisticRegression(C=10))
    pipeline.fit(known.texts, [known.names[label] for label in known.labels])
    result = d.compare(pipeline, unseen, ["greedy", "exact"], budget=BUDGETS)
    before = result.summary.solvers["exact"].original_accuracy
    print(f"Accuracy on {len(unseen)} reviews: {100 * before:.1f} %. After an attack, by budget:")
    for summary in result.summaries:
        exact, greedy = summary.solvers["exact"], summary.solvers["greedy"]
        bar = "█" * round(40 * exact.adversarial_accuracy)
        print(
            f"{100 * summary.budget:3.0f} %  {bar:40}  accuracy {100 * exact.adversarial_accuracy:.1f} % "
            f"(proved: {100 * exact.optimal:.0f} %; greedy: {100 * greedy.adversarial_accuracy:.1f} %)"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
