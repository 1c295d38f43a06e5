"""Victims are loaded by name, or made of what people hold in Python; anything else is told what is accepted."""

import sys

import numpy as np
import pytest
from click.testing import CliRunner

import discotext
from discotext.cli import cli
from discotext.victims import load_victim
from tests.victims.toys import tiny_transformer

TEXTS = ["a fine film", "an awful film", "fine acting", "awful acting"]
LABELS = ["good", "bad", "good", "bad"]
DATA = (["an awful film", "a fine film"], ["bad", "good"])


def fitted():
    pytest.importorskip("sklearn")
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, LABELS)


def run(*line):
    return CliRunner().invoke(cli, list(line))


def test_a_hugging_face_folder_is_loaded_bare(tmp_path):
    held = tiny_transformer({0: "bad", 1: "good"}).reader
    held.model.save_pretrained(tmp_path)
    held.tokeniser.save_pretrained(tmp_path)
    victim = load_victim(tmp_path)
    assert isinstance(victim, discotext.victims.HuggingFaceVictim)
    np.testing.assert_array_equal(victim.scores(TEXTS), load_victim(f"hf:{tmp_path}").scores(TEXTS))
    (tmp_path / "d.csv").write_text("text,label\nan awful film,bad\na fine film,good\n")
    done = run("predict", str(tmp_path), str(tmp_path / "d.csv"))
    assert done.exit_code == 0, done.output
    assert done.output.count('"predicted"') == 2


def test_a_skops_file_is_loaded_bare_and_is_the_same_victim(tmp_path, monkeypatch):
    pipeline = fitted()
    skops = pytest.importorskip("skops.io")
    monkeypatch.chdir(tmp_path)
    skops.dump(pipeline, "model.skops")
    victim = load_victim("model.skops")
    assert victim.name == "sklearn:model.skops" == load_victim("sklearn:model.skops").name
    result = discotext.attack("model.skops", DATA, words=1)
    assert result.summary.solvers["disco"].original_accuracy == 1.0
    (tmp_path / "d.csv").write_text("text,label\nan awful film,bad\na fine film,good\n")
    assert run("attack", "model.skops", "d.csv", "--words", "1", "--out", "run", "--json").exit_code == 0
    # With the prefix it is the same run, which is finished.
    again = run("attack", "sklearn:model.skops", "d.csv", "--words", "1", "--out", "run", "--json")
    assert again.exit_code == 0, again.output


def test_other_paths_are_answered_with_what_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text("text,label\na,b\nc,d\n")
    (tmp_path / "model.pt").write_text("")
    (tmp_path / "empty").mkdir()
    for victim, says in (
        ("model.pt", "'.pt'"),
        ("missing.skops", "'missing.skops'"),
        ("empty", "settings.json"),
    ):
        done = run("attack", victim, "d.csv")
        assert done.exit_code == 1
        assert says in done.output
        assert done.output.count("\n") == 1


def test_what_is_no_fitted_classifier_of_texts_is_told_the_way_out():
    from sklearn.cluster import KMeans

    pipeline = fitted()
    with pytest.raises(ValueError, match="TfidfVectorizer"):
        load_victim(pipeline[0])
    with pytest.raises(ValueError, match="KMeans"):
        load_victim(KMeans())
    with pytest.raises(TypeError, match="LogisticRegression is a class"):
        load_victim(type(pipeline[-1]))


def test_a_pytorch_module_is_told_what_to_pass():
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match="Linear"):
        discotext.attack(torch.nn.Linear(2, 2), DATA)


@pytest.mark.parametrize(
    "given", [None, 3, {"a": 1}, [], ["a", "b"], (1, 2, 3), object()], ids=lambda one: type(one).__name__
)
def test_the_message_for_anything_else_names_what_is_accepted(given):
    with pytest.raises(TypeError) as error:
        discotext.attack(given, DATA)
    for kind in ("pipeline", "(model, tokenizer)", "scikit-learn", "function", "hf:NAME", type(given).__name__):
        assert kind in str(error.value)
    assert "\n" not in str(error.value)


def test_what_python_accepts_can_be_named_on_the_command_line(tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "model.py").write_text(
        "from sklearn.feature_extraction.text import TfidfVectorizer\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "from sklearn.pipeline import make_pipeline\n"
        f"pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit({TEXTS}, {LABELS})\n"
    )
    victim = load_victim("py:model.py:pipeline")
    assert isinstance(victim, discotext.victims.SklearnVictim)
    assert victim.name == "py:model.py:pipeline"
    assert victim.capabilities.gradients


def test_a_kind_of_victim_whose_library_is_missing_names_the_extra(monkeypatch):
    for name in [one for one in sys.modules if one.startswith("discotext.victims.neural.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(vars(discotext.victims), "NeuralVictim", raising=False)
    with pytest.raises(ImportError, match=r"\[torch\]"):
        _ = discotext.victims.NeuralVictim
