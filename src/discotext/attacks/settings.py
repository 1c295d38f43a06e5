"""What is asked of an attack, as one frozen value.

`attack`, `compare` and `certify` make it from their keyword arguments, the command line from its options, and the page
from what its user chose; everything behind them reads this value and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from functools import cached_property
from numbers import Integral
from typing import Any

from discotext.data.columns import Columns
from discotext.runs.record import Budget
from discotext.text.candidates import Candidates
from discotext.text.words import compute_budget

DEFAULT = 0.2  # share of the words that may change
PASSES = 1000  # what `certify` may spend on a text


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What an attack may do, and how much it may spend. A wrong value raises ValueError before anything is loaded.

    budget: the share of the words that may change; several give one summary each.
    words: the number of words that may change, instead of a share; several give one summary each.
    candidates: where replacements come from; the default is synonyms and near neighbours that fit the sentence.
    accept: the least probability that most people accept a swap in its place [default: 0.45]; several give one summary
        each.
    limit: attack a stratified random sample of so many texts.
    seed: the random seed; with the same seed the records are the same.
    target: the class to flip texts to, by name or number; the default is any class but the true one.
    surrogate: where the gradients come from if the victim has none: "auto" learns a surrogate from its scores, a file
        is a surrogate that a run has kept, another victim is a transfer model with gradients, and "none" means none.
    max_queries: calls of the model that a text may take, one for each text asked.
    total_queries: calls of the model that the whole run may take, those that learn a surrogate included; each text gets
        an equal share.
    passes: what may be spent to prove that a text cannot be flipped, bounds and scores together. None attacks only;
        `certify` takes 1,000.
    to_the_end: whether a search continues after the label has flipped, to make the score as high as it can.
    chunk: the number of texts in a unit of work; the default is 64, or 16 for a service.
    shard: part i of n of the work as "i/n", for work that is spread over machines.
    text_column, label_column: the columns of a file or data frame [default: found by their usual names].
    rename: other names for some of the labels in the data. unlabelled: whether to take the victim's predictions as
        labels.
    trust: whether pickled scikit-learn files may be loaded, which can execute code.
    service: arguments of `HttpVictim`, for a victim that is a URL.
    """

    budget: Any = DEFAULT
    words: Any = None
    candidates: Candidates = field(default_factory=Candidates)
    accept: Any = None
    limit: int | None = None
    seed: int = 0
    target: int | str | None = None
    surrogate: Any = "auto"
    max_queries: int | None = None
    total_queries: int | None = None
    passes: int | None = None
    to_the_end: bool = False
    chunk: int | None = None
    shard: str | None = None
    text_column: str | None = None
    label_column: str | None = None
    rename: Mapping[str, str] | None = None
    unlabelled: bool = False
    trust: bool = False
    service: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.candidates is None:  # as users write who have none
            object.__setattr__(self, "candidates", Candidates())
        if not isinstance(self.candidates, Candidates):
            raise TypeError(f"candidates is {self.candidates!r}; pass a Candidates, as make_candidates() makes it")
        check_whole("seed", self.seed, 0)
        least = {"limit": 1, "max_queries": 3, "total_queries": 1, "passes": 1, "chunk": 1}
        for name, smallest in least.items():
            if vars(self)[name] is not None:
                check_whole(name, vars(self)[name], smallest)
        if self.levels and self.candidates.scorer is None:
            raise ValueError(
                "accept is given, but the candidates have no scorer to estimate a probability; give them one"
            )
        _ = self.budgets, self.part  # raises ValueError if they cannot be read

    @classmethod
    def of(cls, given: Settings | None, changes: Mapping[str, Any]) -> Settings:
        """The settings with some changed by keyword, as `attack` takes them; TypeError names a keyword nobody knows."""
        known = [one.name for one in fields(cls)]
        for name in changes:
            if name not in known:
                raise TypeError(f"there is no parameter {name!r}; choose from {', '.join(known)}")
        if given is not None and not isinstance(given, Settings):
            raise TypeError(f"settings is {given!r}; pass a discotext.Settings, or its fields by keyword")
        return replace(given or cls(), **changes)

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """The levels of acceptance that are asked for, each written one way, strictest last; none if none is given."""
        return parse_accept(self.accept)

    @cached_property
    def budgets(self) -> tuple[Budget, ...]:
        """Each budget at each level of acceptance; a single level is that of the candidates, and not said twice."""
        found = parse_budgets(self.budget, self.words)
        if len(self.levels) < 2:
            return found
        return tuple(replace(budget, accept=level) for budget in found for level in self.levels)

    @cached_property
    def part(self) -> tuple[int, int]:
        """Part i of n of the work."""
        return parse_shard(self.shard)

    @property
    def columns(self) -> Columns:
        """How data is to be read."""
        return Columns(self.text_column, self.label_column, self.rename, self.unlabelled)

    @property
    def finder(self) -> Candidates:
        """Candidates for all levels of acceptance: those of the lowest."""
        return replace(self.candidates, accept=float(self.levels[0])) if self.levels else self.candidates


def parse_budgets(share: Any, words: Any) -> tuple[Budget, ...]:
    """Budgets from shares, or from numbers of words; a share is written one way, however it was given.

    >>> [str(budget) for budget in parse_budgets([0.3, ".50", "1e-1"], None)]
    ['0.3', '0.5', '0.1']
    """
    if words is not None:
        if share is not None and _as_list(share) not in ([DEFAULT], [str(DEFAULT)]):
            raise ValueError(f"budget is {share!r} and words is {words!r}; give a share or a number of words, not both")
        found = [Budget(words=check_whole("words", number, 0)) for number in _as_list(words)]
    elif share is None:
        raise ValueError("budget and words are both None; give a share of the words such as 0.2, or a number of them")
    else:
        shares = _as_list(share)
        for one in shares:
            compute_budget(1, one)  # raises if it is not a share
        # As few digits as possible, so that .3 and 0.30 resume a run of 0.3.
        found = [Budget(share=str(Decimal(str(one)).normalize()).lower()) for one in shares]
    for number, budget in enumerate(found):
        if budget in found[:number]:
            raise ValueError(f"the budget {budget} is given twice; give each once")
    return tuple(found)


def parse_accept(given: Any) -> tuple[str, ...]:
    """Levels of acceptance from probabilities.

    >>> parse_accept([0.80, "0.5"]), parse_accept(None)
    (('0.5', '0.8'), ())
    """
    found = []
    for one in () if given is None else _as_list(given):
        try:
            level = Decimal(str(one))
        except ArithmeticError:
            level = Decimal("nan")
        if level.is_nan() or not 0 <= level <= 1:
            raise ValueError(f"accept is {one!r}; choose a probability, from 0 to 1")
        found.append(level)
    if len(set(found)) < len(found):
        raise ValueError(f"accept is given as {', '.join(map(str, found))}; give each probability once")
    return tuple(str(level.normalize()) for level in sorted(found))


def _as_list(given: Any) -> list[Any]:
    return list(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else [given]


def parse_shard(given: str | None) -> tuple[int, int]:
    """(i, n) of 'i/n'; without one, the whole.

    >>> parse_shard("2/4"), parse_shard(None)
    ((2, 4), (1, 1))
    """
    found = re.fullmatch(r"([1-9][0-9]{0,8})/([1-9][0-9]{0,8})", "1/1" if given is None else given)
    if found is None or int(found[1]) > int(found[2]):
        raise ValueError(f"the shard is {given!r}; give part i of n as 'i/n', such as 1/4")
    return int(found[1]), int(found[2])


def check_whole(name: str, value: Any, least: int) -> int:
    """A whole number that is not below the least, or ValueError."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} is {value!r}; choose a whole number, {least} or more")
    return int(value)
