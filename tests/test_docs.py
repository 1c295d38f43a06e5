"""The docs: examples run, links lead somewhere, and figures and what scripts write are those of the results files."""

import json
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
import types
import unicodedata
from dataclasses import fields
from itertools import zip_longest
from pathlib import Path

import pytest
from scripts import docs_api, docs_cli, draw_architecture
from scripts.measure_house import list_options

import discotext
import discotext.theory
from discotext.core import Solution
from discotext.runs.record import Change, Record
from discotext.runs.summary import SolverSummary, Summary
from tests.conftest import needs_torch
from tests.test_house import LAYERS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
RESULTS = ROOT / "benchmarks" / "results"
PAGES = [*sorted(ROOT.glob("*.md")), ROOT / "examples" / "README.md", *sorted(DOCS.rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def read(page: str | Path) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


# Examples


def examples(page: Path) -> list[tuple[str, str | None]]:
    """The Python blocks that are complete, each with what it should print, if a text block follows directly."""
    text, found = read(page), []
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
def test_the_examples_of_the_docs_run_and_print_what_they_say(code, printed, tmp_path, monkeypatch, capsys):
    for package in re.findall(r"^(?:from|import) (torch|sklearn|transformers|pandas)", code, re.MULTILINE):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    example = types.ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", example)  # where pickle looks for what an example defines
    exec(compile(code, "<example>", "exec"), vars(example))
    if printed is not None:
        assert capsys.readouterr().out.strip() == printed.strip()


def test_the_commands_of_the_docs_have_the_options_that_they_are_given():
    known = list_options()
    for page in [page for page in PAGES if page.name != "CHANGELOG.md"]:  # which names what is gone
        blocks = [block for kind, block in FENCE.findall(read(page)) if kind == "bash"]
        for command, rest in re.findall(r"discotext ([a-z-]+)((?:\\\n|[^\n#])*)", "\n".join(blocks)):
            given = set(re.findall(r"(?<!\S)--[a-z-]+", rest))
            assert given <= known[command], f"{name_of(page)}: {command} {given - known[command]}"


# README


def test_the_readme_is_short_and_every_page_makes_the_same_promise():
    assert len(read("README.md").split()) < 700
    promise = tomllib.loads(read("pyproject.toml"))["project"]["description"]
    assert all(promise in read(page) for page in ("README.md", "docs/index.md", "mkdocs.yml"))


# Of each sentence below "What it found": the results file, the row, and its figures in the order in which they stand.
FOUND: list[list[tuple[str, dict[str, object], str]]] = [
    [("demo", {"solver": "exact"}, "{n} {budget:.0%} {original_accuracy:.1%} {adversarial_accuracy:.1%}"),
     ("demo", {"solver": "disco"}, "{unchangeable_texts}")],
    [("acceptability", {"what": "level", "scorer": "light", "accept": 0.5}, "{acceptable:.0%}"),
     ("acceptability", {"what": "level", "scorer": "encoder", "accept": 0.6}, "{accept} {acceptable:.0%}"),
     ("acceptability", {"what": "level", "scorer": "full", "accept": 0.6}, "{acceptable:.0%}")],
    [("peers", {"cell": "ag_news-20", "search": "disco"}, "{n} {budget:.0%} {adversarial_accuracy:.1%} {passes:.0f}"),
     ("peers", {"cell": "ag_news-20", "search": "textattack-greedy"}, "{adversarial_accuracy:.1%} {passes:.0f}")],
    [("queries", {"cell": "ag_news-lstm", "solver": "disco"}, "{left:.1%} {asked:.0f}"),
     ("queries", {"cell": "ag_news-lstm", "solver": "greedy"}, "{left:.1%} {asked:.0f}")],
    [("hardening", {"cell": "trec-wcnn"}, "{test[certified_before]:.1%} {test[certified_after]:.1%} "
      "{test[clean_before]:.1%} {test[clean_after]:.1%} {test[worst_before]:.1%} {test[worst_after]:.1%}")],
    [("spelling", {"system": "discotext", "data": "holbrook"}, "{F05:.2f} {precision:.2f} {recall:.2f}"),
     ("spelling", {"system": "pyspellchecker", "data": "holbrook"}, "{F05:.2f}"),
     ("spelling", {"system": "codespell", "data": "holbrook"}, "{F05:.2f} {precision:.2f} {recall:.2f}")],
]  # fmt: skip


def find_row(name: str, where: dict[str, object]) -> dict[str, object]:
    """The one row of a results file, with the sums that sentences name."""
    lines = map(json.loads, read(RESULTS / f"{name}.jsonl").splitlines())
    (row,) = (row for row in lines if where.items() <= row.items())
    if name == "peers":
        row["passes"] = (row["forwards"] + row["backwards"]) / row["attacked"]
    elif name == "queries":
        row["asked"] = row["queries"] + (row["learning"] or 0)
    elif name == "spelling":
        row["F05"] = row["F0.5"]
    return row


def test_every_figure_of_the_readme_is_that_of_a_results_file_which_names_its_version():
    section = read("README.md").split("## What it found\n")[1].split("\n## ")[0]
    opening, *sentences = section.split("\n- ")
    (usual,) = re.findall(r"\d+\.\d+\.\S+", opening)
    for sentence, sources in zip(sentences, FOUND, strict=True):
        rows = [(find_row(name, where), figures) for name, where, figures in sources]
        for row, _ in rows:
            version = row["versions"]["discotext"]
            assert version == usual or version in sentence, sentence
        plain = re.sub(r"`[^`]*`|F0\.5|\d+\.\d+\.\d+(?:\.dev\d+)?", "", sentence)
        wanted = " ".join(figures.format(**row) for row, figures in rows).replace("%", "")
        assert re.findall(r"\d+(?:\.\d+)?", plain) == wanted.split(), sentence


def test_the_comparisons_of_the_readme_are_true():
    disco, exact = (find_row("demo", {"solver": solver}) for solver in ("disco", "exact"))
    assert disco["adversarial_accuracy"] == exact["adversarial_accuracy"]
    assert exact["optimal"] == 1
    lines = [json.loads(line) for line in read(RESULTS / "spelling.jsonl").splitlines()]
    others = [row for row in lines if row["data"] == "holbrook" and row["system"] != "discotext"]
    assert len(others) == 4
    assert max(others, key=lambda row: row["F0.5"])["system"] == "pyspellchecker"
    assert max(others, key=lambda row: row["precision"])["system"] == "codespell"


# What scripts write


def test_generated_pages_and_the_picture_of_the_architecture_are_up_to_date():
    written = docs_cli.pages() | docs_api.pages() | {draw_architecture.PICTURE: draw_architecture.draw()}
    assert [name_of(page) for page, text in written.items() if read(page) != text] == [], "run make docs"


def test_tables_are_those_of_the_results_files():
    pytest.importorskip("pyarrow")
    tables = pytest.importorskip("benchmarks.tables")
    peers = pytest.importorskip("benchmarks.peers.tables")
    blocks = tables.blocks()
    if (RESULTS / "peers_texts.jsonl").exists():  # which is not part of the source distribution
        blocks += peers.blocks(*(peers.read(RESULTS, name) for name in ("peers", "peers_texts")))
    for page, marker, text in blocks:
        assert tables.replace(read(page), marker, text) == read(page), f"{marker}: run python -m benchmarks.tables"


def test_every_result_says_when_where_and_with_which_version_it_was_measured():
    for path in RESULTS.glob("*.jsonl"):
        for row in map(json.loads, read(path).splitlines() if path.stem != "peers_texts" else []):
            # Figures of the paper itself name the paper.
            known = "source" in row or (row["versions"]["discotext"] and row["date"] and row["commit"])
            assert known, path.name


# Names


@pytest.mark.parametrize("name", [name for name in discotext.__all__ if name != "__version__"])
def test_every_public_name_is_explained_and_in_the_docs(name):
    if name == "NeuralVictim":
        pytest.importorskip("torch", reason="NeuralVictim is a PyTorch network")
    assert getattr(discotext, name).__doc__
    assert f"[`{name}`]" in read("docs/reference/api/discotext.md")


def test_pages_name_every_field_of_solutions_records_and_summaries():
    pages = {"how-to/solve-your-own-problem": [Solution], "reference/formats": [Record, Change, Summary, SolverSummary]}
    for page, kinds in pages.items():
        text = read(f"docs/{page}.md")
        assert not [one.name for kind in kinds for one in fields(kind) if f"`{one.name}`" not in text], page


def test_the_page_on_theory_names_what_there_is():
    names = re.findall(r"`(\w+)(?:\([^`]*\))?`", FENCE.sub("", read("docs/explanation/theory.md")))
    assert len(names) > 20
    assert not [name for name in names if not hasattr(discotext.theory, name)]


def test_the_page_on_architecture_explains_every_layer():
    page = read("docs/explanation/architecture.md")
    assert not [layer for layer in LAYERS if layer != "__main__" and f"| `{layer}` |" not in page]
    assert set(draw_architecture.LAYERS) == set(LAYERS) - {"__main__"}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_and_every_path_leads_somewhere(page):
    text = FENCE.sub("", read(page))
    wrong = []
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and anchor not in headings(there)):
            wrong.append(target)
        elif DOCS in page.parents and DOCS not in there.parents:
            wrong.append(f"{target} (outside docs/, which the site does not hold)")
    paths = re.findall(r"`((?:src|tests|examples|scripts|benchmarks)/[\w/.]+)`", text)
    assert wrong + [path for path in paths if not (ROOT / path).exists()] == []


@needs_torch
def test_every_name_of_the_package_in_a_page_is_there():
    for page in [page for page in PAGES if page.name != "CHANGELOG.md"]:  # which names what is gone
        for name in re.findall(r"`(discotext(?:\.\w+)+)`", read(page)):
            pkgutil.resolve_name(name)


def headings(page: Path) -> set[str]:
    """The anchors of a page, as Python-Markdown and mkdocstrings make them."""
    text = FENCE.sub("", read(page))
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        plain = unicodedata.normalize("NFKD", re.sub(r"[`*]", "", heading)).encode("ascii", "ignore").decode()
        found.add(re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower()))
    return found | set(re.findall(r"^::: (\S+)$", text, re.MULTILINE))


def test_every_picture_is_shown_somewhere():
    shown = {Path(target).name for page in PAGES for target in LINK.findall(read(page))}
    assert {path.name for path in (DOCS / "pictures").iterdir()} <= shown


def test_docstrings_become_lists_and_code():
    docstrings = pytest.importorskip("scripts.docs_docstrings", reason="the dependency group docs is not installed")
    text = "Add.\n\nfirst, second: numbers,\n    both of them.\n\n>>> add(1, 2)\n3"
    shown = "Add.\n\n- **first, second**: numbers,\n    both of them.\n\n```pycon\n>>> add(1, 2)\n3\n```"
    assert docstrings.as_markdown(text) == shown


def test_the_site_builds_without_warnings(tmp_path):
    for package in ("mkdocs", "mkdocstrings", "material"):
        pytest.importorskip(package, reason="the dependency group docs is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
        capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "site" / "index.html").exists()
