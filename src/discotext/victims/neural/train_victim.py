"""Training a victim from the name of a data set: data, vectors, training, test, and a folder with the result."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from discotext.data.catalogue import Split
from discotext.data.columns import AnyColumns, Columns
from discotext.data.examples import Examples
from discotext.data.labels import list_some
from discotext.data.registry import has_split, load_data
from discotext.support.intervals import wilson
from discotext.text.candidates import Candidates
from discotext.text.packaged_vectors import load_packaged_vectors
from discotext.text.vectors import VECTOR_FORMATS, WordVectors
from discotext.victims.neural.training import ProgressCallback, TrainingSettings, count_correct, ignore, train

TEST_SHARE = 0.2  # of a file without a test split
# With fewer texts than this there is time for more epochs and for training the word vectors.
SMALL = 20_000
STEPS = 1_000  # of training, on small data


def train_victim(
    data: str,
    out: Path,
    test: str | None = None,
    vectors: Path | None = None,
    limit: int | None = None,
    columns: AnyColumns = (None, None),
    settings: dict[str, Any] | None = None,
    packaged: bool = False,
    progress: ProgressCallback | None = None,
    candidates: Candidates | None = None,
) -> dict[str, Any]:
    """Train a victim on a named data set or a file, measure its accuracy, save it, and return the figures.

    out: the folder of the victim. test: data to measure on; by default the data set's test split, or a fifth of a file.
    vectors: initial word vectors; by default those of `load_default_vectors`. limit: train on a stratified sample of so
    many texts. columns: the text and label columns of a file. settings: of `TrainingSettings`; those that are missing
    or None depend on the number of texts. packaged: ignore the data folder and start from the package's own vectors.
    candidates: for adversarial training (`TrainingSettings.adversarial`).
    progress: called with a `TrainingState` after every batch and at every new stage.
    """
    settings = settings or {}
    seed = settings.get("seed") or 0
    training, testing = _load_splits(data, test, columns, seed)
    if testing.names != training.names:
        raise ValueError(
            f"the test data has the classes {list_some(testing.names)}, but the training data has "
            f"{list_some(training.names)}; use data with the same classes"
        )
    if limit is not None:
        training = training.sample(limit, seed)
    initial, name = (WordVectors.read(vectors), str(vectors)) if vectors else load_default_vectors(packaged)
    complete = make_settings(settings, len(training))
    victim, state = train(training, initial, complete, progress, candidates)
    report_progress = progress or ignore
    state.stage = "testing"
    report_progress(state)
    correct = count_correct(victim, testing)
    low, high = wilson(correct, len(testing))
    figures = {
        "model": complete.kind,
        "data": data,
        "train_rows": len(training),
        "test_rows": len(testing),
        "test_accuracy": correct / len(testing),
        "test_accuracy_low": low,
        "test_accuracy_high": high,
        "validation_accuracy": state.best,
        "epochs": len(state.history),
        "seconds": victim.settings["seconds"],
        "seed": complete.seed,
        "vectors": name,
    }
    victim.settings |= figures
    victim.save(out)
    state.stage = "done"
    report_progress(state)
    return {**figures, "out": str(out)}


def make_settings(chosen: dict[str, Any], texts: int) -> TrainingSettings:
    """Return training settings: those chosen, and for those that are missing or None what suits so many texts."""
    # A GPU is slow in double precision, and its results differ from a processor's anyway.
    defaults: dict[str, Any] = {
        "tune_vectors": texts < SMALL,
        "precise": texts < SMALL and not torch.cuda.is_available(),
    }
    if texts < SMALL:
        epochs = max(6, min(40, round(STEPS * TrainingSettings.batch / max(texts, 1))))
        defaults |= {"epochs": epochs, "patience": 6}
    return TrainingSettings(**{**defaults, **{name: value for name, value in chosen.items() if value is not None}})


def load_default_vectors(packaged: bool = False) -> tuple[WordVectors, str]:
    """Load the default initial vectors, and return them with their name.

    These are GloVe vectors in the data folder, or else those in the package. packaged: always the latter.
    """
    folder = None if packaged else os.environ.get("DISCOTEXT_DATA")
    found = (
        sorted(path for ending in VECTOR_FORMATS for path in Path(folder, "vectors").glob(f"glove*100d*{ending}"))
        if folder
        else []
    )
    if found:
        return WordVectors.read(found[0]), found[0].name
    return load_packaged_vectors(), "discotext (GloVe, counter-fitted)"


def _load_splits(data: str, test: str | None, columns: AnyColumns, seed: int) -> tuple[Examples, Examples]:
    """Return the examples to train on and those to test on, with the same classes."""
    how = columns if isinstance(columns, Columns) else Columns(*columns)

    def load(source: str, split: Split, names: Sequence[str] | None) -> Examples:
        return load_data(source, split, how.text, how.label, names, how.rename)

    training = load(data, "train", None)
    if test or has_split(data, "test"):
        return training, load(test or data, "test", training.names)
    return training.split(TEST_SHARE, seed)
