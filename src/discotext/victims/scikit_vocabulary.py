"""The words that a fitted scikit-learn pipeline can tell apart.

A word outside the vocabulary of a word vectoriser leaves no trace in its features: to put it in is to delete the word
that was there. So the vectorisers of a pipeline are asked for their vocabularies, each in the way it reads a text: with
its own preprocessing, tokeniser, stop words and n-grams. A part that has no vocabulary, such as a hashing vectoriser or
one of character n-grams, reads any word, and so then does the whole pipeline.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# Where estimators keep the fitted ones inside them: grid search, calibration, votes and stacks.
INSIDE = ("best_estimator_", "estimator_", "calibrated_classifiers_", "estimators_", "estimator")


@dataclass(frozen=True, eq=False)
class VectoriserWords:
    """The words of one fitted word vectoriser. kept: features that later steps use, None for all."""

    vectoriser: Any
    kept: frozenset[int] | None = None
    _words: set[str] = field(default_factory=set, init=False, repr=False)
    _known: dict[str, bool] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        shortest = 1 if callable(self.vectoriser.analyzer) else self.vectoriser.ngram_range[0]
        for term, column in self.vectoriser.vocabulary_.items():
            if self.kept is None or int(column) in self.kept:
                # Without single words as features, a word is known by the n-grams it is part of.
                self._words.update([term] if shortest == 1 else str(term).split(" "))

    def __contains__(self, word: object) -> bool:
        if not isinstance(word, str):
            return False
        if word not in self._known:
            tokens = self._tokens(word)
            self._known[word] = bool(tokens) and all(token in self._words for token in tokens)
        return self._known[word]

    def _tokens(self, word: str) -> list[Any]:
        """What the vectoriser makes of a word, before n-grams."""
        if callable(self.vectoriser.analyzer):
            return list(self.vectoriser.analyzer(word))
        tokens = self.vectoriser.build_tokenizer()(self.vectoriser.build_preprocessor()(word))
        stopped = self.vectoriser.get_stop_words() or ()
        return [token for token in tokens if token not in stopped]


@dataclass(frozen=True, eq=False)
class AnyOfThem:
    """Words that at least one of several vectorisers knows."""

    parts: Sequence[Container[str]]

    def __contains__(self, word: object) -> bool:
        return any(word in part for part in self.parts)


def pipeline_vocabulary(pipeline: Any) -> Container[str] | None:
    """The words a fitted pipeline can tell apart; None if it reads anything, or if that cannot be known.

    >>> pipeline_vocabulary(object()) is None
    True
    """
    try:
        parts = list(_vocabularies(pipeline, None))
    except Exception:  # a pipeline of strangers' classes may do anything when it is looked at
        return None
    if not parts or any(part is None for part in parts):
        return None
    known = [part for part in parts if part is not None]
    return known[0] if len(known) == 1 else AnyOfThem(known)


def _vocabularies(step: Any, kept: frozenset[int] | None) -> Iterator[Container[str] | None]:
    """The vocabulary of each part that reads text; None for one that reads anything."""
    if hasattr(step, "steps"):
        # Steps before the one that reads the text only hand it on, as one that makes a data frame of it.
        steps = [one for _, one in step.steps if one not in (None, "passthrough")]
        first = next((number for number, one in enumerate(steps) if _reads_text(one)), None)
        if first is None:
            yield None
        else:
            yield from _vocabularies(steps[first], _selected(steps[first + 1 :]))
    elif hasattr(step, "transformer_list"):
        for _, one in step.transformer_list:
            if one not in ("drop", "passthrough"):
                yield from _vocabularies(one, None)
    elif hasattr(step, "transformers_"):
        yield from _columns(step)
    elif hasattr(step, "vocabulary_"):
        words = callable(step.analyzer) or step.analyzer == "word"
        yield VectoriserWords(step, kept) if words else None
    else:
        inside = next((getattr(step, name) for name in INSIDE if getattr(step, name, None) is not None), None)
        if inside is None:
            yield None
        else:
            for one in inside if isinstance(inside, list) else [inside]:
                yield from _vocabularies(one, None)


def _columns(step: Any) -> Iterator[Container[str] | None]:
    """The parts of a column transformer; one that reads no text, such as a scaler of numbers, has no say."""
    for name, one, _ in step.transformers_:
        if name != "remainder" and one not in ("drop", "passthrough") and _reads_text(one):
            yield from _vocabularies(one, None)


def _reads_text(step: Any) -> bool:
    """Whether a step turns text into features, as far as one can tell: the vectorisers and what holds one."""
    if hasattr(step, "steps"):
        return any(_reads_text(one) for _, one in step.steps)
    if hasattr(step, "transformer_list") or hasattr(step, "transformers_"):
        parts = getattr(step, "transformer_list", None) or [part[:2] for part in step.transformers_]
        return any(_reads_text(one) for _, one in parts)
    inside = [getattr(step, name) for name in INSIDE if getattr(step, name, None) is not None]
    several = [one for found in inside for one in (found if isinstance(found, list) else [found])]
    return hasattr(step, "build_analyzer") or any(_reads_text(one) for one in several)


def _selected(steps: Sequence[Any]) -> frozenset[int] | None:
    """The features that selectors right behind the vectoriser keep; None for all."""
    columns: Any = None
    for step in steps:
        if hasattr(step, "get_support"):
            support = np.flatnonzero(step.get_support())
            columns = support if columns is None else columns[support]
        elif type(step).__name__ not in ("TfidfTransformer", "MaxAbsScaler", "StandardScaler", "Normalizer"):
            break
    return None if columns is None else frozenset(columns.tolist())
