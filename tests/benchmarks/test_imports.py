"""Every benchmark can be started: what it imports of the package is there."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = [path.relative_to(ROOT).with_suffix("") for path in sorted((ROOT / "benchmarks").rglob("*.py"))]


@pytest.mark.parametrize("path", [one for one in MODULES if not one.name.startswith("__")], ids=str)
def test_the_benchmark_can_be_imported(path):
    try:
        importlib.import_module(".".join(path.parts))
    except ModuleNotFoundError as error:
        if str(error.name).startswith(("discotext", "benchmarks", "scripts")):
            raise
        pytest.skip(f"{error.name} is not installed")
