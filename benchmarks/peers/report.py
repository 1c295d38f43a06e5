"""Verify every record of a run, and write one row of results per cell and search.

    python -m benchmarks.peers.report --out peers-run --victims victims

    peers.jsonl         one object per row, with its provenance
    peers_texts.jsonl   one object per text and cell: for each search, whether the attack succeeded, the number of
                        changed words, passes and seconds, so that searches can be compared text by text

Tables and plots are made from these two files only (`benchmarks.peers.tables`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.cells import CELLS, Cell, Search
from benchmarks.peers.records import Folder, Key, Record
from benchmarks.peers.verify import tell, verdicts
from benchmarks.results_file import RESULTS
from discotext.support.intervals import wilson

LSTM_GRADIENT = 4.2  # cost of a gradient in forward passes, if `benchmarks.throughput` has not measured the victim


def gradient_cost(victim: str, results: Path = RESULTS) -> float:
    """Cost of a gradient in forward passes of the bare model, as measured by `benchmarks.throughput`."""
    path = results / "throughput.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    speed = {row["call"]: row["bare texts/s"] for row in rows if row["victim"] == victim.rpartition(":")[2]}
    return speed["score"] / speed["relaxed"] if {"score", "relaxed"} <= speed.keys() else LSTM_GRADIENT


def row(cell: Cell, search: Search, records: Sequence[Record], wrong: int) -> dict[str, Any]:
    """The figures of one search in one cell. Counts and seconds are totals over all texts."""
    n = len(records)
    right = [record for record in records if record["predicted"] == record["label"]]
    won = [record for record in right if record["broken"]]
    low, high = wilson(len(right) - len(won), n)
    total = {
        name: sum(record[name] for record in records)
        for name in ("forwards", "backwards", "reached", "seconds", "cpu_seconds", "victim_seconds")
    }
    return {
        "cell": cell.name,
        "data": cell.data,
        "victim": cell.victim,
        "budget": cell.budget,
        "search": search.name,
        "n": n,
        "attacked": len(right),
        "original_accuracy": len(right) / n,
        "adversarial_accuracy": (len(right) - len(won)) / n,
        "adversarial_accuracy_low": low,
        "adversarial_accuracy_high": high,
        "perturbation": mean([record["changes"] / record["words"] for record in won]),
        "words_changed": mean([record["changes"] for record in won]),
        **total,
        "forward_equivalents": total["forwards"] + (gradient_cost(cell.victim) - 1) * total["backwards"],
        "failed": sum("error" in record for record in records),
        "verified": wrong == 0,
    }


def rows(folder: Folder, records: Mapping[Key, Record], found: Mapping[Key, str]) -> list[dict[str, Any]]:
    """One row per cell and search of a run, with machine, versions and date of its last session."""
    sessions, settings = folder.sessions(), folder.settings
    out = []
    for cell in CELLS.values():
        for search in cell.searches:
            mine = {key: record for key, record in records.items() if key[:2] == (cell.name, search.name)}
            if not mine:
                continue
            wrong = sum(bool(found[key]) for key in mine)
            about = sessions[max(record["session"] for record in mine.values())]
            versions = {**about["versions"], **({"peer": about["peer_versions"]} if search.peer else {})}
            origin = {key: about.get(key) for key in ("machine", "date", "commit")} | {"versions": versions}
            out.append({**row(cell, search, list(mine.values()), wrong), **settings, **origin})
    return out


def texts(records: Mapping[Key, Record]) -> list[dict[str, Any]]:
    """One row per cell and text, with the result of every search."""
    out: dict[tuple[str, int], dict[str, Any]] = {}
    for record in records.values():
        about = {name: record[name] for name in ("cell", "id", "words", "budget", "candidates", "space")}
        about["right"] = record["predicted"] == record["label"]
        line = out.setdefault((record["cell"], record["id"]), {**about, "searches": {}})
        # Results in different search spaces cannot be compared.
        if line["space"] != record["space"]:
            raise ValueError(
                f"text {record['id']} of {record['cell']} was attacked in two search spaces; has the victim or the "
                "data changed? Start again in another folder"
            )
        passes = record["forwards"] + record["backwards"]
        made = [int(record["broken"]), record["changes"], passes, float(f"{record['seconds']:.4g}")]
        line["searches"][record["search"]] = made
    return list(out.values())


def mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("peers-run"))
    parser.add_argument("--victims", type=Path, default=Path("victims"))
    parser.add_argument(
        "--results", type=Path, help="folder for the results [default: benchmarks/results for a run on test texts]"
    )
    options = parser.parse_args()
    folder = Folder(options.out)
    try:
        # Texts used for tuning give no results.
        results = options.results or (RESULTS if folder.settings["split"] == "test" else options.out)
        records = folder.records()  # read once: a run may be in progress
        found = verdicts(records, folder.settings["split"], options.victims)
        write(results / "peers.jsonl", rows(folder, records, found))
        write(results / "peers_texts.jsonl", texts(records))
    except ValueError as error:
        raise SystemExit(str(error)) from None
    sys.exit(1 if tell(found) else 0)


if __name__ == "__main__":
    main()
