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

from discotext.victims.sklearn.reader import Node, walk


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
        parts = list(_collect(walk(pipeline), None))
    except Exception:  # reading an attribute of a third-party estimator may raise anything
        return None
    known = [part for part in parts if part is not None]
    if not parts or len(known) < len(parts):
        return None
    return known[0] if len(known) == 1 else UnionVocabulary(known)


def _collect(node: Node, kept: frozenset[int] | None) -> Iterator[Container[str] | None]:
    """Yield the vocabulary of each part that reads text; None for one that reads any word."""
    if node.kind == "vectoriser":
        step = node.estimator
        words = "vocabulary_" in vars(step) and (callable(step.analyzer) or step.analyzer == "word")
        yield VectoriserVocabulary(step, kept) if words else None
    elif node.kind == "pipeline":
        # Steps before the one that reads the text only pass it on, such as one that makes a data frame of it.
        first = next((number for number, one in enumerate(node.inside) if one.reads_text), None)
        if first is None:
            yield None
        else:
            yield from _collect(node.inside[first], _find_kept_features(node.inside[first + 1 :]))
    elif not node.inside:
        yield None
    for one in node.inside if node.kind in ("union", "columns", "wrapper") else ():
        # A column without text, such as one for a scaler, has no words.
        if node.kind != "columns" or one.reads_text:
            yield from _collect(one, None)


def _find_kept_features(steps: Sequence[Node]) -> frozenset[int] | None:
    """Return the features that selectors right after the vectoriser keep; None for all."""
    columns: Any = None
    for node in steps:
        if node.kind == "selector":
            support = np.flatnonzero(node.estimator.get_support())
            columns = support if columns is None else columns[support]
        elif node.name not in ("TfidfTransformer", "MaxAbsScaler", "StandardScaler", "Normalizer"):
            break
    return None if columns is None else frozenset(columns.tolist())
