"""How many swaps change what a review says of the film, with and without `--keep-meaning`.

    python -m benchmarks.label_safety          needs DISCOTEXT_DATA with imdb_train.parquet and imdb_test.parquet

Whether a swap moves a review towards the other class is judged by the training reviews, which neither the filter nor
the scorer has seen: the log-odds of the class given each of the two words. A swap counts as *moving* if the
difference is above one half (a factor of 1.6 in the odds) and certain to two standard errors. That is stricter than
meaning: `film` and `flick` also differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import discotext
from benchmarks.results_file import save, show
from discotext.data.examples import Examples
from discotext.data.registry import load_split
from discotext.support.intervals import wilson
from discotext.text.candidates import make_candidates
from discotext.text.polarity import load_polarity
from discotext.text.words import split

TEXTS, SHARE = 200, 0.1
Counts = Mapping[str, np.ndarray[Any, Any]]


def count_words(data: Examples) -> Counts:
    """In how many reviews of either class each word occurs."""
    counts: dict[str, np.ndarray[Any, Any]] = {}
    for text, label in zip(data.texts, data.labels, strict=True):
        for word in set(split(text).lower):
            counts.setdefault(word, np.zeros(2))[label] += 1
    return counts


def moves(counts: Counts, old: str, new: str) -> float:
    """By how much a swap raises the log-odds of the second class; 0 where that is not certain."""
    first, second = (counts.get(word.lower(), np.zeros(2)) + 0.5 for word in (old, new))
    gain = np.log(second[1] / second[0]) - np.log(first[1] / first[0])
    error = np.sqrt((1 / first).sum() + (1 / second).sum())
    return float(gain) if abs(gain) > max(0.5, 2 * error) else 0.0


def describe(counts: Counts, swaps: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Shares of swaps that move a review, and that turn a rated word into one of the other sign."""
    pairs, ratings = list(swaps), load_polarity()
    moving = sum(moves(counts, *pair) != 0 for pair in pairs)
    turned = sum(ratings.get(old.lower(), 0) * ratings.get(new.lower(), 0) < 0 for old, new in pairs)
    return {
        "swaps": len(pairs),
        "moving": moving / max(len(pairs), 1),
        "moving_interval": wilson(moving, len(pairs)),
        "turned": turned / max(len(pairs), 1),
    }


def main() -> None:

    train, test = (load_split("imdb", part) for part in ("train", "test"))
    counts = count_words(train)
    model = make_pipeline(TfidfVectorizer(min_df=3), LogisticRegression(C=5, max_iter=500))
    model.fit(list(train.texts), list(train.labels))
    rows = []
    for keep in (False, True):
        finder = make_candidates(keep_meaning=keep)
        result = discotext.attack(model, test, budget=SHARE, candidates=finder, limit=TEXTS, seed=3)
        offered = [
            (one.word, candidate)
            for text in finder.find([record.text for record in result.records])
            for one in text
            for candidate in one.candidates
        ]
        flipped = [record for record in result.records if record.succeeded]
        used = [(change.old, change.new) for record in flipped for change in record.changes]
        (figures,) = result.summary.solvers.values()
        clean, attacked = (float(one or 0) for one in (figures.original_accuracy, figures.adversarial_accuracy))
        common = {"keep_meaning": keep, "texts": TEXTS, "budget": SHARE, "clean": clean, "attacked": attacked}
        rows += [
            {**common, "which": "offered", **describe(counts, offered)},
            {**common, "which": "in flipped texts", **describe(counts, used)},
        ]
    save("label_safety", rows)
    show("label safety", rows)


if __name__ == "__main__":
    main()
