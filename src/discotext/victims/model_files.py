"""A folder with a Hugging Face model, looked at before anything is loaded from it.

The files may come from anyone. Their author chooses how large a model the configuration describes, and memory would be
taken for it before a single weight is read. So the sizes that are described are held against the weights that are
there: a model that is far larger than its weights is refused for the price of reading a few headers. And weights are
read only from safetensors files in the folder itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

INDEX = "model.safetensors.index.json"
LARGEST_JSON = 50_000_000  # bytes of a configuration or an index
# A number under such a name says how many parts of a kind a model has; each part has at least one tensor.
PARTS = re.compile(r"(num|n)_.*(layer|block|expert|stage)s?|.*(layer|block|depth|stage|expert)s|n_layer")
SLACK_PARTS = 64
SLACK_NUMBERS = 10_000_000  # numbers that a model may make up for itself, such as tables of positions


def check_files(folder: Path) -> int:
    """Raise a sentence if a folder holds no model that may be loaded; returns how many numbers its weights have."""
    if not (folder / "config.json").is_file():
        raise ValueError("it holds no model (no config.json); name one written by save_pretrained")
    config = read_json(folder / "config.json")
    files = weight_files(folder)
    shapes = [shape for file in files for shape in tensor_shapes(file)]
    numbers = sum(map(prod, shapes))
    check_config(config, len(shapes), numbers)
    return numbers


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file."""
    if path.stat().st_size > LARGEST_JSON:
        raise ValueError(f"its {path.name} has more than {LARGEST_JSON:,} bytes")
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise ValueError(f"its {path.name} is not JSON that can be read") from None
    if not isinstance(found, dict):
        raise ValueError(f"its {path.name} holds no object")
    return found


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of a model."""
    if (folder / INDEX).is_file():
        named = read_json(folder / INDEX).get("weight_map")
        if not isinstance(named, dict) or not named:
            raise ValueError(f"its {INDEX} names no files")
        for name in named.values():
            # No folder in it, neither of this system nor of another.
            plain = isinstance(name, str) and not re.search(r"[/\\\0:]", name) and name.endswith(".safetensors")
            if not plain:
                raise ValueError(
                    f"its {INDEX} names {str(name)[:80]!r}; weights may only be in .safetensors files beside it"
                )
        files = [folder / name for name in sorted(set(named.values()))]
    else:
        files = sorted(folder.glob("model*.safetensors"))
    missing = next((file.name for file in files if not file.is_file()), None)
    if missing is not None:
        raise ValueError(f"its weights are not whole: there is no file {missing}")
    if not files and any(folder.glob("*.bin")):
        raise ValueError(
            "it has its weights only as a pickle, which could run anything; load it where you trust it, and save it "
            "again by save_pretrained, which writes safetensors"
        )
    if not files:
        raise ValueError("it holds no weights (no model.safetensors); name one written by save_pretrained")
    return files


def tensor_shapes(file: Path) -> Iterator[tuple[int, ...]]:
    """The shapes of the tensors in a file, from its header."""
    try:
        with safe_open(file, "np") as tensors:
            for name in tensors.keys():  # noqa: SIM118 (it is no mapping)
                yield tuple(tensors.get_slice(name).get_shape())
    except (SafetensorError, OSError, ValueError) as error:
        raise ValueError(f"its {file.name} is damaged: {str(error).splitlines()[0]}") from None


def check_config(config: dict[str, Any], tensors: int, numbers: int) -> None:
    """Raise a sentence if a configuration describes more than the weights can hold."""
    names = config.get("id2label")
    labels = max(_size(config.get("num_labels")), len(names) if isinstance(names, dict | list) else 0)
    if labels > numbers:
        raise ValueError(f"its config.json has {labels:,} classes, but there are only {numbers:,} weights")
    for key, value in _settings(config):
        if PARTS.fullmatch(key) and _size(value) > tensors + SLACK_PARTS:
            raise ValueError(f"its config.json has {key} = {value:,}, but there are only {tensors:,} tensors")


def _size(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _settings(config: dict[str, Any], levels: int = 5) -> Iterator[tuple[str, Any]]:
    """All keys with their values, those of configurations inside and of lists included."""
    for key, value in config.items():
        if isinstance(value, dict) and levels:
            yield from _settings(value, levels - 1)
        elif isinstance(value, list):
            yield from ((key, one) for one in value)
        else:
            yield key, value


def check_size(model: Any, numbers: int) -> None:
    """Raise a sentence if a model that was built without memory would need far more than its weights have."""
    described = sum(tensor.numel() for tensor in (*model.parameters(), *model.buffers()))
    if described > 2 * numbers + SLACK_NUMBERS:
        raise ValueError(
            f"its config.json describes a model of {described:,} numbers, but its weights have only {numbers:,}"
        )
