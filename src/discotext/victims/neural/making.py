"""From the name of a data set to a trained victim in a folder: data, vectors, training with a progress bar, test."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from discotext.data.examples import Examples
from discotext.data.named import DATASETS, load_data
from discotext.intervals import wilson
from discotext.text.embedded import embedded_vectors
from discotext.text.vectors import FORMATS, WordVectors
from discotext.victims.neural.store import save_victim
from discotext.victims.neural.training import Progress as Known
from discotext.victims.neural.training import Training, measured, train

HELD_OUT = 0.2  # of a file, for the test
# A data set of so few texts is gone through more often, and its word vectors are learnt along: there is time for both.
SMALL = 20_000
STEPS = 1_000  # of training, on small data


def default_vectors(packaged: bool = False) -> tuple[WordVectors, str]:
    """Vectors to begin with, and their name: GloVe from the data folder, else those that come with the package."""
    folder = None if packaged else os.environ.get("DISCOTEXT_DATA")
    found = (
        sorted(path for ending in FORMATS for path in Path(folder, "vectors").glob(f"glove*100d*{ending}"))
        if folder
        else []
    )
    if found:
        return WordVectors.read(found[0]), found[0].name
    return embedded_vectors(), "discotext (GloVe, counter-fitted)"


def cuda() -> bool:
    """Whether there is a GPU, which is slow in double precision and gives figures of its own anyway."""
    return bool(torch.cuda.is_available())


def settings_for(chosen: dict[str, Any], rows: int) -> Training:
    """Training settings: what was chosen, and for the rest what suits so many texts."""
    usual: dict[str, Any] = {"tune_vectors": rows < SMALL, "precise": rows < SMALL and not cuda()}
    if rows < SMALL:
        usual |= {"epochs": max(6, min(40, round(STEPS * Training.batch / max(rows, 1)))), "patience": 6}
    return Training(**{**usual, **{name: value for name, value in chosen.items() if value is not None}})


def make(
    data: str,
    out: Path,
    test: str | None,
    vectors: Path | None,
    limit: int | None,
    columns: tuple[str | None, str | None],
    chosen: dict[str, Any],
    packaged: bool = False,
) -> dict[str, Any]:
    """Train on a named data set or file, measure, store, and report.

    packaged: begin with the vectors that come with the package, whatever the data folder holds.
    """
    seed = chosen.get("seed") or 0
    known, unseen = _parts(data, test, columns, seed)
    if unseen.names != known.names:
        raise ValueError(f"the test data has classes {unseen.names}, but training has {known.names}; use the same")
    if limit is not None:
        known = known.sample(limit, seed)
    start, name = (WordVectors.read(vectors), str(vectors)) if vectors else default_vectors(packaged)
    settings = settings_for(chosen, len(known))
    console = Console(stderr=True)
    columns_shown = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns_shown, console=console, transient=True) as bar:
        task = bar.add_task(f"reading {len(known):,} texts", total=None)

        def watch(now: Known) -> None:
            best = f", held-out accuracy {100 * now.best:.1f} %" if now.history else ""
            shown = f"epoch {now.epoch}/{settings.epochs}, loss {now.loss:.3f}{best}"
            bar.update(task, total=now.steps, completed=now.step, description=shown)

        victim, progress = train(known, start, settings, watch)
        bar.update(task, description="testing")
        tested = measured(victim, unseen)
    low, high = wilson(tested["right"], tested["n"])
    report = {
        "model": settings.kind,
        "data": data,
        "train_rows": len(known),
        "test_rows": tested["n"],
        "test_accuracy": tested["accuracy"],
        "test_accuracy_low": low,
        "test_accuracy_high": high,
        "validation_accuracy": progress.best,
        "epochs": len(progress.history),
        "seconds": victim.settings["seconds"],
        "seed": settings.seed,
        "vectors": name,
    }
    victim.settings |= report
    save_victim(victim, out)
    return {**report, "out": str(out)}


def _parts(data: str, test: str | None, columns: tuple[str | None, str | None], seed: int) -> tuple[Examples, Examples]:
    """What is learnt from, and what is measured on."""
    if data in DATASETS:
        known = load_data(data, "train", *columns)
        return known, load_data(test, "test", *columns) if test else load_data(data, "test", *columns)
    known = load_data(data, None, *columns)
    if test:
        return known, load_data(test, "test" if test in DATASETS else None, *columns)
    return known.split(HELD_OUT, seed)
