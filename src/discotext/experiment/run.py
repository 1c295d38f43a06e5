"""A run folder, read and checked, so that whatever comes after can trust it.

A folder may be half written, edited by hand, or of another program altogether. Here that ends in one sentence; further
on it would end in a wrong page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from discotext.experiment.certificate import Certificate, make_certificates, take_back
from discotext.experiment.classes import list_classes
from discotext.experiment.quality import add_quality
from discotext.experiment.record import Record, check_value
from discotext.experiment.run_folder import CHECKSUM, read_lines, read_settings
from discotext.experiment.summary import Summary, summarise_run

SETTINGS = {
    "version": str, "victim": str, "labels": list, "data": str, "n": int, "solvers": dict, "budgets": list,
    "seed": int, "chunk": int, "shard": str,
}  # fmt: skip
LEVEL = r"[01]|0\.[0-9]{1,99}|[0-9]E-[0-9]{1,9}"
SHARE = r"[01]|[01]?\.[0-9]{1,99}|[0-9](\.[0-9]{1,99})?e-[0-9]{1,18}"
BUDGET = re.compile(rf"([0-9]{{1,18}} words|{SHARE})(, accept ({LEVEL}))?")
SHARD = re.compile(r"[1-9][0-9]{0,8}/[1-9][0-9]{0,8}")


@dataclass(frozen=True)
class Run:
    """Settings and records of a run.

    expected: how many records it will have when it is finished.
    judges: the models that judged its texts, whose measures its records then have (see `experiment.quality`).
    """

    settings: dict[str, Any] = field(repr=False)
    records: list[Record] = field(repr=False)
    expected: int
    judges: dict[str, str] = field(default_factory=dict)

    @cached_property
    def summaries(self) -> list[Summary]:
        """One for each budget."""
        return add_quality(summarise_run(self.settings, self.records), self.records, self.judges)

    @cached_property
    def certificates(self) -> list[Certificate]:
        """For each budget that was asked about, what is proved; empty for runs that only attacked."""
        return make_certificates(self.settings, self.records)

    @cached_property
    def begun(self) -> list[tuple[str, Summary]]:
        """Budgets, as the settings write them, with the figures of the solvers that have records already."""
        found = []
        for budget, summary in zip(self.settings["budgets"], self.summaries, strict=True):
            rows = {name: row for name, row in summary.solvers.items() if row.original_accuracy is not None}
            if rows:
                found.append((budget, replace(summary, solvers=rows)))
        return found

    @property
    def labels(self) -> list[str]:
        """The names of the classes."""
        return list(list_classes(self.settings))

    def label(self, number: int | None) -> str:
        """The name of a class; a victim that failed named none."""
        return "–" if number is None else self.labels[number]

    def select(self, budget: str, solver: str) -> list[Record]:
        """The records of one solver under one budget."""
        return [row for row in self.records if row.solver == solver and str(row.run_budget) == budget]

    def only(self, solvers: Sequence[str]) -> Run:
        """The same run, restricted to some of its solvers."""
        known = self.settings["solvers"]
        names = [name if name in known else name.replace("_", "-") for name in solvers]
        for name in names:
            if name not in known:
                raise ValueError(f"the run has no solver {name!r}; choose from {', '.join(known)}")
        kept = {name: how for name, how in known.items() if name in names}
        records = [row for row in self.records if row.solver in kept]
        if not records:
            raise ValueError(f"the run has no records of {' and '.join(kept)} yet")
        expected = self.expected * len(kept) // len(known)
        return replace(self, settings={**self.settings, "solvers": kept}, records=records, expected=expected)


def read_run(path: str | Path, empty: bool = False) -> Run:
    """The run in a folder, in the order of its texts; ValueError if there is none. empty: it may have no records.

    Proofs about a victim that contradicts itself are taken back.
    """
    settings = load_settings(path)
    records = take_back(sorted(read_all(path, settings), key=lambda record: record.id))
    if not records and not empty:
        raise ValueError(f"{path} has no records yet: records.jsonl is empty; has the run started?")
    return Run(settings, records, count_expected(settings))


def load_settings(path: str | Path) -> dict[str, Any]:
    """The settings of the run in a folder, checked."""
    settings = read_settings(path)
    trouble = _check_types(settings) or _check_settings(settings)
    if trouble:
        where = Path(path) / "settings.json"
        raise ValueError(f"{where} is not the settings of a run: {trouble}; give a folder that --out made")
    return settings


def read_all(path: str | Path, settings: dict[str, Any]) -> Iterator[Record]:
    """The records of a run; ValueError if it had finished and some are missing."""
    count = 0
    for record in read_records(path, settings):
        count += 1
        yield record
    if count < count_expected(settings) and (Path(path) / "summary.json").exists():
        raise ValueError(
            f"{Path(path) / 'records.jsonl'} has {count:,} of {count_expected(settings):,} records, though the run had "
            "finished: lines are missing; restore the file from a copy, or run the same command again"
        )


def read_records(path: str | Path, settings: dict[str, Any]) -> Iterator[Record]:
    """The records of a run, one at a time, each checked; ValueError names the first line that is wrong."""
    seen = set()
    for number, raw in enumerate(read_lines(path, settings.get("checksum") == CHECKSUM), start=1):
        try:
            record = Record.from_dict(raw)
            check_record(record, settings)
            # As numbers, for every record has strings of its own, which would all be kept.
            budget = str(record.run_budget)
            which = list(settings["solvers"]).index(record.solver), settings["budgets"].index(budget)
            if (record.id, *which) in seen:
                raise ValueError(f"text {record.id} has a record of {record.solver} under {budget} already")
            seen.add((record.id, *which))
        except ValueError as error:
            where = f"{Path(path) / 'records.jsonl'}, line {number}"
            raise ValueError(f"{where}: not a record of this run: {error}") from None
        yield record


def count_expected(settings: dict[str, Any]) -> int:
    """Texts of this shard, times budgets, times solvers."""
    part, parts = map(int, settings["shard"].split("/"))
    n, chunk = int(settings["n"]), int(settings["chunk"])
    chunks = -(-n // chunk)
    mine = max(0, -(-(chunks - part + 1) // parts))
    # All chunks are full but the last of all, if it is ours.
    texts = mine * chunk - (chunks * chunk - n if mine and (chunks - part) % parts == 0 else 0)
    return texts * len(settings["budgets"]) * len(settings["solvers"])


def _check_types(settings: dict[str, Any]) -> str | None:
    """What is wrong with the types of settings."""
    for key, kind in SETTINGS.items():
        if key not in settings:
            return f"there is no {key!r}"
        if kind in (list, dict):
            if not isinstance(settings[key], kind):
                return f"{key!r} is {str(settings[key])[:40]!r}"
        elif trouble := check_value(key, settings[key], kind.__name__):
            return trouble
    return None


def _check_settings(settings: dict[str, Any]) -> str | None:
    """What is wrong with settings whose types are right."""
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
    proof = settings.get("certify")
    if proof is not None and not _is_proof(proof):
        return f"'certify' is {str(proof)[:40]!r}"
    target = settings.get("target")
    if target is not None and (not isinstance(target, int) or not 0 <= target < len(settings["labels"])):
        return f"'target' is {str(target)[:40]!r}"
    return None


def _is_proof(given: Any) -> bool:
    """Whether this says how much was to be spent on proofs, and under which budgets."""
    if not isinstance(given, dict) or not isinstance(given.get("passes"), int):
        return False
    budgets = given.get("budgets")
    if not isinstance(budgets, list) or not budgets:
        return False
    return all(isinstance(budget, str) and BUDGET.fullmatch(budget) for budget in budgets)


def check_record(record: Record, settings: dict[str, Any]) -> None:
    """Raise ValueError if a record contradicts itself or the settings of its run."""
    for key, value, known in (
        ("solver", record.solver, settings["solvers"]),
        ("budget", str(record.run_budget), settings["budgets"]),
    ):
        if value not in known:
            raise ValueError(f"its {key} {value[:40]!r} is not one of the run's")
    classes = len(settings["labels"])
    for key, number in (
        ("label", record.label),
        ("predicted", record.predicted),
        ("adversarial_predicted", record.adversarial_predicted),
    ):
        if number is not None and not 0 <= number < classes:
            raise ValueError(f"{key!r} is {number}, but there are {classes} classes")
    if record.space is not None and not 0 < len(record.space.encode("utf-8", "surrogatepass")) <= 16:
        raise ValueError(f"'space' is {record.space[:40]!r}, expected 16 digits")
    for change in record.changes:
        if record.text[change.start : change.end] != change.old or change.position >= record.words:
            raise ValueError(f"{change.old[:40]!r} is not in the text where its change says")
    if record.succeeded and not record.changes:
        raise ValueError("it was flipped without a change")
    if record.succeeded and record.adversarial_predicted in (None, record.label):
        raise ValueError("it is a success, but its last prediction is not a flipped label")
