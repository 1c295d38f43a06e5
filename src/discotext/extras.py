"""What is installed only on request, and how to say so when it is missing."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType


def need(module: str, extra: str, reason: str) -> ModuleType:
    """Import a module that an extra brings, or raise one sentence that names the extra.

    >>> need("no_such_module", "torch", "an example")
    Traceback (most recent call last):
        ...
    ImportError: an example needs no_such_module, which is not installed; pip install "discotext[torch]" brings it
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # A module that is there but lacks one of its own is another trouble, and says so itself.
        if error.name != module.split(".")[0]:
            raise
        raise ImportError(
            f'{reason} needs {module}, which is not installed; pip install "discotext[{extra}]" brings it'
        ) from None


def quick_start() -> None:
    """Let PyTorch, where it is installed, treat vanishing numbers as zero; to be called before it has done anything.

    A recurrent model's gradients fade to such numbers, which processors handle many times more slowly than others.
    """
    if importlib.util.find_spec("torch") is not None:
        importlib.import_module("torch").set_flush_denormal(True)
