"""scikit-learn pipelines that are linear after their vectorisers, as functions of counts with gradients.

    counts → f(count) → factors → length 1 → linear outputs    for each vectoriser; the sum of these → scores

`take_apart` says what an estimator is made of, whatever it is; `read_model` understands pipelines that are linear after
their vectorisers. The latter goes by class name: only what these very classes do is known. What was taken apart is
compared with the pipeline's own scores before it is believed.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Floats, Ints
from discotext.core.objectives import Objective
from discotext.core.oracle import Request
from discotext.text.space import Space
from discotext.victims.sklearn.features import (
    MixedCounts,
    UnknownPartError,
    Vectoriser,
    make_tokeniser,
    read_vectoriser,
)
from discotext.victims.victim import TextOracle, Victim

Link = Callable[[Floats], tuple[Floats, Floats]]  # from outputs (H,) to scores (C,) and their derivatives (C, H)

Kind = Literal["pipeline", "union", "vectoriser", "selector", "other"]
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


def decide(outputs: Floats) -> tuple[Floats, Floats]:
    """Outputs that are the scores; a single one, of two classes, is shared between them with opposite signs.

    >>> decide(np.array([3.0]))[0]
    array([-1.5,  1.5])
    """
    shares = np.eye(len(outputs)) if len(outputs) > 1 else np.array([[-0.5], [0.5]])
    return shares @ outputs, shares


def take_log_shares(outputs: Floats) -> tuple[Floats, Floats]:
    """Logarithms of the shares of exp(output), as naive Bayes gives them.

    >>> take_log_shares(np.array([3.0, 3.0]))[0].round(3)
    array([-0.693, -0.693])
    """
    shifted = outputs - outputs.max()
    scores = np.asarray(shifted - np.log(np.exp(shifted).sum()))
    return scores, np.eye(len(outputs)) - np.exp(scores)


def calibrate(a: Floats, b: Floats, outputs: Floats) -> tuple[Floats, Floats]:
    """The logarithm of the mean, over N classifiers, of sigmoids of their outputs that are scaled to the sum 1.

    a, b: (N, 1) for two classes or (N, C): the probability of a class is 1 / (1 + exp(a·output + b)) before scaling.
    """
    raw = 1 / (1 + np.exp(np.clip(a * outputs.reshape(a.shape) + b, -700, 700)))
    by_output = -a * raw * (1 - raw)
    if raw.shape[1] == 1:
        chances = np.concatenate([1 - raw, raw], axis=1)
        by_raw = np.broadcast_to([[[-1.0], [1.0]]], (len(raw), 2, 1))
    else:
        total = raw.sum(axis=1, keepdims=True)
        chances = raw / total
        by_raw = (np.eye(raw.shape[1]) - chances[:, :, None]) / total[:, :, None]
    mean = np.maximum(chances.mean(axis=0), np.finfo(np.float64).tiny)
    # (N, C, 1 or C) what each classifier adds to the mean; classifiers stand side by side in the outputs.
    parts = by_raw * by_output[:, None, :] / len(raw)
    return np.log(mean), np.concatenate(list(parts), axis=1) / mean[:, None]


@dataclass(frozen=True, eq=False)
class Block:
    """One vectoriser with what follows it. factors: (F,) of f(count).

    norm: the length, "l1", "l2" or None, that these values are divided by. weights: (H, F) of the outputs.
    """

    vectoriser: Vectoriser
    factors: Floats
    norm: str | None
    weights: Floats


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A pipeline, taken apart. bias: (H,) of the outputs."""

    blocks: tuple[Block, ...]
    bias: Floats
    link: Link

    def score(self, text: str) -> Floats:
        """(C,) the scores of a text."""
        return self.read([block.vectoriser.count(text) for block in self.blocks], np.empty(0))[0]

    def read(self, counts: Sequence[MixedCounts], alpha: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
        """(C,) the scores of a mixture, and a function from the gradient (C,) by them to that (K,) by the mixture.

        counts: what each vectoriser makes of the text.
        """
        outputs, ways = self.bias.copy(), []
        for block, mine in zip(self.blocks, counts, strict=True):
            grown, falling, rising = grow(block.vectoriser.tf, mine.count(alpha))
            factors, weights = block.factors[mine.columns], block.weights[:, mine.columns]
            values = grown * factors
            size = 1.0  # stays for values without a norm, or of length 0
            if block.norm is not None:
                size = float(np.abs(values).sum() if block.norm == "l1" else np.sqrt(values @ values)) or 1.0
            outputs += weights @ (values / size)
            ways.append((block.norm, mine, weights, values / size, factors / size, falling, rising))
        scores, derivatives = self.link(outputs)

        def pull_back(gradient: Floats) -> Floats:
            found = np.zeros(len(alpha))
            for norm, mine, weights, unit, factors, falling, rising in ways:
                by_value = gradient @ derivatives @ weights
                if norm is not None:
                    by_value = by_value - (by_value @ unit) * (unit if norm == "l2" else np.sign(unit))
                by_grown = by_value * factors
                found += mine.pull_back(by_grown * falling, by_grown * rising, alpha)
            return found

        return scores, pull_back


def grow(tf: str, counts: Floats) -> tuple[Floats, Floats, Floats]:
    """The function of the counts, straight between whole numbers, and its gradients to the left and to the right.

    >>> grow("binary", np.array([0.5, 1.0, 1.5]))
    (array([0.5, 1. , 1. ]), array([1., 1., 0.]), array([1., 0., 0.]))
    """
    # Rounding errors of sums must not move a count over a kink.
    whole = np.round(counts)
    counts = np.where(np.abs(counts - whole) < 1e-9, whole, counts)
    lower = np.floor(counts)
    falling, rising = (transform(tf, at + 1) - transform(tf, at) for at in (np.ceil(counts) - 1, lower))
    return transform(tf, lower) + (counts - lower) * rising, falling, rising


def transform(tf: str, counts: Floats) -> Floats:
    """The function of whole counts. Two changes may each take away what is there once; less than none is none."""
    counts = np.maximum(counts, 0.0)
    if tf == "sublinear":
        return np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0.0)
    return np.minimum(counts, 1.0) if tf == "binary" else counts


class LinearOracle(TextOracle):
    """A `TextOracle` whose victim is a linear pipeline: its own weights give gradients, for which no text is asked."""

    exact_at_vertices = False  # a token may reach across the edge of a word
    slack = 2.0  # a whole swap is more than a small step
    labels_only = False

    def __init__(self, victim: Victim, space: Space, objective: Objective, model: LinearModel) -> None:
        super().__init__(victim, space, objective)
        self.model = model
        self._counts: dict[int, list[MixedCounts]] = {}

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        ends = self.batch.take(problems).first_candidate
        values, gradient = np.empty(len(problems)), np.empty(len(alpha))
        for row, problem in enumerate(problems.tolist()):
            part, one = slice(ends[row], ends[row + 1]), np.array([problem])
            if problem not in self._counts:
                text, options = self.space.texts[problem], self.space.options[problem]
                self._counts[problem] = [block.vectoriser.mix(text, options) for block in self.model.blocks]
            scores, pull_back = self.model.read(self._counts[problem], alpha[part])
            values[row] = self.objective.value(scores[None], one)[0]
            gradient[part] = pull_back(self.objective.gradient(scores[None], one)[0])
        return values, gradient

    def cost(self, request: Request) -> tuple[Ints, Ints]:
        if request.kind == "relaxed":
            return np.zeros(len(request), dtype=np.int64), np.zeros(len(request), dtype=np.int64)
        return super().cost(request)


# --- taking pipelines apart


def take_apart(estimator: Any) -> tuple[Kind, list[Any]]:
    """What kind of estimator it is, and those it is made of: the steps of a pipeline, what a wrapper wraps.

    >>> take_apart(object())
    ('other', [])
    """
    held = getattr(estimator, "__dict__", {})
    kind: Kind = "other"
    if "steps" in held:
        kind, found = "pipeline", [one for _, one in held["steps"]]
    elif "transformer_list" in held:
        kind, found = "union", [one for _, one in held["transformer_list"]]
    elif hasattr(estimator, "build_analyzer"):
        return "vectoriser", []
    elif hasattr(estimator, "get_support"):
        return "selector", []
    else:
        inner = next((held[name] for name in INNER_ATTRIBUTES if held.get(name) is not None), None)
        found = inner if isinstance(inner, list) else [inner]
    return kind, [one for one in found if not (one is None or isinstance(one, str))]  # "drop", "passthrough"


def reads_text(estimator: Any) -> bool:
    """Whether it turns text into features: vectorisers, and whatever contains one."""
    kind, parts = take_apart(estimator)
    return kind == "vectoriser" or any(map(reads_text, parts))


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
    kind, steps = take_apart(root)
    if kind != "pipeline" or len(steps) < 2:
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
    parts = []
    if take_apart(first)[0] == "union":
        weights = first.transformer_weights or {}
        for name, one in first.transformer_list:
            if not isinstance(one, str):  # "drop"
                kind, inner = take_apart(one)
                inside = read_steps(inner if kind == "pipeline" else [one])
                scale(inside, np.full(sum(len(part.columns) for part in inside), weights.get(name, 1.0)))
                parts += inside
    else:
        vectoriser = read_vectoriser(first)
        size = len(vectoriser.vocabulary)
        parts.append(Part(vectoriser, np.ones(size), np.ones(size), np.arange(size)))
        if type(first).__name__ == "TfidfVectorizer":
            parts[0].weight(first)
    for step in others:
        name = type(step).__name__
        if name in ("TfidfTransformer", "Normalizer"):
            if len(parts) > 1:
                raise UnknownPartError(f"its {name} divides the values of several vectorisers by their length")
            parts[0].weight(step) if name == "TfidfTransformer" else parts[0].normalise(step.norm)
        elif take_apart(step)[0] == "selector":
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


# --- the words that a pipeline can tell apart
#
# A word outside the vocabulary of a word vectoriser leaves no trace in its features: inserting it amounts to deleting
# the word it replaces. Each vectoriser reads a text with its own preprocessing, tokeniser, stop words and n-grams. A
# part without a vocabulary, such as one of character n-grams, reads any word, and so does then the whole pipeline.


@dataclass(frozen=True, eq=False)
class TermVocabulary:
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
            kept = np.ones(len(step.vocabulary_), dtype=bool)
            for other in after:
                if take_apart(other)[0] == "selector":
                    kept[kept] = other.get_support()
                elif type(other).__name__ not in ("TfidfTransformer", "MaxAbsScaler", "StandardScaler", "Normalizer"):
                    break
            known = [term for term, column in step.vocabulary_.items() if kept[column]]
            if not callable(step.analyzer) and step.ngram_range[0] > 1:
                # If single words are not features, a word counts as known if an n-gram contains it.
                known = [word for term in known for word in term.split(" ")]
            parts.append((make_tokeniser(step), set(known)))
        return TermVocabulary(parts) if parts else None
    except Exception:  # reading an attribute of a third-party estimator may raise anything
        return None


def list_readers(estimator: Any, after: Sequence[Any]) -> Iterator[tuple[Any, Sequence[Any]]]:
    """The parts that read text, each with the steps that follow it in its own pipeline."""
    kind, parts = take_apart(estimator)
    if kind == "pipeline":
        # Steps before the one that reads the text only pass it on.
        first = next((number for number, one in enumerate(parts) if reads_text(one)), 0)
        yield from list_readers(parts[first], parts[first + 1 :])
    elif parts:
        for one in parts:
            yield from list_readers(one, ())
    else:
        yield estimator, after
