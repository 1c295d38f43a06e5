"""Loading trained networks from the folders that `NeuralVictim.save` writes."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load

from discotext.victims.folder import read_file, read_settings
from discotext.victims.neural.networks import Network, Shape
from discotext.victims.neural.victim import VOCABULARY, WEIGHTS, NeuralVictim, Vocabulary


def load_neural(folder: str | Path, name: str | None = None) -> NeuralVictim:
    """Load a victim from its folder. name: what reports call it, by default the folder."""
    folder = Path(folder)
    settings = read_settings(folder)
    content = {file: read_file(folder, settings, file) for file in (VOCABULARY, WEIGHTS)}
    try:
        shape = Shape(**settings["model"])
        # Built without memory, then given the tensors of the file: sizes that do not fit them allocate nothing.
        with torch.device("meta"):
            network = Network(shape)
        tensors = load(content[WEIGHTS])
        table = tensors.pop("table").float()
        network.load_state_dict({key.removeprefix("network."): value for key, value in tensors.items()}, assign=True)
        labels = tuple(map(str, settings["labels"]))
        words = content[VOCABULARY].decode("utf-8").split("\n")
        if len(labels) != shape.classes:
            raise ValueError(f"there are {len(labels)} labels for {shape.classes} classes")
        return NeuralVictim(network, Vocabulary(words), table, labels, name or str(folder), settings)
    except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError, OverflowError) as error:
        lines = str(error).splitlines() or [type(error).__name__]
        # PyTorch lists what does not fit after a first line that only says that something does not.
        message = lines[1].strip() if len(lines) > 1 and lines[0].endswith(":") else lines[0]
        raise ValueError(f"{folder} cannot be loaded as a victim: {message}; train it again") from None
