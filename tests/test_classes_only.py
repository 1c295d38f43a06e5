"""Functions that return predicted classes without scores: usable where the classes are declared, refused elsewhere."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import discotext
from discotext import FunctionVictim
from discotext.cli import cli

TEXTS = ["an awful film", "a fine film", "an awful book"]


def number(text: str) -> int:
    return int("awful" in text)


FORMS = {
    "numbers": (lambda texts: [number(text) for text in texts], ["good", "bad"]),
    "array": (lambda texts: np.array([number(text) for text in texts]), ["good", "bad"]),
    "booleans": (lambda texts: [bool(number(text)) for text in texts], ["good", "bad"]),
    "truth": (lambda texts: np.array([bool(number(text)) for text in texts]), ["False", "True"]),
    "names": (lambda texts: [["good", "bad"][number(text)] for text in texts], ["good", "bad"]),
    "array of names": (lambda texts: np.array([["good", "bad"][number(text)] for text in texts]), ["good", "bad"]),
    "objects": (lambda texts: np.array([["good", "bad"][number(t)] for t in texts], object), ["good", "bad"]),
    "numbers as names": (lambda texts: [1 + number(text) for text in texts], ["1", "2"]),
    "signs": (lambda texts: [-1 + 2 * number(text) for text in texts], ["-1", "1"]),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_predicted_class_is_read_as_a_score_of_one(form):
    function, labels = FORMS[form]
    victim = FunctionVictim(function, labels=labels)
    assert victim.scores(TEXTS).tolist() == [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    assert victim.labels == tuple(labels)
    assert victim.capabilities.classes_only


def test_numbers_of_three_classes_are_read_too():
    victim = FunctionVictim(lambda texts: [len(text) % 3 for text in texts], labels=["a", "b", "c"])
    assert victim.scores(["xx", "xxx"]).tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]


@pytest.mark.parametrize("answer", [1, True, "bad", np.int64(1)], ids=repr)
def test_without_declared_classes_it_is_refused_and_both_interfaces_are_told_what_to_do(answer):
    victim = FunctionVictim(lambda texts: [answer] * len(texts))
    for ask in (lambda: victim.labels, lambda: victim.scores(TEXTS)):
        with pytest.raises(ValueError) as error:
            ask()
        message = str(error.value)
        assert "looks like a predicted class; expected a score for each class" in message
        assert "labels= of FunctionVictim, or an attribute labels of the function" in message
        assert "binary= of FunctionVictim, or an attribute binary of the function" in message
        assert "\n" not in message


@pytest.mark.parametrize(
    ("answer", "found"), [(2, "'2'"), (-1, "'-1'"), ("Bad", "'Bad'"), ("", "''")], ids=["2", "-1", "Bad", "empty"]
)
def test_what_is_none_of_the_classes_is_refused(answer, found):
    victim = FunctionVictim(lambda texts: [answer] * len(texts), labels=["good", "bad"])
    with pytest.raises(ValueError, match=f"returned {found} for a text; expected one of the classes good, bad"):
        victim.scores(TEXTS)


def test_an_answer_that_turns_from_classes_to_scores_or_back_is_refused():
    answers = iter([[1, 0], [0.3, 0.2]])
    victim = FunctionVictim(lambda texts: next(answers), labels=["good", "bad"])
    assert victim.scores(["a", "b"]).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    with pytest.raises(ValueError, match=r"returned 0\.3 for a text; expected a class, as in earlier answers"):
        victim.scores(["a", "b"])
    rows = iter([[[0.5, 2.0], [1.0, 0.0]], [1, 0]])
    victim = FunctionVictim(lambda texts: next(rows))
    victim.scores(["a", "b"])
    with pytest.raises(ValueError, match="looks like a predicted class; expected scores, as in earlier answers"):
        victim.scores(["a", "b"])
    # Whole numbers among probabilities and logits are these.
    numbers = iter([[0.5, 4.0], [1, 0]])
    victim = FunctionVictim(lambda texts: next(numbers))
    victim.scores(["a", "b"])
    assert victim.scores(["a", "b"]).tolist() == [[-0.5, 0.5], [0.0, 0.0]]


def test_what_single_numbers_mean_can_be_declared_by_the_function():
    def scores(texts):
        return [number(text) for text in texts]

    scores.binary = "logit"
    assert FunctionVictim(scores).scores(TEXTS).tolist() == [[-0.5, 0.5], [0.0, 0.0], [-0.5, 0.5]]
    scores.binary = True  # something else under that name
    with pytest.raises(ValueError, match="looks like a predicted class"):
        FunctionVictim(scores).scores(TEXTS)


FILE = """
def predict(texts):
    return ["bad" if "awful" in text else "good" for text in texts]

"""


def test_it_is_attacked_from_the_command_line_with_a_warning(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"text": "An awful film about mice.", "label": "bad"}, {"text": "A film about mice.", "label": "good"}]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    (tmp_path / "model.py").write_text(FILE)
    run = CliRunner()
    done = run.invoke(cli, ["attack", "py:model.py:predict", "d.jsonl", "--words", "1"])
    assert done.exit_code == 1
    assert "an attribute labels of the function" in done.stderr
    (tmp_path / "model.py").write_text(FILE + 'predict.labels = ["good", "bad"]\n')
    done = run.invoke(cli, ["attack", "py:model.py:predict", "d.jsonl", "--words", "1", "--json"])
    assert done.exit_code == 0, done.output
    assert "returns predicted classes without scores" in done.stderr
    figures = json.loads(done.stdout)["solvers"]["disco"]
    assert (figures["original_accuracy"], figures["adversarial_accuracy"]) == (1.0, 0.5)


def test_a_pipelines_predictions_are_attacked():
    pytest.importorskip("sklearn")
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts = ["an awful film", "an awful book", *["an old film", "an old book"] * 4]
    model = make_pipeline(CountVectorizer(), LogisticRegression(C=100)).fit(texts, ["bad"] * 2 + ["good"] * 8)
    victim = FunctionVictim(model.predict, labels=list(model.classes_))
    with pytest.warns(UserWarning, match="predicted classes without scores"):
        result = discotext.attack(victim, (["an awful film"], ["bad"]), words=1)
    assert result.records[0].succeeded
