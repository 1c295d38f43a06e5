"""Accuracy of trained victims, collected from the folders that `discotext train` wrote.

for data in imdb ag_news trec movie_reviews; do discotext train $data --out victims/lstm_$data; done
python -m benchmarks.training victims/lstm_*
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.results_file import save, show

KEYS = ("model", "data", "train_rows", "test_rows", "test_accuracy", "test_accuracy_low", "test_accuracy_high")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("victims", nargs="+", type=Path)
    rows = []
    for folder in parser.parse_args().victims:
        settings = json.loads((folder / "settings.json").read_text())
        kind = {"model": settings["model"]["kind"]}
        rows.append({**{key: settings.get(key) for key in KEYS}, **kind, "seconds": settings["seconds"]})
    save("training", rows)
    show("Trained victims", rows)


if __name__ == "__main__":
    main()
