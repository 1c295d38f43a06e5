"""What does it cost to read word vectors, to counter-fit them, and to find the neighbours of every word?

Each measurement runs in a process of its own, so that its peak memory can be measured: the peak of the process, and how
far it exceeds the peak after the imports (including the vectors). The neighbours of some words are also searched with
faiss, if it is installed (its flat index is exact, too): the nearest words and, with negated vectors, the farthest. The
learning curve of counter-fitting follows.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.results_file import PICTURES, save, show
from discotext.text import counterfit as fitting
from discotext.text.counterfit import CounterFit, counterfit, read_pairs, read_simlex, spearman
from discotext.text.neighbours import find_nearest
from discotext.text.vectors import WordVectors

SIZES = (20_000, 60_000, 200_000)
SOME = 8192  # words whose neighbours are searched with faiss, too
CURVE = 60_000  # words of the learning curve
STEPS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40)  # at which SimLex-999 is evaluated
NEEDS = {"counter-fit": "torch", "faiss, neighbours of some words": "faiss"}
UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss, in bytes


def data() -> Path:
    folder = Path(os.environ.get("DISCOTEXT_DATA", ""))
    if not os.environ.get("DISCOTEXT_DATA") or not (folder / "constraints").is_dir():
        sys.exit(
            "DISCOTEXT_DATA names no folder with constraints/; set it to the folder with vectors/ and constraints/"
        )
    return folder


def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT / 1e6


def constraints() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    folder = data() / "constraints"
    antonyms = [pair for name in ("ppdb", "wordnet") for pair in read_pairs(folder / f"{name}_antonyms.txt")]
    return read_pairs(folder / "ppdb_synonyms.txt"), antonyms


def prepare(folder: Path) -> None:
    whole = WordVectors.read(data() / "vectors" / "glove.6B.100d.wink.f16.npz")
    for size in SIZES:
        part = whole.take(whole.words[:size])
        part.write(folder / f"{size}.txt")
        part.write(folder / f"{size}.safetensors")


def with_faiss(vectors: WordVectors, rows: Any) -> None:
    faiss = import_module("faiss")
    unit = vectors.normalise().vectors
    index = faiss.IndexFlatIP(vectors.width)
    index.add(unit)
    index.search(unit[rows], 9)  # the word itself is among them
    index.search(-unit[rows], 1)


def measure(what: str, size: int, folder: Path) -> dict[str, Any]:
    """One measurement, in this process. Imports and input count for the memory but not for the time."""
    if what in NEEDS:
        import_module(NEEDS[what])
    imported = megabytes()
    some = np.linspace(0, size - 1, SOME, dtype=np.int64)
    reading = what.startswith("read")
    vectors = (
        WordVectors([], np.empty((0, 0), dtype=np.float32))
        if reading
        else WordVectors.read(folder / f"{size}.safetensors")
    )
    synonyms, antonyms = constraints()
    work: dict[str, Callable[[], Any]] = {
        "read GloVe's text": lambda: WordVectors.read(folder / f"{size}.txt"),
        "read safetensors": lambda: WordVectors.read(folder / f"{size}.safetensors"),
        "counter-fit": lambda: counterfit(vectors, synonyms, antonyms),
        "neighbours of all words": lambda: find_nearest(vectors),
        "neighbours of some words": lambda: find_nearest(vectors, some),
        "faiss, neighbours of some words": lambda: with_faiss(vectors, some),
    }
    began = time.perf_counter()
    work[what]()
    seconds, peak = time.perf_counter() - began, megabytes()
    asked = SOME if "some" in what else size
    row = {"what": what, "words": size, "asked": asked, "seconds": seconds}
    return {**row, "peak MB": peak, "MB above imports": peak - imported}


def curve(folder: Path) -> dict[str, Any]:
    """The value of each term of the cost at every step, and ρ on SimLex-999 after some of them."""
    vectors = WordVectors.read(folder / f"{CURVE}.safetensors")
    synonyms, antonyms = constraints()
    judged = read_simlex(data() / "constraints" / "SimLex-999.txt")
    # The pairs that were close before fitting do not depend on the number of steps, so they are searched once.
    found: list[Any] = []
    seek = fitting.find_close_pairs

    def find_close_pairs(*arguments: Any) -> Any:
        if not found:
            found.append(seek(*arguments))
        return found[0]

    agreement = {0: spearman(vectors, judged)[0]}
    with patch.object(fitting, "find_close_pairs", find_close_pairs):
        stops = len(counterfit(vectors, synonyms, antonyms).curve) - 1
        for steps in sorted({*STEPS, stops}):
            fitted = counterfit(vectors, synonyms, antonyms, CounterFit(steps=steps, tolerance=0))
            agreement[steps] = spearman(fitted.vectors, judged)[0]
    rho = list(agreement.values())
    return {"what": "curve", "words": CURVE, "stops": stops, "terms": fitted.curve, "at": list(agreement), "rho": rho}


def draw(record: dict[str, Any]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (cost, agreement) = plt.subplots(1, 2, figsize=(10, 4.2))
    terms = {name: [step[name] for step in record["terms"]] for name in record["terms"][0]}
    cost.plot([sum(step.values()) for step in record["terms"]], color="black", label="total")
    for name, values in terms.items():
        cost.plot(values, label=name)
    cost.set(title="Cost before each step", xlabel="step", ylabel="cost, weighted", ylim=(0, None))
    agreement.plot(record["at"], record["rho"], marker="o", color="black")
    agreement.set(title="SimLex-999", xlabel="step", ylabel="Spearman's ρ")
    for ax in (cost, agreement):
        ax.axvline(record["stops"], color="grey", linestyle=":", label="fitting stops here")
    cost.legend()
    agreement.legend()
    figure.suptitle(f"Counter-fitting {record['words']:,} vectors of GloVe")
    figure.tight_layout()
    PICTURES.mkdir(exist_ok=True)
    figure.savefig(PICTURES / "counterfit.png", dpi=100)
    plt.close(figure)


def apart(*arguments: str) -> Any:
    """Run a part of this file in a process of its own, and return the JSON it prints."""
    command = [sys.executable, "-m", "benchmarks.vectors", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"measuring {' '.join(arguments[:-1])} failed with status {done.returncode}; see above")
    return json.loads(done.stdout)


def main() -> None:
    data()
    whats = ["read GloVe's text", "read safetensors", "counter-fit", "neighbours of all words"]
    whats += ["neighbours of some words"] + ["faiss, neighbours of some words"] * (find_spec("faiss") is not None)
    with tempfile.TemporaryDirectory() as folder:
        # A process inherits the peak of its parent, so the parent must stay small.
        apart("prepare", folder)
        rows = [apart(what, str(size), folder) for size in SIZES for what in whats]
        learnt = apart("curve", folder)
    show("Vectors of 100 numbers", rows)
    draw(learnt)
    save("vectors", [*rows, learnt])


if __name__ == "__main__":
    match sys.argv[1:]:
        case []:
            main()
        case ["prepare", folder]:
            prepare(Path(folder))
            sys.stdout.write("null")
        case ["curve", folder]:
            sys.stdout.write(json.dumps(curve(Path(folder))))
        case [what, size, folder]:
            sys.stdout.write(json.dumps(measure(what, int(size), Path(folder))))
