"""Makes the virtual environment in which TextAttack runs, and nothing else does.

    python -m benchmarks.peers.environment .venv-peers

Its packages are pinned (`requirements.txt`): left to itself, pip searches long and finds no set that works. TextAttack
looks for a list of stop words when it is imported and would download it; it is given scikit-learn's, inside the
environment. The attacks here do not use it, nor what else TextAttack would fetch when first imported: a mark that it
has been fetched keeps it from trying.
"""

from __future__ import annotations

import argparse
import subprocess
import venv
from pathlib import Path

from benchmarks.peers.peer import environment

REQUIREMENTS = Path(__file__).parent / "requirements.txt"
TORCH = "torch==2.13.0"
FETCHED = "post_install_check_3"  # the name of that mark in TextAttack 0.3.11
STOP_WORDS = """
import sys
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
open(sys.argv[1], "w").write("\\n".join(sorted(ENGLISH_STOP_WORDS)) + "\\n")
"""


def make(folder: Path) -> None:
    """Make or complete the environment; what is there already is left as it is."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    (folder / ".gitignore").write_text("*\n")
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, TORCH], check=True)
    subprocess.run([*install, "--no-deps", "--requirement", str(REQUIREMENTS)], check=True)
    words = folder / "nltk_data" / "corpora" / "stopwords" / "english"
    words.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([str(python), "-c", STOP_WORDS, str(words)], check=True)
    seen = environment(folder.resolve(), threads=1)
    mark = Path(seen["TA_CACHE_DIR"]) / FETCHED
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()
    subprocess.run([str(python), "-c", "import textattack"], check=True, env=seen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path(".venv-peers"))
    folder = parser.parse_args().folder
    try:
        make(folder)
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"{error.cmd[0]} ended with status {error.returncode}; its last lines say why") from None
    print(f"TextAttack runs in {folder}")


if __name__ == "__main__":
    main()
