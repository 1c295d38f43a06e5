"""The folder of a saved victim: readable files, the names and checksums of which are in `settings.json`.

    settings.json         version, model, labels, data, accuracy, and checksums of the other files
    merged_words.json     groups of words that are read as one, if the victim is `Encoded`

and what its kind of model needs. There is no pickle. A folder that is damaged, or is something else, raises a
ValueError of one line.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discotext.support.files import write_atomically
from discotext.version import __version__

FORMAT = 1
SETTINGS = "settings.json"
NEEDED = {"format", "model", "labels", "sha256"}
RESERVED = {*NEEDED, "version"}


def write_folder(
    folder: str | Path,
    model: Mapping[str, Any],
    labels: tuple[str, ...],
    settings: Mapping[str, Any],
    files: Mapping[str, bytes],
    written: Sequence[str] = (),
) -> None:
    """Write files to a folder, which is created if needed. The settings are written last, and complete it.

    written: names of files that are in the folder already, such as `model/config.json`; they get checksums, too.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    checksums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    described = {
        "format": FORMAT,
        "version": __version__,
        "model": dict(model),
        "labels": list(labels),
        **{key: value for key, value in settings.items() if key not in RESERVED},
        "sha256": checksums | {name: compute_checksum(folder / name) for name in written},
    }
    for name, content in files.items():
        write_atomically(folder / name, content)
    write_atomically(folder / SETTINGS, (json.dumps(described, indent=2, ensure_ascii=False) + "\n").encode())


def compute_checksum(path: Path) -> str:
    """The SHA-256 of a file, which need not fit into memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_file(folder: Path, settings: Mapping[str, Any], name: str, found: str | None = None) -> None:
    """Raise ValueError if a file is missing or has changed. found: its checksum, if that is known."""
    if not (folder / name).is_file():
        raise ValueError(f"{folder} is an incomplete victim: {name} is missing; train it again")
    if (found or compute_checksum(folder / name)) != settings["sha256"].get(name):
        raise ValueError(f"{folder / name} does not match its checksum in settings.json; train the victim again")


def read_file(folder: Path, settings: Mapping[str, Any], name: str) -> bytes:
    """Return the content of a file; raise ValueError if it is missing or has changed."""
    content = (folder / name).read_bytes() if (folder / name).is_file() else b""
    check_file(folder, settings, name, hashlib.sha256(content).hexdigest())
    return content


def read_settings(folder: Path) -> dict[str, Any]:
    """Return the settings of a folder; raise ValueError if it is not one of a victim."""
    path = folder / SETTINGS
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}; give one written by `discotext train --out`")
    if not path.is_file():
        raise ValueError(
            f"{folder} was not written by `discotext train`: it has no settings.json; for a Hugging Face folder, use "
            f"hf:{folder}"
        )
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        settings = None
    if not isinstance(settings, dict) or not isinstance(settings.get("sha256"), dict) or not settings.keys() >= NEEDED:
        raise ValueError(
            f"{path} does not describe a victim: expected JSON with format, model, labels and sha256; train it again"
        )
    if settings["format"] != FORMAT:
        raise ValueError(
            f"{folder} has format {settings['format']}, but this version reads format {FORMAT}; train the victim again"
        )
    return settings
