"""Loading victims from what a user names or passes.

A victim is named by a folder, a file `model.skops`, `hf:NAME`, `sklearn:FILE`, `py:module:name` or an http(s) address.
An object is recognised by the modules of its classes, so that looking at one of a library imports none of the others.
What is recognised and cannot be attacked raises an error of one sentence that says what to pass instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discotext.support.extras import require
from discotext.text.merging import MergedWords
from discotext.victims.encoded import MERGED, Encoded
from discotext.victims.folder import check_file, read_file, read_settings
from discotext.victims.function import FunctionVictim, find_object
from discotext.victims.victim import Victim

# Each kind of victim is imported on first use, because most need a library that others do not.

VICTIM_KINDS = (
    "a folder from `discotext train` or `harden`, hf:NAME_OR_FOLDER, sklearn:FILE or FILE.skops, py:module:function, "
    "or http(s)://…"
)
FUNCTION = "a function from a list of texts to scores"
OBJECTS = (
    "a transformers text-classification pipeline, a pair (model, tokenizer) of transformers, a fitted scikit-learn "
    f"pipeline, {FUNCTION}, or a Victim"
)


def load_victim(given: Any, trust: bool = False, service: Mapping[str, Any] | None = None) -> Victim:
    """Load a victim by name, or make one of a function or a model. A `Victim` is returned unchanged.

    trust: allow pickled scikit-learn files, which can execute code when they are loaded.
    service: further arguments of `HttpVictim`, if an address is given.

    >>> load_victim(lambda texts: [[0.0, 1.0] for _ in texts]).labels
    ('0', '1')
    """
    if not isinstance(given, str | Path):
        return adopt(given)
    name = str(given)
    kind = find_kind(name)
    if service and kind != "http":
        raise ValueError(f"{name} is not a service (http://… or https://…), so that it has no {', '.join(service)}")
    if kind == "http":
        from discotext.victims.http.victim import HttpVictim

        return HttpVictim(name, **(service or {}))
    if kind == "sklearn":
        from discotext.victims.sklearn.victim import load_sklearn

        return load_sklearn(name, trust=trust)
    if kind == "hf":
        from discotext.victims.transformers.victim import HuggingFaceVictim

        return HuggingFaceVictim(name)
    if kind == "folder":
        return load_saved(name, trust)
    try:
        return adopt(find_object(name), name)
    except TypeError as error:
        raise ValueError(f"{name} is no victim: {error}") from error


def find_kind(given: str) -> str:
    """Return what a victim's name means: hf, sklearn, py, http, or folder; raise ValueError if there is no such thing.

    A bare file is a scikit-learn pipeline, and a folder is a Hugging Face model if it has a config.json and no
    settings.json.

    >>> find_kind("py:model.py:scores"), find_kind("https://example.org/model")
    ('py', 'http')
    """
    prefix, mark, _ = given.partition(":")
    if mark and prefix in ("hf", "sklearn", "py", "http", "https"):
        return prefix.removesuffix("s")
    path = Path(given)
    if not given or not path.exists():
        raise ValueError(f"there is no victim {given!r}; give {VICTIM_KINDS}")
    if path.is_file():
        return "sklearn"
    return "hf" if (path / "config.json").is_file() and not (path / "settings.json").is_file() else "folder"


def load_saved(folder: str | Path, trust: bool = False) -> Victim:
    """Load a victim from a folder written by `discotext train`, `discotext harden` or `Victim.save`.

    trust: allow scikit-learn pipelines with parts that skops does not consider safe.
    """
    folder = Path(folder)
    settings = read_settings(folder)
    model: Victim
    kind = settings["model"].get("kind") if isinstance(settings["model"], dict) else None
    if kind == "sklearn":
        from discotext.victims.sklearn.victim import SKOPS, load_sklearn

        read_file(folder, settings, SKOPS)
        model = load_sklearn(folder / SKOPS, trust)
        labels = settings["labels"]
        if not isinstance(labels, list) or len(labels) != len(model.labels):
            raise ValueError(f"{folder} is damaged: its labels do not fit its model; train it again")
        model.labels = tuple(map(str, labels))
    elif kind == "hf":
        from discotext.victims.transformers.victim import MODEL, HuggingFaceVictim

        # A name that is no folder would be looked for on the hub.
        if not (folder / MODEL).is_dir():
            raise ValueError(f"{folder} is an incomplete victim: {MODEL} is missing; train it again")
        listed = [name for name in settings["sha256"] if name.startswith(f"{MODEL}/")]
        weights = [f"{MODEL}/{path.name}" for path in sorted((folder / MODEL).glob("*.safetensors"))]
        for name in [f"{MODEL}/config.json", *listed, *weights]:
            check_file(folder, settings, name)
        model = HuggingFaceVictim((folder / MODEL).resolve())
    else:
        require("torch", extra="torch", reason="a trained network")
        from discotext.victims.neural.victim import load_neural

        model = load_neural(folder)
    model.name = str(folder)
    if MERGED not in settings["sha256"]:
        return model
    return Encoded(model, MergedWords.parse(read_file(folder, settings, MERGED), str(folder / MERGED)), str(folder))


# --- objects


def adopt(given: Any, name: str | None = None) -> Victim:
    """Return the victim that an object is; TypeError says what to pass instead. name: what reports call it."""
    if isinstance(given, type):
        raise TypeError(f"{given.__name__} is a class; pass an object of it, fitted or loaded")
    parts = given if isinstance(given, list | tuple) else [given]
    if isinstance(given, Victim):
        victim = given
    # A torch module with a configuration is a model of transformers that is wrapped.
    elif any(comes_from(one, "transformers") or {"forward", "config"} <= set(dir(one)) for one in parts):
        from discotext.victims.transformers.victim import hold

        victim = hold(given)
    elif comes_from(given, "sklearn", "BaseEstimator") or {"predict_proba", "decision_function"} & set(dir(given)):
        from discotext.victims.sklearn.victim import SklearnVictim

        victim = SklearnVictim(given)
    elif comes_from(given, "torch", "Module"):
        raise TypeError(
            f"the PyTorch module {type(given).__name__} takes numbers, not texts; pass {FUNCTION}, such as "
            "lambda texts: model(tokenize(texts)), or write a Victim to give it gradients (docs/how-to/extend.md)"
        )
    elif callable(given):
        return FunctionVictim(given, name=name or "function")
    else:
        raise TypeError(
            f"a victim cannot be made of a {type(given).__name__}; pass {OBJECTS}; or the name of one: {VICTIM_KINDS}"
        )
    victim.name = name or victim.name
    return victim


def comes_from(given: Any, library: str, *names: str) -> bool:
    """Return whether an object's class, or one it inherits from, is of a library, and has one of these names.

    >>> from collections import Counter
    >>> comes_from(Counter(), "collections"), comes_from(Counter(), "collections", "OrderedDict")
    (True, False)
    """
    return any(
        one.__module__.partition(".")[0] == library and (not names or one.__name__ in names)
        for one in type(given).__mro__
    )
