"""What a release needs: metadata, licences of embedded data, an sdist whose tests run, workflows that match make."""

import ast
import json
import re
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
from scripts.check_version import check_tag, read_versions

from discotext.support.extras import explain_install
from discotext.version import RELEASED

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
RESOURCES = ROOT / "src" / "discotext" / "text" / "resources"
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
# Files whose name begins with a dot are in the checkout only.
in_checkout = pytest.mark.skipif(not (ROOT / ".github").is_dir(), reason="this is not a checkout")


def in_sdist(path: str) -> bool:
    """Whether the sdist has a file, by the patterns of pyproject.toml; hatchling adds pyproject.toml by itself."""
    sdist = SETTINGS["tool"]["hatch"]["build"]["targets"]["sdist"]

    def listed(patterns: list[str]) -> bool:
        return any(f"/{path}" == one or f"/{path}".startswith(f"{one}/") for one in patterns)

    return path == "pyproject.toml" or (listed(sdist["include"]) and not listed(sdist["exclude"]))


# Metadata


def test_the_metadata_are_complete():
    for field in ("name", "description", "readme", "authors", "license", "license-files", "keywords", "classifiers"):
        assert PROJECT[field], field
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    stated = [one.rpartition(" :: ")[2] for one in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", one)]
    assert stated == PYTHONS
    # PyPI refuses a licence classifier beside a licence expression.
    assert not [one for one in PROJECT["classifiers"] if one.startswith("License")]


def test_all_files_state_the_same_version_and_author():
    assert len(set(read_versions().values())) == 1, read_versions()
    (author,) = PROJECT["authors"]
    assert f"name: {author['name']}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert author["name"] in (ROOT / "LICENSE").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("tag", "version", "heading", "message"),
    [
        ("v1.2.0", "1.2.0", "1.2.0 (2026-12-01)", None),
        ("v1.2.1", "1.2.0", "1.2.0 (2026-12-01)", r"tag v1\.2\.0"),
        ("v1.2.0.dev0", "1.2.0.dev0", "1.2.0 (2026-12-01)", "development version"),
        ("v1.2.0", "1.2.0", "1.2.0 (unreleased)", "date the entry"),
    ],
)
def test_only_a_dated_version_with_its_own_tag_is_released(tmp_path, tag, version, heading, message):
    (tmp_path / "src" / "discotext").mkdir(parents=True)
    (tmp_path / "src" / "discotext" / "version.py").write_text(f'__version__ = "{version}"\n')
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## {heading}\n")
    if message is None:
        check_tag(tag, tmp_path)
    else:
        with pytest.raises(SystemExit, match=message):
            check_tag(tag, tmp_path)


def test_advice_to_install_works_before_and_after_the_first_release():
    said = [ROOT / "README.md", ROOT / "examples" / "robustness.yml", *(ROOT / "docs").rglob("*.md")]
    for path in said:
        for line in path.read_text(encoding="utf-8").splitlines():
            if re.search(r'pip install .*"(discotext|\.)\[', line):
                by_name = re.search(r'"discotext\[[a-z,]+\]"', line) is not None
                assert by_name == RELEASED, f"{path.relative_to(ROOT)}: {line}"
    assert ("discotext[hf]" in explain_install("hf")) == RELEASED


def test_the_readme_names_every_extra():
    (line,) = re.findall(r"Extras: (.*?)\. ", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert set(re.findall(r"`(\w+)`", line)) - {"serve"} == set(PROJECT["optional-dependencies"])


# Licences


def test_every_licence_of_the_expression_has_its_text():
    names = {part for part in PROJECT["license"].split() if part not in ("AND", "OR", "WITH")}
    texts = {path.stem for path in (ROOT / "LICENSES").iterdir()} | {"MIT"}
    assert names <= texts
    for pattern in PROJECT["license-files"]:
        assert list(ROOT.glob(pattern)), pattern
        assert in_sdist(pattern.split("/")[0])


def test_the_notice_names_every_embedded_data_file_and_licence_text():
    notice = (ROOT / "LICENSES" / "NOTICE.txt").read_text(encoding="utf-8")
    for path in [*RESOURCES.iterdir(), *(ROOT / "LICENSES").iterdir()]:
        if path.is_file() and path.suffix != ".py" and path.name != "NOTICE.txt":
            assert path.name in notice, path


def test_the_licence_beside_the_data_is_the_one_in_the_metadata():
    assert (RESOURCES / "LICENSE-WordNet.txt").read_text() == (ROOT / "LICENSES" / "LicenseRef-WordNet.txt").read_text()


# The sdist


def imported(path: Path) -> set[str]:
    """The top-level names that a file imports, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
    return found


@pytest.mark.parametrize("path", sorted((ROOT / "tests").glob("*.py")), ids=lambda path: path.name)
def test_the_sdist_has_what_the_tests_import_and_read(path):
    local = {name for name in imported(path) if (ROOT / name).is_dir() and name != "src"}
    # Paths as the tests write them: ROOT / "docs" / "solving.md", parents[1] / "examples".
    text = path.read_text(encoding="utf-8")
    read = {first for first in re.findall(r'(?:ROOT|parents\[1\])\)? / "([^"]+)"', text) if (ROOT / first).exists()}
    missing = {name for name in local | read if not name.startswith(".") and not in_sdist(name)}
    assert not missing


def test_the_sdist_list_names_what_exists():
    sdist = SETTINGS["tool"]["hatch"]["build"]["targets"]["sdist"]
    assert [one for one in sdist["include"] if not (ROOT / one[1:]).exists()] == []


@in_checkout
def test_no_tracked_file_is_forgotten():
    """Whatever is tracked is in the sdist or left out on purpose."""
    left_out = [".ci/*", ".github/*", ".gitignore", ".pre-commit-config.yaml", "benchmarks/results/peers_texts.jsonl"]
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("git cannot list the files")
    tracked = [name for name in done.stdout.splitlines() if (ROOT / name).exists()]
    assert [name for name in tracked if not in_sdist(name) and not any(fnmatch(name, one) for one in left_out)] == []


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md"])
def test_links_to_files_lead_to_files(page):
    path = ROOT / page
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (path.parent / link).exists()] == []


# Workflows and hooks


@in_checkout
def test_the_workflow_tests_every_supported_python_and_calls_targets_of_make():
    workflows = "\n".join(path.read_text() for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")))
    assert f"python: {json.dumps(PYTHONS)}" in workflows
    targets = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text()))
    called = set(re.findall(r"run: make ([a-z-]+)", workflows))
    assert {"test", "test-core", "docs", "dist"} <= called <= targets
    for script in re.findall(r"python (scripts/\S+)", workflows):
        assert (ROOT / script).is_file()


@in_checkout
def test_pre_commit_and_make_lint_use_the_same_ruff():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    pinned = re.search(r"ruff==(\S+)", (ROOT / "constraints.txt").read_text())
    assert pinned
    assert f"rev: v{pinned[1]}\n" in hooks
