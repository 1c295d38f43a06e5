"""Taking scikit-learn pipelines apart, for their slopes. By class name: only what these very classes do is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Bools, Floats, Ints
from discotext.victims.linear_features import Vectoriser, read_vectoriser
from discotext.victims.linear_model import Block, Calibrated, Decisions, LinearModel, Link, LogShares, Member
from discotext.victims.linear_pipeline import BAYES, LINEAR, UnknownPartError

Number = TypeVar("Number", bound=np.generic)
SEARCHES = ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")


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
        check_norm(norm)
        if norm is None:
            return
        for part in self.parts:
            part.after, part.last = part.after * part.last, np.ones_like(part.last)
        self.norm = norm
        if len(self.parts) == 1:
            (part,) = self.parts
            part.before, part.after = part.before * part.after, np.ones_like(part.after)
            part.norm, self.norm = norm, None


def check_norm(norm: str | None) -> None:
    """Raise UnknownPartError for a norm that is not known."""
    if norm not in ("l1", "l2", None):
        raise UnknownPartError(f"its values are divided by the norm {norm!r}")


def read_model(estimator: Any) -> LinearModel:
    """Take a fitted pipeline apart; UnknownPartError names the first part that is not known.

    >>> read_model(object())
    Traceback (most recent call last):
        ...
    discotext.victims.linear_pipeline.UnknownPartError: object is not a pipeline of a vectoriser and a classifier
    """
    estimator = unwrap(estimator)
    if type(estimator).__name__ == "CalibratedClassifierCV":
        inner, link = read_calibration(estimator)
        pipelines = [list_steps(unwrap(one)) for one in inner]
        return LinearModel(tuple(read_member(steps[:-1], read_decision(steps[-1])) for steps in pipelines), link)
    steps = list_steps(estimator)
    if len(steps) < 2:
        raise UnknownPartError(f"{type(estimator).__name__} is not a pipeline of a vectoriser and a classifier")
    last = unwrap(steps[-1])
    if type(last).__name__ == "CalibratedClassifierCV":
        inner, link = read_calibration(last)
        several = [read_decision(one) for one in inner]
        outputs = tuple(np.concatenate(one) for one in zip(*several, strict=True))
        return LinearModel((read_member(steps[:-1], (outputs[0], outputs[1])),), link)
    if type(last).__name__ in BAYES:
        prior = last.class_log_prior_ if type(last).__name__ == "MultinomialNB" else np.zeros(len(last.classes_))
        weights = np.asarray(last.feature_log_prob_, dtype=np.float64)
        return LinearModel((read_member(steps[:-1], (weights, np.asarray(prior, dtype=np.float64))),), LogShares())
    return LinearModel((read_member(steps[:-1], read_decision(last)),), Decisions())


def unwrap(estimator: Any) -> Any:
    """The estimator that a search for settings has chosen."""
    while type(estimator).__name__ in SEARCHES:
        estimator = estimator.best_estimator_
    return estimator


def list_steps(pipeline: Any) -> list[Any]:
    """The steps of a pipeline that do something; none if it is not a pipeline."""
    return [one for _, one in getattr(pipeline, "steps", ()) if one not in (None, "passthrough")]


def read_decision(step: Any) -> tuple[Floats, Floats]:
    """Weights (1 or C, F) and biases of a linear classifier's decisions."""
    step = unwrap(step)
    name = type(step).__name__
    if name == "OneVsRestClassifier":
        several = [read_decision(one) for one in step.estimators_]
        return np.concatenate([weights for weights, _ in several]), np.concatenate([bias for _, bias in several])
    if name not in LINEAR:
        raise UnknownPartError(f"its {name} is not linear, or not known to be")
    weights = np.atleast_2d(np.asarray(step.coef_, dtype=np.float64))
    bias = np.broadcast_to(np.asarray(step.intercept_, dtype=np.float64), (len(weights),))
    return weights, bias


def read_calibration(step: Any) -> tuple[list[Any], Link]:
    """The classifiers inside a calibrated one, and how their decisions become scores."""
    fitted = step.calibrated_classifiers_
    if any(one.method != "sigmoid" for one in fitted):
        raise UnknownPartError(f"its CalibratedClassifierCV has the method {fitted[0].method!r}, not 'sigmoid'")
    if any(list(one.estimator.classes_) != list(step.classes_) for one in fitted):
        raise UnknownPartError("its CalibratedClassifierCV has classifiers that have not seen all classes")
    a = np.array([[float(curve.a_) for curve in one.calibrators] for one in fitted])
    b = np.array([[float(curve.b_) for curve in one.calibrators] for one in fitted])
    return [one.estimator for one in fitted], Calibrated(a, b)


def read_member(steps: Sequence[Any], outputs: tuple[Floats, Floats]) -> Member:
    """The vectorisers in the steps before a classifier, with linear outputs (weights, biases) of their values."""
    features, (weights, bias) = read_steps(steps), outputs
    blocks = []
    for part, mine in zip(features.parts, features.split(weights), strict=True):
        full = np.zeros((len(weights), part.vectoriser.size))
        full[:, part.columns] = mine * part.last[part.columns]
        blocks.append(Block(part.vectoriser, part.before, part.norm, part.after, full))
    known = (array for block in blocks for array in (block.before, block.after, block.weights))
    if not (np.isfinite(bias).all() and all(np.isfinite(array).all() for array in known)):
        raise UnknownPartError("some of its weights are infinite")
    return Member(tuple(blocks), features.norm, np.array(bias))


def read_steps(steps: Sequence[Any]) -> Features:
    """The features after some steps, the first of which reads texts."""
    if not steps:
        raise UnknownPartError("it has no vectoriser")
    first, *others = steps
    features = read_union(first) if hasattr(first, "transformer_list") else Features([read_part(first)])
    for step in others:
        name = type(step).__name__
        if name == "TfidfTransformer":
            if step.sublinear_tf:
                take_logarithms(features)
            if step.use_idf:
                features.scale(step.idf_)
            features.normalise(step.norm)
        elif name == "Normalizer":
            features.normalise(step.norm)
        elif hasattr(step, "get_support"):
            features.select(step.get_support())
        elif name == "MaxAbsScaler" and getattr(step, "clip", False):
            raise UnknownPartError("its MaxAbsScaler clips values")
        elif name == "MaxAbsScaler" or (name == "StandardScaler" and not step.with_mean):
            if step.scale_ is not None:
                features.scale(1 / np.asarray(step.scale_, dtype=np.float64))
        else:
            raise UnknownPartError(f"its step {name} is not known")
    return features


def read_union(union: Any) -> Features:
    """The features of vectorisers side by side."""
    parts = []
    for name, one in union.transformer_list:
        if one == "drop":
            continue
        found = read_steps(list_steps(one) if hasattr(one, "steps") else [one])
        if len(found.parts) > 1:
            raise UnknownPartError(f"its part {name} is itself made of several vectorisers")
        found.scale(np.full(len(found.parts[0].columns), (union.transformer_weights or {}).get(name, 1.0)))
        parts += found.parts
    if not parts:
        raise UnknownPartError("its FeatureUnion is empty")
    return Features(parts)


def read_part(step: Any) -> Part:
    """A vectoriser by itself."""
    vectoriser = read_vectoriser(step)
    before, after, last = (np.ones(vectoriser.size) for _ in range(3))
    part = Part(vectoriser, before, None, after, last, np.arange(vectoriser.size))
    features = Features([part])
    if type(step).__name__ == "TfidfVectorizer":
        if step.sublinear_tf:
            take_logarithms(features)
        if step.use_idf:
            features.scale(step.idf_)
    if type(step).__name__ != "CountVectorizer":
        features.normalise(step.norm)
    return part


def take_logarithms(features: Features) -> None:
    """Make the counts 1 + log(count)."""
    for part in features.parts:
        plain = part.norm is None and features.norm is None and not part.vectoriser.signed
        if not plain or (part.before * part.after != 1).any():
            raise UnknownPartError("its logarithms are of something else than counts")
        if part.vectoriser.tf == "linear":
            part.vectoriser = replace(part.vectoriser, tf="sublinear")
