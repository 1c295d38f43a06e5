"""Saving and loading trained victims. A victim is a folder of readable files:

    settings.json         version, model, labels, data, accuracy, and checksums of the other files
    vocabulary.txt        one word per line; the first has row 1 of the table
    weights.safetensors   the network's parameters and the table of word vectors

There is no pickle. A folder that is damaged, or is something else, raises a ValueError of one line.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from discotext.support.files import write_atomically
from discotext.version import __version__
from discotext.victims.neural.networks import Network, Shape
from discotext.victims.neural.victim import NeuralVictim, Vocabulary

FORMAT = 1
FILES = ("settings.json", "vocabulary.txt", "weights.safetensors")


def save_neural(victim: NeuralVictim, folder: str | Path) -> None:
    """Write a victim to a folder, which is created if needed. The settings are written last, and complete it."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {f"network.{name}": tensor.cpu().contiguous() for name, tensor in victim.network.state_dict().items()}
    # Vectors are rounded to half precision before training, so this saves half the space without any loss.
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
    write_atomically(folder / "weights.safetensors", weights)
    write_atomically(folder / "vocabulary.txt", words.encode())
    write_atomically(folder / "settings.json", (json.dumps(settings, indent=2, ensure_ascii=False) + "\n").encode())


def load_neural(folder: str | Path, name: str | None = None) -> NeuralVictim:
    """Load a victim from its folder. name: what reports call it, by default the folder."""
    folder = Path(folder)
    settings = _read_settings(folder)
    content = {}
    for file in FILES[1:]:
        path = folder / file
        if not path.is_file():
            raise ValueError(f"{folder} is an incomplete victim: {file} is missing; train it again")
        content[file] = path.read_bytes()
        if hashlib.sha256(content[file]).hexdigest() != settings["sha256"].get(file):
            raise ValueError(f"{path} does not match its checksum in settings.json; train the victim again")
    try:
        shape = Shape(**settings["model"])
        # Built without memory, then given the tensors of the file: sizes that do not fit them allocate nothing.
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
        # PyTorch lists what does not fit after a first line that only says that something does not.
        message = lines[1].strip() if len(lines) > 1 and lines[0].endswith(":") else lines[0]
        raise ValueError(f"{folder} cannot be loaded as a victim: {message}; train it again") from None


def _read_settings(folder: Path) -> dict[str, Any]:
    path = folder / "settings.json"
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}; give one written by `discotext train --out`")
    if not path.is_file():
        raise ValueError(
            f"{folder} was not written by `discotext train`: it has no settings.json; for a Hugging Face folder, use "
            f"hf:{folder}"
        )
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not valid JSON: {error}; train the victim again") from None
    if not isinstance(settings, dict) or not {"format", "model", "labels", "sha256"} <= settings.keys():
        raise ValueError(f"{path} does not describe a victim; expected the keys format, model, labels and sha256")
    if not isinstance(settings["sha256"], dict):
        raise ValueError(f"{path} is damaged: sha256 contains no checksums; train the victim again")
    if settings["format"] != FORMAT:
        raise ValueError(
            f"{folder} has format {settings['format']}, but this version reads format {FORMAT}; train the victim again"
        )
    return settings
