"""A few of the checks in `benchmarks.black_box`, which share no code with the package; `make black-box` runs all."""

import subprocess
import sys
from pathlib import Path

import pytest

TRIES = {"solutions": 400, "splitting": 20_000, "data_files": 60, "run_folders": 8, "model_folders": 8}
NEEDED = {"data_files": ["pyarrow"], "run_folders": ["pyarrow"], "model_folders": ["torch", "transformers"]}


@pytest.mark.parametrize("name", TRIES)
def test_the_check_finds_no_failure(name):
    for module in NEEDED.get(name, ()):
        pytest.importorskip(module)
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.black_box.{name}", "--tries", str(TRIES[name]), "--seed", "1"],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1],
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert done.stdout.splitlines()[-1].endswith("tries, 0 failures")
