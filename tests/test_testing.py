"""assert_robust: a regression test for robustness, inside a real run of pytest."""

import random

import pytest

from discotext.testing import assert_robust

pytest_plugins = ["pytester"]

MODEL = """
def scores(texts):
    return [[float(text.count("purchased")), 0.5] for text in texts]

DATA = (["We purchased it", "They purchased it", "We bought it", "bad", "It is so bad"], [0, 0, 1, 1, 1])
"""
TESTS = """
from discotext.testing import assert_robust
from model import DATA, scores

def test_robust_enough():
    assert assert_robust(scores, DATA, at_least=0.6, words=1).accuracy == 0.6

def test_not_robust_enough():
    assert_robust(scores, DATA, at_least=0.65, words=1)
"""
names: dict[str, object] = {}
exec(MODEL, names)
scores, DATA = names["scores"], names["DATA"]


def test_one_line_in_a_test_file_passes_or_fails_with_the_figures_and_flipped_texts(pytester):
    pytester.makepyfile(model=MODEL, test_robustness=TESTS)
    done = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider", "--tb=short")
    done.assert_outcomes(passed=1, failed=1)
    shown = done.stdout.str()
    assert all(part in shown for part in ("60.0 %", "65 %", "[purchased → bought]", "seed=0"))
    # The traceback is the test's line, and nothing of the package.
    assert "test_robustness.py:8" in shown
    assert "testing.py" not in shown


def test_every_budget_must_be_robust():
    assert_robust(scores, DATA, at_least=1.0, words=0)
    with pytest.raises(AssertionError) as caught:
        assert_robust(scores, DATA, at_least=1.0, words=[0, 1])
    assert "1 word" in str(caught.value)
    assert "0 words" not in str(caught.value)


def test_a_model_that_fails_does_not_pass():
    calls = []

    def breaks(texts):
        calls.append(texts)
        if len(calls) > 2:
            raise RuntimeError("no more")
        return scores(texts)

    with pytest.raises(AssertionError, match="5 of 5"):
        assert_robust(breaks, DATA, at_least=0.0, words=1, surrogate="none")


def test_the_command_that_shows_it_again_is_named_where_there_is_one(tmp_path, monkeypatch):
    (tmp_path / "my model.py").write_text(MODEL)
    rows = "".join(f"{text},{label}\n" for text, label in zip(*DATA, strict=True))
    (tmp_path / "data.csv").write_text("text,label\n" + rows)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError) as caught:
        assert_robust("py:my model.py:scores", "data.csv", at_least=0.9, words=[1, 2], limit=5, out="run")
    command = "discotext attack 'py:my model.py:scores' data.csv --words 1 --words 2 --limit 5"
    assert str(caught.value).splitlines()[-1].endswith(f": {command}")


def test_a_model_that_contradicts_itself_does_not_pass():
    rng = random.Random(0)

    def unsteady(texts):
        return [[value + rng.uniform(-3, 3) for value in row] for row in scores(texts)]

    with pytest.warns(UserWarning, match="differently"), pytest.raises(AssertionError):
        assert_robust(unsteady, (DATA[0] * 8, DATA[1] * 8), at_least=0.0, words=1)


def test_a_misspelt_option_is_named():
    with pytest.raises(TypeError, match="'at_leest'"):
        assert_robust(scores, DATA, at_leest=0.65)
