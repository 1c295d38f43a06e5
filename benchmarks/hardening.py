"""What adversarial training buys: accuracy before and after, under the attack it was trained for and under others.

    python -m benchmarks.hardening [--only NAME] [--texts N]          needs DISCOTEXT_DATA

Networks are trained plainly and with `adversarial=0.5` on the published neighbour lists of Jia et al. (2019), without
filters, 20 % of the words; the best epoch is chosen on held-out training texts, and test texts are touched once. There
are three attacks by the strongest solver: the same lists and budget, twice the budget, the package's own candidates.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import discotext
from benchmarks.results_file import RESULTS, provenance, show
from discotext.data.registry import load_split
from discotext.experiment.summary import mcnemar
from discotext.text.candidates import Candidates, make_candidates
from discotext.victims.neural.train_victim import load_default_vectors, make_settings
from discotext.victims.neural.training import count_correct, train

PUBLISHED = "jia2019_counterfitted_neighbors.json"
CELLS = [
    ("trec", "dan", None),
    ("trec", "wcnn", None),
    ("trec", "lstm", None),
    ("ag_news", "dan", 30_000),
    ("ag_news", "wcnn", 30_000),
]
WEIGHTS = (0.0, 0.5)
SHARE = 0.2


def list_attacks() -> dict[str, tuple[Candidates, float]]:
    lists = Path(os.environ["DISCOTEXT_DATA"]) / "neighbours" / PUBLISHED
    published = make_candidates(synonyms=[lists], without=["all"])
    return {"same": (published, SHARE), "twice": (published, 2 * SHARE), "default": (make_candidates(), SHARE)}


def run_cell(data: str, kind: str, limit: int | None, texts: int) -> list[dict[str, Any]]:
    training, testing = load_split(data, "train"), load_split(data, "test")
    training = training if limit is None else training.sample(limit, 0)
    vectors, _ = load_default_vectors()
    attacks = list_attacks()
    rows: list[dict[str, Any]] = []
    kept: dict[str, Any] = {}
    for weight in WEIGHTS:
        chosen = {"kind": kind, "adversarial": weight, "share": SHARE, "precise": False}
        settings = make_settings({**chosen, "epochs": 6 if limit else None}, len(training))
        began = time.perf_counter()
        victim, state = train(training, vectors, settings, candidates=attacks["same"][0])
        seconds = (time.perf_counter() - began) / max(len(state.history), 1)
        row: dict[str, Any] = {"data": data, "kind": kind, "weight": weight, "texts": texts}
        row |= {"clean": count_correct(victim, testing) / len(testing), "seconds_per_epoch": seconds}
        for name, (finder, share) in attacks.items():
            found = discotext.attack(
                victim, testing, "disco-high", budget=share, candidates=finder, limit=texts, seed=5
            )
            (figures,) = found.summary.solvers.values()
            assert figures.adversarial_accuracy is not None
            row[name] = float(figures.adversarial_accuracy)
            row[f"{name}_interval"] = [figures.adversarial_accuracy.low, figures.adversarial_accuracy.high]
            if name in kept:
                row[f"{name}_p"] = mcnemar(kept[name], found.records)
            kept[name] = found.records
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--texts", type=int, default=300)
    given = parser.parse_args()
    file = RESULTS / "hardening.jsonl"
    known = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    for data, kind, limit in CELLS:
        if given.only in f"{data}-{kind}":
            rows = run_cell(data, kind, limit, given.texts)
            known = [row for row in known if (row["data"], row["kind"]) != (data, kind)]
            known += [{**row, **provenance()} for row in rows]
            file.write_text("".join(json.dumps(row) + "\n" for row in known))
            show("hardening", rows)


if __name__ == "__main__":
    main()
