"""No `assert` has an effect: `python -O` leaves them out."""

import ast
import json
import subprocess
import sys
from pathlib import Path

from tests.fuzzing import run

SOURCES = sorted((Path(__file__).parents[1] / "src").rglob("*.py"))


def properties():
    """The names of all properties of the package: to read one may do work."""
    found = set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                marks = {ast.unparse(mark) for mark in node.decorator_list}
                found |= {node.name} if marks & {"property", "cached_property", "functools.cached_property"} else set()
    return frozenset(found)


def test_no_assert_calls_anything_or_reads_a_property():
    lazy = properties()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Assert):
                calls = {ast.unparse(one.func) for one in ast.walk(node.test) if isinstance(one, ast.Call)}
                read = {one.attr for one in ast.walk(node.test) if isinstance(one, ast.Attribute)}
                assert calls <= {"isinstance"}, f"{path.name}:{node.lineno}"
                assert not read & lazy, f"{path.name}:{node.lineno}"


def test_without_asserts_workers_write_the_same_records(tmp_path, monkeypatch):
    """A function whose single numbers are settled as logits by the first texts, and would not be by later ones."""
    (tmp_path / "mine.py").write_text(
        "def scores(texts):\n"
        "    return [3.0 if 'first' in text else 0.4 if 'fine' in text else 0.6 for text in texts]\n"
    )
    texts = ["first good film", *(f"a good film no. {number}" for number in range(5)), "another good film"]
    lines = [json.dumps({"text": text, "label": int(not text.startswith("another"))}) for text in texts]
    (tmp_path / "data.jsonl").write_text("\n".join(lines))
    (tmp_path / "list.json").write_text(json.dumps({"good": ["fine"]}))
    monkeypatch.chdir(tmp_path)
    command = ["attack", "py:mine.py:scores", "data.jsonl", "--synonyms", "list.json", "--solver", "greedy", "--json"]
    workers = [sys.executable, "-O", "-m", "discotext", *command, "--workers", "2"]
    printed = [run(*command).stdout, subprocess.run(workers, capture_output=True, text=True, check=True).stdout]
    rows = [json.loads(one)["solvers"]["greedy"] for one in printed]
    first, second = ({key: value for key, value in row.items() if "seconds" not in key} for row in rows)
    assert first == second
