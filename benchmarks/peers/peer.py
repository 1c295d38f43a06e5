"""TextAttack in a separate process, with its own Python: one request and one answer per line."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.peers.records import Record
from benchmarks.peers.texts import Chunk

ROOT = Path(__file__).parents[2]
DRIVER = "benchmarks.peers.driver"


class Peer:
    """A running driver. It loads the victim, and attacks one text at a time.

    python: the interpreter of TextAttack's environment. log: file for its output.
    """

    def __init__(self, python: str | Path, victim: str, threads: int, batch: int, log: Path) -> None:
        self.log = log
        own = interpreter(python)
        command = [str(own), "-m", DRIVER, "--victim", victim]
        command += ["--threads", str(threads), "--batch", str(batch)]
        self.errors = log.open("ab")
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment(own.parents[1], threads),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
        )
        self.versions: dict[str, str] = self._answer()["versions"]

    def attack(self, chunk: Chunk, number: int, search: str, seed: int) -> Record:
        """Attack one text of a chunk with one of TextAttack's searches."""
        coded = chunk.coded(number)
        question = {
            "search": search,
            "seed": seed,
            "gaps": list(coded.gaps),
            "options": [list(words) for words in coded.options],
            "budget": chunk.space.budgets[number],
            "label": chunk.labels[number],
        }
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(question).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise self._dead() from None
        return {"id": chunk.ids[number], **self._answer()}

    def close(self) -> None:
        """Close its input: it exits by itself, unless it is attacking a text."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.wait()
        self.errors.close()

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line.endswith(b"\n"):
            raise self._dead()
        found: dict[str, Any] = json.loads(line)
        return found

    def _dead(self) -> ValueError:
        self.process.wait()
        self.errors.flush()
        said = self.log.read_text(errors="replace").strip().splitlines()
        last = said[-1] if said else "it said nothing"
        return ValueError(f"TextAttack's process exited with status {self.process.returncode}: {last} (see {self.log})")


def interpreter(python: str | Path) -> Path:
    """TextAttack's Python; the error says how to create it.

    The path is not resolved: the interpreter is a link, and finds its packages relative to the link.
    """
    if not Path(python).is_file():
        raise ValueError(
            f"there is no {python}; create TextAttack's environment with `python -m benchmarks.peers.environment "
            ".venv-peers`, or name its interpreter with --peer-python"
        )
    return Path(os.path.abspath(python))


def environment(folder: Path, threads: int) -> dict[str, str]:
    """Environment variables of the driver: our sources, the number of threads, no home folder, no network."""
    cache = folder / "cache"
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]),
        "OMP_NUM_THREADS": str(threads),
        "NLTK_DATA": str(folder / "nltk_data"),
        "TA_CACHE_DIR": str(cache / "textattack"),
        "FLAIR_CACHE_ROOT": str(cache / "flair"),
        "MPLCONFIGDIR": str(cache / "matplotlib"),
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "CUDA_VISIBLE_DEVICES": "",
    }
