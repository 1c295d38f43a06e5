"""Figures for the docs on candidates: embedded files, SimLex-999, counter-fitting with and without held-out pairs."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from importlib import resources
from pathlib import Path
from typing import Any

from benchmarks.results_file import save, show
from discotext.text.counterfit import read_simlex, spearman
from discotext.text.vectors import WordVectors, load_packaged_vectors

TEXT = "I enjoyed an awful film about mice."
MADE_FROM = {
    "vectors.safetensors": ("GloVe 6B 100d, counter-fitted with WordNet", "PDDL 1.0 (public domain); WordNet licence"),
    "wordnet.txt.gz": ("WordNet 3.1; `scripts/reviewed.txt`", "WordNet licence (goes along); MIT"),
    "LICENSE-WordNet.txt": ("the notice in WordNet's files", "–"),
    "thesaurus.safetensors": (
        "WordNet 3.1, the Moby thesaurus, word vectors; SWORDS and CoInCo",
        "WordNet licence; public domain; CC BY 3.0 US",
    ),
    "scorer.safetensors": ("weights learnt from SWORDS and CoInCo", "MIT; CC BY 3.0 US"),
    "tagger.safetensors": ("weights learnt from spaCy's tags of film reviews", "MIT"),
}


def run(*arguments: str) -> str:
    command = [sys.executable, "-m", "discotext", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def files() -> list[dict[str, Any]]:
    rows = []
    for name, (source, licence) in MADE_FROM.items():
        content = resources.files("discotext.text.resources").joinpath(name).read_bytes()
        sha = hashlib.sha256(content).hexdigest()
        rows.append(
            {"what": "file", "name": name, "bytes": len(content), "from": source, "licence": licence, "sha256": sha}
        )
    return rows


def simlex(folder: Path) -> list[dict[str, Any]]:
    judged = read_simlex(folder / "constraints" / "SimLex-999.txt")
    fitted = load_packaged_vectors()
    before = WordVectors.read(folder / "vectors" / "glove.6B.100d.wink.f16.npz").take(fitted.words)
    rows = []
    for name, vectors in (("GloVe, these words", before), ("in the package, counter-fitted", fitted)):
        rho, pairs = spearman(vectors, judged)
        rows.append({"what": "simlex", "vectors": name, "words": len(vectors), "rho": rho, "pairs": pairs})
    return rows


def fits(folder: Path) -> list[dict[str, Any]]:
    constraints = folder / "constraints"
    with tempfile.TemporaryDirectory() as scratch:
        command = ["counterfit", str(folder / "vectors" / "glove.6B.100d.wink.f16.npz"), "--words", "60000", "--json"]
        command += [
            "--synonyms",
            str(constraints / "ppdb_synonyms.txt"),
            "--simlex",
            str(constraints / "SimLex-999.txt"),
        ]
        for name in ("ppdb_antonyms.txt", "wordnet_antonyms.txt"):
            command += ["--antonyms", str(constraints / name)]
        command += ["--out", str(Path(scratch) / "fitted.safetensors")]
        found = [json.loads(run(*command)), json.loads(run(*command, "--hold-out", "0.2"))]
    return [
        {"what": "fit", **{key: value for key, value in one.items() if key not in ("curve", "out")}} for one in found
    ]


def main() -> None:
    named = os.environ.get("DISCOTEXT_DATA")
    if not named:
        raise SystemExit("DISCOTEXT_DATA is not set; set it to the folder that contains vectors/ and constraints/")
    rows = [*files(), *simlex(Path(named)), *fits(Path(named))]
    rows.append({"what": "example", "text": TEXT, "output": run("candidates", TEXT)})
    save("candidates", rows)
    show(
        "SimLex-999",
        [{key: row[key] for key in ("vectors", "rho", "pairs")} for row in rows if row["what"] == "simlex"],
    )


if __name__ == "__main__":
    main()
