"""A victim made of a scikit-learn pipeline: texts go in at the vectoriser, a score for each class comes out at the end.

What a classifier offers is taken in this order: `decision_function`, which is linear in the features for linear models
and nowhere flat; `predict_log_proba`; the logarithm of `predict_proba`. Probabilities themselves are left alone: where
a classifier is sure, they round to 0 and 1, and a search sees no difference between one text and the next.

Models come from files. The formats Python has for any object at all (pickle, joblib) can hold code that runs when the
file is opened, so such a file is opened only where the user says that he trusts it. skops has the same models as data.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discotext.extras import need
from discotext.segments import Floats
from discotext.victims.function import said
from discotext.victims.scikit_vocabulary import pipeline_vocabulary
from discotext.victims.victim import Victim

METHODS = ("decision_function", "predict_log_proba", "predict_proba")
PICKLES = (".pkl", ".pickle", ".joblib")
# For a probability of 0, whose logarithm no search can compare; less than naive Bayes gives to any text of real length.
FLOOR = -1e4
# A model's numbers hardly shrink when they are packed: one that unpacks to so many times its size is no model.
UNPACKED, SMALL = 50, 100_000_000


class UntrustedError(ValueError):
    """A file may run code when it is opened, and nobody has said that it is to be trusted."""


class SklearnVictim(Victim):
    """A fitted pipeline that takes raw texts, as a victim. Its vocabulary is that of its word vectorisers."""

    def __init__(self, pipeline: Any, name: str = "sklearn") -> None:
        self.pipeline, self.name = pipeline, name
        classes = getattr(pipeline, "classes_", None)
        if classes is None:
            raise ValueError(f"{name} is a {type(pipeline).__name__} without classes; expected a fitted classifier")
        if len(classes) < 2 or np.ndim(classes[0]):
            raise ValueError(f"{name} knows the classes {list(classes)}; expected two or more, one for each text")
        self.labels: tuple[str, ...] = tuple(str(label) for label in classes)
        self.method = self._choose()
        self.vocabulary = pipeline_vocabulary(pipeline)

    def scores(self, texts: Sequence[str]) -> Floats:
        return self._ask(self.method, texts) if len(texts) else np.empty((0, len(self.labels)))

    def _ask(self, method: str, texts: Sequence[str]) -> Floats:
        # A tree that never saw a class gives it probability 0, and warns of the logarithm.
        with np.errstate(divide="ignore"):
            found = np.asarray(getattr(self.pipeline, method)(list(texts)))
            if method == "predict_proba":
                # In the classifier's own precision, so that it shows in the scores how exact they are.
                found = np.log(found)
            found = found.astype(np.float64)
        if method == "decision_function":
            return np.asarray(np.stack([-found / 2, found / 2], axis=1) if found.ndim == 1 else found)
        return np.asarray(np.maximum(found, FLOOR))

    def _choose(self) -> str:
        """The first method that is there and has a score for each class, found by trying."""
        for method in METHODS:
            if hasattr(self.pipeline, method):
                try:
                    found = self._ask(method, ["a text"])
                except Exception as error:
                    raise ValueError(
                        f"{self.name} raised {said(error)} for a text; "
                        "expected the whole pipeline, from the vectoriser to the classifier"
                    ) from error
                # A support vector machine may have a decision for each pair of classes instead.
                if found.shape == (1, len(self.labels)):
                    return method
        raise ValueError(
            f"{self.name} has none of {', '.join(METHODS)} with a score for each of its {len(self.labels)} classes; "
            "choose a classifier that has one of them, or wrap it in CalibratedClassifierCV"
        )


def sklearn_from(path: str | Path, trust: bool = False) -> SklearnVictim:
    """The pipeline in a file, as a victim; the path may be written `sklearn:FILE`.

    trust: open files that can run code: pickles, and skops files with types that skops does not know to be safe.
    """
    path = Path(str(path).removeprefix("sklearn:"))
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    if path.suffix not in (".skops", *PICKLES):
        raise ValueError(
            f"{path} ends in {path.suffix!r}; pipelines are read from .skops, or with --trust, .joblib files"
        )
    if path.suffix in PICKLES and not trust:
        raise UntrustedError(
            f"{path} is a pickle, which can run any code when it is opened; save the pipeline by "
            "skops.io.dump(pipeline, 'model.skops') instead, or say --trust if you know where the file comes from"
        )
    try:
        pipeline = from_skops(path, trust) if path.suffix == ".skops" else from_pickle(path)
    except (ImportError, UntrustedError):
        raise
    except Exception as error:
        raise ValueError(f"{path} cannot be loaded: {said(error)}") from error
    return SklearnVictim(pipeline, f"sklearn:{path}")


def from_skops(path: Path, trust: bool) -> Any:
    skops = need("skops.io", "sklearn", f"reading {path}")
    if not trust:
        check_unpacked(path)
    unknown = skops.get_untrusted_types(file=path)
    if unknown and not trust:
        raise UntrustedError(
            f"{path} holds {', '.join(unknown)}, which skops does not know to be safe; "
            "say --trust if you know where the file comes from"
        )
    return skops.load(path, trusted=unknown)


def check_unpacked(path: Path) -> None:
    """Raise if a file would unpack to far more than it is: nobody would take so much memory unasked."""
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    packed = path.stat().st_size
    if unpacked > max(UNPACKED * packed, SMALL):
        raise UntrustedError(
            f"{path} has {packed:,} bytes and would unpack to {unpacked:,}; say --trust if you know where the file "
            "comes from and have the memory"
        )


def from_pickle(path: Path) -> Any:
    """Only after the user has said that he trusts the file."""
    return need("joblib", "sklearn", f"reading {path}").load(path)
