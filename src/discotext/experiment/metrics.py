"""What records say together, as the paper defines it and with intervals.

    original_accuracy      texts the victim got right before
    adversarial_accuracy   texts it still gets right after
    success_rate           attacks that succeeded, of the texts attacked (right before, and not yet what is wanted)
    perturbation           mean share of words changed, over successes
    perturbation_all       the paper's: over all texts; a failed attack counts the words of the text it returns, a text
                           that was not attacked counts 0
    optimal                attacks with a proved verdict: success, or that no allowed text succeeds; texts in which
                           nothing can change prove nothing and are left out
    ties                   attacks that end within the victim's arithmetic noise of a flipped label, and do not count
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
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discotext.experiment.work import SUCCESS, Record
from discotext.intervals import bootstrap, wilson

# What figures are made of: some hundred bytes, where a record has two thousand.
LINE = np.dtype(
    [("budget", object), ("solver", object), ("space", "S16")]
    + [(name, np.int64) for name in ("id", "changes", "words", "forwards", "backwards")]
    + [(name, np.int64) for name in ("looked_at", "changeable", "candidates", "unknown_swaps")]
    + [(name, np.float64) for name in ("seconds", "victim_seconds")]
    + [
        (name, np.bool_)
        for name in ("right_before", "right_after", "tried", "won", "proved", "failed", "tied", "fixed")
    ]
)
Lines = NDArray[np.void]


def succeeded(record: Record) -> bool:
    return record["status"] in SUCCESS


def attacked(record: Record) -> bool:
    return record["status"] != "misclassified" and record["space"] is not None


def line_of(row: Record) -> tuple[Any, ...]:
    """A record as a line of a tally."""
    # Where the victim failed, nothing is known to have changed; and a tie is for the defender.
    tied = bool(row.get("tied", False))
    after = row["predicted"] if row["status"] == "failed" or tied else row["adversarial_predicted"]
    # Names that were read from a file are new strings in every record; one of each is enough.
    names = sys.intern(_budget_of(row)), sys.intern(row["solver"])
    counts = row["id"], len(row["changes"]), row["words"], row["forwards"], row["backwards"]
    # Nobody has looked for candidates where a worker died, or in runs of earlier versions.
    changeable = row.get("changeable")
    looked_at = 0 if changeable is None else row["words"]
    covered = looked_at, changeable or 0, row.get("candidates") or 0, row.get("unknown_swaps", 0)
    tried = attacked(row)
    won = tried and succeeded(row)
    shares = row["predicted"] == row["label"], after == row["label"], tried, won
    proved = tried and (won or row["status"] == "impossible")
    times = row["seconds"], row["victim_seconds"]
    space = (row["space"] or "").encode("utf-8", "surrogatepass")
    fixed = changeable is not None and (row["budget"] == 0 or changeable == 0)
    return (*names, space, *counts, *covered, *times, *shares, proved, row["status"] == "failed", tied, fixed)


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
    """The records of a run, counted in as they come: their lines, and the error of the first that failed.

    refused: candidates that each filter refused, by budget and solver.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.error: str | None = None
        self.refused: dict[tuple[str, str], Counter[str]] = {}
        self._parts = [lines_of(())]

    def add(self, records: Sequence[Record]) -> None:
        self._parts.append(lines_of(records))
        for row in records:
            self.refused.setdefault((_budget_of(row), row["solver"]), Counter()).update(row.get("refused", {}))
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
        return [self._summary(number, budget) for number, budget in enumerate(self.settings["budgets"])]

    def _summary(self, number: int, budget: str) -> dict[str, Any]:
        settings = self.settings
        mine = _only(self.lines, "budget", budget)
        by_solver = {name: _only(mine, "solver", name) for name in settings["solvers"]}
        # Every solver is given the same texts and candidates; one that has begun tells of them.
        first = next((name for name, rows in by_solver.items() if len(rows)), "")
        return {
            "victim": settings["victim"],
            "data": settings["data"],
            "seed": settings["seed"],
            "n": len(np.unique(mine["id"])),
            "budget": _number(budget),
            "space": space_of(mine),
            **coverage(by_solver.get(first, mine), self.refused.get((budget, first), Counter())),
            "solvers": {name: figures(rows, settings["seed"] + number) for name, rows in by_solver.items()},
            "version": settings["version"],
        }

    def turned(self, budget: float | int, solver: str) -> dict[int, bool]:
        """Which texts a solver turned under a budget, as a summary calls it, and which it did not."""
        mine = self.lines[self.lines["solver"] == solver]
        rows = zip(mine["id"].tolist(), mine["won"].tolist(), mine["budget"], strict=True)
        return {number: won for number, won, under in rows if _number(under) == budget}


def summaries(settings: dict[str, Any], records: Iterable[Record]) -> list[dict[str, Any]]:
    """One object for each budget, with the figures of every solver."""
    tally = Tally(settings)
    tally.add(list(records))
    return tally.summaries


def coverage(rows: Lines, refused: Counter[str]) -> dict[str, Any]:
    """How much of the texts can change at all, and which filters refused the rest; from the lines of one solver."""
    words, changeable = int(rows["looked_at"].sum()), int(rows["changeable"].sum())
    return {
        "changeable_words": changeable / words if words else None,
        "candidates": int(rows["candidates"].sum()),
        "candidates_per_word": int(rows["candidates"].sum()) / changeable if changeable else None,
        "unchangeable_texts": int(rows["fixed"].sum()),
        "refused": dict(refused.most_common()),
    }


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
        "optimal": _plain_mean(rows["proved"][tried & ~rows["fixed"]]),
        "ties": int(rows["tied"].sum()),
        "swaps": int(rows["changes"][won].sum()),
        "unknown_swaps": int(rows["unknown_swaps"][won].sum()),
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
