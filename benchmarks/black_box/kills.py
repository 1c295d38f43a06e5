"""Runs and merges that are killed at any moment and resumed must give the result of an uninterrupted run.

The moment is an event, not a time: the folder or one of its files exists, or the records have reached a random size.
SIGKILL is sent to the whole process group or, with workers, sometimes to the main process only.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.black_box import Outcome, main

VICTIM = """
import time

def scores(texts):
    time.sleep(0.004)
    return [[text.count("good") + text.count("e") / 10, text.count("bad") + text.count("a") / 10] for text in texts]
"""
SYNONYMS = {
    "good": ["great", "bad", "nice"],
    "bad": ["awful", "good", "poor"],
    "film": ["movie", "bad"],
    "story": ["plot", "tale"],
    "slow": ["quiet", "good", "calm"],
}
WORDS = "good bad film story slow great the a of with was is again there".split()
TIMES = {
    "seconds",
    "victim_seconds",
    "check",
}  # fields that differ between runs; the last is a checksum over the others
PATIENCE = 300  # seconds until a command counts as hung
TEXTS, LONG, LENGTH = 150, 800, 20_000  # texts of a run; of a merge, and their length, so that a merge takes a while

SETTINGS = ["--synonyms", "synonyms.json", "--without", "all"]
COMPARE = ["compare", "py:victim.py:scores", "data.jsonl", "--solver", "greedy", "--solver", "random", *SETTINGS]
COMMANDS = {
    "compare": [*COMPARE, "--budget", "0.2", "--budget", "0.5"],
    "attack": ["attack", "py:victim.py:scores", "data.jsonl", "--solver", "greedy", "--budget", "0.5", *SETTINGS],
    "surrogate": ["attack", "py:victim.py:scores", "data.jsonl", "--solver", "disco", "--budget", "0.5", *SETTINGS],
    "merge": ["merge", "shard1", "shard2"],
}
WORKERS = ["--workers", "2"]
KINDS = (
    "compare", "merge", "surrogate", "compare, workers",
    "attack", "surrogate", "attack, workers", "compare, first only",
)  # fmt: skip


@dataclass(frozen=True)
class Bench:
    """A scratch folder, and the results of uninterrupted commands."""

    folder: Path
    records: dict[str, list[dict[str, object]]]
    sizes: dict[str, int]

    def start(self, arguments: list[str], out: str) -> subprocess.Popen[bytes]:
        """Start a command in a separate process group."""
        return started(self.folder, [*arguments, "--out", out])


def started(folder: Path, arguments: list[str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "discotext", *arguments]
    # A file and not a pipe, which nobody would read while the command runs.
    with (folder / "said.txt").open("wb") as said:
        return subprocess.Popen(
            command, cwd=folder, stdout=said, stderr=said, stdin=subprocess.DEVNULL, start_new_session=True
        )


def ended(folder: Path, process: subprocess.Popen[bytes]) -> str | None:
    """Wait for a command; returns its message if it failed."""
    try:
        status = process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        kill(process)
        return f"hung for {PATIENCE} s"
    said = (folder / "said.txt").read_text(errors="replace").strip().splitlines()
    return None if status == 0 else f"ended with status {status}: {' / '.join(said[-2:])[:300]}"


def kill(process: subprocess.Popen[bytes], first_only: bool = False) -> None:
    """Kill a command with all its processes, or its first process alone."""
    try:
        if first_only:
            os.kill(process.pid, signal.SIGKILL)
        else:
            os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def read(path: Path) -> list[dict[str, object]]:
    """All records without their times."""
    rows = [json.loads(line) for line in (path / "records.jsonl").read_bytes().splitlines()]
    return [{key: value for key, value in row.items() if key not in TIMES} for row in rows]


def moment(out: Path, size: int, rng: np.random.Generator) -> tuple[str, Callable[[], bool]]:
    """An event to wait for: its description and its test."""
    if not out.exists() and rng.random() < 0.2:
        name = str(rng.choice(["", "records.jsonl", "surrogate.npz", "settings.json", "summary.json"]))
        return f"{name or 'the folder'} is there", lambda: (out / name).exists()
    wanted = int(rng.integers(min(size_of(out / "records.jsonl"), size - 1), size)) + 1
    return f"there are {wanted:,} of {size:,} bytes", lambda: size_of(out / "records.jsonl") >= wanted


def interrupt(bench: Bench, kind: str, out: str, rng: np.random.Generator) -> tuple[str, int]:
    """Start a command and kill it at some moment; returns the moment and the process group."""
    command = kind.split(",")[0]
    when, come = moment(bench.folder / out, bench.sizes[command], rng)
    process = bench.start(arguments(kind), out)
    until = time.monotonic() + PATIENCE
    while not come() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.0005)
    over = process.poll() is not None
    kill(process, first_only="first only" in kind)
    return f"{'over before' if over else 'killed when'} {when}", process.pid


def left_over(group: int) -> bool:
    """Whether processes of a group are still alive some time after the main process was killed."""
    for _ in range(300):
        stats = [one.rpartition(")")[2].split()[:3] for one in map(read_text, Path("/proc").glob("[0-9]*/stat")) if one]
        if not any(state != "Z" and int(its_group) == group for state, _, its_group in stats):
            return False
        time.sleep(0.1)
    os.killpg(group, signal.SIGKILL)
    return True


def read_text(path: Path) -> str:
    """The contents of a file, if it still exists."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def arguments(kind: str) -> list[str]:
    return COMMANDS[kind.split(",")[0]] + (WORKERS if "," in kind else [])


def attempt(bench: Bench, seed: int, number: int) -> str | None:
    """Kill one command once or more, resume it, and compare; returns what is wrong, or None."""
    rng = np.random.default_rng([seed, number])
    kind, out = KINDS[number % len(KINDS)], f"out{number}"
    times = 1 + int(rng.random() < 0.3)
    told = [interrupt(bench, kind, out, rng) for _ in range(times)]
    process = bench.start(arguments(kind), out)
    trouble = ended(bench.folder, process)
    if trouble is None and read(bench.folder / out) != bench.records[kind.split(",")[0]]:
        trouble = "the records differ from those of an uninterrupted run"
    if trouble is None and not (bench.folder / out / "summary.json").exists():
        trouble = "there is no summary.json"
    if any(left_over(group) for _, group in told):
        trouble = f"{trouble or 'all is well'}, but processes of the killed run are still alive"
    shutil.rmtree(bench.folder / out, ignore_errors=True)
    return (
        trouble
        and f"try {number} of seed {seed}: {kind}, {', then '.join(when for when, _ in told)}; run again: {trouble}"
    )


def written(folder: Path, name: str, rows: list[dict[str, object]]) -> None:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def prepared(folder: Path, seed: int) -> Bench:
    """Write victim and data, and run everything once without interruption."""
    rng = np.random.default_rng(seed)
    (folder / "victim.py").write_text(VICTIM)
    (folder / "synonyms.json").write_text(json.dumps(SYNONYMS))
    texts = [" ".join(rng.choice(WORDS, size=rng.integers(3, 10))) for _ in range(TEXTS)]
    written(folder, "data.jsonl", [{"text": text, "label": number % 2} for number, text in enumerate(texts)])
    # One long word costs no search time, and makes a large record.
    long = [{"text": f"{number}{'e' * LENGTH}", "label": number % 2} for number in range(LONG)]
    written(folder, "long.jsonl", long)
    shard = [*COMMANDS["attack"], "--shard"]
    shard[shard.index("data.jsonl")] = "long.jsonl"
    for part in ("1", "2"):
        finished(folder, [*shard, f"{part}/2", "--out", f"shard{part}"])
    for name, command in COMMANDS.items():
        finished(folder, [*command, "--out", name])
    records = {name: read(folder / name) for name in COMMANDS}
    return Bench(folder, records, {name: size_of(folder / name / "records.jsonl") for name in COMMANDS})


def finished(folder: Path, command: list[str]) -> None:
    trouble = ended(folder, started(folder, command))
    if trouble:
        raise RuntimeError(f"without interruption, {' '.join(command)} {trouble}")


def run(tries: int, seed: int) -> Outcome:
    """Kill this many commands."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as name:
        bench = prepared(Path(name), seed)
        found = [attempt(bench, seed, number) for number in range(tries)]
    return Outcome("kills", tries, tuple(filter(None, found)))


if __name__ == "__main__":
    sys.exit(main(run, 56, __doc__ or ""))
