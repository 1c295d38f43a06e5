"""What holds for the package as a whole: who imports whom, how fast it starts, what it shows to the public."""

import ast
import graphlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from scripts.measure_house import measure

import discotext
from discotext.solvers import Disco
from discotext.support.extras import explain_install
from tests.conftest import needs_torch

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "discotext"

# From the centre to the edge: a folder imports only from those before it. docs/explanation/architecture.md draws it.
LAYERS = "version support core search solvers theory models text data victims runs report attacks hardening".split()
LAYERS += "decoding testing web cli __main__".split()


def imports(path: Path) -> set[str]:
    """The modules of the package that a file imports, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("discotext"):
            inside = PACKAGE.joinpath(*node.module.split(".")[1:])
            submodules = {name.name for name in node.names if (inside / f"{name.name}.py").exists()}
            found |= {f"{node.module}.{name}" for name in submodules} or {node.module}
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name.startswith("discotext")}
    return found


def files() -> list[Path]:
    return [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"]


def test_the_layers_name_every_folder():
    assert {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in files()} == set(LAYERS)


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_to_the_centre(path):
    own = LAYERS.index(path.relative_to(PACKAGE).parts[0].removesuffix(".py"))
    for module in imports(path):
        if len(parts := module.split(".")) > 1:
            assert LAYERS.index(parts[1]) <= own, f"{path.name} imports {module}"


def test_no_module_imports_itself_by_way_of_others():
    def name(path: Path) -> str:
        return ".".join(("discotext", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")

    # A folder's public face imports what is in it on first use alone.
    graph = {name(path): imports(path) for path in files() if path.name != "__init__.py"}
    graphlib.TopologicalSorter(graph).prepare()


def test_solve_knows_no_solver_and_theory_is_used_by_nothing_at_run_time():
    for path in (PACKAGE / "search").glob("*.py"):
        assert not any(module.startswith("discotext.solvers") for module in imports(path))
    users = {
        str(path.relative_to(PACKAGE))
        for path in files()
        if any(module.startswith("discotext.theory") for module in imports(path))
    }
    assert {user for user in users if not user.startswith("theory/")} == set()


# `python -m scripts.measure_house` prints the figures. A limit is raised on purpose, with a reason, or not at all.
LIMITS = {
    "src_lines": 32_850,
    "src_files": 205,
    "decoding_lines": 4_780,
    "theory_lines": 1_500,
    "test_lines": 20_500,
    "prose_assertions": 110,
    "docs_words": 22_000,
    "attack_options": 34,
    "options": 72,
    "public_names": 12,
    "getattr": 20,
    "trace_functions": 500,
    "trace_files": 67,
    "trace_changes": 295,
    "imported_modules": 110,
    "originals_scored": 2,
    "candidates_sought": 1,
}


@needs_torch
def test_the_house_stays_small():
    found = measure()
    assert {name: value for name, value in found.items() if value > LIMITS[name]} == {}


def test_the_public_face_is_small_and_leaks_nothing():
    assert len(discotext.__all__) <= 12
    assert sorted(name for name in dir(discotext) if not name.startswith("__")) == sorted(discotext.__all__)
    assert discotext.victims.Victim is discotext.Victim  # a folder is imported on first use
    assert isinstance(Disco(), Disco)
    documented = discotext.attack.__doc__ or ""
    assert all(
        f"    {name}:" in documented for name in inspect.signature(discotext.attack).parameters if name != "changes"
    )
    documented = discotext.Settings.__doc__ or ""
    assert all(re.search(rf"\b{name}[:,]", documented) for name in inspect.signature(discotext.Settings).parameters)


@pytest.mark.parametrize(
    ("name", "place"),
    [("Greedy", "solvers"), ("HttpVictim", "victims"), ("Status", "core"), ("load_data", "data"), ("Record", "runs")],
)
def test_a_name_that_is_elsewhere_says_where(name, place):
    with pytest.raises(AttributeError, match=f"no attribute '{name}'; it is in discotext.{place}"):
        getattr(discotext, name)
    with pytest.raises(AttributeError, match=r"no attribute 'Nothing'$"):
        _ = discotext.Nothing


@pytest.mark.parametrize(
    "folder", ["", "core", "search", "text", "models", "data", "victims", "runs", "attacks", "decoding"]
)
def test_the_type_checker_and_the_reader_see_the_same_public_names(folder):
    if folder == "victims":
        pytest.importorskip("torch", reason="NeuralVictim is a PyTorch network")
    name = f"discotext.{folder}".rstrip(".")
    tree = ast.parse((PACKAGE / folder / "__init__.py").read_text())
    for_checker = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{name}.")
        for alias in node.names
    } - {"lazy_names", "__version__"}
    module = __import__(name, fromlist=["__all__"])
    assert for_checker == set(module.__all__)
    for public in module.__all__:
        assert getattr(module, public).__doc__
        # A module of the same name would hide it.
        assert not (PACKAGE / folder / f"{public}.py").exists()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, env=os.environ)


@pytest.mark.parametrize(
    "code",
    ["import discotext", "sys.argv = ['discotext', '--help']\nfrom discotext.cli import main\nmain()"],
    ids=["import discotext", "discotext --help"],
)
def test_it_starts_without_loading_what_takes_time(code):
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
        "from discotext.core import FunctionOracle\n"
        "from discotext.solvers import Greedy\n"
        "b = d.Batch.of([d.Problem((3, 3), 1)])\n"
        "print(d.solve(b, FunctionOracle(b, lambda p, c: float(sum(c))), Greedy())[0].score)",
    )
    assert done.stdout.strip() == "2.0", done.stderr


def test_a_missing_extra_is_named():
    done = run(
        "-c",
        "import sys; sys.modules['torch'] = None\n"
        "import discotext as d\n"
        "from discotext.core import EmbeddingOracle\n"
        "EmbeddingOracle(d.Batch.of([]), [], None, None)",
    )
    assert explain_install("torch") in done.stderr.splitlines()[-1]
