"""Records: what an attack did to one text. The one place that knows their fields.

A record is written as a line of JSON and read back by the same fields; tables take their columns, and their types, from
here too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from operator import attrgetter
from sys import intern
from typing import Any

from discotext.support.plain_text import shorten

LARGEST = 2**63  # nothing in a record is larger
SUCCESS = ("reached", "fewest")  # statuses of a successful attack


@dataclass(frozen=True, slots=True)
class Budget:
    """How many words of a text may change, a share of them or a number, and how acceptable each swap must be.

    accept: the least probability that most people accept a swap; None leaves that to the candidates.

    >>> str(Budget(share="0.2")), str(Budget(words=3, accept="0.8")), Budget.parse("3 words, accept 0.8").value
    ('0.2', '3 words, accept 0.8', 3)
    """

    share: str | None = None
    words: int | None = None
    accept: str | None = None

    @classmethod
    def parse(cls, text: str) -> Budget:
        """The inverse of `str`."""
        changes, _, accept = text.partition(", accept ")
        if changes.endswith(" words"):
            return cls(words=int(changes.removesuffix(" words")), accept=accept or None)
        return cls(share=changes, accept=accept or None)

    def __str__(self) -> str:
        changes = f"{self.words} words" if self.words is not None else str(self.share)
        return changes if self.accept is None else f"{changes}, accept {self.accept}"

    @property
    def value(self) -> float | int:
        """As a number for reports."""
        return self.words if self.words is not None else float(self.share or "nan")

    def describe(self, of: str = " of the words") -> str:
        """The budget in words.

        >>> Budget(share="0.2").describe(), Budget(words=1).describe(), Budget(words=3, accept="0.8").describe()
        ('20 % of the words', '1 word', '3 words, accept ≥ 0.8')
        """
        return describe_budget(self.value, None if self.accept is None else float(self.accept), of)


def describe_budget(budget: float | int, accept: float | None = None, of: str = " of the words") -> str:
    """A budget in words, as a summary has it: a share of the words is a float. of: what it is a share of."""
    if isinstance(budget, float):
        changes = f"{100 * budget:g} %{of}"
    else:
        changes = "1 word" if budget == 1 else f"{budget:,} words"
    return changes if accept is None else f"{changes}, accept ≥ {accept:g}"


@dataclass(frozen=True, slots=True)
class Change:
    """One changed word: its number among the words, where it stands in the original text, and both words.

    accept: the probability that most people accept the new word here; None where nothing estimates it.
    """

    position: int
    start: int
    end: int
    old: str
    new: str
    accept: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What one solver made of one text under one budget.

    id: the number of the text in the data. label, predicted, adversarial_predicted: class numbers.
    score, adversarial_score: the margin that the attack raises, before and after; above 0 the label is flipped.
    words: of the text. budget: how many of them may change. share, allowed, accept: the budget as it was given.
    status: see `discotext.core.Status`, in small letters; also misclassified, unchangeable and tied.
    tied: whether the attack ended within the victim's rounding errors of a flipped label. tolerance: their size.
    changeable: words that have a candidate. candidates: of all words together. refused: by each filter.
    unknown_swaps: changes that put in a word the victim does not know.
    space: a hash of the search space of the text; None where it was not attacked.
    forwards, backwards: passes of the model for this text. seconds: its share of the time.
    flipped_after: the forward passes after which the label was first flipped; what follows makes the changes fewer.
    victim_seconds: of those, the part inside the victim. unit: the unit of work. error: why the victim failed.
    bounds: how often bounds were asked for. radius: up to how many changed words the label is proved to stay; None
    where that is not known. verdict, reason: of `certify`: robust, broken, open or wrong, and why it is open.
    """

    id: int
    text: str
    label: int
    predicted: int | None
    adversarial_text: str
    adversarial_predicted: int | None
    score: float | None
    adversarial_score: float | None
    changes: tuple[Change, ...]
    words: int
    budget: int
    status: str
    solver: str
    seed: int
    tied: bool = False
    tolerance: float = 0.0
    changeable: int | None = None
    candidates: int | None = None
    refused: Mapping[str, int] = field(default_factory=dict)
    unknown_swaps: int = 0
    space: str | None
    forwards: int
    backwards: int
    seconds: float
    victim_seconds: float
    unit: int = 0
    share: str | None
    allowed: int | None
    accept: str | None = None
    error: str | None = None
    bounds: int = 0
    radius: int | None = None
    flipped_after: int | None = None
    verdict: str | None = None
    reason: str | None = None

    def __repr__(self) -> str:
        swaps = shorten("; ".join(f"{change.old} → {change.new}" for change in self.changes[:3]), 60)
        more = f" and {len(self.changes) - 3} more" if len(self.changes) > 3 else ""
        classes = f"label={self.label}, predicted={self.predicted} → {self.adversarial_predicted}"
        text = shorten(self.text, 50)
        return f"Record(id={self.id}, {self.solver!r}, {self.status!r}, {classes}, [{swaps}{more}], text={text!r})"

    @property
    def succeeded(self) -> bool:
        """Whether the label was flipped."""
        return self.status in SUCCESS

    @property
    def attacked(self) -> bool:
        """Whether there was anything to attack: the victim was right, and not of the wanted class already."""
        return self.status != "misclassified" and self.space is not None

    @property
    def run_budget(self) -> Budget:
        """The budget of the run that the record was made under."""
        return Budget(self.share, None if self.share is not None else self.allowed, self.accept)

    @property
    def all_accepted(self) -> float | None:
        """The probability that people accept all changes, taken as independent; None where it is not known."""
        chances = [change.accept for change in self.changes]
        known = [chance for chance in chances if chance is not None]
        return math.prod(known) if len(known) == len(chances) else None

    def as_dict(self) -> dict[str, Any]:
        """The record as JSON has it, keys in the order of the fields."""
        changes = [dict(zip(CHANGE_KEYS, attrgetter(*CHANGE_KEYS)(change), strict=True)) for change in self.changes]
        found = dict(zip(RECORD_KEYS, attrgetter(*RECORD_KEYS)(self), strict=True))
        return found | {"changes": changes, "refused": dict(self.refused)}

    @classmethod
    def from_dict(cls, raw: Any) -> Record:
        """The inverse of `as_dict`; ValueError says what is wrong. Keys of newer or older versions are ignored."""
        known = decode(cls, raw, "it")
        known["changes"] = tuple(Change(**decode(Change, change, "a change")) for change in known["changes"])
        if not all(isinstance(count, int) and 0 <= count < LARGEST for count in known.get("refused", {}).values()):
            raise ValueError("'refused' holds something that is not a count")
        for key in ("solver", "status", "share", "accept"):  # every line has its own strings; one of each is enough
            if known.get(key) is not None:
                known[key] = intern(known[key])
        return cls(**known)


# The types that annotations name, as JSON has them, and as columns of a table.
JSON_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,), "float": (int, float), "str": (str,), "bool": (bool,), "Mapping[str, int]": (dict,),
    "tuple[Change, ...]": (list,),
}  # fmt: skip
COLUMN_TYPES = {"int": "int64", "float": "float64", "str": "string", "bool": "bool", "tuple[Change, ...]": "string"}
SIGNED = {"label", "predicted", "adversarial_predicted", "score", "adversarial_score", "allowed"}


def decode(cls: Callable[..., Any], raw: Any, what: str) -> dict[str, Any]:
    """The fields of a class among the keys of an object, each checked; ValueError names the first that is wrong."""
    if not isinstance(raw, dict):
        raise ValueError(f"{what} is not an object")
    found = {}
    for name, annotation, required in FIELDS[cls]:
        if name in raw:
            if trouble := check_value(name, raw[name], annotation):
                raise ValueError(trouble)
            found[name] = raw[name]
        elif required:
            raise ValueError(f"there is no {name!r}")
    return found


def check_value(name: str, value: Any, annotation: str) -> str | None:
    """What is wrong with a value, or None."""
    kind = type(value)
    if value is None and annotation.endswith(" | None"):
        return None
    if kind not in JSON_TYPES[annotation.removesuffix(" | None")]:
        return f"{name!r} is {str(value)[:40]!r}"
    if kind is int or kind is float:
        if not abs(value) < LARGEST:  # nor NaN
            return f"{name!r} is {str(value)[:40]}"
        if value < 0 and name not in SIGNED:
            return f"{name!r} is {value}, below 0"
    return None


def column_type(name: str) -> str:
    """The type of a field's column in a table."""
    return COLUMN_TYPES[str(Record.__annotations__[name]).removesuffix(" | None")]


# The name of each field, its annotation, and whether it must be there.
FIELDS: dict[Callable[..., Any], list[tuple[str, str, bool]]] = {
    cls: [(one.name, str(one.type), one.default is MISSING and one.default_factory is MISSING) for one in fields(cls)]
    for cls in (Record, Change)
}
RECORD_KEYS, CHANGE_KEYS = ([name for name, _, _ in FIELDS[cls]] for cls in (Record, Change))
