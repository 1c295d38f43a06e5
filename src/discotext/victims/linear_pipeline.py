"""scikit-learn pipelines that are linear after a word vectoriser, taken apart.

    text → tokens → counts of words and word pairs → weights (idf) → length 1 → linear classifier

What is known of such a pipeline is a few arrays, and they suffice to say by how much any swap moves any score. A
pipeline with a part that is not known here is not taken apart (`read_linear` names it), and what was taken apart is
compared with the pipeline's own scores before it is believed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from discotext.core.arrays import Floats, Ints

# By class name, so that scikit-learn need not be imported: only what these very classes do is known.
VECTORISERS = ("CountVectorizer", "TfidfVectorizer")
LINEAR = (
    "LogisticRegression",
    "LogisticRegressionCV",
    "LinearSVC",
    "SGDClassifier",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "Perceptron",
    "PassiveAggressiveClassifier",
)
BAYES = ("MultinomialNB", "ComplementNB")
# Patterns of tokens of word characters and hyphens. A range is one of letters or of digits: A-z would hold punctuation.
SET = r"\[-?([a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|[a-zA-Z0-9_](?!-[^\]]))+-?\]"
LOCAL = re.compile(rf"(\(\?u\))?(\\b)?((\\w|{SET})[+*]?(\{{\d+,?\d*\}})?)+(\\b)?")
LONGEST = 2  # words of the longest n-gram that is understood


@dataclass(frozen=True, eq=False)
class LinearPipeline:
    """What a linear pipeline computes.

    features: the column of each n-gram. lengths: the shortest and longest n-gram. idf: (F,) factors of the counts.
    tf: "linear", "sublinear" or "binary". norm: "l1", "l2" or None. weights: (C, F) of the normed values; bias: (C,).
    preprocess, tokenise: of the vectoriser. stop_words: tokens that are left out.
    """

    features: dict[str, int]
    lengths: tuple[int, int]
    idf: Floats
    tf: str
    norm: str | None
    weights: Floats
    bias: Floats
    preprocess: Callable[[str], str]
    tokenise: Callable[[str], list[str]]
    stop_words: frozenset[str]
    _tokens: dict[str, tuple[str, ...]] = field(default_factory=dict, init=False, repr=False)

    def tokens(self, part: str) -> tuple[str, ...]:
        """The tokens of a piece of text."""
        found = self._tokens.get(part)
        if found is None:
            kept = (one for one in self.tokenise(self.preprocess(part)) if one not in self.stop_words)
            found = self._tokens[part] = tuple(kept)
            if len(self._tokens) > 200_000:
                self._tokens.clear()
        return found

    def columns(self, tokens: Sequence[str]) -> list[int]:
        """The columns of the n-grams of some tokens, each as often as it occurs."""
        low, high = self.lengths
        found = [self.features.get(token, -1) for token in tokens] if low == 1 else []
        if high == 2:
            found += [self.pair(first, second) for first, second in pairwise(tokens)]
        return [column for column in found if column >= 0]

    def pair(self, first: str, second: str) -> int:
        """The column of a pair of tokens; −1 if it is not a feature."""
        return self.features.get(f"{first} {second}", -1)

    def transform(self, counts: Floats) -> Floats:
        """The function of the counts of a feature."""
        if self.tf == "sublinear":
            return np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0.0)
        return np.minimum(counts, 1.0) if self.tf == "binary" else counts

    def score(self, columns: Ints, counts: Floats) -> Floats:
        """(C,) the scores of a text, from the counts of its features."""
        values = self.transform(counts) * self.idf[columns]
        size = 1.0
        if self.norm is not None:
            size = float(np.abs(values).sum() if self.norm == "l1" else np.sqrt((values**2).sum())) or 1.0
        return np.asarray(self.weights[:, columns] @ (values / size) + self.bias)


class UnknownPartError(ValueError):
    """A pipeline has a part of which nothing is known here. The message names it."""


def read_linear(pipeline: Any) -> LinearPipeline:
    """Take a fitted pipeline apart; UnknownPartError names the first part that is not known.

    >>> read_linear(object())
    Traceback (most recent call last):
        ...
    discotext.victims.linear_pipeline.UnknownPartError: object is not a pipeline of a vectoriser and a classifier
    """
    steps = [one for _, one in getattr(pipeline, "steps", ()) if one not in (None, "passthrough")]
    if len(steps) < 2:
        raise UnknownPartError(f"{type(pipeline).__name__} is not a pipeline of a vectoriser and a classifier")
    first, *middle, last = steps
    if type(first).__name__ not in VECTORISERS:
        raise UnknownPartError(f"its {type(first).__name__} is neither a {' nor a '.join(VECTORISERS)}")
    if callable(first.analyzer) or first.analyzer != "word":
        raise UnknownPartError(f"its {type(first).__name__} has the analyzer {first.analyzer!r}, not 'word'")
    for part in ("tokenizer", "preprocessor"):
        if getattr(first, part) is not None:
            raise UnknownPartError(f"its {type(first).__name__} has a {part} of its own, which may look at whole texts")
    if not LOCAL.fullmatch(first.token_pattern):
        raise UnknownPartError(f"its token pattern {first.token_pattern!r} may look beyond a word")
    if first.ngram_range[1] > LONGEST:
        raise UnknownPartError(f"its features are of up to {first.ngram_range[1]} words, more than {LONGEST}")
    if np.dtype(first.dtype) not in (np.dtype(np.float64), np.dtype(np.int64)):
        raise UnknownPartError(f"its {type(first).__name__} counts in {np.dtype(first.dtype)}, not in double precision")
    size = len(first.vocabulary_)
    settings: dict[str, Any] = {"tf": "binary" if first.binary else "linear", "norm": None}
    idf, columns, after = np.ones(size), np.arange(size), np.ones(size)
    weighting = [first] if type(first).__name__ == "TfidfVectorizer" else []
    for number, step in enumerate(middle):
        name = type(step).__name__
        if name == "TfidfTransformer" and not number and not weighting:
            weighting = [step]
        elif hasattr(step, "get_support"):
            kept = np.flatnonzero(step.get_support())
            columns, after = columns[kept], after[kept]
        elif name == "MaxAbsScaler" and getattr(step, "clip", False):
            raise UnknownPartError("its MaxAbsScaler clips values")
        elif name == "MaxAbsScaler" or (name == "StandardScaler" and not step.with_mean):
            after = after if step.scale_ is None else after / step.scale_
        else:
            raise UnknownPartError(f"its step {name} is not known")
    for step in weighting:
        if settings["tf"] == "binary" and step.sublinear_tf:
            raise UnknownPartError("its counts are both binary and sublinear")
        settings["tf"] = "sublinear" if step.sublinear_tf else settings["tf"]
        settings["norm"] = step.norm
        if step.use_idf:
            idf = np.asarray(step.idf_, dtype=np.float64)
    found = _read_classifier(last)
    if found[0].shape[1] != len(columns) or settings["norm"] not in ("l1", "l2", None):
        raise UnknownPartError("its parts do not fit together")
    if not (np.isfinite(idf).all() and np.isfinite(found[0]).all() and np.isfinite(found[1]).all()):
        raise UnknownPartError("some of its weights are infinite")
    weights = np.zeros((len(found[1]), size))
    weights[:, columns] = found[0] * after
    return LinearPipeline(
        features={str(term): int(column) for term, column in first.vocabulary_.items()},
        lengths=tuple(first.ngram_range),
        idf=idf,
        weights=weights,
        bias=found[1],
        preprocess=first.build_preprocessor(),
        tokenise=first.build_tokenizer(),
        stop_words=frozenset(first.get_stop_words() or ()),
        **settings,
    )


def _read_classifier(step: Any) -> tuple[Floats, Floats]:
    """Weights (C, F) and biases (C,) of the scores that `SklearnVictim` has of a linear classifier."""
    name = type(step).__name__
    if name in BAYES:
        prior = step.class_log_prior_ if name == "MultinomialNB" else np.zeros(len(step.classes_))
        return np.asarray(step.feature_log_prob_, dtype=np.float64), np.asarray(prior, dtype=np.float64)
    if name not in LINEAR:
        raise UnknownPartError(f"its {name} is not linear, or not known to be")
    weights = np.atleast_2d(np.asarray(step.coef_, dtype=np.float64))
    bias = np.broadcast_to(np.asarray(step.intercept_, dtype=np.float64), (len(weights),))
    if len(weights) == 1:
        return np.concatenate([-weights / 2, weights / 2]), np.concatenate([-bias / 2, bias / 2])
    return weights, bias
