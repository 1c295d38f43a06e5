"""A victim made of any Python function: a list of texts goes in, scores come out, in whatever form the author chose.

Models that others wrote answer in many ways: lists, arrays, tensors, data frames, one probability for each text, or the
labels and scores of a pipeline. `Answers` reads them all as one table, texts × classes, and says in a sentence what is
wrong with one that cannot be read. It remembers what the first answer taught it (how many classes there are, what they
are called, whether a single number is a probability), and a later answer that differs is an error: scores that change
their meaning in the middle of a search are worse than none.
"""

from __future__ import annotations

import difflib
import importlib
import re
import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args

import numpy as np

from discotext.redaction import NONE, Secrets, printable
from discotext.segments import Floats
from discotext.victims.victim import KnownWords, Victim
from discotext.wrappers import is_out_of_memory

Names = Sequence[str] | None
Binary = Literal["auto", "probability", "logit"]
PROBE = "a"  # the text that is asked about where nothing but the number of classes matters
ROUNDING = 1e-6  # by which a probability in single precision may be above 1


class Answers:
    """Reads a model's answers as scores (texts, classes), and holds what is known of its classes.

    A single number for each text stands for two classes. A probability p of the second becomes (1 − p, p), any other
    number z, such as a logit, (−z/2, z/2): the difference of the two is what an attack pushes. `auto` takes the
    numbers of the first call for probabilities if all lie in [0, 1]; where one lies outside afterwards, it raises.

    secrets: what must not be seen of an answer.
    """

    def __init__(
        self,
        name: str,
        labels: Names = None,
        binary: Binary = "auto",
        secrets: Secrets = NONE,
    ) -> None:
        if binary not in get_args(Binary):
            raise ValueError(f"binary is {binary!r}; choose auto, probability or logit")
        self.name, self.binary, self.decided, self.secrets = name, binary, binary, secrets
        self.labels: tuple[str, ...] | None = None if labels is None else self._names(labels)

    def read(self, answer: Any, texts: Sequence[str], names: Names = None, probe: bool = False) -> Floats:
        """(N, C) in the order of the labels. names: of the columns, where the model says them; probe: settle little."""
        answer = plain(answer)
        if not hasattr(answer, "__len__") or isinstance(answer, str | Mapping):
            raise self._wrong(self.secrets.shown(answer), "a row of scores for each text")
        if len(answer) != len(texts):
            raise self._wrong(f"{len(answer)} rows for {len(texts)} texts", "one for each")
        if len(answer) and labelled(answer[0]) is not None:
            answer, names = self._by_label(answer)
        table = self._table(answer)
        bad = np.flatnonzero(~np.isfinite(table).reshape(len(table), -1).all(axis=1))
        if len(bad):
            raise self._wrong(f"{table[bad[0]].tolist()} for the text {texts[bad[0]][:60]!r}", "finite numbers")
        if table.ndim == 1 or table.shape[1] == 1:
            table = self._two_columns(table.reshape(-1), probe)
        given = tuple(str(number) for number in range(table.shape[1])) if names is None else self._names(names)
        known = given if self.labels is None else self.labels
        if names is not None and set(given) != set(known):
            raise self._wrong(f"scores of {', '.join(given)}", ", ".join(known))
        if not len(known) == table.shape[1]:
            raise self._wrong(f"{table.shape[1]} scores for each text", f"one for each of {', '.join(known)}")
        self.labels = known
        return table if names is None else table[:, [given.index(label) for label in known]]

    def _wrong(self, found: str, expected: str) -> ValueError:
        return ValueError(f"{self.name} returned {found}; expected {expected}")

    def _names(self, labels: Sequence[str]) -> tuple[str, ...]:
        names = tuple(self.secrets.redact(printable(str(label))) for label in labels)
        if isinstance(labels, str) or len(names) < 2 or len(set(names)) < len(names):
            found = self.secrets.shown(labels)
            raise ValueError(f"the labels of {self.name} are {found}; expected two or more different names")
        return names

    def _table(self, answer: Any) -> Floats:
        try:
            table = np.asarray(answer)
        except (TypeError, ValueError, RuntimeError):
            found = f"rows of different lengths, such as {self.secrets.shown(answer[0])}"
            raise self._wrong(found, "a score for each class in every row") from None
        if table.dtype.kind not in "fiub":
            raise self._wrong(f"{self.secrets.shown(answer[0])} for a text", "numbers, one for each class")
        if table.ndim > 2 or table.shape[1:] == (0,):
            raise self._wrong(f"scores of shape {table.shape}", "(texts, classes)")
        if table.ndim == 1 and table.dtype.kind != "f" and self.binary == "auto":
            # The answers of `model.predict`, most likely: no search can climb on them.
            found = f"a whole number for each text, such as {table[0]}, which looks like a predicted class"
            raise self._wrong(found, "a score for each class, or else binary='probability' or 'logit'")
        return table.astype(np.float64)

    def _two_columns(self, values: Floats, probe: bool) -> Floats:
        if self.labels is not None and len(self.labels) != 2:
            raise self._wrong("a single score for each text", f"one for each of {', '.join(self.labels)}")
        outside = values[(values < -ROUNDING) | (values > 1 + ROUNDING)]
        kind = self.decided
        if kind == "auto":
            kind = "logit" if len(outside) else "probability"
            # One harmless text may well have a logit between 0 and 1.
            self.decided = "auto" if probe and kind == "probability" else kind
        if kind == "logit":
            return np.stack([-values / 2, values / 2], axis=1)
        if len(outside):
            raise self._wrong(f"{outside[0]:g}", "a probability, as before; for logits, say binary='logit'")
        return np.stack([1 - values, values], axis=1).clip(0, 1)

    def _by_label(self, answer: Sequence[Any]) -> tuple[list[list[Any]], list[str]]:
        rows = [labelled(row) or {} for row in answer]
        if len(rows[0]) < 2 or set(rows[0]) == {"label", "score"}:
            found = f"{self.secrets.shown(answer[0])} for a text, the best class only"
            raise self._wrong(found, "the scores of all classes (from a transformers pipeline: top_k=None)")
        # Such rows are sorted by score, which differs from text to text; names are the same in every call.
        names = sorted(rows[0], key=lambda label: [int(s) if s.isdecimal() else s for s in re.split(r"(\d+)", label)])
        for row, found in zip(rows, answer, strict=True):
            if set(row) != set(names):
                raise self._wrong(f"{self.secrets.shown(found)} for a text", f"scores of {', '.join(names)}")
        return [[row[label] for label in names] for row in rows], names


def plain(answer: Any) -> Any:
    """Tensors and data frames as arrays, iterators as lists; nothing is imported for it."""
    if hasattr(answer, "detach"):
        answer = answer.detach().cpu()
        return (answer.float() if "bfloat16" in str(answer.dtype) else answer).numpy()
    if hasattr(answer, "to_numpy"):
        return answer.to_numpy()
    return [plain(row) for row in answer] if isinstance(answer, list | tuple | Iterator) else answer


def labelled(row: Any) -> dict[str, Any] | None:
    """{label: score} of a row that is such a mapping, or a list of {"label": …, "score": …}; else None."""
    if isinstance(row, Mapping):
        return {str(label): score for label, score in row.items()}
    if (
        isinstance(row, list)
        and row
        and all(isinstance(one, Mapping) and {"label", "score"} <= set(one) for one in row)
    ):
        return {str(one["label"]): one["score"] for one in row}
    return None


def said(error: BaseException) -> str:
    """What an error says, on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


class FunctionVictim(Victim):
    """A function from a list of texts to scores, as a victim.

    labels: the names of the classes; without them, those the answers name, or an attribute `labels` of the function,
        or "0", "1", … as many as it returns.
    batch: how many texts a call gets at most.
    binary: how to read one number for each text; see `Answers`.
    vocabulary: the words it knows, where it does not read anything; without it, an attribute `vocabulary` of the
        function.

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
        words = getattr(function, "vocabulary", None) if vocabulary is None else vocabulary
        self.vocabulary = None if words is None else KnownWords(words)
        self.answers = Answers(name, getattr(function, "labels", None) if labels is None else labels, binary)

    @property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        if self.answers.labels is None:
            self.answers.read(self._call([PROBE]), [PROBE], probe=True)
        return self.answers.labels or ()

    def scores(self, texts: Sequence[str]) -> Floats:
        if not len(texts):
            return np.empty((0, len(self.labels)))
        parts = [list(texts[start : start + self.batch]) for start in range(0, len(texts), self.batch)]
        return np.concatenate([self.answers.read(self._call(part), part) for part in parts])

    def _call(self, texts: list[str]) -> Any:
        try:
            return plain(self.function(list(texts)))
        except Exception as error:
            # Smaller calls are the cure for that, and whoever makes the calls knows it.
            if is_out_of_memory(error):
                raise
            first = repr(texts[0][:60]) + (f" and {len(texts) - 1} more" if len(texts) > 1 else "")
            raise ValueError(f"{self.name} raised {said(error)} for the text {first}") from error


def function_from(spec: str) -> FunctionVictim:
    """The function that `py:module:function` or `py:path/to/file.py:function` names, as a victim.

    Modules are looked for in the current folder first. Importing a file runs it, so name only files you would run.
    """
    where, _, name = spec.removeprefix("py:").rpartition(":")
    if not where or not name.isidentifier():
        raise ValueError(f"{spec!r} names no function; expected py:module:function or py:path/to/file.py:function")
    module = imported(where)
    found = getattr(module, name, None)
    if found is None:
        there = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        near = difflib.get_close_matches(name, there) or there[:8]
        raise ValueError(f"{where} has no {name}; it has {', '.join(near) or 'no functions'}")
    if not callable(found) or isinstance(found, type):
        raise ValueError(
            f"{name} of {where} is {NONE.shown(found)}; expected a function from a list of texts to scores"
        )
    return FunctionVictim(found, name=spec)


def imported(where: str) -> ModuleType:
    """A module by its name or by the path of its file; what goes wrong is told in one sentence."""
    path = Path(where)
    is_file = path.suffix == ".py" or len(path.parts) > 1
    if is_file and not (path.suffix == ".py" and path.is_file()):
        raise ValueError(f"there is no Python file {where}")
    folder = str(path.parent.resolve() if is_file else Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as `python file.py` and `python -m module` do
    try:
        return run(path.resolve()) if is_file else importlib.import_module(where)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{where}.".startswith(f"{error.name}."):
            raise ValueError(f"there is no module {where}, neither in the current folder nor installed") from None
        raise ValueError(f"importing {where} raised {said(error)}") from error


def run(path: Path) -> ModuleType:
    """Run a file as a module, under a name no import can mean, so that a file called json.py replaces nothing."""
    module = sys.modules[str(path)] = ModuleType(str(path))
    module.__file__ = str(path)
    SourceFileLoader(str(path), str(path)).exec_module(module)
    return module
