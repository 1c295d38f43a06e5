"""Do readers accept the candidates? Draws random sentences of real test data and lists every candidate in context.

    python -m benchmarks.audit draw      writes the pairs of 200 sentences, without verdicts
    python -m benchmarks.audit score     reads the verdicts (1 accepted, 0 rejected) and prints the shares

A reader accepts a pair if the sentence with the candidate is grammatical and natural and has nearly the same meaning.
The file contains only the words around a change, not the data. The sentences are from test sets, on which nothing was
tuned.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import re
from collections import Counter
from pathlib import Path

from benchmarks.results_file import RESULTS
from discotext.support.intervals import wilson
from discotext.text.candidates import Candidates

READ = {"date": "2026-11-16", "commit": "7873326b"}  # when the pairs in the file were judged
FILE = RESULTS / "candidates_audit.tsv"
COLUMNS = ["data", "row", "sentence", "before", "word", "candidate", "after", "verdict"]
SETS = {"imdb": 67, "ag_news": 67, "trec": 66}
CONTEXT = 60  # characters shown on each side


def draw_sentences(folder: Path, seed: int) -> list[tuple[str, int, str]]:
    """(data set, row, sentence): the numbers in SETS of each data set, at most one sentence per row."""
    from pyarrow import parquet

    rng = random.Random(seed)
    found = []
    for name, wanted in SETS.items():
        texts = parquet.read_table(folder / f"{name}_test.parquet")["text"].to_pylist()
        for row in rng.sample(range(len(texts)), wanted):
            parts = [part for part in re.split(r"(?:<br />|(?<=[.!?])\s+)", texts[row]) if len(part.split()) >= 5]
            found.append((name, row, rng.choice(parts) if parts else texts[row]))
    return found


def draw(folder: Path, seed: int) -> None:
    drawn = draw_sentences(folder, seed)
    finder = Candidates()
    rows, words, able = [], 0, 0
    for number, ((name, row, text), found) in enumerate(
        zip(drawn, finder.find([text for _, _, text in drawn]), strict=True)
    ):
        words += len(found)
        for one in found:
            able += bool(one.candidates)
            before, after = text[max(0, one.start - CONTEXT) : one.start], text[one.end : one.end + CONTEXT]
            rows += [[name, row, number, *(" ".join(part.split()) for part in (before, one.word, candidate, after)), ""]
                     for candidate in one.candidates]  # fmt: skip
    with FILE.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter="\t", lineterminator="\n").writerows([COLUMNS, *rows])
    print(json.dumps({"sentences": len(drawn), "words": words, "words with candidates": able, "pairs": len(rows)}))


def shares() -> list[tuple[str, int, float, float, float]]:
    """(data set or "all", pairs, share accepted, lower and upper end of its interval)."""
    with FILE.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    unread = [row for row in rows if row["verdict"] not in ("0", "1")]
    if unread:
        raise SystemExit(f"{len(unread)} of {len(rows)} pairs have no verdict yet; write 1 or 0 in the last column")
    good: Counter[str] = Counter()
    every: Counter[str] = Counter()
    for row in rows:
        for group in ("all", row["data"]):
            every[group] += 1
            good[group] += row["verdict"] == "1"
    return [(group, n, good[group] / n, *wilson(good[group], n)) for group, n in every.items()]


def score() -> None:
    for group, n, share, low, high in shares():
        print(f"{group:8} {n:5} pairs, {100 * share:.1f} % accepted ({100 * low:.1f} to {100 * high:.1f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["draw", "score"])
    parser.add_argument("--seed", type=int, default=2017)
    given = parser.parse_args()
    if given.what == "score":
        return score()
    folder = os.environ.get("DISCOTEXT_DATA")
    if not folder:
        raise SystemExit(
            "DISCOTEXT_DATA is not set; set it to the folder with imdb_test.parquet and the other test sets"
        )
    return draw(Path(folder), given.seed)


if __name__ == "__main__":
    main()
