"""Checks on a folder with a Hugging Face model, made before anything is loaded from it.

The files may come from anyone. Their author chooses how large a model the configuration describes, and memory would be
allocated for it before a single weight is read. The described sizes are therefore compared with the weights in the
folder: a model that is far larger than its weights is refused at the cost of reading a few headers. Weights are read
only from safetensors files in the folder itself.

Messages start with "its", because the caller puts the name of the folder before them.
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
PLAIN = re.compile(r"[^/\\\0:]+\.safetensors")  # no path separator, of this operating system or another
LARGEST_JSON = 100_000_000  # bytes of a configuration, an index or a tokeniser
MOST_GROWTH = 10_000  # how many times as long a tokeniser's replacements may make a text
# A number under such a name counts the parts of a kind that a model has; each part has at least one tensor.
PART_COUNTS = re.compile(r"(num|n)_.*(layer|block|expert|stage)s?|.*(layer|block|depth|stage|expert)s|n_layer")
SLACK_PARTS = 64
LARGE = 10_000_000  # the base of rotary positions may be as large; what counts something is smaller than all weights
SLACK_NUMBERS = 10_000_000  # numbers that a model may compute for itself, such as tables of positions


def check_files(folder: Path) -> int:
    """Return the number of weights in a folder; raise ValueError if it contains no model that is safe to load."""
    if not (folder / "config.json").is_file():
        raise ValueError("it contains no model (no config.json); give a folder written by save_pretrained")
    config = read_json(folder / "config.json")
    files = find_weight_files(folder)
    shapes = [shape for file in files for shape in read_shapes(file)]
    numbers = sum(map(prod, shapes))
    check_config(config, len(shapes), numbers)
    check_normaliser(folder / "tokenizer.json")
    return numbers


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file."""
    if path.stat().st_size > LARGEST_JSON:
        raise ValueError(f"its {path.name} is larger than {LARGEST_JSON:,} bytes")
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise ValueError(f"its {path.name} is not valid JSON") from None
    if not isinstance(found, dict):
        raise ValueError(f"its {path.name} is not a JSON object")
    return found


def find_weight_files(folder: Path) -> list[Path]:
    """Return the safetensors files of a model; raise ValueError if some are missing or outside the folder."""
    if (folder / INDEX).is_file():
        named = read_json(folder / INDEX).get("weight_map")
        names = set(map(str, named.values())) if isinstance(named, dict) and named else {str(named)}
        strange = next((name for name in names if not PLAIN.fullmatch(name)), None)
        if strange is not None:
            raise ValueError(f"its {INDEX} names {strange[:80]!r}; expected .safetensors files in the same folder")
        return [folder / name for name in sorted(names)]
    files = sorted(folder.glob("model*.safetensors"))
    if not files:
        raise ValueError(
            "it contains no weights that are safe to load (no model.safetensors); save it again with save_pretrained, "
            "which writes them"
        )
    return files


def read_shapes(file: Path) -> Iterator[tuple[int, ...]]:
    """Yield the shapes of the tensors in a file, from its header."""
    try:
        with safe_open(file, "np") as tensors:
            for name in tensors.keys():  # noqa: SIM118 (not a mapping)
                yield tuple(tensors.get_slice(name).get_shape())
    except (SafetensorError, OSError, ValueError) as error:
        raise ValueError(f"its {file.name} is damaged: {str(error).splitlines()[0]}") from None


def check_config(config: dict[str, Any], tensors: int, numbers: int) -> None:
    """Raise ValueError if a configuration describes more classes or layers than there are weights."""
    names = config.get("id2label")
    labels = max(_as_count(config.get("num_labels")), len(names) if isinstance(names, dict | list) else 0)
    if labels > numbers:
        raise ValueError(f"its config.json describes {labels:,} classes, but there are only {numbers:,} weights")
    for key, value in _walk("", config):
        if PART_COUNTS.fullmatch(key) and _as_count(value) > tensors + SLACK_PARTS:
            raise ValueError(f"its config.json has {key} = {value:,}, but there are only {tensors:,} tensors")
        if _as_count(value) > max(numbers, LARGE):
            raise ValueError(f"its config.json has {key} = {value:,}, but there are only {numbers:,} weights")


def check_normaliser(file: Path) -> None:
    """Raise ValueError if a tokeniser's replacements, one after another, would make a text very much longer."""
    if not file.is_file():
        return
    growth = prod(
        max(len(value), 1)
        for key, value in _walk("", read_json(file).get("normalizer"))
        if key == "content" and isinstance(value, str)
    )
    if growth > MOST_GROWTH:
        raise ValueError(f"its {file.name} may make a text {growth:,} times as long")


def _as_count(value: Any) -> int:
    """Return the value if it is an integer, otherwise 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _walk(key: str, value: Any, levels: int = 8) -> Iterator[tuple[str, Any]]:
    """Yield all keys with their values, including those of nested configurations and lists."""
    if isinstance(value, dict) and levels:
        for name, one in value.items():
            yield from _walk(str(name), one, levels - 1)
    elif isinstance(value, list) and levels:
        for one in value:
            yield from _walk(key, one, levels - 1)
    else:
        yield key, value


def check_size(model: Any, numbers: int) -> None:
    """Raise ValueError if a model on the meta device has far more parameters than there are weights."""
    described = sum(tensor.numel() for tensor in (*model.parameters(), *model.buffers()))
    if described > 2 * numbers + SLACK_NUMBERS:
        raise ValueError(
            f"its config.json describes a model of {described:,} parameters, but there are only {numbers:,} weights"
        )
