"""Count how many files an attack of three texts passes through, and how often it changes from one file to another.

    python -m benchmarks.trace VICTIM

Functions are listed in the order of their first call (`sys.setprofile`), and a change of file is counted wherever two
neighbours in that list stand in different files. A first attack, which is not counted, loads and caches everything.
VICTIM is the folder `victim` of `discotext demo`.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import discotext
from benchmarks.results_file import save, show

PACKAGE = Path(discotext.__file__).parent
TEXTS = 3


class Trace:
    """The functions of the package, in the order of their first call. Code that runs on import is left out."""

    def __init__(self) -> None:
        self.functions: dict[tuple[str, str, int], int] = {}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        # Comprehensions, generators and lambdas are parts of the function they stand in.
        if event != "call" or code.co_name.startswith("<") or not code.co_filename.startswith(str(PACKAGE)):
            return
        key = (str(Path(code.co_filename).relative_to(PACKAGE)), code.co_qualname, code.co_firstlineno)
        self.functions[key] = self.functions.get(key, 0) + 1

    @property
    def files(self) -> list[str]:
        return list(dict.fromkeys(file for file, _, _ in self.functions))

    @property
    def changes(self) -> int:
        return sum(one[0] != other[0] for one, other in pairwise(self.functions))

    def count(self, name: str) -> int:
        """How often a function was called."""
        return sum(calls for (_, function, _), calls in self.functions.items() if function == name)


def trace_attack(victim: str, data: str) -> Trace:
    """Run `discotext attack` on a few texts and trace it."""
    from discotext.cli import cli
    from discotext.text import words

    trace = Trace()
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(2):
            arguments = ["attack", victim, data, "--limit", str(TEXTS), "--out", str(Path(scratch) / f"run{number}")]
            if number:
                words._split_once.cache_clear()  # so that every text that is split is seen
                threading.setprofile(trace)
                sys.setprofile(trace)
            try:
                cli(arguments, standalone_mode=False)
            finally:
                sys.setprofile(None)
                threading.setprofile(None)  # type: ignore[arg-type]
    return trace


def main(victim: str, data: str = "movie_reviews") -> None:
    trace = trace_attack(victim, data)
    for file in trace.files:
        print(f"{file}: {', '.join(name for where, name, _ in trace.functions if where == file)}")
    row = {
        "texts": TEXTS,
        "functions": len(trace.functions),
        "files": len(trace.files),
        "changes of file": trace.changes,
        "texts split": trace.count("_split_anew"),
        "spaces built": trace.count("Space.of"),
    }
    save("trace", [row])
    show("One attack", [row])


if __name__ == "__main__":
    main(*sys.argv[1:])
