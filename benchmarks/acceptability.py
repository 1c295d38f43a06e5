"""What people say of the swaps that each scorer offers, on documents that took no part in its fit.

    python -m benchmarks.acceptability          needs DISCOTEXT_DATA with the folder swords/

`results/acceptability.tsv` has, for targets of SWORDS, the candidates that pass the filters and the probability that
each scorer gives them when fitted without the target's document (five folds by document; `python -m scripts.scorer`).
This script looks up what people said. A swap is acceptable if more than half of up to ten people accept it; offers that
nobody judged are left out of shares, and count as wrong in F10, the benchmark's own figure.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.results_file import PICTURES, RESULTS, save, show
from discotext.support.intervals import wilson

FILE = RESULTS / "acceptability.tsv"
SCORERS = ("light", "encoder", "full")
LEVELS = (0.3, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8)
PER_WORD, TOP = 8, 10
Judged = Mapping[str, float]


def read_judgements(folder: Path) -> dict[str, tuple[str, Judged]]:
    """For each target, its part of speech and the share of people who accept each substitute."""
    found: dict[str, tuple[str, dict[str, float]]] = {}
    for part in ("dev", "extra"):
        with gzip.open(folder / "swords" / f"swords-v1.1_{part}.json.gz", "rt", encoding="utf-8") as file:
            data = json.load(file)
        found |= {target: (about["pos"], {}) for target, about in data["targets"].items()}
        for number, substitute in data["substitutes"].items():
            labels = data["substitute_labels"][number]
            yes = sum(label in ("TRUE", "TRUE_IMPLICIT") for label in labels) / len(labels)
            found[substitute["target_id"]][1][substitute["substitute"].lower()] = yes
    return dict(found)


def read_offers(scorer: str) -> dict[str, list[tuple[str, float]]]:
    """For each target, its candidates with their probabilities, best first."""
    offers = defaultdict(list)
    with FILE.open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            offers[row["target"]].append((row["candidate"], float(row[scorer])))
    return {target: sorted(pairs, key=lambda pair: -pair[1]) for target, pairs in offers.items()}


def measure(
    judged: Mapping[str, tuple[str, Judged]], offers: Mapping[str, list[tuple[str, float]]], level: float
) -> dict[str, Any]:
    """What a level of acceptance gives."""
    words = offered = right = wanted = top_right = top_offered = 0
    promised, facts = [], []
    for target, (_, people) in judged.items():
        kept = [pair for pair in offers.get(target, []) if pair[1] >= level]
        words += bool(kept)
        offered += len(kept[:PER_WORD])
        for candidate, chance in kept[:PER_WORD]:
            if candidate in people:
                promised.append(chance)
                facts.append(people[candidate] > 0.5)
        good = {word for word, share in people.items() if share > 0.5}
        wanted += min(TOP, len(good))
        top_right += len(good & {candidate for candidate, _ in kept[:TOP]})
        top_offered += len(kept[:TOP])
    right = sum(facts)
    low, high = wilson(right, len(facts))
    precision, recall = top_right / max(top_offered, 1), top_right / wanted
    return {
        "accept": level,
        "words": words / len(judged),
        "per word": offered / len(judged),
        "judged": len(facts),
        "acceptable": right / max(len(facts), 1),
        "low": low,
        "high": high,
        "promised": float(np.mean(promised)) if promised else None,
        "F10": 2 * precision * recall / max(precision + recall, 1e-9),
    }


def calibrate(judged: Mapping[str, tuple[str, Judged]], scorer: str) -> list[dict[str, Any]]:
    """Of swaps in each tenth of probability, how many are acceptable."""
    pairs = [
        (chance, judged[target][1][candidate] > 0.5)
        for target, listed in read_offers(scorer).items()
        for candidate, chance in listed
        if candidate in judged[target][1]
    ]
    chances, facts = np.array([one for one, _ in pairs]), np.array([fact for _, fact in pairs])
    rows = []
    for tenth in range(1, 9):
        inside = (chances >= tenth / 10) & (chances < (tenth + 1) / 10)
        if inside.sum() >= 10:
            low, high = wilson(int(facts[inside].sum()), int(inside.sum()))
            row = {"from": tenth / 10, "n": int(inside.sum()), "promised": float(chances[inside].mean())}
            rows.append(row | {"fact": float(facts[inside].mean()), "low": low, "high": high})
    return rows


def by_part(judged: Mapping[str, tuple[str, Judged]], scorer: str, level: float) -> list[dict[str, Any]]:
    """The same by part of speech."""
    offers = read_offers(scorer)
    rows = []
    for part in ("NOUN", "VERB", "ADJ", "ADV"):
        mine = {target: about for target, about in judged.items() if about[0] == part}
        rows.append({"part": part, "targets": len(mine), **measure(mine, offers, level)})
    return rows


def draw(curves: Mapping[str, list[dict[str, Any]]]) -> None:
    """The calibration curves as a picture."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 4.2))
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for name, rows in curves.items():
        x = [row["promised"] for row in rows]
        y = [row["fact"] for row in rows]
        spread = [[row["fact"] - row["low"] for row in rows], [row["high"] - row["fact"] for row in rows]]
        axes.errorbar(x, y, yerr=spread, marker="o", markersize=4, capsize=2, linewidth=1, label=name)
    axes.set_xlabel("probability that the scorer gives")
    axes.set_ylabel("share acceptable to most people")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(PICTURES / "calibration.png", dpi=120)


def main() -> None:
    named = os.environ.get("DISCOTEXT_DATA")
    if not named:
        raise SystemExit("DISCOTEXT_DATA is not set; set it to the folder that contains swords/")
    judged = read_judgements(Path(named))
    rows: list[dict[str, Any]] = []
    for scorer in SCORERS:
        offers = read_offers(scorer)
        rows += [{"what": "level", "scorer": scorer, **measure(judged, offers, level)} for level in LEVELS]
        permissive = max(
            (measure(judged, offers, level) for level in np.arange(0.1, 0.5, 0.02)), key=lambda one: one["F10"]
        )
        rows.append({"what": "F10", "scorer": scorer, **permissive, "accept": round(float(permissive["accept"]), 2)})
        rows += [{"what": "part", "scorer": scorer, **one} for one in by_part(judged, scorer, 0.5)]
    curves = {scorer: calibrate(judged, scorer) for scorer in SCORERS}
    rows += [{"what": "calibration", "scorer": scorer, **row} for scorer, listed in curves.items() for row in listed]
    save("acceptability", rows)
    draw(curves)
    shown = ("scorer", "accept", "words", "per word", "acceptable", "promised", "F10")
    show("On documents left out", [{key: row[key] for key in shown} for row in rows if row["what"] == "level"])


if __name__ == "__main__":
    main()
