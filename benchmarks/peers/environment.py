"""Create the virtual environment for TextAttack.

    python -m benchmarks.peers.environment .venv-peers

Its packages are pinned (`requirements.txt`), since pip does not find a working set by itself. TextAttack downloads stop
words when it is imported; the environment gets those of scikit-learn instead. The attacks use neither them nor other
files that TextAttack downloads on first import; a marker file prevents the download.
"""

from __future__ import annotations

import argparse
import subprocess
import venv
from pathlib import Path

from benchmarks.peers.peer import environment

REQUIREMENTS = Path(__file__).parent / "requirements.txt"
TORCH = "torch==2.13.0"
FETCHED = "post_install_check_3"  # the name of that marker in TextAttack 0.3.11
STOP_WORDS = """
import sys
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
open(sys.argv[1], "w").write("\\n".join(sorted(ENGLISH_STOP_WORDS)) + "\\n")
"""


def make(folder: Path) -> None:
    """Create or complete the environment."""
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
        raise SystemExit(f"{error.cmd[0]} failed with status {error.returncode}; see its last lines") from None
    print(f"TextAttack runs in {folder}")


if __name__ == "__main__":
    main()
