"""Examples from folders: text files by class, or a data set that `datasets` saved.

    folder/positive/*.txt, folder/negative/*.txt       a text in each file; the folder's name is its label
    what `Dataset.save_to_disk` wrote                  read as Arrow files, without `datasets`
    folder/train/…, folder/test/…                      either of these for each split

Of a folder with splits, the one that is asked for is read; `folder/test` names it.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from discotext.data.labels import list_some
from discotext.data.rows import Rows, check_size
from discotext.data.tables import Chooser, guard, limit_size, parse_class_names, summarise
from discotext.support.extras import require

STATE, SPLITS = "state.json", "dataset_dict.json"  # files of `save_to_disk`
UNLABELLED = ("unsup",)  # folders without labels beside those of the classes, as in the IMDB reviews
USUAL_SPLITS = ("train", "test", "validation", "valid", "dev")


def is_saved(path: Path) -> bool:
    """Whether a folder is a data set that `save_to_disk` wrote, with one split."""
    return (path / STATE).is_file()


def list_classes(path: Path) -> list[str]:
    """The names of the folders with text files in a folder, sorted."""
    return sorted(one.name for one in _list_folders(path) if any(one.glob("*.txt")))


def list_splits(path: Path) -> list[str]:
    """The splits in a folder; none if it is a split itself."""
    if is_saved(path) or list_classes(path):
        return []
    inside = [one for one in _list_folders(path) if is_saved(one) or list_classes(one)]
    if (path / SPLITS).is_file():
        return sorted(one.name for one in inside)
    return sorted(one.name for one in inside if one.name in USUAL_SPLITS)


def _list_folders(path: Path) -> list[Path]:
    return [one for one in path.iterdir() if one.is_dir() and not one.name.startswith((".", "__"))]


def find_split(path: Path, split: str) -> Path:
    """The folder to read: the one given, or its split of this name if it has several."""
    splits = list_splits(path)
    if not splits:
        return path
    if len(splits) > 1 and split not in splits:
        raise ValueError(f"{path} has the splits {list_some(splits)}; choose one, such as {path / splits[0]}")
    chosen = split if split in splits else splits[0]
    if len(splits) > 1:
        warnings.warn(f"{path} has the splits {list_some(splits)}; {chosen} is read ({path / chosen})", stacklevel=2)
    return path / chosen


def check_folder(path: Path) -> None:
    """Raise an error if a folder holds no examples, as far as can be seen without reading them."""
    if not (is_saved(path) or list_classes(path) or list_splits(path)):
        raise IsADirectoryError(
            f"{path} is a folder without examples; expected a folder of .txt files for each class, such as "
            f"{path / 'positive'}, or a data set written by `save_to_disk`"
        )


def read_class_folders(path: Path) -> tuple[list[str], list[str], list[str]]:
    """Read the texts, the labels and the names of all text files in the folders of the classes."""
    classes = list_classes(path)
    if left_out := [name for name in classes if name in UNLABELLED]:
        warnings.warn(f"the texts in {path / left_out[0]} have no labels, and are left out", stacklevel=2)
    texts, labels, rows = [], [], []
    others = size = 0
    for name in classes:
        if name in UNLABELLED:
            continue
        files = sorted(one for one in (path / name).iterdir() if one.is_file() and not one.name.startswith("."))
        for file in files:
            if file.suffix.lower() != ".txt":
                others += 1
                continue
            size += file.stat().st_size
            check_size(size, str(path))
            texts.append(_read_text(file))
            labels.append(name)
            rows.append(f"file {name}/{file.name}")
    if others:
        warnings.warn(f"{path}: {others:,} files do not end in .txt, and are left out", stacklevel=2)
    return texts, labels, rows


def _read_text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file}: not UTF-8 at byte {error.start + 1}; save the file as UTF-8") from None


def read_saved(path: Path, choose: Chooser, rows: Rows) -> Rows:
    """Read columns of a data set that `save_to_disk` wrote."""
    chosen = choose(list(_read_schema(path).names), str(path))

    def unpack() -> Iterator[tuple[Any, ...]]:
        for name in _list_arrow_files(path):
            with _open_arrow(path / name) as batches:
                for batch in batches:
                    yield from zip(*(batch.column(column).to_pylist() for column in chosen), strict=True)

    return rows.extend(limit_size(guard(unpack(), f"{path} is damaged"), str(path)), "row")


def read_saved_class_names(path: Path, column: str) -> tuple[str, ...] | None:
    """The names of the classes in a data set that `save_to_disk` wrote; None if it has none."""
    return parse_class_names((_read_schema(path).metadata or {}).get(b"huggingface"), column)


def _list_arrow_files(path: Path) -> Sequence[str]:
    try:
        state = json.loads((path / STATE).read_bytes())
        names = [one["filename"] for one in state["_data_files"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError(f"{path / STATE} is not what `save_to_disk` writes; save the data set again") from None
    # A name from a file must not lead out of the folder.
    if not names or any(not isinstance(name, str) or Path(name).name != name for name in names):
        raise ValueError(f"{path / STATE} names no files in this folder; save the data set again")
    if state.get("_indices_data_files") or state.get("_indices_files"):
        raise ValueError(f"{path} was saved by an old version of `datasets`; save it again with a newer one")
    return names


def _open_arrow(path: Path) -> Any:
    arrow = require("pyarrow", extra="parquet", reason="a folder written by save_to_disk")
    return arrow.ipc.open_stream(arrow.memory_map(str(path), "r"))


def _read_schema(path: Path) -> Any:
    first = path / _list_arrow_files(path)[0]
    try:
        with _open_arrow(first) as batches:
            return batches.schema
    except ImportError:
        raise
    except Exception as error:  # a damaged file raises many types of errors
        raise ValueError(f"{first} is not a valid Arrow file: {summarise(error)}") from None
