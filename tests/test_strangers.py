"""A few of the trials of `benchmarks.strangers`, which share no code with the package; `make strangers` does all."""

import subprocess
import sys
from pathlib import Path

import pytest

FEW = {"solutions": 400, "data_files": 60, "run_folders": 12, "model_folders": 16}


@pytest.mark.parametrize("name", FEW)
def test_strangers_find_no_failure(name):
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.strangers.{name}", "--tries", str(FEW[name]), "--seed", "1"],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1],
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert done.stdout.splitlines()[-1].endswith("tries, 0 failures")
