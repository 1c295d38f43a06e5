"""Loading saved victims of every kind: networks, scikit-learn pipelines, Hugging Face models.

Each may be `Encoded`; the folder then has its merged words, too (see `discotext.victims.folder`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discotext.support.extras import require
from discotext.text.merging import MergedWords
from discotext.victims.encoded import MERGED, Encoded
from discotext.victims.folder import check_file, read_file, read_settings
from discotext.victims.victim import Victim


def load_saved(folder: str | Path, trust: bool = False) -> Victim:
    """Load a victim from a folder written by `discotext train`, `discotext harden` or `Victim.save`.

    trust: allow scikit-learn pipelines with parts that skops does not consider safe.
    """
    folder = Path(folder)
    settings = read_settings(folder)
    inner = _load_model(folder, settings, trust)
    if MERGED not in settings["sha256"]:
        return inner
    return Encoded(inner, MergedWords.parse(read_file(folder, settings, MERGED), str(folder / MERGED)), str(folder))


def _load_model(folder: Path, settings: Mapping[str, Any], trust: bool) -> Victim:
    """Load the model, which is imported here, because each kind needs a library that others do not."""
    kind = settings["model"].get("kind") if isinstance(settings["model"], dict) else None
    if kind == "sklearn":
        from discotext.victims.scikit import SKOPS, load_sklearn

        read_file(folder, settings, SKOPS)
        pipeline = load_sklearn(folder / SKOPS, trust)
        labels = settings["labels"]
        if not isinstance(labels, list) or len(labels) != len(pipeline.labels):
            raise ValueError(f"{folder} is damaged: its labels do not fit its model; train it again")
        pipeline.name, pipeline.labels = str(folder), tuple(map(str, labels))
        return pipeline
    if kind == "hf":
        from discotext.victims.huggingface import MODEL, HuggingFaceVictim

        # A name that is no folder would be looked for on the hub.
        if not (folder / MODEL).is_dir():
            raise ValueError(f"{folder} is an incomplete victim: {MODEL} is missing; train it again")
        listed = [name for name in settings["sha256"] if name.startswith(f"{MODEL}/")]
        weights = [f"{MODEL}/{path.name}" for path in sorted((folder / MODEL).glob("*.safetensors"))]
        for name in [f"{MODEL}/config.json", *listed, *weights]:
            check_file(folder, settings, name)
        model = HuggingFaceVictim((folder / MODEL).resolve())
        model.name = str(folder)
        return model
    require("torch", extra="torch", reason="a trained network")
    from discotext.victims.neural.store import load_neural

    return load_neural(folder)
