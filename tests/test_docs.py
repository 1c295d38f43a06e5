"""The docs: examples run, links lead somewhere, and what scripts write is up to date."""

import importlib.util
import os
import re
import subprocess
import sys
import unicodedata
from dataclasses import fields
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from types import ModuleType

import pytest

import discotext
import discotext.theory
from discotext.core import Solution, Status
from discotext.experiment.record import Change, Record
from discotext.experiment.summary import SolverSummary, Summary
from discotext.solvers import SOLVERS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def script(name: str) -> ModuleType:
    """A file of scripts/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": "", "PYTHONIOENCODING": "utf-8"},
    )


def examples(page: Path) -> list[tuple[str, str | None]]:
    """The Python blocks that are complete, each with what it should print, if a text block follows directly."""
    text, found = page.read_text(encoding="utf-8"), []
    blocks = list(FENCE.finditer(text))
    for block, following in zip_longest(blocks, blocks[1:]):
        # Those that begin otherwise need a model or texts of the reader's.
        if block[1] == "python" and block[2].startswith(("import ", "from ")):
            adjacent = following is not None and not text[block.end() : following.start()].strip()
            found.append((block[2], following[2] if adjacent and following[1] == "text" else None))
    return found


EXAMPLES = [
    pytest.param(code, printed, id=f"{name_of(page)}-{number}")
    for page in PAGES
    for number, (code, printed) in enumerate(examples(page), start=1)
]


@pytest.mark.parametrize(("code", "printed"), EXAMPLES)
def test_the_examples_of_the_docs_run_and_print_what_they_say(code, printed, tmp_path):
    packages = "torch|sklearn|spacy|transformers|pandas|matplotlib"
    for package in re.findall(rf"^(?:from|import) ({packages})", code, re.MULTILINE):
        pytest.importorskip(package)
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr
    if printed is not None:
        assert done.stdout.strip() == printed.strip()


def test_the_readme_has_an_example_with_its_output_and_stays_short():
    assert any(printed is not None for _, printed in examples(ROOT / "README.md"))
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 750


def test_the_guides_on_writing_your_own_have_complete_examples():
    for page in ("extend", "write-a-solver", "write-a-victim", "write-a-candidate-source", "solve-your-own-problem"):
        assert examples(DOCS / "how-to" / f"{page}.md"), page


@pytest.mark.parametrize("name", [name for name in discotext.__all__ if name != "__version__"])
def test_every_public_name_is_there_explained_and_in_the_docs(name):
    if name == "NeuralVictim":
        pytest.importorskip("torch", reason="NeuralVictim is a PyTorch network")
    assert getattr(discotext, name).__doc__
    documented = (DOCS / "reference" / "api" / "discotext.md").read_text(encoding="utf-8")
    assert f"[`{name}`]" in documented


def test_the_page_on_solve_names_every_status_field_and_solver():
    page = (DOCS / "reference" / "solve.md").read_text(encoding="utf-8")
    for status in Status:
        assert f"| `{status.name}` | {status.value} |" in page
    for name in [*Solution.__dataclass_fields__, "changes", "reached", "proved", *SOLVERS]:
        assert f"`{name}`" in page
    guide = (DOCS / "how-to" / "choose-a-solver.md").read_text(encoding="utf-8")
    for name in SOLVERS:
        assert f"| `{name}` |" in guide


def test_the_page_on_formats_names_every_field():
    page = (DOCS / "reference" / "formats.md").read_text(encoding="utf-8")
    for kind in (Record, Change, Summary, SolverSummary):
        missing = [one.name for one in fields(kind) if f"`{one.name}`" not in page]
        assert not missing, kind


def test_pages_with_output_of_commands_are_what_the_commands_print():
    for page, text in script("docs_cli").pages().items():
        assert page.read_text(encoding="utf-8") == text, f"run python scripts/docs_cli.py: {name_of(page)}"


def test_the_api_pages_name_what_the_folders_export():
    written = script("docs_api")
    for page, text in written.pages().items():
        assert page.read_text(encoding="utf-8") == text, f"run python scripts/docs_api.py: {name_of(page)}"
    assert {path.stem for path in written.PAGES.glob("*.md")} == {"discotext", *written.FOLDERS}


def test_the_api_pages_name_exactly_what_can_be_imported():
    written = script("docs_api")
    without_torch = set() if find_spec("torch") else {"NeuralVictim"}
    assert set(written.exported("")) - without_torch == set(discotext.__all__) - {"__version__"}


def test_the_page_on_theory_names_what_there_is():
    page = FENCE.sub("", (DOCS / "explanation" / "theory.md").read_text(encoding="utf-8"))
    names = re.findall(r"`(\w+)(?:\([^`]*\))?`", page)
    assert len(names) > 20
    assert not [name for name in names if not hasattr(discotext.theory, name)]


def test_the_picture_of_the_architecture_is_drawn_from_the_imports():
    drawn = script("draw_architecture")
    assert drawn.PICTURE.read_text(encoding="utf-8") == drawn.draw(), "run python scripts/draw_architecture.py"


def test_no_arrow_of_the_architecture_points_upwards_and_every_layer_is_explained():
    drawn = script("draw_architecture")
    layers = list(drawn.LAYERS)
    assert not [pair for pair in drawn.read_imports() if layers.index(pair[0]) > layers.index(pair[1])]
    there = {drawn.layer_of(path) for path in drawn.PACKAGE.rglob("*.py")} - {"__init__", "__main__"}
    assert there == set(layers)
    page = (DOCS / "explanation" / "architecture.md").read_text(encoding="utf-8")
    assert not [layer for layer in layers if f"| `{layer}` |" not in page]


def test_figures_are_those_of_the_results_files():
    pytest.importorskip("pyarrow")
    tables = pytest.importorskip("benchmarks.tables")
    for page, marker, text in tables.blocks():
        content = page.read_text(encoding="utf-8")
        assert tables.replace(content, marker, text) == content, (
            f"{name_of(page)}, {marker}: run python -m benchmarks.tables"
        )


def test_figures_beside_textattack_are_those_of_the_results_files():
    tables = pytest.importorskip("benchmarks.tables")
    peers = pytest.importorskip("benchmarks.peers.tables")
    if not (tables.RESULTS / "peers_texts.jsonl").exists():
        pytest.skip("benchmarks/results/peers_texts.jsonl is not part of the source distribution")
    rows, texts = (peers.read(tables.RESULTS, name) for name in ("peers", "peers_texts"))
    for page, marker, text in peers.blocks(rows, texts):
        content = page.read_text(encoding="utf-8")
        assert tables.replace(content, marker, text) == content, f"{marker}: run python -m benchmarks.peers.tables"


def test_every_result_says_when_where_and_at_which_commit_it_was_measured():
    tables = pytest.importorskip("benchmarks.tables")
    names = {path.stem for path in tables.RESULTS.glob("*.jsonl")} - {"peers_texts"}
    for name in names:
        for row in tables.rows_of(name):
            # Figures of the paper itself name the paper.
            assert "source" in row or all(row.get(key) for key in ("date", "commit", "machine")), name


def headings(page: Path) -> set[str]:
    """The anchors of a page, as Python-Markdown and mkdocstrings make them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        plain = unicodedata.normalize("NFKD", re.sub(r"[`*]", "", heading)).encode("ascii", "ignore").decode()
        found.add(re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower()))
    return found | set(re.findall(r"^::: (\S+)$", text, re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_relative_link_leads_somewhere(page):
    wrong = []
    for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and anchor not in headings(there)):
            wrong.append(target)
        elif DOCS in page.parents and DOCS not in there.parents:
            wrong.append(f"{target} (outside docs/, which the site does not hold)")
    assert not wrong


def test_docstrings_become_lists_and_code():
    pytest.importorskip("griffe", reason="the dependency group docs is not installed")
    text = "Add.\n\nfirst, second: numbers,\n    both of them.\n\n>>> add(1, 2)\n3"
    shown = "Add.\n\n- **first, second**: numbers,\n    both of them.\n\n```pycon\n>>> add(1, 2)\n3\n```"
    assert script("docs_docstrings").as_markdown(text) == shown


def test_every_picture_is_shown_somewhere():
    shown = {Path(target).name for page in PAGES for target in LINK.findall(page.read_text(encoding="utf-8"))}
    assert {path.name for path in (DOCS / "pictures").iterdir()} <= shown


def test_the_site_builds_without_warnings(tmp_path):
    for package in ("mkdocs", "mkdocstrings", "material"):
        pytest.importorskip(package, reason="the dependency group docs is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "site" / "index.html").exists()
