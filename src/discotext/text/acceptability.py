"""Acceptability: the probability that most people accept a swap in its place.

One number decides which candidates a word has. A scorer estimates it from features of the word, the candidate and the
words around; it was fitted to judgements of people (SWORDS: each substitute judged by up to ten of them), and its
probabilities are calibrated: of the swaps that get 0.7, about 70 % are acceptable to most people. What was measured on
documents that took no part in the fit is in docs/benchmarks/candidates.md.

`LightScorer` comes with the package. `EncoderScorer` (discotext.text.encoder_scorer) also reads the sentence with a
transformer. For another language, or a custom notion of acceptability, subclass `Scorer`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Floats
from discotext.text.resources import read_arrays
from discotext.text.swap_features import Matrix, Occurrence, SwapFeatures
from discotext.text.words import Words

DEFAULT_ACCEPT = 0.45


class Scorer(ABC):
    """Estimates the probability that most people accept a swap in its place.

    name: identifies the scorer in settings.
    """

    name: ClassVar[str]

    @abstractmethod
    def score(
        self, texts: Sequence[Words], tags: Sequence[Sequence[str]], asked: Sequence[Occurrence], least: float = 0.0
    ) -> list[Floats]:
        """The probability of each candidate of each occurrence; NaN where nothing is known of it.

        least: probabilities below it need not be exact, only below it; a scorer may save itself work on them.
        """

    def could_reach(self, word: str, tag: str, candidate: str, least: float) -> bool:
        """Whether a swap could have this probability in any sentence. Called before anything costly."""
        return True

    def settings(self) -> dict[str, Any]:
        """What the probabilities depend on, for records."""
        return {"scorer": self.name}


@dataclass(frozen=True, eq=False)
class Ensemble:
    """A few small networks with one hidden layer each, whose logits are averaged, and the calibration of the mean.

    mean, scale: (F,) of the features. inner: (E, F, H), inner_bias: (E, H). outer: (E, H), outer_bias: (E,).
    factor, shift: of the logit, so that the probabilities are calibrated.
    """

    mean: Matrix
    scale: Matrix
    inner: NDArray[np.float32]
    inner_bias: Matrix
    outer: Matrix
    outer_bias: Matrix
    factor: float
    shift: float

    def logits(self, features: Matrix) -> Matrix:
        """(S,) calibrated log-odds."""
        scaled = np.clip((features - self.mean) / self.scale, -6, 6)
        total = np.zeros(len(features), dtype=np.float32)
        for inner, bias, outer, last in zip(self.inner, self.inner_bias, self.outer, self.outer_bias, strict=True):
            total += np.maximum(scaled @ inner + bias, 0) @ outer + last
        return np.asarray(self.factor * total / len(self.inner) + self.shift, dtype=np.float32)


@cache
def load_arrays() -> dict[str, NDArray[Any]]:
    """The weights in the package, by scorer and name; `least_prior`: what nearly all swaps of 0, 0.01, …, 1 have."""
    return read_arrays("scorer.safetensors")


@cache
def load_network(prefix: str = "light") -> Ensemble:
    """The networks of a scorer."""
    names = ("mean", "scale", "inner", "inner_bias", "outer", "outer_bias")
    factor, shift = load_arrays()[f"{prefix}.calibration"].tolist()
    return Ensemble(**{name: load_arrays()[f"{prefix}.{name}"] for name in names}, factor=factor, shift=shift)


def sigmoid(logits: NDArray[Any]) -> Floats:
    """Probabilities of log-odds.

    >>> sigmoid(np.array([0.0, 100.0]))
    array([0.5, 1. ])
    """
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -60, 60).astype(np.float64))))


@dataclass(frozen=True, eq=False)
class LightScorer(Scorer):
    """The scorer in the package: needs no extra, and judges some hundred thousand swaps a second.

    >>> from discotext.text.words import split
    >>> asked = [Occurrence(0, 1, ("movie", "picture", "membrane"))]
    >>> first, second, third = LightScorer().score([split("The film was fun.")], [["DT", "NN", "VBD", "NN"]], asked)[0]
    >>> bool(first > second > third)
    True
    """

    name = "light"
    features: SwapFeatures = field(default_factory=SwapFeatures)

    def score(
        self, texts: Sequence[Words], tags: Sequence[Sequence[str]], asked: Sequence[Occurrence], least: float = 0.0
    ) -> list[Floats]:
        if not asked:
            return []
        chances = sigmoid(load_network().logits(self.features.compute(texts, tags, asked)))
        return split_rows(np.where(self.features.knows(texts, tags, asked), chances, np.nan), asked)

    def could_reach(self, word: str, tag: str, candidate: str, least: float) -> bool:
        return self.features.prior(word, tag, candidate) >= find_least_prior(least)


@cache
def find_least_prior(least: float, prefix: str = "light") -> float:
    """The prior that a swap must have for its probability to be this high in some sentence."""
    return float(load_arrays()[f"{prefix}.least_prior"][int(100 * least)])


def split_rows(values: Floats, asked: Sequence[Occurrence]) -> list[Floats]:
    """Values of all swaps, by occurrence."""
    ends = np.cumsum([len(one.candidates) for one in asked])
    return np.split(values, ends[:-1])
