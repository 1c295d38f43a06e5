"""Optional dependencies, and the error that is raised when one is missing."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

from discotext.version import RELEASED


def explain_install(extra: str) -> str:
    """The command that installs an extra."""
    return f'pip install "discotext[{extra}]"' if RELEASED else f'pip install ".[{extra}]" in a checkout of discotext'


def require(module: str, extra: str, reason: str) -> ModuleType:
    """Import a module of an optional dependency, or raise an ImportError that names the extra to install.

    >>> require("no_such_module", "torch", "an example")
    Traceback (most recent call last):
        ...
    ImportError: an example needs no_such_module, which is not installed; run pip install ...
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # If the module is installed but one of its own dependencies is missing, its own error is the right one.
        if error.name != module.split(".")[0]:
            raise
        raise ImportError(f"{reason} needs {module}, which is not installed; run {explain_install(extra)}") from None


def flush_denormals_globally() -> None:
    """Make PyTorch, if it is installed, treat denormal numbers as zero in this whole process.

    A recurrent model's gradients fade to denormals, which processors handle many times more slowly than other numbers.
    The switch is per thread: threads started afterwards inherit it, those that PyTorch has already started do not.
    Commands and workers therefore call this before anything else, and nothing switches it back. Library code, which
    must leave its caller's process as it was, uses `discotext.core.embedding.flush_denormals` instead.
    """
    if importlib.util.find_spec("torch") is not None:
        importlib.import_module("torch").set_flush_denormal(True)
