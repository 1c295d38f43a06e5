"""What holds for the house as a whole: who imports whom, how fast it opens, what it shows to the public."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import discotext
from discotext.solvers import SOLVERS as SOLVER_NAMES

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "discotext"

# From the centre to the edge; a module imports only from those before it. docs/architecture.md has the same list.
ORDER = [
    "version",
    "extras",
    "files",
    "redaction",
    "resources",
    "intervals",
    "segments",
    "padding",
    "problem",
    "oracle",
    "wrappers",
    "sampling",
    "swaps",
    "blackbox",
    "laws",
    "goals",
    "embedding",
    "relaxation",
    "penalty",
    "rounding",
    "setfunctions",
    "yardstick",
    "solvers",
    "solution",
    "taking_back",
    "solving",
    "text",
    "data",
    "victims",
    "experiment",
    "cli",
    "__main__",
]
SOLVERS = [
    "proposal",
    "greedy",
    "lazy_greedy",
    "sweep",
    "gradient_greedy",
    "beam",
    "random",
    "moves",
    "climbing",
    "survey",
    "local_search",
    "exact",
    "frank_wolfe",
    "guided",
    "proximal",
    "adam",
    "disco",
]


def imports(path: Path) -> set[str]:
    """The modules of the package that a file imports, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("discotext"):
            found.add(node.module)
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name.startswith("discotext")}
    return found


def files() -> list[Path]:
    return [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"]


def test_the_order_names_every_module():
    assert {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in files()} == set(ORDER)
    assert {path.stem for path in (PACKAGE / "solvers").glob("*.py")} - {"__init__"} == set(SOLVERS)


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_to_the_centre(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    for module in imports(path):
        target = module.split(".")[1:]
        if target[0] != parts[0]:
            assert ORDER.index(target[0]) < ORDER.index(parts[0]), f"{path.name} imports {module}"
        elif parts[0] == "solvers" and parts[1] != "__init__" and len(target) > 1:
            assert SOLVERS.index(target[1]) < SOLVERS.index(parts[1]), f"{path.name} imports {module}"


def test_every_module_of_the_order_is_in_the_architecture():
    text = (ROOT / "docs" / "architecture.md").read_text()
    missing = [name for name in ORDER if f"`{name}" not in text]
    assert not missing


@pytest.mark.parametrize("name", [name for name in discotext.__all__ if name != "__version__"])
def test_every_public_name_is_there_explained_and_in_the_docs(name):
    thing = getattr(discotext, name)
    assert thing.__doc__
    documented = "".join(path.read_text() for path in (ROOT / "docs").glob("*.md"))
    assert name in documented


def test_the_checker_and_the_reader_see_the_same_public_names():
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    for_checker = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("discotext.")
        for alias in node.names
    }
    assert for_checker == set(discotext.__all__)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": ""}
    )


@pytest.mark.parametrize(
    "code",
    ["import discotext", "sys.argv = ['discotext', '--help']\nfrom discotext.cli import main\nmain()"],
    ids=["import discotext", "discotext --help"],
)
def test_it_opens_without_loading_what_takes_time(code):
    tell = "import atexit, sys\natexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
    done = run("-c", tell + code)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.split())
    heavy = {"torch", "numpy", "rich", "transformers", "sklearn", "ray", "lemminflect", "safetensors"}
    assert not loaded & heavy
    assert len(loaded) < 300


def test_the_core_runs_without_torch():
    done = run(
        "-c",
        "import sys; sys.modules['torch'] = None\n"
        "import discotext as d\n"
        "b = d.Batch.of([d.Problem((3, 3), 1)])\n"
        "print(d.solve(b, d.FunctionOracle(b, lambda p, c: float(sum(c))), d.Greedy())[0].score)",
    )
    assert done.stdout.strip() == "2.0", done.stderr


def test_what_an_extra_brings_is_named_when_it_is_missing():
    done = run(
        "-c",
        "import sys; sys.modules['torch'] = None\n"
        "import discotext as d\n"
        "d.EmbeddingOracle(d.Batch.of([]), [], None, None)",
    )
    assert 'pip install "discotext[torch]"' in done.stderr.splitlines()[-1]


def test_the_readme_example_prints_what_it_says():
    text = (ROOT / "README.md").read_text().split("## Ten lines")[1]
    code = text.split("```python\n")[1].split("```")[0]
    shown = text.split("```text\n")[1].split("```")[0]
    done = run("-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == shown.strip()
    assert len([line for line in code.splitlines() if line.strip()]) <= 10


def test_no_file_is_larger_than_one_sitting():
    assert {path.name: n for path in files() if (n := len(path.read_text().splitlines())) > 400} == {}


def test_the_page_on_solving_names_every_status_field_and_solver():
    page = (ROOT / "docs" / "solving.md").read_text()
    for status in discotext.Status:
        assert f"| `{status.name}` | {status.value} |" in page
    for name in [*discotext.Solution.__dataclass_fields__, "changes", "reached", "proved"]:
        assert f"`{name}`" in page
    for name in SOLVER_NAMES:
        assert f"`{name}`" in page


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_the_examples_of_the_docs_run(page):
    blocks = [block.split("```")[0] for block in page.read_text().split("```python\n")[1:]]
    # Those that begin otherwise need a model or texts of the reader's.
    whole = [block for block in blocks if block.startswith("import")]
    for code in whole:
        done = run("-c", code)
        assert done.returncode == 0, done.stderr
