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
(`Tally`), and what a run holds grows by some hundred bytes a text.
"""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discotext.experiment.classes import name_classes
from discotext.experiment.estimate import Estimate as Estimate
from discotext.experiment.estimate import estimate_mean as estimate_mean
from discotext.experiment.estimate import estimate_share as estimate_share
from discotext.experiment.estimate import spread as spread
from discotext.experiment.figures_text import describe_figures, describe_summaries
from discotext.experiment.queries import summarise_queries
from discotext.experiment.record import Budget, Record


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
    quality: Mapping[str, Estimate | None] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"SolverSummary({describe_figures(self.as_dict())})"

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it: an estimate is three keys, `name`, `name_low` and `name_high`."""
        found: dict[str, Any] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name == "quality":
                for name, measure in value.items():
                    found |= spread(name, measure)
            elif "Estimate" in str(one.type):
                found |= spread(one.name, value)
            else:
                found[one.name] = value
        return found


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What a run found under one budget.

    n: texts. budget: the share or number of words that may change. space: a hash of the search space.
    accept: the least probability that most people accept a swap; None where nothing estimates it.
    queries: texts that the victim was asked about by all solvers. surrogate_queries: those for learning a stand-in, on
        top; None if there was none.
    labels: the names of the classes. target: the class that texts were to be flipped to, if there was one.
    solvers: the figures of each solver, by its name. judges: models that judged the texts, by what they are.
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
    judges: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return "\n".join(describe_summaries("Summary", [self.as_dict()]))

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        found = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "judges"}
        found |= {"refused": dict(self.refused), "labels": list(self.labels)}
        found["solvers"] = {name: figures.as_dict() for name, figures in self.solvers.items()}
        return found | dict(self.judges)


# What figures are made of: some hundred bytes, where a record has two thousand.
LINE = np.dtype(
    [("budget", object), ("solver", object), ("space", "S16")]
    + [(name, np.int64) for name in ("id", "changes", "words", "forwards", "backwards", "flipped_after")]
    + [(name, np.int64) for name in ("looked_at", "changeable", "candidates", "unknown_swaps")]
    + [(name, np.float64) for name in ("seconds", "victim_seconds", "accepted", "all_accepted")]
    + [
        (name, np.bool_)
        for name in ("right_before", "right_after", "tried", "won", "proved", "failed", "tied", "fixed", "unstable")
    ]
)
Lines = NDArray[np.void]


def make_line(row: Record) -> tuple[Any, ...]:
    """A record as a line of a tally."""
    # Where the victim failed, nothing is known to have changed; and a tie is for the defender.
    after = row.predicted if row.status == "failed" or row.tied else row.adversarial_predicted
    # Names that were read from a file are new strings in every record; one of each is enough.
    names = sys.intern(str(row.run_budget)), sys.intern(row.solver)
    # Runs of earlier versions do not say when a label was first flipped.
    flipped = row.forwards if row.flipped_after is None else row.flipped_after
    counts = row.id, len(row.changes), row.words, row.forwards, row.backwards, flipped
    # Nobody has looked for candidates where a worker died, or in runs of earlier versions.
    looked_at = 0 if row.changeable is None else row.words
    covered = looked_at, row.changeable or 0, row.candidates or 0, row.unknown_swaps
    won = row.attacked and row.succeeded
    shares = row.predicted == row.label, after == row.label, row.attacked, won
    proved = row.attacked and (won or row.status == "impossible")
    all_accepted = row.all_accepted
    accepted = sum(change.accept or 0.0 for change in row.changes)
    times = row.seconds, row.victim_seconds, accepted, np.nan if all_accepted is None else all_accepted
    space = (row.space or "").encode("utf-8", "surrogatepass")
    fixed = row.changeable is not None and (row.budget == 0 or row.changeable == 0)
    failed, unstable = row.status == "failed", row.status == "unstable"
    return (*names, space, *counts, *covered, *times, *shares, proved, failed, row.tied, fixed, unstable)


def make_lines(records: Iterable[Record]) -> Lines:
    """A line for each record, in their order."""
    return np.array([make_line(row) for row in records], dtype=LINE)


def sort_by_text(lines: Lines) -> Lines:
    """In the order of texts, so that sums and bootstraps are the same in whichever order the work was done."""
    return lines[np.argsort(lines["id"], kind="stable")]


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
        """All of them, text after text; to be asked for when all records are in, as is what follows."""
        found = sort_by_text(np.concatenate(self._parts))
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
            surrogate_queries=find_surrogate_queries(settings),
            version=settings["version"],
            accept=find_accept(settings, budget),
            **name_classes(settings),
        )

    def flipped(self, budget: float | int, solver: str, accept: float | None = None) -> dict[int, bool]:
        """For each text, whether a solver flipped its label under a budget, as a summary calls it."""
        mine = self.lines[self.lines["solver"] == solver]
        rows = zip(mine["id"].tolist(), mine["won"].tolist(), mine["budget"], strict=True)
        return {number: won for number, won, under in rows if is_under(Budget.parse(under), budget, accept)}


def is_under(found: Budget, budget: float | int, accept: float | None) -> bool:
    """Whether a budget is the one that a summary calls so. accept: None where the run has one level or none."""
    return found.value == budget and (accept is None or found.accept is None or float(found.accept) == accept)


def find_surrogate_queries(settings: Mapping[str, Any]) -> int | None:
    """What it took to learn a stand-in; None if there was none."""
    found = settings.get("surrogate")
    return found.get("queries") if isinstance(found, Mapping) else None


def find_accept(settings: Mapping[str, Any], budget: str) -> float | None:
    """The probability that each swap must have under a budget; None where nothing estimates it."""
    given = Budget.parse(budget).accept
    if given is not None:
        return float(given)
    candidates = settings.get("candidates")
    found = candidates.get("accept") if isinstance(candidates, Mapping) else None
    return float(found) if isinstance(found, int | float) else None


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


def under_budget(records: Iterable[Record], budget: float | int, accept: float | None = None) -> list[Record]:
    """The records of one budget, as a summary calls it."""
    return [row for row in records if is_under(row.run_budget, budget, accept)]


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
