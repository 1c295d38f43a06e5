"""Attack a scikit-learn pipeline: how does accuracy fall as more words may change?

    pip install "discotext[demo,sklearn]"
    python examples/sklearn_pipeline.py [TEXTS]

Trains the classifier that most people try first (TF-IDF and logistic regression) and draws its curve. A linear model
is one that exact search can often finish, so the fall shown is the true worst case wherever `proved` says 100 %.
"""

import sys

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import discotext as d

BUDGETS = [0.05, 0.1, 0.2, 0.3]


def main(texts: int) -> None:
    known, unseen = d.load_data("movie_reviews", "train"), d.load_data("movie_reviews", "test").sample(texts)
    pipeline = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), LogisticRegression(C=10))
    pipeline.fit(known.texts, [known.names[label] for label in known.labels])
    result = d.compare(pipeline, unseen, ["greedy", "exact"], budget=BUDGETS)
    before = result.summary["solvers"]["exact"]["original_accuracy"]
    print(f"Accuracy on {len(unseen)} reviews: {100 * before:.1f} %. Where so many words may change:")
    for summary in result.summaries:
        exact, greedy = summary["solvers"]["exact"], summary["solvers"]["greedy"]
        accuracy = exact["adversarial_accuracy"]
        bar = "█" * round(40 * accuracy)
        print(
            f"{100 * summary['budget']:3.0f} %  {bar:40}  accuracy {100 * accuracy:.1f} % "
            f"(proved: {100 * exact['optimal']:.0f} %; greedy leaves {100 * greedy['adversarial_accuracy']:.1f} %)"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
