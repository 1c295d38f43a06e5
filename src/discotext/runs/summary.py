"""What records say together, as the paper defines it and with intervals.

    original_accuracy      texts the victim got right before
    adversarial_accuracy   texts it still gets right after
    success_rate           attacks that succeeded, of the texts attacked (right before, and not yet what is wanted)
    perturbation           mean share of words changed, over successes
    perturbation_all       the paper's: over all texts; a failed attack counts the words of the text it returns, a text
                           that was not attacked counts 0
    optimal                attacks with a proved verdict: success, or that no allowed text succeeds; texts in which
                           nothing can change prove nothing and are left out
    success_by_queries     attacks that succeeded with so many queries (forward passes) or fewer; query_area is the area
                           under that curve, over the logarithm of queries, from 0 to 1
    ties                   attacks that end within the victim's rounding errors of a flipped label; they do not count
    unstable               attacks on which the victim answered differently when asked again
    acceptable             expected share of the swaps in flipped texts that most people accept
    all_acceptable         expected share of flipped texts in which people accept every swap
    accepted_accuracy      expected accuracy if a flip counts only where people accept every swap
    changeable_words       words that have a candidate, of all words
    unchangeable_texts     texts in which nothing can change, whatever the victim

Shares have Wilson's 95 % interval, means a bootstrap's (of very many, the normal one); a mean over nothing is None.

A record is mostly text, and no figure needs a text. So records are counted in one at a time, each as a line of numbers
(`LINE`, `Tally`), and what a run holds grows by some hundred bytes a text.
"""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discotext.runs.record import Budget, Record, describe_budget
from discotext.support.intervals import bootstrap, wilson
from discotext.support.plain_text import count_texts, interval, percent, shorten

QUERIES = (10, 20, 50, 100, 200, 500)  # at which success is measured


class Estimate(float):
    """A share or a mean, with its 95 % interval in `low` and `high`.

    >>> estimate = Estimate(0.5, 0.4, 0.6)
    >>> 100 * estimate, estimate.low, estimate.high
    (50.0, 0.4, 0.6)
    """

    low: float
    high: float

    def __new__(cls, value: float, low: float, high: float) -> Estimate:
        made = super().__new__(cls, value)
        made.low, made.high = low, high
        return made

    def __getnewargs__(self) -> tuple[float, float, float]:  # type: ignore[override]
        return float(self), self.low, self.high


def spread(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    """An estimate as JSON has it."""
    if estimate is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    return {name: float(estimate), f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def estimate_share(values: NDArray[Any]) -> Estimate | None:
    """The share of True, with Wilson's interval; None of nothing."""
    if not len(values):
        return None
    good = int(values.sum())
    return Estimate(good / len(values), *wilson(good, len(values)))


def estimate_mean(values: NDArray[Any] | Sequence[float], seed: int) -> Estimate | None:
    """The mean, with a bootstrap's interval; None of nothing."""
    return Estimate(float(np.mean(values)), *bootstrap(values, seed)) if len(values) else None


def flatten_figures(figures: Any) -> dict[str, Any]:
    """The fields of a dataclass as JSON has them: an estimate is three keys, `name`, `name_low` and `name_high`."""
    found: dict[str, Any] = {}
    for one in fields(figures):
        value = vars(figures)[one.name]
        found |= spread(one.name, value) if "Estimate" in str(one.type) else {one.name: value}
    return found


@dataclass(frozen=True, kw_only=True)
class SolverSummary:
    """The figures of one solver under one budget, as the head of this module defines them; None over nothing."""

    original_accuracy: Estimate | None
    adversarial_accuracy: Estimate | None
    success_rate: Estimate | None
    perturbation: Estimate | None
    perturbation_all: Estimate | None
    words_changed: float | None
    forwards: int
    backwards: int
    seconds: float
    victim_seconds: float
    optimal: float | None
    ties: int
    swaps: int
    unknown_swaps: int
    attacked: int
    failed: int
    success_by_queries: Mapping[str, float] = field(default_factory=dict)
    query_area: float | None = None
    acceptable: float | None = None
    all_acceptable: float | None = None
    accepted_accuracy: float | None = None
    unstable: int = 0

    def __repr__(self) -> str:
        return f"SolverSummary({self.sentence})"

    @property
    def sentence(self) -> str:
        """The figures in a line."""
        after = f"{percent(self.adversarial_accuracy)} ({interval(self.adversarial_accuracy)})"
        success = f"{percent(self.success_rate)} of attacks succeeded"
        return f"accuracy {percent(self.original_accuracy)} → {after}, {success}"

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return flatten_figures(self)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What a run found under one budget.

    n: the number of texts. budget: the share or number of words that may change. space: a hash of the search space.
    accept: the least probability that most people accept a swap; None where nothing estimates it.
    queries: how many texts the victim was asked about by all solvers. surrogate_queries: those for learning a
        surrogate, on top; None if there was none.
    labels: the names of the classes. target: the class that texts were to be flipped to, if there was one.
    solvers: the figures of each solver, by its name.
    """

    victim: str
    data: str
    seed: int
    n: int
    budget: float | int
    space: str
    changeable_words: float | None
    candidates: int
    candidates_per_word: float | None
    unchangeable_texts: int
    refused: Mapping[str, int]
    solvers: Mapping[str, SolverSummary]
    version: str
    accept: float | None = None
    queries: int | None = None
    surrogate_queries: int | None = None
    labels: Sequence[str] = ()
    target: str | None = None

    def __repr__(self) -> str:
        what = f"{count_texts(self.n, self.data)}, victim {shorten(self.victim, 40)}"
        lines = [f"Summary: {what}, at most {describe_budget(self.budget)} changed"]
        # A name may be long, or have characters that a terminal would obey.
        lines += [f"  {shorten(f'{name[:16]}: {row.sentence}', 78)}" for name, row in list(self.solvers.items())[:8]]
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        found = dict(vars(self)) | {"refused": dict(self.refused), "labels": list(self.labels)}
        return found | {"solvers": {name: figures.as_dict() for name, figures in self.solvers.items()}}


# What figures are made of, each with its type and how it is read from a record: some hundred bytes, where a record has
# two thousand. Names that were read from a file are new strings in every record; one of each is enough.
LINE: dict[str, tuple[Any, Callable[[Record], Any]]] = {
    "budget": (object, lambda row: sys.intern(str(row.run_budget))),
    "solver": (object, lambda row: sys.intern(row.solver)),
    "space": ("S16", lambda row: (row.space or "").encode("utf-8", "surrogatepass")),
    "id": (np.int64, lambda row: row.id),
    "changes": (np.int64, lambda row: len(row.changes)),
    "words": (np.int64, lambda row: row.words),
    "forwards": (np.int64, lambda row: row.forwards),
    "backwards": (np.int64, lambda row: row.backwards),
    # Runs of earlier versions do not say when a label was first flipped.
    "flipped_after": (np.int64, lambda row: row.forwards if row.flipped_after is None else row.flipped_after),
    # Nobody has looked for candidates where a worker died, or in runs of earlier versions.
    "looked_at": (np.int64, lambda row: 0 if row.changeable is None else row.words),
    "changeable": (np.int64, lambda row: row.changeable or 0),
    "candidates": (np.int64, lambda row: row.candidates or 0),
    "unknown_swaps": (np.int64, lambda row: row.unknown_swaps),
    "seconds": (np.float64, lambda row: row.seconds),
    "victim_seconds": (np.float64, lambda row: row.victim_seconds),
    "accepted": (np.float64, lambda row: sum(change.accept or 0.0 for change in row.changes)),
    "all_accepted": (np.float64, lambda row: np.nan if row.all_accepted is None else row.all_accepted),
    "right_before": (np.bool_, lambda row: row.predicted == row.label),
    # Where the victim failed, nothing is known to have changed; a tie is no flip.
    "right_after": (
        np.bool_,
        lambda row: row.label == (row.predicted if row.status == "failed" or row.tied else row.adversarial_predicted),
    ),
    "tried": (np.bool_, lambda row: row.attacked),
    "won": (np.bool_, lambda row: row.attacked and row.succeeded),
    "proved": (np.bool_, lambda row: row.attacked and (row.succeeded or row.status == "impossible")),
    "failed": (np.bool_, lambda row: row.status == "failed"),
    "tied": (np.bool_, lambda row: row.tied),
    "fixed": (np.bool_, lambda row: row.changeable is not None and (row.budget == 0 or row.changeable == 0)),
    "unstable": (np.bool_, lambda row: row.status == "unstable"),
}
Lines = NDArray[np.void]


def make_lines(records: Iterable[Record]) -> Lines:
    """A line for each record, in their order."""
    readers = [read for _, read in LINE.values()]
    kinds = np.dtype([(name, kind) for name, (kind, _) in LINE.items()])
    return np.array([tuple(read(row) for read in readers) for row in records], dtype=kinds)


def select(lines: Lines, field: str, value: str) -> Lines:
    """Those with a value; all of them, where that is all, without a copy."""
    chosen = lines[field] == value
    return lines if chosen.all() else lines[chosen]


class Tally:
    """The records of a run, counted in as they come: their lines, and the error of the first that failed.

    refused: candidates that each filter refused, by budget and solver.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings
        self.error: str | None = None
        self.refused: dict[tuple[str, str], Counter[str]] = {}
        self._parts = [make_lines(())]

    def add(self, records: Sequence[Record]) -> None:
        self._parts.append(make_lines(records))
        for row in records:
            self.refused.setdefault((str(row.run_budget), row.solver), Counter()).update(row.refused)
        if self.error is None:
            self.error = next((row.error for row in records if row.status == "failed"), None)

    @cached_property
    def lines(self) -> Lines:
        """All of them; to be asked for when all records are in, as is what follows.

        In the order of texts, so that sums and bootstraps are the same in whichever order the work was done.
        """
        found = np.concatenate(self._parts)
        found = found[np.argsort(found["id"], kind="stable")]
        self._parts = [found]
        return found

    @cached_property
    def summaries(self) -> list[Summary]:
        return [self._summarise(number, budget) for number, budget in enumerate(self.settings["budgets"])]

    def _summarise(self, number: int, budget: str) -> Summary:
        settings = self.settings
        mine = select(self.lines, "budget", budget)
        by_solver = {name: select(mine, "solver", name) for name in settings["solvers"]}
        # Every solver is given the same texts and candidates; any that has started will do.
        first = next((name for name, rows in by_solver.items() if len(rows)), "")
        rows, refused = by_solver.get(first, mine), self.refused.get((budget, first), Counter())
        words, changeable, candidates = (int(rows[name].sum()) for name in ("looked_at", "changeable", "candidates"))
        return Summary(
            victim=settings["victim"],
            data=settings["data"],
            seed=settings["seed"],
            n=len(np.unique(mine["id"])),
            budget=Budget.parse(budget).value,
            space=hash_spaces(mine),
            changeable_words=changeable / words if words else None,
            candidates=candidates,
            candidates_per_word=candidates / changeable if changeable else None,
            unchangeable_texts=int(rows["fixed"].sum()),
            refused=dict(refused.most_common()),
            solvers={name: summarise_lines(rows, settings["seed"] + number) for name, rows in by_solver.items()},
            queries=int(mine["forwards"].sum()),
            surrogate_queries=settings.get("surrogate", {}).get("queries"),
            version=settings["version"],
            accept=find_accept(settings, budget),
            **name_classes(settings),
        )

    def flipped(self, budget: str, solver: str) -> dict[int, bool]:
        """For each text, whether a solver flipped its label under a budget, as the settings write it."""
        mine = select(select(self.lines, "budget", budget), "solver", solver)
        return dict(zip(mine["id"].tolist(), mine["won"].tolist(), strict=True))


def list_classes(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """What the classes of a run are called: as the victim calls them, or where it only counts them, as the data does.

    >>> list_classes({"labels": ["0", "1"], "classes": ["bad", "good"]}), list_classes({"labels": ["neg", "pos"]})
    (('bad', 'good'), ('neg', 'pos'))
    """
    own = tuple(map(str, settings.get("labels", ())))
    given = settings.get("classes")
    return tuple(map(str, given)) if given and all(name.isdigit() for name in own) else own


def name_classes(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The names of a run's classes, and of its target if it has one.

    >>> name_classes({"labels": ["negative", "positive"], "target": 1})
    {'labels': ('negative', 'positive'), 'target': 'positive'}
    """
    labels, target = list_classes(settings), settings.get("target")
    return {"labels": labels, "target": None if target is None else labels[target]}


def find_accept(settings: Mapping[str, Any], budget: str) -> float | None:
    """The probability that each swap must have under a budget; None where nothing estimates it."""
    found = Budget.parse(budget).accept or settings.get("candidates", {}).get("accept")
    return None if found is None else float(found)


def summarise_run(settings: Mapping[str, Any], records: Iterable[Record]) -> list[Summary]:
    """One summary for each budget, with the figures of every solver."""
    tally = Tally(settings)
    tally.add(list(records))
    return tally.summaries


def summarise(records: Iterable[Record], seed: int = 0) -> SolverSummary:
    """The figures of one solver under one budget."""
    return summarise_lines(make_lines(records), seed)


def summarise_lines(rows: Lines, seed: int = 0) -> SolverSummary:
    """The figures of one solver under one budget, from the lines of its records."""
    tried, won = rows["tried"], rows["won"]
    return SolverSummary(
        original_accuracy=estimate_share(rows["right_before"]),
        adversarial_accuracy=estimate_share(rows["right_after"]),
        success_rate=estimate_share(won[tried]),
        perturbation=estimate_mean(rows["changes"][won] / np.maximum(rows["words"][won], 1), seed),
        perturbation_all=estimate_mean(rows["changes"] / np.maximum(rows["words"], 1), seed),
        words_changed=_mean(rows["changes"][won]),
        # As Python's numbers, which do not overflow.
        forwards=sum(rows["forwards"].tolist()),
        backwards=sum(rows["backwards"].tolist()),
        seconds=sum(rows["seconds"].tolist()),
        victim_seconds=sum(rows["victim_seconds"].tolist()),
        optimal=_mean(rows["proved"][tried & ~rows["fixed"]]),
        ties=int(rows["tied"].sum()),
        swaps=int(rows["changes"][won].sum()),
        unknown_swaps=int(rows["unknown_swaps"][won].sum()),
        attacked=int(tried.sum()),
        failed=int(rows["failed"].sum()),
        unstable=int(rows["unstable"].sum()),
        **summarise_queries(rows),
        **summarise_acceptance(rows),
    )


def summarise_queries(rows: Lines) -> dict[str, Any]:
    """The share of attacked texts that were flipped after so many queries or fewer, and the area under that curve.

    What an attack asks after that makes its changes fewer, and is not counted here.
    """
    tried = rows[rows["tried"]]
    if not len(tried):
        return {}
    curve = [float((tried["won"] & (tried["flipped_after"] <= most)).mean()) for most in QUERIES]
    # Over the logarithm of the queries, since the first ten matter as much as the last hundred; 1 is the best there is.
    area = float(np.trapezoid(curve, np.log(QUERIES)) / np.log(QUERIES[-1] / QUERIES[0]))
    return {"success_by_queries": dict(zip(map(str, QUERIES), curve, strict=True)), "query_area": area}


def summarise_acceptance(rows: Lines) -> dict[str, Any]:
    """How acceptable the flipped texts are expected to be; None where a probability is not known."""
    won = rows["won"]
    chances = rows["all_accepted"][won]
    if not len(rows) or np.isnan(chances).any():
        return {}
    swaps = int(rows["changes"][won].sum())
    # Where the attack does not count, the text stays as right as it was.
    lost = float((rows["right_after"] & ~won).sum() + (1 - chances).sum())
    return {
        "acceptable": float(rows["accepted"][won].sum()) / swaps if swaps else None,
        "all_acceptable": _mean(chances),
        "accepted_accuracy": lost / len(rows),
    }


def _mean(values: NDArray[Any]) -> float | None:
    return float(np.mean(values)) if len(values) else None


def hash_spaces(lines: Lines) -> str:
    """A name for the search space of a run: that of every text together, the same for every solver."""
    digest, last = hashlib.sha256(), None
    for at in np.lexsort((lines["space"], lines["id"])).tolist():
        number, space = lines["id"][at], lines["space"][at]
        if space and (number, space) != last:
            digest.update(b"%s%d %s" % (b"" if last is None else b"\n", number, space))
            last = number, space
    return digest.hexdigest()[:16]


def mcnemar(first: Sequence[Record], second: Sequence[Record]) -> float:
    """Exact two-sided p that two solvers flip equally many texts, from the texts that only one of them flips."""
    other = {row.id: row.succeeded for row in second}
    return mcnemar_of_pairs((row.succeeded, other[row.id]) for row in first if row.id in other)


def mcnemar_of_pairs(pairs: Iterable[tuple[bool, bool]]) -> float:
    """McNemar's p, from whether each of two solvers flipped a text."""
    unlike = [first for first, second in pairs if first != second]
    n, only_first = len(unlike), sum(unlike)
    if n == 0:
        return 1.0
    # Each binomial coefficient from the one before: thousands of texts would make it long to compute each afresh.
    term = total = 1
    for k in range(min(only_first, n - only_first)):
        term = term * (n - k) // (k + 1)
        total += term
    return float(min(1.0, 2 * (total / 2**n)))
