"""What records say together, as the paper defines it and with intervals.

    original_accuracy      texts the victim got right before
    adversarial_accuracy   texts it still gets right after
    success_rate           attacks that succeeded, of the texts attacked (right before, and not yet what is wanted)
    perturbation           mean share of words changed, over successes
    perturbation_all       the paper's: over all texts; a failed attack counts the words of the text it returns, a text
                           that was not attacked counts 0
    optimal                attacks with a proved verdict: success, or that no allowed text succeeds

Shares have Wilson's 95 % interval, means a bootstrap's (of very many, the normal one); a mean over nothing is None.

A record is mostly text, and no figure needs a text. So records are counted in one at a time, each as a line of numbers
(`Tally`), and what a run holds grows by some hundred bytes a text.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discotext.experiment.work import Record
from discotext.intervals import bootstrap, wilson

NOT_ATTACKED = ("misclassified", "failed")
SUCCESS = ("reached", "fewest")
# What figures are made of: some hundred bytes, where a record has two thousand.
LINE = np.dtype(
    [("budget", object), ("solver", object), ("space", "S16")]
    + [(name, np.int64) for name in ("id", "changes", "words", "forwards", "backwards")]
    + [(name, np.float64) for name in ("seconds", "victim_seconds")]
    + [(name, np.bool_) for name in ("right_before", "right_after", "tried", "won", "proved", "failed")]
)
Lines = NDArray[np.void]


def succeeded(record: Record) -> bool:
    return record["status"] in SUCCESS


def attacked(record: Record) -> bool:
    return record["status"] != "misclassified" and record["space"] is not None


def line_of(row: Record) -> tuple[Any, ...]:
    """A record as a line of a tally."""
    # Where the victim failed, nothing is known to have changed.
    after = row["predicted"] if row["status"] == "failed" else row["adversarial_predicted"]
    # Names that were read from a file are new strings in every record; one of each is enough.
    names = sys.intern(_budget_of(row)), sys.intern(row["solver"])
    counts = row["id"], len(row["changes"]), row["words"], row["forwards"], row["backwards"]
    tried = attacked(row)
    won = tried and succeeded(row)
    shares = row["predicted"] == row["label"], after == row["label"], tried, won
    proved = tried and (won or row["status"] == "impossible")
    times = row["seconds"], row["victim_seconds"]
    space = (row["space"] or "").encode("utf-8", "surrogatepass")
    return (*names, space, *counts, *times, *shares, proved, row["status"] == "failed")


def lines_of(records: Iterable[Record]) -> Lines:
    """A line for each record, in their order."""
    return np.array([line_of(row) for row in records], dtype=LINE)


def by_text(lines: Lines) -> Lines:
    """In the order of texts, so that sums and bootstraps are the same in whichever order the work was done."""
    return lines[np.argsort(lines["id"], kind="stable")]


def _only(lines: Lines, field: str, value: str) -> Lines:
    """Those with a value; all of them, where that is all, without a copy."""
    chosen = lines[field] == value
    return lines if chosen.all() else lines[chosen]


class Tally:
    """The records of a run, counted in as they come: their lines, and the error of the first that failed."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.error: str | None = None
        self._parts = [lines_of(())]

    def add(self, records: Sequence[Record]) -> None:
        self._parts.append(lines_of(records))
        if self.error is None:
            self.error = next((row.get("error") for row in records if row["status"] == "failed"), None)

    @cached_property
    def lines(self) -> Lines:
        """All of them, text after text; to be asked for when all records are in, as is what follows."""
        found = by_text(np.concatenate(self._parts))
        self._parts = [found]
        return found

    @cached_property
    def summaries(self) -> list[dict[str, Any]]:
        return _summaries(self.settings, self.lines, self.settings["seed"])

    def turned(self, budget: float | int, solver: str) -> dict[int, bool]:
        """Which texts a solver turned under a budget, as a summary calls it, and which it did not."""
        mine = self.lines[self.lines["solver"] == solver]
        rows = zip(mine["id"].tolist(), mine["won"].tolist(), mine["budget"], strict=True)
        return {number: won for number, won, under in rows if _number(under) == budget}


def summaries(settings: dict[str, Any], records: Iterable[Record], seed: int = 0) -> list[dict[str, Any]]:
    """One object for each budget, with the figures of every solver."""
    return _summaries(settings, by_text(lines_of(records)), seed)


def _summaries(settings: dict[str, Any], lines: Lines, seed: int) -> list[dict[str, Any]]:
    found = []
    for number, budget in enumerate(settings["budgets"]):
        mine = _only(lines, "budget", budget)
        found.append(
            {
                "victim": settings["victim"],
                "data": settings["data"],
                "seed": settings["seed"],
                "n": len(np.unique(mine["id"])),
                "budget": _number(budget),
                "space": space_of(mine),
                "solvers": {name: figures(_only(mine, "solver", name), seed + number) for name in settings["solvers"]},
                "version": settings["version"],
            }
        )
    return found


def summarise(records: Iterable[Record], seed: int = 0) -> dict[str, Any]:
    """The figures of one solver under one budget."""
    return figures(lines_of(records), seed)


def figures(rows: Lines, seed: int = 0) -> dict[str, Any]:
    """The figures of one solver under one budget, from the lines of its records."""
    tried, won = rows["tried"], rows["won"]
    return {
        **_share("original_accuracy", rows["right_before"]),
        **_share("adversarial_accuracy", rows["right_after"]),
        **_share("success_rate", won[tried]),
        **_mean("perturbation", rows["changes"][won] / np.maximum(rows["words"][won], 1), seed),
        **_mean("perturbation_all", rows["changes"] / np.maximum(rows["words"], 1), seed),
        "words_changed": _plain_mean(rows["changes"][won]),
        # As Python's numbers, which do not run over.
        **{name: sum(rows[name].tolist()) for name in ("forwards", "backwards", "seconds", "victim_seconds")},
        "optimal": _plain_mean(rows["proved"][tried]),
        "attacked": int(tried.sum()),
        "failed": int(rows["failed"].sum()),
    }


def _share(name: str, values: NDArray[Any]) -> dict[str, float | None]:
    if not len(values):
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    good = int(values.sum())
    low, high = wilson(good, len(values))
    return {name: good / len(values), f"{name}_low": low, f"{name}_high": high}


def _mean(name: str, values: NDArray[Any], seed: int) -> dict[str, float | None]:
    if not len(values):
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    low, high = bootstrap(values, seed)
    return {name: float(np.mean(values)), f"{name}_low": low, f"{name}_high": high}


def _plain_mean(values: NDArray[Any]) -> float | None:
    return float(np.mean(values)) if len(values) else None


def space_of(lines: Lines) -> str:
    """A name for the search space of a run: that of every text together, the same for every solver."""
    digest, last = hashlib.sha256(), None
    for at in np.lexsort((lines["space"], lines["id"])).tolist():
        number, space = lines["id"][at], lines["space"][at]
        if space and (number, space) != last:
            digest.update(b"%s%d %s" % (b"" if last is None else b"\n", number, space))
            last = number, space
    return digest.hexdigest()[:16]


def under_budget(records: Iterable[Record], budget: float | int) -> list[Record]:
    """The records of one budget, as a summary calls it."""
    return [row for row in records if _number(_budget_of(row)) == budget]


def _budget_of(row: Record) -> str:
    return str(row["share"]) if row["share"] is not None else f"{row['allowed']} words"


def _number(budget: str) -> float | int:
    return int(budget.removesuffix(" words")) if budget.endswith(" words") else float(budget)


def mcnemar(first: Sequence[Record], second: Sequence[Record]) -> float:
    """Exact two-sided p that two solvers break equally many texts, from the texts that only one of them breaks."""
    other = {row["id"]: succeeded(row) for row in second}
    return chance((succeeded(row), other[row["id"]]) for row in first if row["id"] in other)


def chance(pairs: Iterable[tuple[bool, bool]]) -> float:
    """McNemar's p, from whether each of two solvers broke a text."""
    unlike = [first for first, second in pairs if first != second]
    n, only_first = len(unlike), sum(unlike)
    if n == 0:
        return 1.0
    # Each binomial coefficient from the one before: thousands of texts would make it long to begin each anew.
    term = total = 1
    for k in range(min(only_first, n - only_first)):
        term = term * (n - k) // (k + 1)
        total += term
    return float(min(1.0, 2 * (total / 2**n)))
