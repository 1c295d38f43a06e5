"""TextAttack in a process of its own, with its own Python: a question a line in, an answer a line out."""

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
    """A running driver. It holds the victim, and attacks one text at a time.

    python: the interpreter of TextAttack's environment. log: where its own talk goes.
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
        """One text of a chunk, attacked by one of TextAttack's searches."""
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
        """There will be no more questions: it ends by itself, unless it is in the midst of a text."""
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
        return ValueError(f"TextAttack's process ended with status {self.process.returncode}: {last} (see {self.log})")


def interpreter(python: str | Path) -> Path:
    """TextAttack's Python, or a sentence about how to make it.

    The path is not resolved: an environment's interpreter is a link, and finds its packages by where the link is.
    """
    if not Path(python).is_file():
        raise ValueError(
            f"there is no {python}; make TextAttack's environment by `python -m benchmarks.peers.environment "
            ".venv-peers`, or name its interpreter by --peer-python"
        )
    return Path(os.path.abspath(python))


def environment(folder: Path, threads: int) -> dict[str, str]:
    """What the driver's process sees: our sources, as many threads, and nothing of the home folder or the network."""
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
