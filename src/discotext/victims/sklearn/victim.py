"""A victim made of a scikit-learn pipeline: texts go in at the vectoriser, a score for each class comes out at the end.

Scores are the first of these that the classifier has: `decision_function`, which for linear models is linear in the
features and nowhere flat; `predict_log_proba`; the logarithm of `predict_proba`. Probabilities themselves are not used:
where a classifier is sure, they round to 0 and 1, and a search sees no difference between one text and the next.

Models are loaded from files. Formats for arbitrary Python objects (pickle, joblib) can contain code that is executed
when the file is loaded, so such a file is refused unless the user trusts it. skops stores the same models as data.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from discotext.core.arrays import Floats
from discotext.core.objectives import DifferenceObjective, Objective
from discotext.core.oracle import Oracle
from discotext.core.problem import random_choices
from discotext.data.labels import list_some
from discotext.support.extras import require
from discotext.support.plain_text import describe_error
from discotext.text.space import Space
from discotext.victims.folder import write_folder
from discotext.victims.sklearn.bound import BoundedLinearOracle, find_obstacle
from discotext.victims.sklearn.features import UnknownPartError
from discotext.victims.sklearn.model import LinearModel, LinearOracle, find_vocabulary, read_model
from discotext.victims.victim import Capabilities, TextOracle, Victim

CHECKED = 8  # texts of a search space on which a pipeline that was taken apart must give the pipeline's own scores
METHODS = ("decision_function", "predict_log_proba", "predict_proba")
FOLDER_KIND, SKOPS = "sklearn", "model.skops"  # of a saved victim
PICKLES = (".pkl", ".pickle", ".joblib")
# Replaces the logarithm of a probability of 0, which no search can compare; lower than what naive Bayes gives to any
# text of realistic length.
FLOOR = -1e4
# A model's weights hardly compress. A file that would unpack to more bytes than this, and to this many times its size,
# is not a model.
LARGEST_UNPACKED, LARGEST_RATIO = 100_000_000, 50
PROBE = "This is a long text about a good film, and a very bad book."
# By how much, at most, the scores of a pipeline that was taken apart may differ from its own, relative to their size:
# single precision is good enough for gradients, not for bounds.
AGREES, AGREES_EXACTLY = 1e-4, 1e-6


class UntrustedError(ValueError):
    """A file can execute code when it is loaded, and the user has not allowed it."""


class SklearnVictim(Victim):
    """A fitted pipeline that takes raw texts, as a victim. Its vocabulary is that of its word vectorisers.

    pipeline: any fitted classifier with `classes_` whose first step reads texts. name: what reports call it.
    """

    def __init__(self, pipeline: Any, name: str = "sklearn") -> None:
        self.pipeline, self.name = pipeline, name
        classes = getattr(pipeline, "classes_", None)
        if classes is None:
            raise ValueError(
                f"{name} is a {type(pipeline).__name__} without classes_; expected a fitted classifier: call "
                "fit(texts, labels) first"
            )
        if len(classes) < 2 or np.ndim(classes[0]):
            raise ValueError(f"{name} has the classes {list(classes)}; expected two or more, and one label per text")
        self.labels: tuple[str, ...] = tuple(str(label) for label in classes)
        self.method = self._choose_method()

    def scores(self, texts: Sequence[str]) -> Floats:
        return self._call(self.method, texts) if len(texts) else np.empty((0, len(self.labels)))

    def save(
        self, folder: str | Path, settings: Mapping[str, Any] | None = None, more: Mapping[str, bytes] | None = None
    ) -> None:
        skops = require("skops.io", "sklearn", "saving a pipeline")
        files = {SKOPS: skops.dumps(self.pipeline), **(more or {})}
        write_folder(folder, {"kind": FOLDER_KIND}, self.labels, settings or {}, files)

    def __getstate__(self) -> dict[str, Any]:
        """What a worker is sent. What was read of the pipeline holds functions that cannot be sent."""
        return {name: value for name, value in vars(self).items() if name not in ("capabilities", "_model")}

    def oracle(self, space: Space, objective: Objective) -> Oracle:
        """Return an oracle; with gradients and bounds if the pipeline is linear after vectorisers that have them."""
        model = self._model
        if isinstance(model, str):
            return TextOracle(self, space, objective)
        if isinstance(objective, DifferenceObjective) and not find_obstacle(model):
            # The originals, and as many texts with words exchanged.
            some = space.take(range(min(CHECKED, len(space))))
            drawn = random_choices(some.batch, np.random.default_rng(0))
            texts = [str(text) for text in some.texts]
            texts += [some.text(number, choice) for number, choice in enumerate(drawn)]
            if self._agrees(model, texts, AGREES_EXACTLY):
                return BoundedLinearOracle(self, space, objective, model)
        return LinearOracle(self, space, objective, model)

    @cached_property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        """It has gradients if the pipeline is linear after its vectorisers, so that its weights give them."""
        # It sorts classes that have names; numbers in other data hardly mean that order.
        ordered = not all(isinstance(label, str) for label in self.pipeline.classes_)
        words = find_vocabulary(self.pipeline)
        return Capabilities(gradients=isinstance(self._model, LinearModel), vocabulary=words, ordered=ordered)

    @cached_property
    def _model(self) -> LinearModel | str:
        """The pipeline taken apart, or why it cannot be."""
        try:
            model = read_model(self.pipeline)
            if self._agrees(model, make_probes(model), AGREES):
                return model
            return "its scores are not those of its parts"
        except UnknownPartError as error:
            return str(error)
        except Exception as error:  # reading an attribute of a third-party estimator may raise anything
            return describe_error(error)

    def _agrees(self, model: LinearModel, texts: Sequence[str], tolerance: float) -> bool:
        """Whether what was taken apart gives the pipeline's own scores of some texts."""
        ours, theirs = np.array([model.score(text) for text in texts]), self.scores(texts)
        # Objectives compare classes: what is added to all of them makes no difference.
        ours, theirs = (some - some.mean(axis=1, keepdims=True) for some in (ours, theirs))
        return np.allclose(ours, theirs, atol=tolerance * (1 + np.abs(theirs).max()))

    def explain_bounds(self) -> str:
        obstacle = self._model if isinstance(self._model, str) else find_obstacle(self._model)
        if obstacle:
            return f"there are no bounds for {self.name} ({obstacle}): all choices are tried where they are few"
        return f"{self.name} is linear after a word vectoriser: bounds are nearly exact"

    def _call(self, method: str, texts: Sequence[str]) -> Floats:
        # A tree that never saw a class gives it probability 0, and numpy warns about the logarithm.
        with np.errstate(divide="ignore"):
            found = np.asarray(getattr(self.pipeline, method)(list(texts)))
            if method == "predict_proba":
                # In the classifier's own precision, from which `measure_tolerance` sees how exact the scores are.
                found = np.log(found)
            found = found.astype(np.float64)
        if method == "decision_function":
            return np.asarray(np.stack([-found / 2, found / 2], axis=1) if found.ndim == 1 else found)
        return np.asarray(np.maximum(found, FLOOR))

    def _choose_method(self) -> str:
        """Return the first method that exists and has a score for each class, found by trying."""
        for method in METHODS:
            if hasattr(self.pipeline, method):
                try:
                    found = self._call(method, ["a text"])
                except Exception as error:
                    raise ValueError(
                        f"{self.name} raised {describe_error(error)} for a text; "
                        "expected the complete pipeline, from the vectoriser to the classifier"
                    ) from error
                # A support vector machine may return a decision for each pair of classes instead.
                if found.shape == (1, len(self.labels)):
                    return method
        raise ValueError(
            f"{self.name} has none of {', '.join(METHODS)} with a score for each of its {len(self.labels)} classes; "
            "choose a classifier that has one of them, or wrap it in CalibratedClassifierCV"
        )


def make_probes(model: LinearModel) -> list[str]:
    """Some texts of terms that a model gives weight to, on which to compare it with the pipeline."""
    terms = []
    for block in model.blocks:
        names = sorted(block.vectoriser.vocabulary, key=block.vectoriser.vocabulary.__getitem__)
        heavy = np.argsort(-np.abs(block.weights).sum(axis=0), kind="stable")[:12]
        terms += [names[number] for number in heavy.tolist()]
    return [PROBE, *(" ".join(terms[first::4]) for first in range(4)), *terms[:1]]


def load_sklearn(path: str | Path, trust: bool = False) -> SklearnVictim:
    """Load the pipeline in a file as a victim; the path may be written `sklearn:FILE`.

    trust: also load files that can execute code: pickles, and skops files with types that skops does not consider safe.
    """
    path = Path(str(path).removeprefix("sklearn:"))
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    if path.suffix not in (".skops", *PICKLES):
        raise ValueError(f"{path} ends in {path.suffix!r}; expected .skops, or with --trust .joblib, .pickle or .pkl")
    if path.suffix in PICKLES and not trust:
        raise UntrustedError(
            f"{path} is a pickle, which can execute code when it is loaded; save the pipeline with "
            "skops.io.dump(pipeline, 'model.skops') instead, or, if you trust the source of the file, pass --trust (in "
            f"Python, pass the pipeline: joblib.load({str(path)!r}))"
        )
    try:
        if path.suffix == ".skops":
            pipeline = read_skops(path, trust)
        else:
            pipeline = require("joblib", "sklearn", f"reading {path}").load(path)
    except (ImportError, UntrustedError):
        raise
    except Exception as error:
        raise ValueError(f"{path} cannot be loaded: {describe_error(error)}") from error
    return SklearnVictim(pipeline, f"sklearn:{path}")


def read_skops(path: Path, trust: bool) -> Any:
    """Read a skops file. Without trust, unknown types and compression bombs are refused."""
    skops = require("skops.io", "sklearn", f"reading {path}")
    with zipfile.ZipFile(path) as archive:
        packed, unpacked = path.stat().st_size, sum(member.file_size for member in archive.infolist())
    if unpacked > max(LARGEST_RATIO * packed, LARGEST_UNPACKED) and not trust:
        raise UntrustedError(
            f"{path} has {packed:,} bytes and would unpack to {unpacked:,}; pass --trust if you trust the source of "
            "the file and have the memory"
        )
    unknown = skops.get_untrusted_types(file=path)
    if unknown and not trust:
        raise UntrustedError(
            f"{path} contains {list_some(unknown)}, which skops does not consider safe; "
            "pass --trust if you trust the source of the file"
        )
    return skops.load(path, trusted=unknown)
