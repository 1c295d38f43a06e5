"""Taking scikit-learn pipelines apart, for gradients, bounds and the vocabulary.

`list_parts` says what an estimator is made of, whatever it is; `read_model` understands those that are linear after
their vectorisers. The latter goes by class name: only what these very classes do is known.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Floats, Ints
from discotext.victims.sklearn.features import UnknownPartError, Vectoriser, make_tokeniser, read_vectoriser
from discotext.victims.sklearn.model import Block, LinearModel, Link, calibrate, decide, take_log_shares

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


def list_parts(estimator: Any) -> list[Any]:
    """What a fitted estimator is made of: the steps of a pipeline, the parts of a union, what a wrapper wraps.

    >>> list_parts(object())
    []
    """
    held = getattr(estimator, "__dict__", {})
    if "steps" in held:
        found = [one for _, one in held["steps"]]
    elif "transformer_list" in held:
        found = [one for _, one in held["transformer_list"]]
    elif "transformers_" in held:
        found = [one for name, one, _ in held["transformers_"] if name != "remainder"]
    elif hasattr(estimator, "build_analyzer") or hasattr(estimator, "get_support"):
        found = []
    else:
        inner = next((held[name] for name in INNER_ATTRIBUTES if held.get(name) is not None), None)
        found = inner if isinstance(inner, list) else [inner]
    return [one for one in found if not (one is None or isinstance(one, str))]  # "drop", "passthrough"


def reads_text(estimator: Any) -> bool:
    """Whether it turns text into features: vectorisers, and whatever contains one."""
    return hasattr(estimator, "build_analyzer") or any(map(reads_text, list_parts(estimator)))


def unwrap(estimator: Any) -> tuple[Any, str]:
    """The estimator that a search for settings has chosen, or else the one that is given; and the name of its class."""
    name = type(estimator).__name__
    return unwrap(estimator.best_estimator_) if name in SEARCHES else (estimator, name)


@dataclass(eq=False)
class Part:
    """A vectoriser with what is read so far.

    before, after: (F,) factors, before and after its values are divided by their `norm`.
    columns: those that later steps see, in their order.
    """

    vectoriser: Vectoriser
    before: Floats
    after: Floats
    columns: Ints
    norm: str | None = None

    def normalise(self, norm: str | None) -> None:
        """Give the values length 1. What had length 1 before makes no difference any more."""
        if norm not in ("l1", "l2", None):
            raise UnknownPartError(f"its values are divided by the norm {norm!r}")
        if norm is not None:
            self.before, self.after, self.norm = self.before * self.after, np.ones_like(self.after), norm

    def weight(self, step: Any) -> None:
        """Do what a TfidfTransformer or TfidfVectorizer does to counts."""
        if step.sublinear_tf:
            if self.norm is not None or (self.before * self.after != 1).any():
                raise UnknownPartError("its logarithms are of something else than counts")
            if self.vectoriser.tf == "linear":
                self.vectoriser = replace(self.vectoriser, tf="sublinear")
        if step.use_idf:
            scale([self], step.idf_)
        self.normalise(step.norm)


def split(parts: Sequence[Part], values: NDArray[Number]) -> list[NDArray[Number]]:
    """One array for each of the parts, which stand side by side along the last axis."""
    if values.shape[-1] != sum(len(part.columns) for part in parts):
        raise UnknownPartError("its parts do not fit together")
    return np.split(values, np.cumsum([len(part.columns) for part in parts])[:-1], axis=-1)


def scale(parts: Sequence[Part], factors: NDArray[Number]) -> None:
    """Multiply the values of the parts."""
    for part, mine in zip(parts, split(parts, factors), strict=True):
        part.after[part.columns] *= np.asarray(mine, dtype=np.float64)


def read_model(pipeline: Any) -> LinearModel:
    """Take a fitted pipeline apart; UnknownPartError names the first part that is not known.

    >>> read_model(object())
    Traceback (most recent call last):
        ...
    discotext.victims.sklearn.features.UnknownPartError: object is not a pipeline of a vectoriser and a classifier
    """
    root, name = unwrap(pipeline)
    steps = list_parts(root)
    if not hasattr(root, "steps") or len(steps) < 2:
        raise UnknownPartError(f"{name} is not a pipeline of a vectoriser and a classifier")
    last, name = unwrap(steps[-1])
    link: Link = decide
    if name == "CalibratedClassifierCV":
        for one in last.calibrated_classifiers_:
            if one.method != "sigmoid" or list(one.estimator.classes_) != list(last.classes_):
                raise UnknownPartError("its CalibratedClassifierCV is not sigmoid, or a fold has not seen all classes")
        weights, bias = join_decisions([one.estimator for one in last.calibrated_classifiers_])
        curves = [one.calibrators for one in last.calibrated_classifiers_]
        a, b = (np.array([[vars(one)[key] for one in some] for some in curves]) for key in ("a_", "b_"))
        link = partial(calibrate, a, b)
    elif name in BAYES:
        weights = np.asarray(last.feature_log_prob_, dtype=np.float64)
        bias = np.array(last.class_log_prior_ if name == "MultinomialNB" else np.zeros(len(weights)))
        link = take_log_shares
    else:
        weights, bias = read_decision(last)
    parts = read_steps(steps[:-1])
    blocks = []
    for part, mine in zip(parts, split(parts, weights), strict=True):
        full = np.zeros((len(weights), len(part.after)))
        full[:, part.columns] = mine * part.after[part.columns]
        blocks.append(Block(part.vectoriser, part.before, part.norm, full))
    known = [bias, *(array for block in blocks for array in (block.factors, block.weights))]
    if not all(np.isfinite(array).all() for array in known):
        raise UnknownPartError("some of its weights are infinite")
    return LinearModel(tuple(blocks), bias, link)


def read_decision(classifier: Any) -> tuple[Floats, Floats]:
    """Weights (1 or C, F) and biases of a linear classifier's decisions."""
    classifier, name = unwrap(classifier)
    if name == "OneVsRestClassifier":
        return join_decisions(classifier.estimators_)
    if name not in LINEAR:
        raise UnknownPartError(f"its {name} is not linear, or not known to be")
    weights = np.atleast_2d(np.asarray(classifier.coef_, dtype=np.float64))
    return weights, np.zeros(len(weights)) + np.asarray(classifier.intercept_, dtype=np.float64)


def join_decisions(classifiers: Sequence[Any]) -> tuple[Floats, Floats]:
    """Weights and biases of several linear classifiers, end to end."""
    weights, bias = zip(*map(read_decision, classifiers), strict=True)
    return np.concatenate(weights), np.concatenate(bias)


def read_steps(steps: Sequence[Any]) -> list[Part]:
    """The features after some steps, the first of which reads texts: several vectorisers stand side by side."""
    first, *others = steps
    parts = read_union(first) if hasattr(first, "transformer_list") else [read_part(first)]
    for step in others:
        name = type(step).__name__
        if name in ("TfidfTransformer", "Normalizer"):
            if len(parts) > 1:
                raise UnknownPartError(f"its {name} divides the values of several vectorisers by their length")
            parts[0].weight(step) if name == "TfidfTransformer" else parts[0].normalise(step.norm)
        elif hasattr(step, "get_support"):
            kept = step.get_support()
            scale(parts, kept)  # the other columns count as 0 from here on
            for part, mine in zip(parts, split(parts, kept), strict=True):
                part.columns = part.columns[mine]
        elif name == "MaxAbsScaler" and vars(step).get("clip", False):
            raise UnknownPartError("its MaxAbsScaler clips values")
        elif name == "MaxAbsScaler" or (name == "StandardScaler" and not step.with_mean):
            if step.scale_ is not None:
                scale(parts, 1 / np.asarray(step.scale_, dtype=np.float64))
        else:
            raise UnknownPartError(f"its step {name} is not known")
    return parts


def read_union(union: Any) -> list[Part]:
    """The features of a union."""
    found = []
    weights = union.transformer_weights or {}
    for name, one in union.transformer_list:
        if not isinstance(one, str):
            parts = read_steps(list_parts(one) if hasattr(one, "steps") else [one])
            scale(parts, np.full(sum(len(part.columns) for part in parts), weights.get(name, 1.0)))
            found += parts
    return found


def read_part(step: Any) -> Part:
    """A vectoriser by itself."""
    vectoriser = read_vectoriser(step)
    size = len(vectoriser.vocabulary)
    part = Part(vectoriser, np.ones(size), np.ones(size), np.arange(size))
    if type(step).__name__ == "TfidfVectorizer":
        part.weight(step)
    return part


# --- the words that a pipeline can tell apart
#
# A word outside the vocabulary of a word vectoriser leaves no trace in its features: inserting it amounts to deleting
# the word it replaces. Each vectoriser reads a text with its own preprocessing, tokeniser, stop words and n-grams. A
# part without a vocabulary, such as one of character n-grams, reads any word, and so does then the whole pipeline.


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The words that one of several vectorisers knows. parts: of each the tokeniser, and the tokens it knows."""

    parts: Sequence[tuple[Callable[[str], tuple[Any, ...]], set[Any]]]
    _known: dict[object, bool] = field(default_factory=dict, init=False, repr=False)

    def __contains__(self, word: object) -> bool:
        if word not in self._known:
            found = ((tokenise(str(word)), known) for tokenise, known in self.parts)
            self._known[word] = any(tokens and known.issuperset(tokens) for tokens, known in found)
        return self._known[word]


def find_vocabulary(pipeline: Any) -> Container[str] | None:
    """Return the words that a fitted pipeline can tell apart; None if it reads any word, or if this is unknown.

    >>> find_vocabulary(object()) is None
    True
    """
    try:
        parts = []
        for step, after in list_readers(pipeline, ()):
            if not ("vocabulary_" in vars(step) and (callable(step.analyzer) or step.analyzer == "word")):
                return None
            kept = find_kept_features(after, len(step.vocabulary_))
            known = [term for term, column in step.vocabulary_.items() if kept[column]]
            if not callable(step.analyzer) and step.ngram_range[0] > 1:
                # If single words are not features, a word counts as known if an n-gram contains it.
                known = [word for term in known for word in term.split(" ")]
            parts.append((make_tokeniser(step), set(known)))
        return Vocabulary(parts) if parts else None
    except Exception:  # reading an attribute of a third-party estimator may raise anything
        return None


def list_readers(estimator: Any, after: Sequence[Any]) -> Iterator[tuple[Any, Sequence[Any]]]:
    """The parts that read text, each with the steps that follow it in its own pipeline."""
    parts = list_parts(estimator)
    if hasattr(estimator, "steps"):
        # Steps before the one that reads the text only pass it on, such as one that makes a data frame of it.
        first = next((number for number, one in enumerate(parts) if reads_text(one)), 0)
        yield from list_readers(parts[first], parts[first + 1 :])
    elif parts:
        for one in parts:
            # A column without text, such as one for a scaler, has no words.
            if not hasattr(estimator, "transformers_") or reads_text(one):
                yield from list_readers(one, ())
    else:
        yield estimator, after


def find_kept_features(steps: Sequence[Any], size: int) -> NDArray[np.bool_]:
    """Which of a vectoriser's features the selectors right after it keep."""
    kept = np.ones(size, dtype=bool)
    for step in steps:
        if hasattr(step, "get_support"):
            kept[kept] = step.get_support()
        elif type(step).__name__ not in ("TfidfTransformer", "MaxAbsScaler", "StandardScaler", "Normalizer"):
            break
    return kept
