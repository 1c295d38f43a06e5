"""Functions as victims, passed in or named as `py:module:function`."""

import json
import sys

import numpy as np
import pytest

from discotext.core.objectives import Untargeted
from discotext.search.loop import solve
from discotext.solvers import Greedy
from discotext.victims.function import FunctionVictim
from discotext.victims.registry import load_victim
from discotext.victims.victim import TextOracle
from tests.victims.toys import FUNCTIONS, TEXTS, tiny_space


def test_a_function_gets_lists_of_at_most_a_batch_and_may_spoil_them():
    sizes = []

    def scores(texts):
        sizes.append(len(texts))
        found = [[0.0, float(len(text))] for text in texts]
        texts.clear()
        return found

    texts = ["a" * n for n in range(7)]
    assert FunctionVictim(scores, batch=3).scores(texts)[:, 1].tolist() == list(range(7))
    assert sizes == [3, 3, 1]
    assert len(texts) == 7


def test_out_of_memory_errors_reach_the_caller_who_makes_smaller_calls():
    def hungry(texts):
        if len(texts) > 2:
            raise RuntimeError("CUDA out of memory")
        return FUNCTIONS["tuples"](texts)

    with pytest.raises(RuntimeError, match="CUDA"):
        FunctionVictim(hungry).scores(TEXTS)
    space = tiny_space()
    found = solve(space.batch, TextOracle(FunctionVictim(hungry), space, Untargeted([1] * 4)), Greedy())
    assert all(np.isfinite(one.score) for one in found)


# --- py:module:function

MODULE = "scale = 2\ndef scores(texts):\n    return [[0.0, scale * len(t)] for t in texts]\nclass Model: pass\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "json.py").write_text("from beside import factor\n" + MODULE.replace("2", "factor"))
    (tmp_path / "inner" / "beside.py").write_text("factor = 3\n")
    (tmp_path / "toy_victim.py").write_text(MODULE)
    (tmp_path / "toy_broken.py").write_text("import no_such_thing_at_all\n")
    (tmp_path / "toy_leaves.py").write_text("raise SystemExit('bye')\n")
    return tmp_path


def test_a_function_is_found_by_module_and_by_file(folder):
    by_module = load_victim("py:toy_victim:scores")
    assert by_module.name == "py:toy_victim:scores"
    assert by_module.scores(["abc"]).tolist() == [[0.0, 6.0]]
    # A file may be called like any module, and may import what lies beside it.
    assert load_victim("py:inner/json.py:scores").scores(["abc"]).tolist() == [[0.0, 9.0]]
    assert load_victim(f"py:{folder / 'toy_victim.py'}:scores").scores(["abc"]).tolist() == [[0.0, 6.0]]
    assert sys.modules["json"] is json


def test_a_function_may_import_its_neighbours_when_it_is_called(folder):
    (folder / "inner" / "late.py").write_text(
        "def scores(texts):\n    from beside import factor\n    return [[0.0, factor] for _ in texts]\n"
    )
    assert load_victim("py:inner/late.py:scores").scores(["abc"]).tolist() == [[0.0, 3.0]]


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ("py:toy_victim", "'py:toy_victim'"),
        ("py:toy_victim:", "'py:toy_victim:'"),
        ("py:no_such:scores", "no_such"),
        ("py:no_such.inner:scores", "no_such.inner"),
        ("py:inner/none.py:scores", "inner/none.py"),
        ("py:toy_victim:score", "it has scores"),
        ("py:toy_victim:xyz", "it has scores, Model"),
        ("py:toy_victim:scale", "int"),
        ("py:toy_victim:Model", "class"),
        ("py:toy_broken:scores", "ModuleNotFoundError: No module named 'no_such_thing"),
        ("py:toy_broken.py:scores", "ModuleNotFoundError"),
        ("py:toy_leaves:scores", "SystemExit: bye"),
    ],
)
def test_a_missing_function_raises_a_one_line_error(folder, spec, named):
    with pytest.raises(ValueError) as caught:
        load_victim(spec)
    assert named in str(caught.value)
