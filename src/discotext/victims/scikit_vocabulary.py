"""The words that a fitted scikit-learn pipeline can tell apart.

A word outside the vocabulary of a word vectoriser leaves no trace in its features: inserting it amounts to deleting the
word it replaces. The vocabulary of a pipeline is therefore collected from its vectorisers, each of which reads a text
with its own preprocessing, tokeniser, stop words and n-grams. A part without a vocabulary, such as a hashing vectoriser
or one of character n-grams, reads any word, and so does then the whole pipeline.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# Where meta-estimators keep their fitted estimators: grid search, calibration, voting and stacking.
INNER_ATTRIBUTES = ("best_estimator_", "estimator_", "calibrated_classifiers_", "estimators_", "estimator")


@dataclass(frozen=True, eq=False)
class VectoriserVocabulary:
    """The words of one fitted word vectoriser. kept: the features that later steps use, None for all."""

    vectoriser: Any
    kept: frozenset[int] | None = None
    _words: set[str] = field(default_factory=set, init=False, repr=False)
    _known: dict[str, bool] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        shortest = 1 if callable(self.vectoriser.analyzer) else self.vectoriser.ngram_range[0]
        for term, column in self.vectoriser.vocabulary_.items():
            if self.kept is None or int(column) in self.kept:
                # If single words are not features, a word counts as known if an n-gram contains it.
                self._words.update([term] if shortest == 1 else str(term).split(" "))

    def __contains__(self, word: object) -> bool:
        if not isinstance(word, str):
            return False
        if word not in self._known:
            tokens = self._tokenise(word)
            self._known[word] = bool(tokens) and all(token in self._words for token in tokens)
        return self._known[word]

    def _tokenise(self, word: str) -> list[Any]:
        """Return the tokens that the vectoriser makes of a word, before n-grams."""
        if callable(self.vectoriser.analyzer):
            return list(self.vectoriser.analyzer(word))
        tokens = self.vectoriser.build_tokenizer()(self.vectoriser.build_preprocessor()(word))
        stopped = self.vectoriser.get_stop_words() or ()
        return [token for token in tokens if token not in stopped]


@dataclass(frozen=True, eq=False)
class UnionVocabulary:
    """The words that at least one of several vocabularies contains."""

    parts: Sequence[Container[str]]

    def __contains__(self, word: object) -> bool:
        return any(word in part for part in self.parts)


def find_vocabulary(pipeline: Any) -> Container[str] | None:
    """Return the words that a fitted pipeline can tell apart; None if it reads any word, or if this is unknown.

    >>> find_vocabulary(object()) is None
    True
    """
    try:
        parts = list(_collect(pipeline, None))
    except Exception:  # reading an attribute of a third-party estimator may raise anything
        return None
    if not parts or any(part is None for part in parts):
        return None
    known = [part for part in parts if part is not None]
    return known[0] if len(known) == 1 else UnionVocabulary(known)


def _collect(step: Any, kept: frozenset[int] | None) -> Iterator[Container[str] | None]:
    """Yield the vocabulary of each part that reads text; None for one that reads any word."""
    if hasattr(step, "steps"):
        # Steps before the one that reads the text only pass it on, such as one that makes a data frame of it.
        steps = [one for _, one in step.steps if one not in (None, "passthrough")]
        first = next((number for number, one in enumerate(steps) if _reads_text(one)), None)
        if first is None:
            yield None
        else:
            yield from _collect(steps[first], _find_kept_features(steps[first + 1 :]))
    elif hasattr(step, "transformer_list"):
        for _, one in step.transformer_list:
            if one not in ("drop", "passthrough"):
                yield from _collect(one, None)
    elif hasattr(step, "transformers_"):
        yield from _collect_columns(step)
    elif hasattr(step, "vocabulary_"):
        words = callable(step.analyzer) or step.analyzer == "word"
        yield VectoriserVocabulary(step, kept) if words else None
    else:
        inside = next((getattr(step, name) for name in INNER_ATTRIBUTES if getattr(step, name, None) is not None), None)
        if inside is None:
            yield None
        else:
            for one in inside if isinstance(inside, list) else [inside]:
                yield from _collect(one, None)


def _collect_columns(step: Any) -> Iterator[Container[str] | None]:
    """Yield the vocabularies of a column transformer's parts; one without text, such as a scaler, is skipped."""
    for name, one, _ in step.transformers_:
        if name != "remainder" and one not in ("drop", "passthrough") and _reads_text(one):
            yield from _collect(one, None)


def _reads_text(step: Any) -> bool:
    """Return whether a step turns text into features: the vectorisers, and whatever contains one."""
    if hasattr(step, "steps"):
        return any(_reads_text(one) for _, one in step.steps)
    if hasattr(step, "transformer_list") or hasattr(step, "transformers_"):
        parts = getattr(step, "transformer_list", None) or [part[:2] for part in step.transformers_]
        return any(_reads_text(one) for _, one in parts)
    inside = [getattr(step, name) for name in INNER_ATTRIBUTES if getattr(step, name, None) is not None]
    several = [one for found in inside for one in (found if isinstance(found, list) else [found])]
    return hasattr(step, "build_analyzer") or any(_reads_text(one) for one in several)


def _find_kept_features(steps: Sequence[Any]) -> frozenset[int] | None:
    """Return the features that selectors right after the vectoriser keep; None for all."""
    columns: Any = None
    for step in steps:
        if hasattr(step, "get_support"):
            support = np.flatnonzero(step.get_support())
            columns = support if columns is None else columns[support]
        elif type(step).__name__ not in ("TfidfTransformer", "MaxAbsScaler", "StandardScaler", "Normalizer"):
            break
    return None if columns is None else frozenset(columns.tolist())
