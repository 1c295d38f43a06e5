"""Fits the weights of the spelling channel (`discotext.decoding.channel.WEIGHTS`).

    python -m benchmarks.spelling_fit --lm news.lm          needs DISCOTEXT_DATA and SciPy

`news.lm` is written by `discotext train-lm ag_news imdb --out news.lm`. Each word that may change is one observation:
the softmax of (weight of the language model × its gain + weights · features) over the candidates and the word itself,
whose score is 0. Weights maximise the likelihood of the right candidates on holbrook and jfleg/dev, with a small
quadratic penalty. What is printed is divided by the language model's weight, which is 1 in the package. `capital`,
`listed` and `listed-share` are set by hand: the texts have too few names, and no tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.spelling_data import Labelled, read_holbrook, read_jfleg
from discotext.core.arrays import Floats, Ints
from discotext.decoding.channel import WEIGHTS
from discotext.decoding.passages import Sentences, find_places, find_protected, score_changes
from discotext.decoding.speller import Speller
from discotext.models.ngram import BackoffModel
from discotext.models.registry import load_language_model
from discotext.text.sentences import find_sentences, normalise
from discotext.text.words import split

PENALTY = 0.2
SET_BY_HAND = {"capital": WEIGHTS["capital"], "listed": WEIGHTS["listed"], "listed-share": WEIGHTS["listed-share"]}


@dataclass(frozen=True, eq=False)
class Observations:
    """Candidates of words. features: (K, F). owner: (K,) the word of each. right: (N,) the right candidate or −1.

    folds: (N,). names: of the features, the gain of the language model first.
    """

    features: Floats
    owner: Ints
    right: Ints
    folds: Ints
    names: list[str]


def observe(model: BackoffModel, texts: Sequence[Labelled]) -> Observations:
    """All candidates of all words of labelled texts, with the language model's gains."""
    speller = Speller(model)
    sentences, places, golds, folds = [], [], [], []
    for labelled in texts:
        words = split(labelled.text)
        lower = [normalise(word) for word in words.lower]
        right = {(gold.start, gold.end): gold for gold in labelled.gold}
        protected = find_protected(words)
        for start, end in find_sentences(words):
            for place in find_places(words, lower, protected, start, end, speller, len(sentences)):
                places.append((place, start))
                golds.append(right.get((place.start, place.start + place.length)))
                folds.append(labelled.fold)
            sentences.append(lower[start:end])
    padded = Sentences.of(model, sentences)
    at, lengths, ids, owner, rows, target = [], [], [], [], [], np.full(len(places), -1)
    for number, ((place, start), gold) in enumerate(zip(places, golds, strict=True)):
        for one in place.suggestions:
            if gold is not None and gold.error and one.text in gold.right and target[number] < 0:
                target[number] = len(rows)
            at.append(padded.starts[place.sentence] + place.start - start)
            lengths.append(place.length)
            ids.append(model.ids(one.words).tolist())
            owner.append(number)
            rows.append(one.features)
    gains = score_changes(model, padded, np.array(at), np.array(lengths), ids)
    names = ["lm", *sorted({name for row in rows for name in row} - set(SET_BY_HAND))]
    column = {name: number for number, name in enumerate(names)}
    features = np.zeros((len(rows), len(names)))
    features[:, 0] = gains
    for number, row in enumerate(rows):
        for name, value in row.items():
            if name in column:
                features[number, column[name]] = value
    return Observations(features, np.array(owner), target, np.array(folds), names)


def fit(seen: Observations, keep: Callable[[Ints], Ints] = lambda folds: folds >= 0) -> dict[str, float]:
    """The weights that fit the words of some folds best, for a language model of weight 1."""
    from scipy.optimize import minimize

    chosen = np.flatnonzero(keep(seen.folds)[seen.owner])
    features = seen.features[chosen]
    words, owner = np.unique(seen.owner[chosen], return_inverse=True)
    starts = np.searchsorted(owner, np.arange(len(words)))
    place = np.full(len(seen.owner), -1)
    place[chosen] = np.arange(len(chosen))
    right = place[seen.right[words][seen.right[words] >= 0]]
    prior = np.zeros(len(seen.names))
    prior[0] = 1.0

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = features @ weights
        most = np.maximum(0.0, np.maximum.reduceat(scores, starts))
        shares = np.exp(scores - most[owner])
        totals = np.exp(-most) + np.bincount(owner, shares, len(words))
        gradient = shares / totals[owner]
        gradient[right] -= 1.0
        away = weights - prior
        value = float((most + np.log(totals)).sum() - scores[right].sum() + PENALTY * away @ away / 2)
        return value, features.T @ gradient + PENALTY * away

    found = minimize(loss, prior / 2, jac=True, method="L-BFGS-B", options={"maxiter": 400}).x
    scaled = {name: round(float(value / found[0]), 2) for name, value in zip(seen.names, found, strict=True)}
    del scaled["lm"]
    return dict(sorted({**scaled, **SET_BY_HAND}.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lm", required=True)
    model = load_language_model(parser.parse_args().lm)
    assert isinstance(model, BackoffModel)
    print("unknown", round(float(model.node_log_probs[1 + model.unknown]), 2))
    for name, value in fit(observe(model, [*read_holbrook(), *read_jfleg()])).items():
        print(f'        "{name}": {value},')


if __name__ == "__main__":
    main()
