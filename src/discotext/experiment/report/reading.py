"""A run folder, read and checked, so that whatever comes after can trust it.

A folder may be half written, edited by hand, or of another program altogether. Here that ends in one sentence; further
on it would end in a page that is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from discotext.experiment.folder import read_records, read_settings
from discotext.experiment.lines import CHECKSUM
from discotext.experiment.metrics import succeeded, summaries
from discotext.experiment.quality import with_quality
from discotext.experiment.work import Record

Summary = dict[str, Any]
SETTINGS = {"version": str, "victim": str, "labels": list, "data": str, "n": int, "solvers": dict, "budgets": list,
            "seed": int, "chunk": int, "shard": str}  # fmt: skip
NUMBER = (int, float, type(None))
CLASS = (int, type(None))
RECORD: dict[str, Any] = {
    "id": int, "text": str, "label": int, "predicted": CLASS, "adversarial_text": str, "adversarial_predicted": CLASS,
    "score": NUMBER, "adversarial_score": NUMBER, "changes": list, "words": int, "budget": int, "status": str,
    "solver": str, "seed": int, "space": (str, type(None)), "forwards": int, "backwards": int, "seconds": NUMBER[:2],
    "victim_seconds": NUMBER[:2], "share": (str, type(None)), "allowed": CLASS,
}  # fmt: skip
MAY_HAVE: dict[str, Any] = {
    "unit": int, "error": (str, type(None)), "tied": bool, "tolerance": NUMBER[:2], "changeable": CLASS,
    "candidates": CLASS, "refused": dict, "unknown_swaps": int,
}  # fmt: skip
CHANGE = {"position": int, "start": int, "end": int, "old": str, "new": str}
COUNTS = {"n", "unit", "seed", "id", "words", "budget", "forwards", "backwards", "seconds", "victim_seconds",
          "position", "start", "end", "tolerance", "changeable", "candidates", "unknown_swaps"}  # fmt: skip
LARGEST = 2**63  # what is beyond is no figure of a run
BUDGET = re.compile(r"[0-9]{1,18} words|[01]|[01]?\.[0-9]{1,99}|[0-9](\.[0-9]{1,99})?e-[0-9]{1,18}")
SHARD = re.compile(r"[1-9][0-9]{0,8}/[1-9][0-9]{0,8}")


@dataclass(frozen=True)
class Run:
    """Settings and records of a run.

    expected: how many records it will have when it is finished.
    judges: the models that judged its texts, whose measures its records then have (see `experiment.quality`).
    """

    settings: dict[str, Any]
    records: list[Record]
    expected: int
    judges: dict[str, str] = field(default_factory=dict)

    @cached_property
    def summaries(self) -> list[Summary]:
        """The objects of `--json`, one for each budget."""
        found = summaries(self.settings, self.records)
        return with_quality(found, self.records, self.judges)

    @cached_property
    def begun(self) -> list[tuple[str, Summary]]:
        """Budgets, as the settings write them, with the figures of the solvers that have records already."""
        found = []
        for budget, summary in zip(self.settings["budgets"], self.summaries, strict=True):
            rows = {name: row for name, row in summary["solvers"].items() if row["original_accuracy"] is not None}
            if rows:
                found.append((budget, {**summary, "solvers": rows}))
        return found

    @property
    def labels(self) -> list[str]:
        return list(map(str, self.settings["labels"]))

    def label(self, number: int | None) -> str:
        """The name of a class; a victim that failed named none."""
        return "–" if number is None else self.labels[number]

    def of(self, budget: str, solver: str) -> list[Record]:
        """The records of one solver under one budget."""
        return [row for row in self.records if row["solver"] == solver and budget_of(row) == budget]

    def only(self, solvers: Sequence[str]) -> Run:
        """The same run, as if it had had these solvers only."""
        known = self.settings["solvers"]
        names = [name if name in known else name.replace("_", "-") for name in solvers]
        for name in names:
            if name not in known:
                raise ValueError(f"the run has no solver {name!r}; choose from {', '.join(known)}")
        kept = {name: how for name, how in known.items() if name in names}
        records = [row for row in self.records if row["solver"] in kept]
        if not records:
            raise ValueError(f"the run has no records of {' and '.join(kept)} yet")
        expected = self.expected * len(kept) // len(known)
        return replace(self, settings={**self.settings, "solvers": kept}, records=records, expected=expected)


def budget_of(row: Record) -> str:
    """The budget a record was made under, as the settings write it."""
    return str(row["share"]) if row["share"] is not None else f"{row['allowed']} words"


def read_run(path: str | Path, empty: bool = False) -> Run:
    """The run in a folder, text after text, or a sentence why there is none. empty: whether it may have no records."""
    settings = checked_settings(path)
    records = sorted(all_records(path, settings), key=lambda record: int(record["id"]))
    if not records and not empty:
        raise ValueError(f"{path} holds no records yet: records.jsonl is empty; has the run begun?")
    return Run(settings, records, _expected(settings))


def checked_settings(path: str | Path) -> dict[str, Any]:
    """The settings of the run in a folder, or one sentence that says what is wrong with them."""
    settings = read_settings(path)
    trouble = _trouble(settings, SETTINGS) or _deeper(settings)
    if trouble:
        where = Path(path) / "settings.json"
        raise ValueError(f"{where} is not of a run: {trouble}; give a folder that --out made")
    return settings


def all_records(path: str | Path, settings: dict[str, Any]) -> Iterator[Record]:
    """The records of a run; a sentence if it was finished and some are gone."""
    count = 0
    for record in checked_records(path, settings):
        count += 1
        yield record
    if count < _expected(settings) and (Path(path) / "summary.json").exists():
        raise ValueError(
            f"{Path(path) / 'records.jsonl'} has {count:,} of {_expected(settings):,} records, though the run was "
            "finished: lines are missing; restore the file from a copy, or run the same command again"
        )


def checked_records(path: str | Path, settings: dict[str, Any]) -> Iterator[Record]:
    """The records of a run, one at a time; a sentence about the first that is not one of it."""
    seen = set()
    with_checksums = settings.get("checksum") == CHECKSUM
    for number, record in enumerate(read_records(path, with_checksums), start=1):
        trouble = _wrong(record, settings)
        if not trouble:
            # As numbers, for every record has strings of its own, which would all be kept.
            budget = budget_of(record)
            which = list(settings["solvers"]).index(record["solver"]), settings["budgets"].index(budget)
            if (record["id"], *which) in seen:
                trouble = f"text {record['id']} has a record of {record['solver']} under {budget} already"
            seen.add((record["id"], *which))
        if trouble:
            raise ValueError(f"{Path(path) / 'records.jsonl'}, line {number}: not a record of this run: {trouble}")
        yield record


def _expected(settings: dict[str, Any]) -> int:
    """Texts of this shard, times budgets, times solvers."""
    part, parts = map(int, settings["shard"].split("/"))
    n, chunk = int(settings["n"]), int(settings["chunk"])
    chunks = -(-n // chunk)
    mine = max(0, -(-(chunks - part + 1) // parts))
    # All chunks are full but the last of all, if it is ours.
    texts = mine * chunk - (chunks * chunk - n if mine and (chunks - part) % parts == 0 else 0)
    return texts * len(settings["budgets"]) * len(settings["solvers"])


def _trouble(given: dict[str, Any], kinds: dict[str, Any]) -> str | None:
    for key, kind in kinds.items():
        if key not in given:
            return f"there is no {key!r}"
        if not isinstance(given[key], kind) or (isinstance(given[key], bool) and kind is not bool):
            return f"{key!r} is {str(given[key])[:40]!r}"
        if isinstance(given[key], int | float) and not abs(given[key]) < LARGEST:  # nor NaN
            return f"{key!r} is {str(given[key])[:40]}"
        if key in COUNTS and given[key] is not None and given[key] < 0:
            return f"{key!r} is {given[key]}, below 0"
    return None


def _deeper(settings: dict[str, Any]) -> str | None:
    """What is wrong with settings whose kinds are right."""
    for key in ("labels", "solvers", "budgets"):
        if not settings[key]:
            return f"{key!r} is empty"
    for budget in settings["budgets"]:
        if not isinstance(budget, str) or not BUDGET.fullmatch(budget) or settings["budgets"].count(budget) > 1:
            return f"a budget is {str(budget)[:40]!r}"
    if settings["chunk"] < 1 or not SHARD.fullmatch(settings["shard"]):
        return f"'chunk' is {settings['chunk']} and 'shard' {settings['shard'][:40]!r}"
    if "classes" in settings and len(settings["classes"] or ()) != len(settings["labels"]):
        return f"'classes' is {str(settings['classes'])[:40]!r}"
    target = settings.get("target")
    if target is not None and (not isinstance(target, int) or not 0 <= target < len(settings["labels"])):
        return f"'target' is {str(target)[:40]!r}"
    return None


def _wrong(record: Any, settings: dict[str, Any]) -> str | None:
    """What is wrong with a record, if anything."""
    if not isinstance(record, dict):
        return "it is no object"
    trouble = _trouble(record, RECORD)
    if trouble:
        return trouble
    for key, known in (("solver", settings["solvers"]), ("budget", settings["budgets"])):
        value = record[key] if key == "solver" else budget_of(record)
        if value not in known:
            return f"its {key} {value[:40]!r} is none of the run's"
    for key in ("label", "predicted", "adversarial_predicted"):
        if record[key] is not None and not 0 <= record[key] < len(settings["labels"]):
            return f"{key!r} is {record[key]}, but there are {len(settings['labels'])} classes"
    if record["space"] is not None and not 0 < len(record["space"].encode("utf-8", "surrogatepass")) <= 16:
        return f"'space' is {record['space'][:40]!r}, expected 16 digits"
    for change in record["changes"]:
        trouble = _trouble(change, CHANGE) if isinstance(change, dict) else "a change is no object"
        if trouble:
            return trouble
        if record["text"][change["start"] : change["end"]] != change["old"] or change["position"] >= record["words"]:
            return f"{change['old'][:40]!r} is not in the text where its change says"
    for key, kind in MAY_HAVE.items():
        if key in record and (trouble := _trouble(record, {key: kind})):
            return trouble
    if not all(isinstance(count, int) and 0 <= count < LARGEST for count in record.get("refused", {}).values()):
        return "'refused' holds what is no count"
    if succeeded(record) and not record["changes"]:
        return "it was flipped without a change"
    if succeeded(record) and record["adversarial_predicted"] in (None, record["label"]):
        return "it is a success, but its last prediction is not a flipped label"
    return None
