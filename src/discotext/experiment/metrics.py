"""What records say together, as the paper defines it and with intervals.

    original_accuracy      texts the victim got right before
    adversarial_accuracy   texts it still gets right after
    success_rate           attacks that succeeded, of the texts attacked (right before, and not yet what is wanted)
    perturbation           mean share of words changed, over successes
    perturbation_all       the paper's: over all texts; a failed attack counts the words of the text it returns, a text
                           that was not attacked counts 0
    optimal                attacks with a proved verdict: success, or that no allowed text succeeds

Shares have Wilson's 95 % interval, means a bootstrap's; a mean over nothing is None.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from math import comb
from typing import Any

import numpy as np

from discotext.experiment.work import Record
from discotext.intervals import bootstrap, wilson

NOT_ATTACKED = ("misclassified", "failed")
SUCCESS = ("reached", "fewest")


def succeeded(record: Record) -> bool:
    return record["status"] in SUCCESS


def attacked(record: Record) -> bool:
    return record["status"] != "misclassified" and record["space"] is not None


def summarise(records: Iterable[Record], seed: int = 0) -> dict[str, Any]:
    """The figures of one solver under one budget."""
    rows = list(records)
    tried = [row for row in rows if attacked(row)]
    won = [row for row in tried if succeeded(row)]
    right_before = [row["predicted"] == row["label"] for row in rows]
    # Where the victim failed, nothing is known to have changed.
    right_after = [(row["predicted"] if row["status"] == "failed" else row["adversarial_predicted"]) == row["label"]
                   for row in rows]  # fmt: skip
    proved = [succeeded(row) or row["status"] == "impossible" for row in tried]
    return {
        **_share("original_accuracy", right_before),
        **_share("adversarial_accuracy", right_after),
        **_share("success_rate", [succeeded(row) for row in tried]),
        **_mean("perturbation", [len(row["changes"]) / row["words"] for row in won], seed),
        **_mean("perturbation_all", [len(row["changes"]) / max(row["words"], 1) for row in rows], seed),
        "words_changed": _plain_mean([len(row["changes"]) for row in won]),
        "forwards": sum(row["forwards"] for row in rows),
        "backwards": sum(row["backwards"] for row in rows),
        "seconds": sum(row["seconds"] for row in rows),
        "victim_seconds": sum(row["victim_seconds"] for row in rows),
        "optimal": _plain_mean([float(value) for value in proved]),
        "attacked": len(tried),
        "failed": sum(row["status"] == "failed" for row in rows),
    }


def _share(name: str, values: Sequence[bool]) -> dict[str, float | None]:
    if not values:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    low, high = wilson(sum(values), len(values))
    return {name: sum(values) / len(values), f"{name}_low": low, f"{name}_high": high}


def _mean(name: str, values: Sequence[float], seed: int) -> dict[str, float | None]:
    if not values:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    low, high = bootstrap(values, seed)
    return {name: float(np.mean(values)), f"{name}_low": low, f"{name}_high": high}


def _plain_mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def space_of(records: Iterable[Record]) -> str:
    """A name for the search space of a run: that of every text together, the same for every solver."""
    spaces = {(row["id"], row["space"]) for row in records if row["space"] is not None}
    text = "\n".join(f"{number} {space}" for number, space in sorted(spaces))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def summaries(settings: dict[str, Any], records: Sequence[Record], seed: int = 0) -> list[dict[str, Any]]:
    """One object for each budget, with the figures of every solver."""
    found = []
    for number, budget in enumerate(settings["budgets"]):
        mine = [row for row in records if _budget_of(row) == budget]
        found.append(
            {
                "victim": settings["victim"],
                "data": settings["data"],
                "seed": settings["seed"],
                "n": len({row["id"] for row in mine}),
                "budget": _number(budget),
                "space": space_of(mine),
                "solvers": {
                    name: summarise([row for row in mine if row["solver"] == name], seed + number)
                    for name in settings["solvers"]
                },
                "version": settings["version"],
            }
        )
    return found


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
    pairs = [(succeeded(row), other[row["id"]]) for row in first if row["id"] in other]
    only_first = sum(a and not b for a, b in pairs)
    n = only_first + sum(b and not a for a, b in pairs)
    if n == 0:
        return 1.0
    tail = sum(comb(n, k) for k in range(min(only_first, n - only_first) + 1)) / 2**n
    return float(min(1.0, 2 * tail))
