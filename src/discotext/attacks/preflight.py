"""Checks of names on a command line, as far as they need neither a model nor data to be loaded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from discotext.data.registry import check_data
from discotext.runs.folder import check_folder
from discotext.solvers import make_solver
from discotext.victims.registry import find_kind

MODEL_FILES = (".skops", ".joblib", ".pkl", ".pickle", ".safetensors", ".pt", ".onnx")


def preflight(victim: str, data: str, solvers: Sequence[str], out: Path | None = None) -> None:
    """Raise ValueError for an unknown solver, a folder that cannot be used, or a victim or data that are not there."""
    names = [name.replace("_", "-") for name in solvers]
    for number, name in enumerate(names):
        if name != "auto":
            make_solver(name)
        if name in names[:number]:
            raise ValueError(f"the solver {name!r} is given twice; give each once")
    if out is not None:
        check_folder(out)
    check_inputs(victim, data)


def check_inputs(victim: str, data: str) -> None:
    """Raise ValueError if a victim or data are not there, as far as can be seen without loading them."""
    if Path(data).suffix.lower() in MODEL_FILES:
        raise ValueError(f"{data} is a model, but DATA is expected there; give VICTIM first, then DATA")
    check_victim_path(victim)
    check_data(data)


def check_victim_path(given: str) -> None:
    """Raise ValueError if a victim that would be a file or a folder is not there."""
    kind = find_kind(given)
    if kind == "sklearn" and not Path(given.removeprefix("sklearn:")).is_file():
        raise ValueError(
            f"there is no file {given.removeprefix('sklearn:')!r}; give sklearn:FILE with a pipeline saved by skops"
        )
    if kind == "folder" and not (Path(given) / "settings.json").is_file():
        raise ValueError(
            f"{given} is not a victim: it has no settings.json, as folders of `discotext train` have, and no "
            "config.json, as Hugging Face folders have"
        )


def is_network(victim: str) -> bool:
    """Whether a victim's name means one that runs on PyTorch: a folder, or a Hugging Face model."""
    return find_kind(victim) in ("folder", "hf")
