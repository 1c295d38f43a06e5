"""Taking scikit-learn pipelines apart: one walk, from which gradients, bounds and the vocabulary are read.

`walk` says what an estimator is made of, whatever it is; `read_model` understands those that are linear after their
vectorisers. The latter goes by class name: only what these very classes do is known.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Bools, Floats, Ints
from discotext.victims.sklearn.features import UnknownPartError, Vectoriser, read_vectoriser
from discotext.victims.sklearn.model import Block, Calibrated, Decisions, LinearModel, Link, LogShares, Member

Number = TypeVar("Number", bound=np.generic)
SEARCHES = ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")
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
# Where meta-estimators keep their fitted estimators: grid search, calibration, voting and stacking.
INNER_ATTRIBUTES = ("best_estimator_", "estimator_", "calibrated_classifiers_", "estimators_", "estimator")


@dataclass(frozen=True, eq=False)
class Node:
    """An estimator and what it is made of: the steps of a pipeline, the parts of a union, what a wrapper wraps."""

    kind: Literal["pipeline", "union", "columns", "wrapper", "vectoriser", "selector", "other"]
    estimator: Any
    inside: tuple[Node, ...] = ()

    @property
    def name(self) -> str:
        return type(self.estimator).__name__

    @cached_property
    def reads_text(self) -> bool:
        """Whether it turns text into features: vectorisers, and whatever contains one."""
        return self.kind == "vectoriser" or any(node.reads_text for node in self.inside)

    def unwrap(self) -> Node:
        """The estimator that a search for settings has chosen."""
        return self.inside[0].unwrap() if self.name in SEARCHES and self.inside else self


def walk(estimator: Any) -> Node:
    """Return what a fitted estimator is made of.

    >>> walk(object()).kind
    'other'
    """
    held = getattr(estimator, "__dict__", {})

    def nodes(found: Sequence[Any]) -> tuple[Node, ...]:
        return tuple(walk(one) for one in found if not (one is None or isinstance(one, str)))  # "drop", "passthrough"

    if "steps" in held:
        return Node("pipeline", estimator, nodes([one for _, one in held["steps"]]))
    if "transformer_list" in held:
        return Node("union", estimator, nodes([one for _, one in held["transformer_list"]]))
    if "transformers_" in held:
        return Node("columns", estimator, nodes([one for name, one, _ in held["transformers_"] if name != "remainder"]))
    if hasattr(estimator, "build_analyzer"):
        return Node("vectoriser", estimator)
    if hasattr(estimator, "get_support"):
        return Node("selector", estimator)
    inner = next((held[name] for name in INNER_ATTRIBUTES if held.get(name) is not None), None)
    if inner is None:
        return Node("other", estimator)
    return Node("wrapper", estimator, nodes(inner if isinstance(inner, list) else [inner]))


@dataclass(eq=False)
class Part:
    """A vectoriser with what is read so far.

    before, after, last: (F,) factors: before its values get length 1, after that, and after all parts together do.
    columns: those that later steps see, in their order.
    """

    vectoriser: Vectoriser
    before: Floats
    norm: str | None
    after: Floats
    last: Floats
    columns: Ints


@dataclass(eq=False)
class Features:
    """The features after some steps: the values of the parts, side by side, get length 1 by `norm`."""

    parts: list[Part]
    norm: str | None = None

    def split(self, values: NDArray[Number]) -> list[NDArray[Number]]:
        """One array for each part, along the last axis."""
        if values.shape[-1] != sum(len(part.columns) for part in self.parts):
            raise UnknownPartError("its parts do not fit together")
        return np.split(values, np.cumsum([len(part.columns) for part in self.parts])[:-1], axis=-1)

    def scale(self, factors: NDArray[Number]) -> None:
        """Multiply the values."""
        for part, mine in zip(self.parts, self.split(factors), strict=True):
            (part.after if self.norm is None else part.last)[part.columns] *= np.asarray(mine, dtype=np.float64)

    def select(self, kept: Bools) -> None:
        """Leave out all other columns, which count as 0 from here on."""
        self.scale(kept)
        for part, mine in zip(self.parts, self.split(kept), strict=True):
            part.columns = part.columns[mine]

    def normalise(self, norm: str | None) -> None:
        """Give the values length 1. What had length 1 before makes no difference any more."""
        if norm not in ("l1", "l2", None):
            raise UnknownPartError(f"its values are divided by the norm {norm!r}")
        if norm is None:
            return
        for part in self.parts:
            part.after, part.last = part.after * part.last, np.ones_like(part.last)
        self.norm = norm
        if len(self.parts) == 1:
            (part,) = self.parts
            part.before, part.after = part.before * part.after, np.ones_like(part.after)
            part.norm, self.norm = norm, None

    def weight(self, step: Any) -> None:
        """Do what a TfidfTransformer or TfidfVectorizer does to counts."""
        if step.sublinear_tf:
            for part in self.parts:
                plain = part.norm is None and self.norm is None and not part.vectoriser.signed
                if not plain or (part.before * part.after != 1).any():
                    raise UnknownPartError("its logarithms are of something else than counts")
                if part.vectoriser.tf == "linear":
                    part.vectoriser = replace(part.vectoriser, tf="sublinear")
        if step.use_idf:
            self.scale(step.idf_)
        self.normalise(step.norm)


def read_model(root: Node) -> LinearModel:
    """Take a fitted pipeline apart; UnknownPartError names the first part that is not known.

    >>> read_model(walk(object()))
    Traceback (most recent call last):
        ...
    discotext.victims.sklearn.features.UnknownPartError: object is not a pipeline of a vectoriser and a classifier
    """
    root = root.unwrap()
    if root.name == "CalibratedClassifierCV":
        pipelines = [list_steps(walk(one).unwrap()) for one in list_calibrated(root)]
        members = tuple(read_member(steps, *read_decision(last)) for *steps, last in pipelines)
        return LinearModel(members, read_calibration(root))
    *steps, last = list_steps(root)
    last = last.unwrap()
    link: Link = Decisions()
    if last.name == "CalibratedClassifierCV":
        several = [read_decision(walk(one)) for one in list_calibrated(last)]
        weights, bias = (np.concatenate(one) for one in zip(*several, strict=True))
        link = read_calibration(last)
    elif last.name in BAYES:
        step = last.estimator
        prior = step.class_log_prior_ if last.name == "MultinomialNB" else np.zeros(len(step.classes_))
        weights, bias = np.asarray(step.feature_log_prob_, dtype=np.float64), np.asarray(prior, dtype=np.float64)
        link = LogShares()
    else:
        weights, bias = read_decision(last)
    return LinearModel((read_member(steps, weights, bias),), link)


def list_steps(node: Node) -> tuple[Node, ...]:
    """The steps of a pipeline, at least two."""
    if node.kind != "pipeline" or len(node.inside) < 2:
        raise UnknownPartError(f"{node.name} is not a pipeline of a vectoriser and a classifier")
    return node.inside


def read_decision(node: Node) -> tuple[Floats, Floats]:
    """Weights (1 or C, F) and biases of a linear classifier's decisions."""
    node = node.unwrap()
    if node.name == "OneVsRestClassifier":
        weights, bias = (np.concatenate(one) for one in zip(*map(read_decision, node.inside), strict=True))
        return weights, bias
    if node.name not in LINEAR:
        raise UnknownPartError(f"its {node.name} is not linear, or not known to be")
    weights = np.atleast_2d(np.asarray(node.estimator.coef_, dtype=np.float64))
    return weights, np.broadcast_to(np.asarray(node.estimator.intercept_, dtype=np.float64), (len(weights),))


def list_calibrated(node: Node) -> Iterator[Any]:
    """The classifiers inside a calibrated one."""
    for one in node.estimator.calibrated_classifiers_:
        if one.method != "sigmoid":
            raise UnknownPartError(f"its CalibratedClassifierCV has the method {one.method!r}, not 'sigmoid'")
        if list(one.estimator.classes_) != list(node.estimator.classes_):
            raise UnknownPartError("its CalibratedClassifierCV has classifiers that have not seen all classes")
        yield one.estimator


def read_calibration(node: Node) -> Link:
    """How the decisions of the classifiers inside a calibrated one become scores."""
    curves = [one.calibrators for one in node.estimator.calibrated_classifiers_]
    a, b = (np.array([[float(vars(one)[name]) for one in some] for some in curves]) for name in ("a_", "b_"))
    return Calibrated(a, b)


def read_member(steps: Sequence[Node], weights: Floats, bias: Floats) -> Member:
    """The vectorisers in the steps before a classifier, with linear outputs of their values."""
    features = read_steps(steps)
    blocks = []
    for part, mine in zip(features.parts, features.split(weights), strict=True):
        full = np.zeros((len(weights), part.vectoriser.size))
        full[:, part.columns] = mine * part.last[part.columns]
        blocks.append(Block(part.vectoriser, part.before, part.norm, part.after, full))
    known = (array for block in blocks for array in (block.before, block.after, block.weights))
    if not (np.isfinite(bias).all() and all(np.isfinite(array).all() for array in known)):
        raise UnknownPartError("some of its weights are infinite")
    return Member(tuple(blocks), features.norm, np.array(bias))


def read_steps(steps: Sequence[Node]) -> Features:
    """The features after some steps, the first of which reads texts."""
    if not steps:
        raise UnknownPartError("it has no vectoriser")
    first, *others = steps
    features = read_union(first) if first.kind == "union" else read_part(first.estimator)
    for node in others:
        step = node.estimator
        if node.name == "TfidfTransformer":
            features.weight(step)
        elif node.name == "Normalizer":
            features.normalise(step.norm)
        elif node.kind == "selector":
            features.select(step.get_support())
        elif node.name == "MaxAbsScaler" and vars(step).get("clip", False):
            raise UnknownPartError("its MaxAbsScaler clips values")
        elif node.name == "MaxAbsScaler" or (node.name == "StandardScaler" and not step.with_mean):
            if step.scale_ is not None:
                features.scale(1 / np.asarray(step.scale_, dtype=np.float64))
        else:
            raise UnknownPartError(f"its step {node.name} is not known")
    return features


def read_union(union: Node) -> Features:
    """The features of vectorisers side by side."""
    parts = []
    weights = union.estimator.transformer_weights or {}
    names = [name for name, one in union.estimator.transformer_list if not isinstance(one, str)]
    for name, node in zip(names, union.inside, strict=True):
        found = read_steps(node.inside if node.kind == "pipeline" else [node])
        if len(found.parts) > 1:
            raise UnknownPartError(f"its part {name} is itself made of several vectorisers")
        found.scale(np.full(len(found.parts[0].columns), weights.get(name, 1.0)))
        parts += found.parts
    if not parts:
        raise UnknownPartError("its FeatureUnion is empty")
    return Features(parts)


def read_part(step: Any) -> Features:
    """A vectoriser by itself."""
    vectoriser = read_vectoriser(step)
    before, after, last = (np.ones(vectoriser.size) for _ in range(3))
    features = Features([Part(vectoriser, before, None, after, last, np.arange(vectoriser.size))])
    if type(step).__name__ == "TfidfVectorizer":
        features.weight(step)
    elif type(step).__name__ == "HashingVectorizer":
        features.normalise(step.norm)
    return features


# --- the words that a pipeline can tell apart
#
# A word outside the vocabulary of a word vectoriser leaves no trace in its features: inserting it amounts to deleting
# the word it replaces. Each vectoriser reads a text with its own preprocessing, tokeniser, stop words and n-grams. A
# part without a vocabulary, such as one of character n-grams, reads any word, and so does then the whole pipeline.


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
