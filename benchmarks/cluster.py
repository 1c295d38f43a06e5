"""What is the overhead of Ray, and how much memory does its driver need?

    python -m benchmarks.cluster rate VICTIM      # serial, processes and Ray, alternating, 5,000 texts (half an hour)
    python -m benchmarks.cluster memory           # 10,000, 100,000 and 1,000,000 texts (an hour)
    python -m benchmarks.cluster picture          # draw the results

VICTIM is a folder from `discotext train ag_news`; DISCOTEXT_DATA names the folder with the data.

rate     `discotext attack` from the command line, one thread per worker. *Serial* and *Ray, 1 worker* have one core,
         which Ray's own processes share; two processes and two Ray workers have two cores. *Cluster* uses a Ray that is
         already running. A run of a single unit in the same round measures the start-up, which the rate excludes.
memory   The same with a victim that costs almost nothing, so that the driver is the bottleneck; its memory is sampled
         every second. The texts are the training texts of AG News, repeated as needed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.results_file import PICTURES, load, save, show
from benchmarks.scaling import write_texts

TEXTS, UNIT, ROUNDS = 5_000, 64, 3
SIZES = (10_000, 100_000, 1_000_000)
BUDGET = 0.2
LISTS = {"said": ["told"], "new": ["fresh"], "company": ["firm"]}
MODES = {  # cores and options; a running cluster uses the same cores
    "serial": (1, []),
    "Ray, 1 worker": (1, ["--ray", "local", "--workers", "1"]),
    "cluster, 1 worker": (1, ["--ray", "CLUSTER", "--workers", "1"]),
    "2 processes": (2, ["--workers", "2"]),
    "Ray, 2 workers": (2, ["--ray", "local", "--workers", "2"]),
    "cluster, 2 workers": (2, ["--ray", "CLUSTER", "--workers", "2"]),
}
PAIRS = tuple((f"{what}, 1 worker", "serial") for what in ("Ray", "cluster")) + tuple(
    (f"{what}, 2 workers", "2 processes") for what in ("Ray", "cluster")
)

Row = dict[str, Any]


def trivial(texts: list[str]) -> list[list[float]]:
    """A victim that costs almost nothing: four classes, by length."""
    return [[float(len(text) % 4 == label) for label in range(4)] for text in texts]


@contextmanager
def on_cores(cores: int) -> Iterator[None]:
    """Restrict processes that are started in this context to this many cores."""
    everywhere = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(everywhere)[:cores])
    yield
    os.sched_setaffinity(0, everywhere)


@contextmanager
def cluster(cores: int, wanted: bool) -> Iterator[str]:
    """The address of a cluster of one node, started before any clock runs."""
    if not wanted:
        yield ""
        return
    from ray.cluster_utils import Cluster

    with on_cores(cores):
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": cores, "include_dashboard": False})
    time.sleep(5)  # until it is idle
    yield made.address
    made.shutdown()


def run_watched(command: list[str], cores: int) -> Row:
    """Run a command on some cores; returns its seconds, and the processor seconds and memory of its main process."""
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    began, held, used = time.perf_counter(), [], 0.0
    with on_cores(cores):
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env)
    with child:
        while child.poll() is None:
            time.sleep(0.2 if time.perf_counter() - began < 100 else 1.0)
            try:
                fields = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
                pages = int(Path(f"/proc/{child.pid}/statm").read_text().split()[1])
            except (OSError, IndexError):
                continue
            if pages:
                used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
                held.append((time.perf_counter() - began, pages * os.sysconf("SC_PAGESIZE") / 2**20))
        said = child.stderr.read().decode() if child.stderr else ""
    if child.returncode:
        raise RuntimeError(f"{' '.join(command)} failed with status {child.returncode}: {said}")
    return {"seconds": time.perf_counter() - began, "driver seconds": used, "held": held}


def rate(victim: str, folder: Path) -> list[Row]:
    """Rounds over all modes, each with a full run and a run of a single unit."""
    texts = folder / "texts.jsonl"
    write_texts(texts, TEXTS)
    rows = []
    for number in range(ROUNDS):
        for mode, (cores, options) in MODES.items():
            seconds = {}
            with cluster(cores, "CLUSTER" in options) as address:
                given = [address if option == "CLUSTER" else option for option in options]
                for count in (UNIT, TEXTS):
                    out = folder / f"{number}_{mode}_{count}".replace(" ", "_")
                    base = ["attack", victim, str(texts), "--budget", str(BUDGET), "--solver", "disco"]
                    sample = ["--limit", str(count)] if count < TEXTS else []
                    whole = [sys.executable, "-m", "discotext", *base, "--out", str(out), *sample, *given]
                    found = run_watched(whole, cores)
                    seconds[count] = found["seconds"]
            row = {
                "what": "rate",
                "mode": mode,
                "round": number,
                "texts": TEXTS,
                "seconds": seconds[TEXTS],
                "seconds of one unit": seconds[UNIT],
                "texts/s after the first": (TEXTS - UNIT) / (seconds[TEXTS] - seconds[UNIT]),
                "driver seconds": found["driver seconds"],
            }
            rows.append(row)
            print(json.dumps(row), flush=True)
    return rows


def memory(folder: Path, sizes: tuple[int, ...]) -> list[Row]:
    """Memory of the driver over time."""
    lists = folder / "lists.json"
    lists.write_text(json.dumps(LISTS))
    rows = []
    for size in sizes:
        texts, out = folder / f"texts_{size}.jsonl", folder / f"run_{size}"
        write_texts(texts, size)
        command = [sys.executable, "-m", "discotext", "attack", "py:benchmarks.cluster:trivial", str(texts), "--words"]
        command += ["1", "--synonyms", str(lists), "--without", "all", "--out", str(out), "--ray", "local"]
        found = run_watched(command, os.cpu_count() or 1)
        held = found["held"]
        lines = sum(1 for _ in (out / "records.jsonl").open("rb"))
        assert lines == size, f"{lines} records of {size} texts"
        row = {
            "what": "memory",
            "texts": size,
            "seconds": found["seconds"],
            "driver seconds": found["driver seconds"],
            "peak MiB": max(mib for _, mib in held),
            "MB of texts": texts.stat().st_size / 1e6,
            "MB of records": (out / "records.jsonl").stat().st_size / 1e6,
            # A hundred points are enough for a plot.
            "MiB by second": [[round(at, 1), round(mib, 1)] for at, mib in held[:: max(1, len(held) // 100)]],
        }
        rows.append(row)
        print(json.dumps({key: value for key, value in row.items() if key != "MiB by second"}), flush=True)
        for path in (texts, out / "records.jsonl"):
            path.unlink()
    return rows


def keep(rows: list[Row]) -> None:
    """Store new rows, replacing those of the same measurement."""
    save("cluster", rows, key=lambda row: (row["what"], row["texts"], row.get("mode"), row.get("round")))


def ratios(rows: list[Row]) -> list[Row]:
    """The rate with Ray relative to the rate without, round by round: the median and the range."""
    found = []
    for new, old in PAIRS:
        for name, key in (("whole run", "seconds"), ("after the first unit", "texts/s after the first")):
            by_mode = {mode: [row[key] for row in rows if row.get("mode") == mode] for mode in (new, old)}
            pairs = zip(by_mode[new], by_mode[old], strict=True)
            # Seconds are inverse to rates.
            each = sorted(b / a if key == "seconds" else a / b for a, b in pairs)
            spread = f"{each[0]:.2f}–{each[-1]:.2f}"
            found.append({"Ray": new, "beside": old, "of": name, "rate": statistics.median(each), "rounds": spread})
    return found


def picture(rows: list[Row]) -> None:
    """Rates on the left, memory of the driver on the right."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    for at, mode in enumerate(MODES):
        rates = [row["texts/s after the first"] for row in rows if row.get("mode") == mode]
        left.bar(at, statistics.median(rates), color="tab:gray" if mode in ("serial", "2 processes") else "tab:blue")
        left.plot([at] * len(rates), rates, "k.", markersize=5)
    left.set_xticks(range(len(MODES)), [mode.replace(" ", "\n") for mode in MODES], fontsize=8)
    left.set(title="5,000 texts of AG News", ylabel="texts per second")
    for row in (row for row in rows if row["what"] == "memory"):
        end = row["MiB by second"][-1][0]
        points = [(at / end, mib) for at, mib in row["MiB by second"]]
        right.plot(*zip(*points, strict=True), label=f"{row['texts']:,} texts")
    right.set(title="Memory of the driver", xlabel="share of the run", ylabel="MiB", ylim=(0, None))
    right.legend()
    figure.tight_layout()
    figure.savefig(PICTURES / "cluster.png", dpi=100)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["rate", "memory", "picture"])
    parser.add_argument("victim", nargs="?")
    parser.add_argument("--texts", type=int, action="append", help="number of texts; repeatable")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.what == "rate":
            if given.victim is None:
                parser.error("rate needs a victim: a folder from `discotext train ag_news`")
            keep(rate(given.victim, Path(folder)))
        if given.what == "memory":
            keep(memory(Path(folder), tuple(given.texts or SIZES)))
    rows = load("cluster")
    rates = [row for row in rows if row["what"] == "rate"]
    if rates:
        shown = ("mode", "round", "seconds", "seconds of one unit", "texts/s after the first", "driver seconds")
        show("seconds of 5,000 texts", [{key: row[key] for key in shown} for row in rates])
        show("rate with Ray relative to the rate without", ratios(rates))
    held = [row for row in rows if row["what"] == "memory"]
    if held:
        shown = ("texts", "seconds", "driver seconds", "peak MiB", "MB of texts", "MB of records")
        show("memory of the driver", [{key: row[key] for key in shown} for row in held])
    if given.what == "picture":
        picture(rows)


if __name__ == "__main__":
    main()
