"""How do the time and memory of an attack grow with the number of texts, their length and their candidates?

    python -m benchmarks.scaling VICTIM                        # texts and shapes, some minutes
    python -m benchmarks.scaling VICTIM --full --out FOLDER    # 100,000 texts; the same command resumes

VICTIM is a folder from `discotext train ag_news`; DISCOTEXT_DATA names the folder with the data.

texts    `discotext attack` from the command line, in a separate process, whose time and peak memory the operating
         system reports. The texts are the training texts of AG News, repeated as needed.
shapes   `solve` without a goal on texts of n words with exactly k − 1 replacements each, so that the problem has n·k
         candidates, under a budget of 5 words, or of 5 % of the words, which grows with n. Growth is linear if the
         slope of log seconds against log n·k is at most 1.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.results_file import PICTURES, RESULTS, provenance, show
from discotext import Candidates, solve
from discotext.core import Untargeted
from discotext.data import load_data
from discotext.solvers import Disco
from discotext.text import Space
from discotext.text.sources import SynonymList
from discotext.text.words import split
from discotext.victims import load_victim

DATA, BUDGET = "ag_news", 0.05
TEXTS, FULL = (1_000, 2_000, 4_000, 8_000), 100_000
LENGTHS, COUNTS = (25, 50, 100, 200, 400, 800), (2, 4, 8, 16, 32)
WORDS, CANDIDATES, CHANGES = 100, 8, 5  # while another of the three grows
CELLS = (
    *(("words", n, CANDIDATES, CHANGES) for n in LENGTHS),
    *(("words and budget", n, CANDIDATES, max(1, round(BUDGET * n))) for n in LENGTHS),
    *(("candidates", WORDS, k, CHANGES) for k in COUNTS),
)
GROWS = tuple(dict.fromkeys(grows for grows, *_ in CELLS))
SAMPLE, ROUNDS = 8, 3

Row = dict[str, Any]


def write_texts(path: Path, number: int) -> None:
    """Write this many training texts in a fixed order, repeated as needed."""
    examples = load_data(DATA, "train")
    order = np.random.default_rng(0).permutation(len(examples))
    new = path.with_suffix(".new")
    with new.open("w", encoding="utf-8") as file:
        for row in np.resize(order, number).tolist():
            label = examples.names[examples.labels[row]]
            file.write(json.dumps({"text": examples.texts[row], "label": label}) + "\n")
    new.replace(path)  # an existing file is always complete


def attack(victim: str, folder: Path, number: int) -> Row:
    """Attack this many texts in a separate process; returns its time and its peak memory."""
    texts, run = folder / f"texts_{number}.jsonl", folder / f"run_{number}"
    if not texts.exists():
        write_texts(texts, number)
    records = run / "records.jsonl"
    before = sum(1 for _ in records.open("rb")) if records.exists() else 0
    options = ["--solver", "disco", "--budget", str(BUDGET), "--out", str(run), "--json"]
    command = [sys.executable, "-m", "discotext", "attack", victim, str(texts), *options]
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"}) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"attacking {number} texts failed with status {child.returncode}")
    return {
        "what": "texts",
        "texts": number,
        "texts done before": before,  # by an interrupted run: the time is that of the rest
        "seconds": time.perf_counter() - began,
        "processor seconds": used.ru_utime + used.ru_stime,
        "peak MiB": used.ru_maxrss / 1024,  # Linux counts KiB
        "MB of records": records.stat().st_size / 1e6,
    }


def shapes(victim: Any) -> list[Row]:
    """Processor seconds per text as the number of words or candidates doubles."""
    read = (word.lower() for text in load_data(DATA, "train").texts for word in split(text).words)
    words = list(islice((word for word in read if word in victim.capabilities.vocabulary), SAMPLE * max(LENGTHS)))
    distinct = sorted(set(words))
    rng = random.Random(0)
    others = {word: [one for one in rng.sample(distinct, max(COUNTS)) if one != word] for word in distinct}
    rows = []
    for grows, n, k, budget in CELLS:
        texts = [" ".join(words[number * n : (number + 1) * n]) for number in range(SAMPLE)]
        lists = {word: found[: k - 1] for word, found in others.items()}
        space = Space.of(texts, Candidates(SynonymList(lists), (), limit=k), words=budget)
        assert space.batch.candidates == SAMPLE * n * k
        oracle = victim.oracle(space, Untargeted(victim.scores(texts).argmax(axis=1)))
        seconds, found = least(partial(solve, space.batch, oracle, Disco(), seed=0))
        passes = sum(one.forwards + one.backwards for one in found) / SAMPLE
        row = {"what": "shape", "grows": grows, "words": n, "candidates": k, "budget": budget, "n k": n * k}
        per_text = {"processor seconds a text": seconds / SAMPLE, "passes a text": passes}
        rows.append({**row, **per_text, "us a pass and word": 1e6 * seconds / SAMPLE / passes / n})
    return rows


def least(call: Callable[[], Any]) -> tuple[float, Any]:
    """The minimum of the processor seconds over some rounds, after one to warm up, and what the call returns."""
    times = []
    for _ in range(ROUNDS):
        began = time.process_time()
        found = call()
        times.append(time.process_time() - began)
    return min(times), found


def slope(rows: list[Row], x: str, y: str) -> float:
    """The slope of log y against log x; 1 means linear growth."""
    return float(np.polyfit(np.log([row[x] for row in rows]), np.log([row[y] for row in rows]), 1)[0])


def keep(rows: list[Row]) -> list[Row]:
    """Store rows with their provenance, replacing those of the same measurement; returns all stored rows."""
    path = RESULTS / "scaling.jsonl"
    there = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    new = [{**row, **provenance()} for row in rows]
    merged = {_cell(row): row for row in there + new}
    found = [merged[cell] for cell in sorted(merged, key=str)]
    found.sort(key=lambda row: (row["what"], row.get("grows", ""), row.get("texts", 0), row.get("n k", 0)))
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found))
    return found


def _cell(row: Row) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in ("what", "grows", "texts", "n k"))


def picture(rows: list[Row]) -> None:
    """Three charts: time and memory by number of texts, time per text by n·k."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.6))
    texts = [row for row in rows if row["what"] == "texts"]
    thousands = [row["texts"] / 1000 for row in texts]
    left.plot(thousands, [row["processor seconds"] for row in texts], marker="o")
    middle.plot(thousands, [row["peak MiB"] / 1024 for row in texts], marker="o")
    for grows in GROWS:
        mine = [row for row in rows if row.get("grows") == grows]
        x, y = ([row[name] for row in mine] for name in ("n k", "processor seconds a text"))
        right.plot(x, y, marker="o", label=f"more {grows}")
    right.plot(x, [1e-4 * one for one in x], color="grey", linestyle=":", label="linear")
    right.legend(fontsize=8, loc="upper left")
    logs = {"xscale": "log", "yscale": "log"}
    left.set(title="Seconds of a run", xlabel="texts, thousands", ylabel="processor seconds", **logs)
    middle.set(title="Peak memory of a run", xlabel="texts, thousands", ylabel="GiB", xscale="log", ylim=(0, 4))
    right.set(title="Seconds a text", xlabel="words × candidates", ylabel="processor seconds", **logs)
    right.set_xticks([200, 800, 3200], ["200", "800", "3,200"])
    right.set_xticks([], minor=True)
    for chart in (left, middle):
        chart.set_xticks([1, 10, 100], ["1", "10", "100"])
    figure.tight_layout()
    figure.savefig(PICTURES / "scaling.png", dpi=100)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("victim", help="a folder from `discotext train ag_news`")
    parser.add_argument("--full", action="store_true", help=f"{FULL:,} texts only")
    parser.add_argument(
        "--out", type=Path, help="folder for texts and runs, needed to resume [default: a temporary folder]"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.out or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        rows = [attack(options.victim, folder, number) for number in ((FULL,) if options.full else TEXTS)]
        show("A whole attack, by number of texts", rows)
        keep(rows)
    if not options.full:
        from discotext.support.extras import flush_denormals_globally

        flush_denormals_globally()
        rows = shapes(load_victim(options.victim))
        show("Seconds a text, by words and candidates", rows)
        for grows in GROWS:
            mine = [row for row in rows if row["grows"] == grows]
            print(f"slope with more {grows}: {slope(mine, 'n k', 'processor seconds a text'):.2f}")
        keep(rows)
    picture(keep([]))


if __name__ == "__main__":
    main()
