"""Check an installed package from outside: its version, and a small attack on a function, by the command line.

    python scripts/smoke_test.py [VERSION]

Run it with the Python of the environment to check. It works in a temporary folder, so that the package of the
checkout is not imported instead of the installed one. Only the base dependencies are needed.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

FUNCTION = """
GOOD = {"good", "great", "wonderful"}

def scores(texts):
    return [[0.5, float(sum(word in GOOD for word in text.lower().split()))] for text in texts]

scores.labels = ("negative", "positive")
"""
DATA = "text,label\nA great film with a wonderful cast,positive\nThis was a good story,positive\nA dull film,negative\n"


def run(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "discotext", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed with status {done.returncode}:\n{done.stderr}")
    return done.stdout


def main(version: str | None) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "rule.py").write_text(FUNCTION, encoding="utf-8")
        (folder / "texts.csv").write_text(DATA, encoding="utf-8")
        found = run(folder, "--version").split()[-1]
        if version is not None and found != version:
            sys.exit(f"discotext {found} is installed, expected {version}")
        answer = run(
            folder, "attack", "py:rule.py:scores", "texts.csv", "--solver", "exact", "--budget", "0.5", "--json"
        )
        figures = json.loads(answer)["solvers"]["exact"]
        before, after = figures["original_accuracy"], figures["adversarial_accuracy"]
        if not after < before == 1:
            sys.exit(f"expected the attack to lower an accuracy of 1.0, found {before} before and {after} after it")
    print(f"discotext {found}: accuracy {before:.2f} before and {after:.2f} after an attack on a function")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
