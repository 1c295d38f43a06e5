"""Reading the output of any model as one table of scores, texts × classes.

Models that others wrote answer in many forms: lists, arrays, tensors, data frames, one probability for each text, or
the labels and scores of a pipeline. `ScoreReader` accepts them all, and raises an error that says what is wrong with an
answer it cannot read.

Some of these forms leave a question open: how many classes there are, what they are called, whether a single number is
a probability or a predicted class. The first answer settles it, and a later answer that disagrees is an error, because
scores that change their meaning in the middle of a search are worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, SupportsFloat, get_args

import numpy as np

from discotext.core.arrays import Floats
from discotext.core.oracle import UnavailableError
from discotext.data.labels import list_some
from discotext.support.plain_text import escape_unprintable
from discotext.support.redaction import NO_SECRETS, Secrets
from discotext.victims.victim import Capabilities, Victim

Names = Sequence[str] | None
Binary = Literal["auto", "probability", "logit"]
# Where a user declares what an answer leaves open; {0} is labels or binary.
DECLARED = "{0}= of FunctionVictim, or an attribute {0} of the function"
ROUNDING = 1e-6  # by which a probability in single precision may exceed 1
PROBE = "a"  # the text that is scored where only the number of classes matters


class ScoreReader:
    """Reads a model's answers as scores (texts, classes).

    A single number for each text stands for two classes. A probability p of the second becomes (1 − p, p), any other
    number z, such as a logit, (−z/2, z/2): the difference of the two is what an attack pushes. With binary="auto",
    the numbers of the first answer are probabilities if all lie in [0, 1]; a later number outside is then an error.

    A name or a whole number for each text is a predicted class, and its score is 1, that of the others 0. The classes
    must be known for this: otherwise it is an error, because a whole number could be a score, and because a class that
    was never predicted would be missing. Whole numbers are the names of classes if all names are whole numbers.

    labels: the names of the classes, None until the first answer. binary: how a single number for each text is read,
    "auto" until an answer has decided. classes: whether an answer is a predicted class for each text, without scores;
    None until the first answer. ordered: whether the model itself has an order of its classes, by which a number can
    mean one; scores by name have none. secrets: values that error messages must not quote. declared: where a user
    declares labels and binary, for messages.
    """

    def __init__(
        self,
        name: str,
        labels: Names = None,
        binary: Binary = "auto",
        secrets: Secrets = NO_SECRETS,
        declared: str = DECLARED,
    ) -> None:
        if binary not in get_args(Binary):
            raise ValueError(f"binary is {binary!r}; choose auto, probability or logit")
        self.name, self.secrets, self.declared = name, secrets, declared
        self.labels = None if labels is None else self._check_names(labels)
        self.binary: Binary = binary
        self.classes: bool | None = None
        self.ordered = True

    def read(self, answer: Any, texts: Sequence[str], names: Names = None, probe: bool = False) -> Floats:
        """Return (N, C) scores, in the order of the labels.

        names: the classes of the columns, if the model returns them. probe: the text is arbitrary, so its score must
        not decide whether single numbers are probabilities.
        """
        if not hasattr(answer, "__len__") or isinstance(answer, str | Mapping):
            raise self._mismatch(self.secrets.quote(answer), "a row of scores for each text")
        if len(answer) != len(texts):
            # Not of one text: asked about each alone, it might seem to work, and every answer would be of another text.
            found = f"{len(answer)} row(s) for {len(texts)} text(s)"
            raise UnavailableError(f"{self.name} returned {found}; expected one row for each text")
        if len(answer) and parse_labelled_row(answer[0]) is not None:
            answer, names = self._order_by_label(answer)
            if self.labels is None:
                self.ordered = False
        classes = self._read_classes(answer, names) if len(answer) else None
        if classes is not None:
            return classes
        table = self._parse_table(answer)
        bad = np.flatnonzero(~np.isfinite(table).reshape(len(table), -1).all(axis=1))
        if len(bad):
            raise self._mismatch(f"{table[bad[0]].tolist()} for the text {texts[bad[0]][:60]!r}", "finite numbers")
        if table.ndim == 1 or table.shape[1] == 1:
            table = self._expand_binary(table.reshape(-1), probe)
        given = tuple(map(str, range(table.shape[1]))) if names is None else self._check_names(names)
        known = self.labels or given
        if names is not None and set(given) != set(known):
            raise self._mismatch(f"scores of {list_some(given)}", list_some(known))
        if len(known) != table.shape[1]:
            raise self._mismatch(f"{table.shape[1]} scores for each text", f"one for each of {list_some(known)}")
        self.labels, self.classes = known, False
        return table if names is None else table[:, [given.index(label) for label in known]]

    def _mismatch(self, found: str, expected: str) -> ValueError:
        return ValueError(f"{self.name} returned {found}; expected {expected}")

    def _check_names(self, labels: Sequence[str]) -> tuple[str, ...]:
        names = tuple(self.secrets.hide(escape_unprintable(str(label))) for label in labels)
        if isinstance(labels, str) or len(names) < 2 or len(set(names)) < len(names):
            found = self.secrets.quote(labels)
            raise ValueError(f"the labels of {self.name} are {found}; expected two or more different names")
        return names

    def _parse_table(self, answer: Any) -> Floats:
        try:
            table = np.asarray(answer)
        except (TypeError, ValueError, RuntimeError):
            found = f"rows of different lengths, such as {self.secrets.quote(answer[0])}"
            raise self._mismatch(found, "a score for each class in every row") from None
        if table.dtype.kind not in "fiub":
            raise self._mismatch(f"{self.secrets.quote(answer[0])} for a text", "numbers, one for each class")
        if table.ndim > 2 or table.shape[1:] == (0,):
            raise self._mismatch(f"scores of shape {table.shape}", "(texts, classes)")
        return table.astype(np.float64)

    def _read_classes(self, answer: Any, names: Names) -> Floats | None:
        """Return (N, C) scores of an answer that is a predicted class for each text; None if it is something else."""
        labels = self._check_names(names) if self.labels is None and names is not None else self.labels
        if all(isinstance(one, str) for one in answer):
            found = [str(one) for one in answer]
        elif self.binary == "auto" and is_whole(answer):
            found = [str(one) for one in answer]
            if labels is not None and not all(re.fullmatch(r"-?\d+|False|True", label) for label in labels):
                found = [labels[int(one)] if 0 <= one < len(labels) else str(one) for one in answer]
        elif self.classes:
            raise self._mismatch(f"{self.secrets.quote(answer[0])} for a text", "a class, as in earlier answers")
        else:
            return None
        said = f"{self.secrets.quote(answer[0])} for a text, which looks like a predicted class"
        if self.classes is False:
            raise self._mismatch(said, "scores, as in earlier answers")
        if labels is None:
            raise self._mismatch(
                said,
                f"a score for each class; if it is a class, name all classes ({self.declared.format('labels')}); if it "
                f"is a score, say whether a probability or a logit ({self.declared.format('binary')})",
            )
        strange = next((one for one in found if one not in labels), None)
        if strange is not None:
            raise self._mismatch(f"{self.secrets.quote(strange)} for a text", f"one of the classes {list_some(labels)}")
        self.labels, self.classes = labels, True
        return np.array([[float(one == label) for label in labels] for one in found])

    def _expand_binary(self, values: Floats, probe: bool) -> Floats:
        if self.labels is not None and len(self.labels) != 2:
            raise self._mismatch("a single score for each text", f"one for each of {list_some(self.labels)}")
        outside = values[(values < -ROUNDING) | (values > 1 + ROUNDING)]
        kind = self.binary
        if kind == "auto":
            kind = "logit" if len(outside) else "probability"
            # A probe's logit may well lie between 0 and 1.
            if not probe or kind == "logit":
                self.binary = kind
        if kind == "logit":
            return np.stack([-values / 2, values / 2], axis=1)
        if len(outside):
            way_out = f"for logits, say so ({self.declared.format('binary')})"
            raise self._mismatch(f"{outside[0]:g}", f"a probability between 0 and 1, as in earlier answers; {way_out}")
        return np.stack([1 - values, values], axis=1).clip(0, 1)

    def _order_by_label(self, answer: Sequence[Any]) -> tuple[list[list[Any]], list[str]]:
        """Return rows of labelled scores as plain rows in one order of the labels, and that order."""
        rows = [parse_labelled_row(row) or {} for row in answer]
        if len(rows[0]) < 2 or set(rows[0]) == {"label", "score"}:
            found = f"{self.secrets.quote(answer[0])} for a text, the best class only"
            raise self._mismatch(found, "the scores of all classes (from a transformers pipeline: top_k=None)")
        # Such rows are sorted by score, which differs from text to text; the names are the same in every call.
        names = sorted(rows[0], key=lambda label: [int(s) if s.isdecimal() else s for s in re.split(r"(\d+)", label)])
        for row, found in zip(rows, answer, strict=True):
            if set(row) != set(names):
                raise self._mismatch(f"{self.secrets.quote(found)} for a text", f"scores of {list_some(names)}")
        return [[row[label] for label in names] for row in rows], names


class AnsweringVictim(Victim):
    """A victim whose answers may have any form that its `ScoreReader` reads, and settle what its classes are."""

    score_reader: ScoreReader
    declared: Capabilities

    def ask(self, texts: list[str], probe: bool = False) -> Floats:
        """Ask the model about texts in one call, and return (N, C) scores. probe: see `ScoreReader.read`."""
        raise NotImplementedError

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        """What it can do: what was declared, and what its answers have shown so far."""
        reader = self.score_reader
        return replace(self.declared, ordered=reader.ordered, classes_only=bool(reader.classes))

    @property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the classes. If nothing has named them yet, the model is asked once to count them."""
        if self.score_reader.labels is None:
            self.ask([PROBE], probe=True)
        return self.score_reader.labels or ()


def to_plain(answer: Any) -> Any:
    """Convert tensors and data frames to arrays, iterators to lists, without importing their libraries."""
    if hasattr(answer, "detach"):
        answer = answer.detach().cpu()
        return (answer.float() if "bfloat16" in str(answer.dtype) else answer).numpy()
    if hasattr(answer, "to_numpy"):
        return answer.to_numpy()
    return [to_plain(row) for row in answer] if isinstance(answer, list | tuple | Iterator) else answer


def is_whole(answer: Any) -> bool:
    """Return whether an answer is a whole number or a truth value for each text.

    >>> is_whole([1, 0]), is_whole([[1, 0]]), is_whole([0.5, 1])
    (True, False, False)
    """
    try:
        table = np.asarray(answer)
    except (TypeError, ValueError, RuntimeError):
        return False
    return table.ndim == 1 and table.dtype.kind in "iub"


def parse_labelled_row(row: Any) -> dict[str, Any] | None:
    """Return {class: score} of such a mapping, or of objects with one string and one number each; otherwise None.

    >>> parse_labelled_row([{"label": "pos", "score": 0.9}, {"label": "neg", "score": 0.1}])
    {'pos': 0.9, 'neg': 0.1}
    """
    if isinstance(row, Mapping):
        return {str(label): score for label, score in row.items()}
    pairs = [parse_named_score(one) for one in row] if isinstance(row, list) else []
    return dict(pairs) if pairs and None not in pairs else None  # type: ignore[arg-type]


def parse_named_score(entry: Any) -> tuple[str, Any] | None:
    """Return class and score of an object: its `label` and `score`, or its one string and one number; else None."""
    if isinstance(entry, Mapping) and {"label", "score"} <= set(entry):
        return str(entry["label"]), entry["score"]  # other fields, such as an index, do no harm
    values = list(entry.values()) if isinstance(entry, Mapping) else []
    names = [value for value in values if isinstance(value, str)]
    # NumPy's strings can be converted to numbers, too.
    numbers = [value for value in values if isinstance(value, SupportsFloat) and not isinstance(value, bool | str)]
    return (names[0], numbers[0]) if len(names) == len(numbers) == 1 else None
