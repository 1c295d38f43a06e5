"""A trained victim on disk is a folder one can look into:

    settings.json         version, model, labels, data, accuracy: for people and for loading
    vocabulary.txt        one word a line; the first has row 1 of the table
    weights.safetensors   the network's parameters and the table of word vectors

No pickle. A folder that is damaged or of another kind is refused in a sentence.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from discotext.files import write_whole
from discotext.version import __version__
from discotext.victims.neural.networks import Network, Shape
from discotext.victims.neural.victim import NeuralVictim
from discotext.victims.neural.vocabulary import Vocabulary

FORMAT = 1
FILES = ("settings.json", "vocabulary.txt", "weights.safetensors")


def save_victim(victim: NeuralVictim, folder: str | Path) -> None:
    """Write a victim into a folder, which is made if need be. The settings come last: they make the folder whole."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {f"network.{name}": tensor.cpu().contiguous() for name, tensor in victim.network.state_dict().items()}
    # Vectors are rounded to half precision before training, so nothing is lost, and half the space is saved.
    tensors["table"] = victim.table.cpu().half().contiguous()
    weights, words = save(tensors), "\n".join(victim.vocabulary.words)
    settings = {
        "format": FORMAT,
        "version": __version__,
        "model": victim.network.shape.as_json(),
        "labels": list(victim.labels),
        **{key: value for key, value in victim.settings.items() if key not in ("format", "version", "model", "labels")},
        "sha256": {
            "vocabulary.txt": hashlib.sha256(words.encode()).hexdigest(),
            "weights.safetensors": hashlib.sha256(weights).hexdigest(),
        },
    }
    write_whole(folder / "weights.safetensors", weights)
    write_whole(folder / "vocabulary.txt", words.encode())
    write_whole(folder / "settings.json", (json.dumps(settings, indent=2, ensure_ascii=False) + "\n").encode())


def load_victim(folder: str | Path, name: str | None = None) -> NeuralVictim:
    """Read a victim from its folder."""
    folder = Path(folder)
    settings = _settings(folder)
    content = {}
    for file in FILES[1:]:
        path = folder / file
        if not path.is_file():
            raise ValueError(f"{folder} is not a whole victim: {file} is missing; train it again")
        content[file] = path.read_bytes()
        if hashlib.sha256(content[file]).hexdigest() != settings["sha256"].get(file):
            raise ValueError(f"{path} is not the file that settings.json tells of (other sha256); train it again")
    try:
        shape = Shape(**settings["model"])
        # Built without memory, and then given the tensors of the file: sizes that do not fit them cost nothing.
        with torch.device("meta"):
            network = Network(shape)
        tensors = load(content["weights.safetensors"])
        table = tensors.pop("table").float()
        network.load_state_dict({key.removeprefix("network."): value for key, value in tensors.items()}, assign=True)
        labels = tuple(map(str, settings["labels"]))
        words = content["vocabulary.txt"].decode("utf-8").split("\n")
        if len(labels) != shape.classes:
            raise ValueError(f"there are {len(labels)} labels for {shape.classes} classes")
        return NeuralVictim(network, Vocabulary(words), table, labels, name or str(folder), settings)
    except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError, OverflowError) as error:
        lines = str(error).splitlines() or [type(error).__name__]
        # PyTorch heads a list of what does not fit with a line that says only that something does not.
        told = lines[1].strip() if len(lines) > 1 and lines[0].endswith(":") else lines[0]
        raise ValueError(f"{folder} does not hold together as a victim: {told}") from None


def _settings(folder: Path) -> dict[str, Any]:
    path = folder / "settings.json"
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}; give one that `discotext train --out` made")
    if not path.is_file():
        raise ValueError(f"{folder} is no victim of `discotext train`: it has no settings.json (hf:{folder} loads a "
                         "Hugging Face folder)")  # fmt: skip
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not JSON: {error}") from None
    if not isinstance(settings, dict) or not {"format", "model", "labels", "sha256"} <= settings.keys():
        raise ValueError(f"{path} is not the settings of a victim; expected format, model, labels and sha256")
    if not isinstance(settings["sha256"], dict):
        raise ValueError(f"{path} is damaged: sha256 holds no checksums; train again")
    if settings["format"] != FORMAT:
        raise ValueError(
            f"{folder} has format {settings['format']}, but this version reads format {FORMAT}; train again"
        )
    return settings
