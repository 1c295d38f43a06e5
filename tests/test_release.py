"""What a release needs: metadata, licences of embedded data, an sdist whose tests run, workflows that match make."""

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
SDIST = SETTINGS["tool"]["hatch"]["build"]["targets"]["sdist"]
RESOURCES = ROOT / "src" / "discotext" / "text" / "resources"
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
# Files whose name begins with a dot are in the checkout only.
in_checkout = pytest.mark.skipif(not (ROOT / ".github").is_dir(), reason="this is not a checkout")


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_the_metadata_are_complete_and_all_files_state_the_same_version_and_author():
    for field in ("name", "description", "readme", "authors", "license", "license-files", "keywords", "classifiers"):
        assert PROJECT[field], field
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    stated = [one.rpartition(" :: ")[2] for one in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", one)]
    assert stated == PYTHONS
    # PyPI refuses a licence classifier beside a licence expression.
    assert not [one for one in PROJECT["classifiers"] if one.startswith("License")]
    assert len(set(read_versions().values())) == 1, read_versions()
    (author,) = PROJECT["authors"]
    assert f"name: {author['name']}\n" in read("CITATION.cff")
    assert author["name"] in read("LICENSE")


@pytest.mark.parametrize(
    ("tag", "version", "heading", "named"),
    [
        ("v1.2.0", "1.2.0", "1.2.0 (2026-12-01)", None),
        ("v1.2.1", "1.2.0", "1.2.0 (2026-12-01)", r"v1\.2\.0"),
        ("v1.2.0.dev0", "1.2.0.dev0", "1.2.0 (2026-12-01)", "development"),
        ("v1.2.0", "1.2.0", "1.2.0 (unreleased)", "date"),
    ],
)
def test_only_a_dated_version_with_its_own_tag_is_released(tmp_path, tag, version, heading, named):
    (tmp_path / "src" / "discotext").mkdir(parents=True)
    (tmp_path / "src" / "discotext" / "version.py").write_text(f'__version__ = "{version}"\n')
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## {heading}\n")
    if named is None:
        check_tag(tag, tmp_path)
    else:
        with pytest.raises(SystemExit, match=named):
            check_tag(tag, tmp_path)


def test_advice_to_install_works_before_and_after_the_first_release():
    for path in [ROOT / "README.md", ROOT / "examples" / "robustness.yml", *(ROOT / "docs").rglob("*.md")]:
        for line in path.read_text(encoding="utf-8").splitlines():
            if re.search(r'pip install .*"(discotext|\.)\[', line):
                by_name = re.search(r'"discotext\[[a-z,]+\]"', line) is not None
                assert by_name == RELEASED, f"{path.relative_to(ROOT)}: {line}"
    assert ("discotext[hf]" in explain_install("hf")) == RELEASED


def test_the_readme_names_every_extra_and_no_page_names_another():
    extras = set(PROJECT["optional-dependencies"])
    (line,) = re.findall(r"Extras: (.*?)\. ", read("README.md"), re.DOTALL)
    assert set(re.findall(r"`(\w+)`", line)) - {"serve"} == extras
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]:
        named = re.findall(r"(?:discotext|\"\.)\[([a-z,]+)\]|[Ee]xtras? `(\w+)`", path.read_text(encoding="utf-8"))
        assert {one for both in named for part in both for one in part.split(",") if one} <= extras, path


def test_every_licence_has_its_text_and_the_notice_names_every_embedded_file():
    names = {part for part in PROJECT["license"].split() if part not in ("AND", "OR", "WITH")}
    assert names <= {path.stem for path in (ROOT / "LICENSES").iterdir()} | {"MIT"}
    assert all(list(ROOT.glob(pattern)) for pattern in PROJECT["license-files"])
    assert (RESOURCES / "LICENSE-WordNet.txt").read_text() == read("LICENSES/LicenseRef-WordNet.txt")
    notice = read("LICENSES/NOTICE.txt")
    for path in [*RESOURCES.iterdir(), *(ROOT / "LICENSES").iterdir()]:
        if path.is_file() and path.suffix != ".py" and path.name != "NOTICE.txt":
            assert path.name in notice, path


@in_checkout
def test_the_sdist_has_every_tracked_file_but_those_left_out_on_purpose():
    assert [one for one in SDIST["include"] if not (ROOT / one[1:]).exists()] == []
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("git cannot list the files")
    tracked = {name for name in done.stdout.splitlines() if (ROOT / name).exists()} - {"pyproject.toml"}
    left_out = [".ci/*", ".github/*", ".gitignore", ".pre-commit-config.yaml", *(one[1:] for one in SDIST["exclude"])]
    missing = {name for name in tracked if not any(f"/{name}/".startswith(f"{one}/") for one in SDIST["include"])}
    assert [name for name in missing if not any(fnmatch(name, one) for one in left_out)] == []


@in_checkout
def test_the_workflow_tests_every_supported_python_and_calls_targets_of_make():
    workflows = "\n".join(path.read_text() for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")))
    assert f"python: {json.dumps(PYTHONS)}" in workflows
    targets = set(re.findall(r"(?m)^([a-z-]+):", read("Makefile")))
    called = set(re.findall(r"run: make ([a-z-]+)", workflows))
    assert {"test", "test-core", "docs", "dist"} <= called <= targets
    assert all((ROOT / script).is_file() for script in re.findall(r"python (scripts/\S+)", workflows))
    pinned = re.search(r"ruff==(\S+)", read("constraints.txt"))
    assert pinned
    assert f"rev: v{pinned[1]}\n" in read(".pre-commit-config.yaml")
