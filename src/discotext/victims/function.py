"""A victim made of any Python function from a list of texts to scores, passed in or named as `py:module:function`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Container, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import numpy as np

from discotext.core.arrays import Floats
from discotext.core.wrappers import is_out_of_memory
from discotext.data.labels import list_some
from discotext.support.plain_text import describe_error
from discotext.victims.score_reader import AnsweringVictim, Binary, Names, ScoreReader, to_plain
from discotext.victims.victim import Capabilities


class FunctionVictim(AnsweringVictim):
    """A function from a list of texts to scores, as a victim.

    labels: the names of the classes; by default those that the answers name, or an attribute `labels` of the function,
        or "0", "1", … as many as it returns.
    batch: the largest number of texts passed in one call.
    binary: how to read a single number for each text, "probability" or "logit"; by default an attribute `binary` of the
        function, or what its first answer suggests; see `discotext.victims.score_reader.ScoreReader`.
    vocabulary: the words it can tell apart; by default an attribute `vocabulary` of the function, or else any word.

    A function that returns only the predicted class of each text, as a number or a name, needs `labels`.

    >>> victim = FunctionVictim(lambda texts: [len(text) / 10 for text in texts], labels=["short", "long"])
    >>> victim.scores(["film", "movies"])
    array([[0.6, 0.4],
           [0.4, 0.6]])
    """

    def __init__(
        self,
        function: Callable[[list[str]], Any],
        labels: Names = None,
        name: str = "function",
        batch: int = 256,
        binary: Binary = "auto",
        vocabulary: Container[str] | None = None,
    ) -> None:
        if batch < 1:
            raise ValueError(f"batch is {batch}; choose 1 or more")
        self.function, self.name, self.batch = function, name, batch
        own = {key: getattr(function, key, None) for key in ("vocabulary", "labels", "binary")}
        self.declared = Capabilities(vocabulary=own["vocabulary"] if vocabulary is None else vocabulary)
        # Other objects that are called may have an attribute of that name for something else.
        if binary == "auto" and isinstance(own["binary"], str) and own["binary"] in get_args(Binary):
            binary = own["binary"]  # type: ignore[assignment]
        self.score_reader = ScoreReader(name, own["labels"] if labels is None else labels, binary)

    def scores(self, texts: Sequence[str]) -> Floats:
        if not len(texts):
            return np.empty((0, len(self.labels)))
        parts = [list(texts[start : start + self.batch]) for start in range(0, len(texts), self.batch)]
        return np.concatenate([self.ask(part) for part in parts])

    def ask(self, texts: list[str], probe: bool = False) -> Floats:
        return self.score_reader.read(self._call(texts), texts, probe=probe)

    def _call(self, texts: list[str]) -> Any:
        try:
            return to_plain(self.function(list(texts)))
        except Exception as error:
            # The caller handles this one by making smaller calls.
            if is_out_of_memory(error):
                raise
            more = f" or one of {len(texts) - 1} more" if len(texts) > 1 else ""
            raise ValueError(
                f"{self.name} raised {describe_error(error)} for the text {texts[0][:60]!r}{more}"
            ) from error


def find_object(spec: str) -> Any:
    """Return what `py:module:name` or `py:path/to/file.py:name` names.

    Modules are looked up in the current folder first. Importing a file executes it, so name only files you trust.
    """
    where, _, name = spec.removeprefix("py:").rpartition(":")
    if not where or not name.isidentifier():
        raise ValueError(
            f"{spec!r} does not name a function; expected py:module:function or py:path/to/file.py:function"
        )
    path = Path(where)
    is_file = path.suffix == ".py" or len(path.parts) > 1
    if is_file and not (path.suffix == ".py" and path.is_file()):
        raise ValueError(f"there is no Python file {where}")
    # First, as `python file.py` does, and for good: functions of the module may import its neighbours when called.
    folder = str(path.parent.resolve() if is_file else Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = execute_file(str(path.resolve())) if is_file else importlib.import_module(where)
    except (Exception, SystemExit) as error:
        raise ValueError(f"importing {where} raised {describe_error(error)}") from error
    found = vars(module).get(name)
    if found is None:
        available = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise ValueError(f"{where} has no {name}; it has {list_some(available) or 'no functions'}")
    return found


def execute_file(path: str) -> ModuleType:
    """Execute a file as a module. Its name is its path, which no import can mean, so a json.py replaces nothing."""
    module = sys.modules[path] = ModuleType(path)
    module.__file__ = path
    SourceFileLoader(path, path).exec_module(module)
    return module
