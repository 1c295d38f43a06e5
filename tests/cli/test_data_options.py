"""Options about labels: classes by name, a target, labels that are mapped, and texts without labels."""

import csv
import json

import pytest

import discotext
from tests.fuzzing import run

MODEL = """
def scores(texts):
    return [[float("awful" in text), 0.5] for text in texts]
scores.labels = ("negative", "positive")
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "data.csv").write_text("text,label\nAn awful film about mice.,-1\nA fine film about mice.,1\n")
    return tmp_path


ATTACK = ["attack", "py:model.py:scores"]
SHORT = ["--words", "1", "--solver", "greedy", "--json"]


def test_classes_and_the_target_are_named(place):
    done = run(*ATTACK, "data.csv", *SHORT, "--target", "POSITIVE", "--out", "run")
    assert done.exit_code == 0, done.stderr
    assert "classes of the data → of the victim: -1 → negative, 1 → positive" in done.stderr
    assert json.loads((place / "run" / "settings.json").read_text())["target"] == 1
    same = run(*ATTACK, "data.csv", *SHORT, "--target", "1", "--out", "run")
    assert same.exit_code == 0, same.stderr
    wrong = run("certify", "py:model.py:scores", "data.csv", "--target", "neutral")
    assert wrong.stderr == "discotext: there is no class 'neutral'; choose one of negative (0), positive (1)\n"
    result = discotext.attack("py:model.py:scores", "data.csv", "greedy", words=1, target="positive")
    assert result.settings["target"] == 1


def test_results_name_the_classes(place):
    done = run(*ATTACK, "data.csv", *SHORT, "--target", "positive", "--out", "run")
    found, names = json.loads(done.stdout), ["negative", "positive"]
    assert (found["labels"], found["target"]) == (names, "positive")
    certified = json.loads(run("certify", "py:model.py:scores", "data.csv", "--words", "1", "--json").stdout)
    assert (certified["labels"], certified["target"]) == (names, None)
    assert run("report", "run", "--csv", "a.csv").exit_code == 0
    with open("a.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for column in ("label", "predicted", "adversarial_predicted"):
                assert row[f"{column}_name"] == names[int(row[column])]
    (place / "turned.csv").write_text("text,label\n" + "awful film,good\nfine film,bad\n" * 20)
    mapped = ["--map-label", "bad=negative", "--map-label", "good=positive"]
    checked = run("check", "py:model.py:scores", "turned.csv", *mapped)
    assert "negative means good, positive means bad" in " ".join(checked.stdout.split())


def test_texts_without_labels_and_standard_input_are_attacked_and_predicted(place):
    (place / "lines.txt").write_text("An awful film about mice.\n\nA fine film.\n")
    done = run(*ATTACK, "lines.txt", *SHORT)
    assert done.exit_code == 0, done.stderr
    assert "2 texts" in done.stderr
    assert json.loads(done.stdout)["solvers"]["greedy"]["original_accuracy"] == 1
    lines = run("predict", "py:model.py:scores", "lines.txt").stdout.splitlines()
    found = [json.loads(line) for line in lines]
    assert [one["predicted_name"] for one in found] == ["negative", "positive"]
    assert [one["label"] for one in found] == [None, None]
    piped = run("predict", "py:model.py:scores", "-", given=b'{"text": "A film", "label": "POS"}\n')
    expected = {"text": "A film", "label": 1, "predicted": 1, "scores": 0}
    expected |= {"label_name": "positive", "predicted_name": "positive"}
    assert json.loads(piped.stdout) | {"scores": 0} == expected


def test_labels_are_mapped_on_the_command_line(place):
    (place / "other.csv").write_text("text,label\nAn awful film.,bad\nA fine film.,good\n")
    done = run(*ATTACK, "other.csv", *SHORT)
    assert done.exit_code == 1
    assert "other.csv, line 2: the label is 'bad'" in done.stderr
    assert "--map-label 'bad=CLASS'" in done.stderr
    done = run(*ATTACK, "other.csv", *SHORT, "--map-label", "bad=negative", "--map-label", "good=positive")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["solvers"]["greedy"]["original_accuracy"] == 1


@pytest.mark.parametrize(("label", "form"), [(0, "csv"), ("negative", "jsonl")])
def test_swapped_columns_are_told_in_a_short_message(place, label, form):
    texts = [f"Film {number} is " + "a long and winding story " * 100 for number in range(20)]
    rows = [{"text": label, "label": text} for text in texts]
    lines = [json.dumps(row) for row in rows] if form == "jsonl" else ["text,label", *(f"{label},{t}" for t in texts)]
    (place / f"swapped.{form}").write_text("\n".join(lines) + "\n")
    for command in (ATTACK, ["predict", "py:model.py:scores"]):
        done = run(*command, f"swapped.{form}")
        assert done.exit_code == 1
        assert ("--text-column" if command == ["train"] else "the label is 'Film 0") in done.stderr
        assert len(done.stderr) < 500
