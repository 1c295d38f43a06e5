"""The interface of all victims: texts go in, a score for each class comes out.

A victim declares what it can do in one value, its `Capabilities`, and nothing else in the package inspects it to find
out. A wrapper (`WrappedVictim`) passes that value on whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from discotext.core.arrays import Bools, Choices, Floats, Ints
from discotext.core.objectives import Objective
from discotext.core.oracle import DeletingOracle, Oracle, RelaxedOracle, Request, UnavailableError, UnsentError
from discotext.core.problem import Batch
from discotext.text.space import Space


@dataclass(frozen=True)
class Capabilities:
    """What a victim can do, and how it is asked.

    | field | default | meaning |
    |---|---|---|
    | `gradients` | `False` | its oracle has gradients (a method `relaxed`); solvers that need them refuse others |
    | `deletes` | `True` | its oracle can score a text with one word left out (a method `without`) |
    | `vocabulary` | `None` | the words it can tell apart, as anything that supports `in`; None means any word |
    | `uses_gpu` | `False` | it runs faster on a GPU, so on Ray each worker reserves one |
    | `has_memory` | `False` | it answers some texts without calling the model; `remembers` says which |
    | `protocol` | `{}` | how it is asked, if in several ways; the settings of a run keep it |
    | `classes_only` | `False` | it returns predicted classes: a score is 1 for that class and 0 for the others |
    | `ordered` | `True` | its classes have an order, so that a number in the data can mean one |
    | `chunk` | `64` | texts in a unit of work, which is lost as a whole when the victim fails for good |

    In a vocabulary that is a set, a list or a dictionary, words are looked up without regard to their case; an object
    of another class decides that itself.

    >>> "Good" in Capabilities(vocabulary={"good", "film"}).vocabulary
    True
    """

    gradients: bool = False
    deletes: bool = True
    vocabulary: Container[str] | None = None
    uses_gpu: bool = False
    has_memory: bool = False
    protocol: Mapping[str, Any] = field(default_factory=dict)
    classes_only: bool = False
    ordered: bool = True
    chunk: int = 64

    def __post_init__(self) -> None:
        if isinstance(self.vocabulary, Set | Mapping | Sequence):
            object.__setattr__(self, "vocabulary", CaseInsensitiveVocabulary(frozenset(self.vocabulary)))


class Victim:
    """A text classifier under attack.

    Subclasses set `name`, what reports and error messages call it, and `labels`, the names of its classes in the order
    of the scores, and write `scores`. What else it can do it declares as `capabilities`, an attribute or a property.

    | method | default | returns |
    |---|---|---|
    | `scores(texts)` | required | (N, C) scores |
    | `oracle(space, objective)` | `TextOracle` | the oracle that solvers query, with every declared ability |
    | `truncates(texts)` | all False | which texts are longer than it reads |
    | `remembers(texts)` | all False | which texts would not reach the model |
    | `save(folder)` | refuses | nothing; `load_victim(folder)` then loads it |

    A victim with a custom oracle that cannot delete words declares `deletes=False`. A new ability is a new field
    of `Capabilities`, and a new entry in `supports`.

    >>> class Length(Victim):
    ...     name, labels, capabilities = "length", ("short", "long"), Capabilities(chunk=16)
    ...
    ...     def scores(self, texts):
    ...         return np.array([[0.0, len(text) - 10.0] for text in texts])
    >>> Length().scores(["a good film"]), Length().capabilities.gradients
    (array([[0., 1.]]), False)
    """

    name: str
    labels: tuple[str, ...]
    capabilities: Capabilities = Capabilities()

    def __init_subclass__(cls) -> None:
        # Declared so, an ability would be overlooked without a word.
        old = [item.name for item in fields(Capabilities) if item.name in vars(cls)]
        if old:
            raise TypeError(
                f"{cls.__name__} declares {', '.join(old)} as attributes of the class; declare abilities together, as "
                f"`capabilities = Capabilities({old[0]}=…)`"
            )

    def scores(self, texts: Sequence[str]) -> Floats:
        """Return (N, C) scores of N texts. A text's scores must not depend on the other texts.

        A larger score means a likelier class. Logits are better than probabilities: where a classifier is sure,
        probabilities round to 0 and 1, and a search sees no difference between one text and the next.
        """
        raise TypeError(f"{type(self).__name__} has no method `scores`; write one that returns (texts, classes)")

    def oracle(self, space: Space, objective: Objective) -> Oracle:
        """Return an oracle for the texts of a search space, with every ability that the victim declares."""
        return TextOracle(self, space, objective)

    def truncates(self, texts: Sequence[str]) -> list[bool]:
        """Return, for each text, whether it is longer than the victim reads."""
        return [False] * len(texts)

    def remembers(self, texts: Sequence[str]) -> Bools:
        """Return (N,) which texts would be answered now without calling the model."""
        return np.zeros(len(texts), dtype=bool)

    def explain_bounds(self) -> str:
        """Return what is known to prove that a text cannot be flipped, as a sentence without a full stop."""
        return f"there are no bounds for {self.name}: all choices are tried where they are few"

    def save(
        self, folder: str | Path, settings: Mapping[str, Any] | None = None, more: Mapping[str, bytes] | None = None
    ) -> None:
        """Write the victim to a folder that `load_victim` reads.

        settings: to be written down for people to read. more: the content of further files, by name.
        """
        raise ValueError(f"{self.name} is not a model that can be saved here; save it the way you load it")

    def supports(self, ability: type) -> bool:
        """Return whether the victim declares an ability, one of the protocols in `discotext.core.oracle`.

        >>> Victim().supports(DeletingOracle), Victim().supports(RelaxedOracle)
        (True, False)
        """
        can = self.capabilities
        declared: dict[type, bool] = {Oracle: True, RelaxedOracle: can.gradients, DeletingOracle: can.deletes}
        return declared.get(ability, False)


class WrappedVictim(Victim):
    """A victim in front of another one, from which it does not differ.

    A subclass overrides what it changes; of `scores` and `oracle`, which ask the model about a text in two ways, both.
    Labels and capabilities are read from the inner victim each time: a function's are known after its first answer.
    """

    def __init__(self, victim: Victim, name: str | None = None) -> None:
        if not isinstance(victim, Victim):
            raise TypeError(
                f"a {type(victim).__name__} is not a Victim; `load_victim` makes one of a model or function"
            )
        self.victim, self.name = victim, name or victim.name

    @property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.victim.labels

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        return self.victim.capabilities

    def scores(self, texts: Sequence[str]) -> Floats:
        return self.victim.scores(texts)

    def oracle(self, space: Space, objective: Objective) -> Oracle:
        return self.victim.oracle(space, objective)

    def truncates(self, texts: Sequence[str]) -> list[bool]:
        return self.victim.truncates(texts)

    def remembers(self, texts: Sequence[str]) -> Bools:
        return self.victim.remembers(texts)

    def explain_bounds(self) -> str:
        return self.victim.explain_bounds()

    def save(
        self, folder: str | Path, settings: Mapping[str, Any] | None = None, more: Mapping[str, bytes] | None = None
    ) -> None:
        self.victim.save(folder, settings, more)

    def supports(self, ability: type) -> bool:
        return self.victim.supports(ability)


@dataclass(frozen=True, eq=False)
class CaseInsensitiveVocabulary:
    """A collection of words that ignores the case of the word looked up.

    >>> "Good" in CaseInsensitiveVocabulary({"good", "film"}), "gnu" in CaseInsensitiveVocabulary({"good", "film"})
    (True, False)
    """

    words: Container[str]

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and (word in self.words or word.lower() in self.words)


class TextOracle:
    """Scores choices by writing each text out and calling the victim: works for any victim, without gradients."""

    def __init__(self, victim: Victim, space: Space, objective: Objective) -> None:
        self.victim, self.space, self.objective = victim, space, objective

    @property
    def batch(self) -> Batch:
        return self.space.batch

    def score(self, problems: Ints, choices: Choices) -> Floats:
        return self.objective.value(compute_scores(self.victim, self._write(problems, choices)), problems)

    def without(self, problems: Ints, positions: Ints) -> Floats:
        return self.objective.value(compute_scores(self.victim, self._write_without(problems, positions)), problems)

    def cost(self, request: Request) -> tuple[Ints, Ints]:
        """A forward pass per row, and for a gradient a backward pass; nothing for what the victim remembers."""
        forwards = np.ones(len(request), dtype=np.int64)
        backwards = np.full_like(forwards, request.kind == "relaxed")
        if self.victim.capabilities.has_memory:
            if request.choices is not None:
                texts = self._write(request.problems, request.choices)
            else:
                texts = self._write_without(request.problems, np.asarray(request.positions))
            forwards[self.victim.remembers(texts)] = 0
        return forwards, backwards

    def _write(self, problems: Ints, choices: Choices) -> list[str]:
        return [self.space.text(problem, choice) for problem, choice in zip(problems.tolist(), choices, strict=True)]

    def _write_without(self, problems: Ints, positions: Ints) -> list[str]:
        return [self.space.delete_word(*pair) for pair in zip(problems.tolist(), positions.tolist(), strict=True)]


def compute_scores(victim: Victim, texts: Sequence[str]) -> Floats:
    """Return the victim's scores (N, C); raise ValueError unless there is a finite number for each text and class."""
    found = np.asarray(victim.scores(texts), dtype=np.float64)
    for error in find_bad_rows(victim, texts, found).values():
        raise ValueError(error)
    return found


def find_bad_rows(victim: Victim, texts: Sequence[str], found: Floats) -> dict[int, str]:
    """What is wrong with scores, by row. ValueError unless there is a score for each text and class."""
    if found.shape != (len(texts), len(victim.labels)):
        raise ValueError(
            f"{victim.name} returned scores of shape {found.shape} for {len(texts)} texts; "
            f"expected ({len(texts)}, {len(victim.labels)}), a score for each class"
        )
    return {
        row: f"{victim.name} returned {found[row].tolist()} for the text {texts[row][:60]!r}; expected finite numbers"
        for row in np.flatnonzero(~np.isfinite(found).all(axis=1)).tolist()
    }


def check_distinct(names: Sequence[str], owner: str) -> None:
    """Raise ValueError if two classes have the same name, blanks aside, so that a label could mean either."""
    stripped = [name.strip() for name in names]
    for number, name in enumerate(stripped):
        first = stripped.index(name)
        if first != number:
            raise ValueError(
                f"the classes {first} and {number} of {owner} are both called {name[:60]!r}; give them two names"
            )


ALONE = 2  # texts of a batch that are scored again alone
SAFETY_FACTOR = 4  # times the largest difference seen, since two texts do not show the largest there is
# Relative to the size of the scores. Scores in single precision can be recognised: rounding to it does not change them.
SINGLE, DOUBLE = 1e-6, 1e-9
LARGEST_TOLERANCE = 0.01  # relative to the size of the scores; a victim that differs by more is random, not inexact


@dataclass(frozen=True)
class Evaluation:
    """The scores of N texts.

    scores: (N, C), NaN for a text on which the victim failed. errors: for each text why it failed, or None.
    forwards: (N,) the calls of the model that each text took. seconds: that each took on average.
    """

    scores: Floats
    errors: list[str | None]
    forwards: Ints
    seconds: float = 0.0


def evaluate(victim: Victim, texts: Sequence[str]) -> Evaluation:
    """Score texts. A text on which the victim fails gets an error instead of scores."""
    began = time.perf_counter()
    found = _evaluate(victim, texts)
    return replace(found, seconds=(time.perf_counter() - began) / max(len(texts), 1))


def _evaluate(victim: Victim, texts: Sequence[str]) -> Evaluation:
    forwards = np.ones(len(texts), dtype=np.int64)
    has_memory = victim.capabilities.has_memory
    if has_memory:
        forwards[victim.remembers(texts)] = 0
    try:
        found = np.array(victim.scores(texts), dtype=np.float64)
        # Those that were answered are not asked again: a query may be paid for.
        bad = find_bad_rows(victim, texts, found)
        found[list(bad)] = np.nan
        return Evaluation(found, [bad.get(row) for row in range(len(texts))], forwards)
    except UnavailableError:
        raise
    except Exception as error:
        if isinstance(error, UnsentError):
            forwards[error.rows] = 0
        # One text spoils the whole batch: score each alone, and keep those that succeed.
        scores = np.full((len(texts), len(victim.labels)), np.nan)
        errors: list[str | None] = [None] * len(texts)
        for number, text in enumerate(texts):
            forwards[number] += not (has_memory and victim.remembers([text])[0])
            try:
                scores[number] = compute_scores(victim, [text])[0]
            except UnavailableError:
                raise
            except Exception as error:
                errors[number] = f"{type(error).__name__}: {error}"
        return Evaluation(scores, errors, forwards)


Ask = Callable[[Sequence[str]], Evaluation]  # `evaluate` of one victim, wherever it is


def measure_tolerance(ask: Ask, texts: Sequence[str], batch: Evaluation) -> float:
    """Return how far apart two scores must be to differ by more than the victim's rounding errors.

    batch: what it says of the first texts together; some of them are asked about again, alone.
    """
    succeeded = np.flatnonzero(np.isfinite(batch.scores).all(axis=1))
    if not len(succeeded):
        return 0.0
    scores = batch.scores[succeeded]
    size = float(np.median(np.abs(scores).max(axis=1)))
    is_single = bool((scores.astype(np.float32) == scores).all())
    largest = 0.0
    for number in succeeded[:ALONE].tolist() if len(texts) > 1 else ():
        alone = ask([texts[number]])
        if alone.errors[0] is None:
            largest = max(largest, float(np.abs(alone.scores[0] - batch.scores[number]).max()))
    return max((SINGLE if is_single else DOUBLE) * size, min(SAFETY_FACTOR * largest, LARGEST_TOLERANCE * size))
