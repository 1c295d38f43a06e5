"""Answers of models that others wrote are read as one table of scores, or refused with what is wrong."""

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

from discotext.cli import cli
from discotext.core.oracle import UnavailableError
from discotext.victims import FunctionVictim
from tests.victims.toys import FUNCTIONS, TEXTS, logit, pipeline_rows, probability

OPINIONS = ["an awful film", "a fine film", "an awful book"]


def test_a_single_probability_becomes_two_columns_that_add_up_to_one_and_a_logit_two_that_differ_by_it():
    found = FunctionVictim(FUNCTIONS["probability"]).scores(TEXTS)
    np.testing.assert_allclose(found[:, 1], [probability(text) for text in TEXTS])
    np.testing.assert_allclose(found.sum(axis=1), 1)
    found = FunctionVictim(FUNCTIONS["one column"]).scores(TEXTS)
    np.testing.assert_allclose(found[:, 1] - found[:, 0], [logit(text) for text in TEXTS])
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-12)


def test_what_a_single_number_means_is_settled_by_the_first_texts_and_not_by_the_question_for_labels():
    victim = FunctionVictim(lambda texts: [0.5 if text == "a" else 4.0 for text in texts])
    assert victim.labels == ("0", "1")
    assert (victim.score_reader.labels, victim.score_reader.binary) == (("0", "1"), "auto")
    assert victim.scores(["b"]).tolist() == [[-2.0, 2.0]]
    assert victim.scores(["a"]).tolist() == [[-0.25, 0.25]]  # settled, though the number could be a probability
    assert victim.score_reader.binary == "logit"
    stated = FunctionVictim(lambda texts: [0.5] * len(texts), binary="logit")
    assert stated.scores(["b"]).tolist() == [[-0.25, 0.25]]
    hard = FunctionVictim(lambda texts: [len(text) % 2 for text in texts], binary="probability")
    assert hard.scores(["b", "bb"]).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    single = FunctionVictim(lambda texts: np.full(len(texts), 1.0000001, np.float32), binary="probability")
    assert single.scores(["b"]).tolist() == [[0.0, 1.0]]


def test_labels_come_from_the_caller_or_the_answers_or_the_function():
    assert FunctionVictim(FUNCTIONS["lists"]).labels == ("0", "1", "2")
    assert FunctionVictim(FUNCTIONS["lists"], labels=["n", "p", "x"]).labels == ("n", "p", "x")
    assert FunctionVictim(pipeline_rows).labels == ("NEG", "POS")

    def own(texts):
        return [[0.0, 1.0]] * len(texts)

    own.labels = ["cold", "warm"]
    assert FunctionVictim(own).labels == ("cold", "warm")
    # Named answers follow the caller's order, and numbers in names count as numbers.
    turned = FunctionVictim(pipeline_rows, labels=["POS", "NEG"])
    np.testing.assert_allclose(turned.scores(TEXTS), FunctionVictim(pipeline_rows).scores(TEXTS)[:, ::-1])
    many = FunctionVictim(lambda texts: [{f"LABEL_{n}": float(n) for n in range(11, -1, -1)} for _ in texts])
    assert many.scores(["x"]).tolist() == [[float(n) for n in range(12)]]
    assert many.labels[2] == "LABEL_2"


def fails(texts):
    raise KeyError("no such word")


WRONG = {
    "1 row(s) for 2 text(s)": lambda texts: [[0.0, 1.0]],
    "None": lambda texts: None,
    "{'a': 1}": lambda texts: {"a": 1},
    "different lengths, such as [0.0, 1.0]": lambda texts: [[0.0, 1.0], [0.0]],
    "['x', 'y']": lambda texts: [["x", "y"]] * len(texts),
    "[nan, 1.0] for the text 'one'": lambda texts: [[math.nan, 1.0]] * len(texts),
    "[0.0, -inf] for the text 'two'": lambda texts: [[0.0, -math.inf if t == "two" else 1.0] for t in texts],
    "(2, 1, 1)": lambda texts: np.zeros((len(texts), 1, 1)),
    "(2, 0)": lambda texts: np.zeros((len(texts), 0)),
    "predicted class": lambda texts: np.array([2] * len(texts)),
    "best class only": lambda texts: [{"label": "POS", "score": 0.9}] * len(texts),
    "top_k=None": lambda texts: [[{"label": "POS", "score": 0.9}]] * len(texts),
    "a, b": lambda texts: [{"a": 1.0, "b": 2.0}, {"a": 1.0, "c": 2.0}],
    "'no such word' for the text 'one'": fails,
}


@pytest.mark.parametrize("named", WRONG)
def test_an_answer_that_cannot_be_read_raises_a_one_line_error(named):
    with pytest.raises((ValueError, UnavailableError)) as caught:
        FunctionVictim(WRONG[named]).scores(["one", "two"])
    assert str(caught.value).startswith("function ")
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


def test_answers_that_change_their_meaning_are_refused():
    victim = FunctionVictim(lambda texts: [[0.0] * len(texts[0])] * len(texts))
    victim.scores(["two"])
    for text in ("four", "a"):
        with pytest.raises(ValueError, match="0, 1, 2"):
            victim.scores([text])
    victim = FunctionVictim(lambda texts: [float(len(text)) for text in texts])
    victim.scores(["a"])
    with pytest.raises(ValueError, match=r"3; .*binary="):
        victim.scores(["abc"])
    with pytest.raises(ValueError, match=r"NEG, POS; .*cold, warm"):
        FunctionVictim(pipeline_rows, labels=["cold", "warm"]).scores(TEXTS)


def test_wrong_settings_are_refused_before_any_call():
    for wrong, named in (({"binary": "odds"}, "'odds'"), ({"labels": "ab"}, "'ab'"), ({"labels": ["a"]}, "'a'"),
                         ({"labels": ["a", "a"]}, "'a', 'a'"), ({"batch": 0}, "0")):  # fmt: skip
        with pytest.raises(ValueError, match=named):
            FunctionVictim(fails, **wrong)


# --- predicted classes without scores


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
    assert victim.scores(OPINIONS).tolist() == [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    assert victim.labels == tuple(labels)
    assert victim.capabilities.classes_only


@pytest.mark.parametrize("answer", [1, True, "bad", np.int64(1)], ids=repr)
def test_without_declared_classes_it_is_refused_and_both_interfaces_are_told_what_to_do(answer):
    victim = FunctionVictim(lambda texts: [answer] * len(texts))
    for ask in (lambda: victim.labels, lambda: victim.scores(OPINIONS)):
        with pytest.raises(ValueError) as error:
            ask()
        for named in ("labels= of FunctionVictim", "binary= of FunctionVictim"):
            assert named in str(error.value)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("answer", [2, -1, "Bad", ""])
def test_what_is_none_of_the_classes_is_refused(answer):
    victim = FunctionVictim(lambda texts: [answer] * len(texts), labels=["good", "bad"])
    with pytest.raises(ValueError, match=f"'{answer}' .*good, bad"):
        victim.scores(OPINIONS)


def test_an_answer_that_turns_from_classes_to_scores_or_back_is_refused():
    answers = iter([[1, 0], [0.3, 0.2]])
    victim = FunctionVictim(lambda texts: next(answers), labels=["good", "bad"])
    assert victim.scores(["a", "b"]).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    with pytest.raises(ValueError, match=r"0\.3"):
        victim.scores(["a", "b"])
    rows = iter([[[0.5, 2.0], [1.0, 0.0]], [1, 0]])
    victim = FunctionVictim(lambda texts: next(rows))
    victim.scores(["a", "b"])
    with pytest.raises(ValueError, match="predicted class"):
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
    assert FunctionVictim(scores).scores(OPINIONS).tolist() == [[-0.5, 0.5], [0.0, 0.0], [-0.5, 0.5]]
    scores.binary = True  # something else under that name
    with pytest.raises(ValueError, match="predicted class"):
        FunctionVictim(scores).scores(OPINIONS)


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
    assert "labels" in done.stderr
    (tmp_path / "model.py").write_text(FILE + 'predict.labels = ["good", "bad"]\n')
    done = run.invoke(cli, ["attack", "py:model.py:predict", "d.jsonl", "--words", "1", "--json"])
    assert done.exit_code == 0, done.output
    assert "without scores" in done.stderr
    figures = json.loads(done.stdout)["solvers"]["disco"]
    assert (figures["original_accuracy"], figures["adversarial_accuracy"]) == (1.0, 0.5)
