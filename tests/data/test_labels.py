"""Labels become class numbers where that is certain, and an error names the row and the value."""

import numpy as np
import pytest

from discotext.data import Examples
from discotext.data.columns import parse_renames
from discotext.data.labels import find_class
from discotext.victims.examples import load_examples
from discotext.victims.function import FunctionVictim
from discotext.victims.registry import load_victim

NEG_POS = ("negative", "positive")
NAMELESS = ("LABEL_0", "LABEL_1")


@pytest.mark.parametrize(
    ("labels", "names", "numbers", "called"),
    [
        ([0, 1, 2], None, [0, 1, 2], ("0", "1", "2")),
        (["0", "2", "1"], None, [0, 2, 1], ("0", "1", "2")),
        (["1.0", "0.0"], None, [1, 0], ("0", "1")),
        ([1, 2, 5], None, [0, 1, 2], ("1", "2", "5")),
        ([10, 9], None, [1, 0], ("9", "10")),
        (["b", " a "], None, [1, 0], ("a", "b")),
        ([1, -1, 1], None, [1, 0, 1], ("-1", "1")),
        (["-1", "+1"], None, [0, 1], ("-1", "1")),
        (np.array([True, False]), None, [1, 0], ("False", "True")),
        (["true", "false"], None, [1, 0], ("false", "true")),
        # A victim's classes: named, numbered, nameless, and −1 and 1.
        ([1, 1], ("no", "yes"), [1, 1], None),
        (["yes", "no"], ("no", "yes"), [1, 0], None),
        ([2, 5], ("1", "2", "5"), [1, 2], None),
        ([" Positive", "NEGATIVE", "pos", "neg"], NEG_POS, [1, 0, 1, 0], None),
        ([-1, 1], ("POSITIVE", "NEGATIVE"), [1, 0], None),
        ([-1, 1], ("0", "1"), [0, 1], None),
        ([-1, 1], NAMELESS, [0, 1], None),
        ([1, -1, -1], ("-1", "1"), [1, 0, 0], None),
        ([-1, -1], ("-1", "1"), [0, 0], None),
        ([0, 1], ("-1", "1"), [0, 1], None),
        ([-1, 0, 1], ("-1", "0", "1"), [0, 1, 2], None),
        ([1, 0], NAMELESS, [1, 0], None),
        (["LABEL_1", "LABEL_0"], ("0", "1"), [1, 0], None),
        ([True, False], ("0", "1"), [1, 0], None),
        (["true", "false"], NAMELESS, [1, 0], None),
        ([True, False], ("-1", "1"), [1, 0], None),
        (["TRUE", False], ("False", "True"), [1, 0], None),
        ([1, 0], ("False", "True"), [1, 0], None),
        (["pos", "neg"], ("0", "1"), [1, 0], None),
        (["us", "US"], ("US", "us"), [1, 0], None),
    ],
    ids=str,
)
def test_labels_become_class_numbers(labels, names, numbers, called):
    found = Examples.of(["some text"] * len(labels), labels, names)
    assert found.labels.tolist() == numbers
    assert found.labels.dtype == np.int64
    assert found.names == (called or names)


@pytest.mark.parametrize(
    ("labels", "names", "row", "value"),
    [
        ([0, None], None, 2, "missing"),
        ([0, float("nan")], None, 2, "missing"),
        ([0, float("inf")], None, 2, "inf"),
        ([0, [1]], None, 2, "[1]"),
        # One kind of labels.
        ([0, True], None, 2, "True"),
        (["good", "1"], None, 2, "'1'"),
        (["good", "bad", "Good"], None, 1, "'Good'"),
        # A negative number marks a text without a label, but for −1 beside 1.
        ([-1, 0, 1], None, 1, "-1, which is negative"),
        ([0, -1], None, 2, "-1, which is negative"),
        ([-1, 0], ("no", "yes"), 1, "-1, which is negative"),
        ([-1, 0, 1], ("0", "1"), 1, "-1, which is negative"),
        # What is not certain to be one of the classes.
        ([-1, 1], ("ham", "spam"), 1, "'-1=CLASS'"),
        ([1, 0], ("True", "False"), 1, "'1=CLASS'"),
        ([True, False], NEG_POS, 1, "'True=CLASS'"),
        (["neg", "pos"], NAMELESS, 1, "'neg=CLASS'"),
        (["uS", "us"], ("US", "us"), 1, "'uS=CLASS'"),
        ([0, 1], ("-1", "0", "2"), 2, "one of -1, 0, 2"),
        ([0, 2], ("no", "yes"), 2, "one of no, yes"),
        (["no", "maybe"], ("no", "yes"), 2, "'maybe=CLASS'"),
        # What is wrong with all rows.
        ([1, 1], None, None, "one class, '1'"),
        ([0], None, None, "1 labels"),
    ],
    ids=str,
)
def test_an_error_about_a_label_names_the_row_and_the_value(labels, names, row, value):
    with pytest.raises(ValueError, match="examples") as told:
        Examples.of(["some text"] * max(len(labels), 2), labels, names)
    assert value in str(told.value)
    assert row is None or f"row {row}: the label is" in str(told.value)


def test_long_labels_and_many_classes_are_shortened_in_all_messages():
    long, many = "a very long label " * 100, [f"class {number}" for number in range(100_000)]
    x_y = Examples.of(["x", "y"], [long, "b"])
    three = Examples.of(["x", "y", "z"], ["0", "1", "2"]).match(None, {"0": long})
    for refused in (
        lambda: Examples.of(["x", "y"], [long, "b"], ("neg", "pos")),
        lambda: Examples.of(["x", "y"], [long, "b"], ("0", "1")),
        lambda: Examples.of(["x", "y"], [long, long]),
        lambda: Examples.of(["x", "y"], [long, long.upper()]),
        lambda: Examples.of(["x", "y"], ["a", "b"], (long, "other")),
        lambda: Examples.of(["a"], ["other"], many),
        lambda: x_y.match(("neg", "pos")),
        lambda: load_examples(load_victim(lambda texts: [[0, 1]] * len(texts)), three),
        lambda: FunctionVictim(lambda texts: [[0.0, 1.0]] * len(texts), labels=many).scores(["a"]),
    ):
        with pytest.raises(ValueError) as told:
            refused()
        assert len(str(told.value)) < 500


def test_labels_keep_the_names_of_the_data_if_the_victim_has_others():
    for labels, names, own in (([0, 1], NEG_POS, ("0", "1")), (NEG_POS, NEG_POS, None), ([0, 1], None, None)):
        assert Examples.of(["a", "b"], labels, names).sample(1).own == own


@pytest.mark.parametrize(
    ("own", "labels", "expected"),
    [
        (("neg", "pos"), ("NEGATIVE", "POSITIVE"), [0, 1]),
        (("neg", "pos"), ("POSITIVE", "NEGATIVE"), [1, 0]),
        (("a", "b"), ("0", "1"), [0, 1]),
        (("a", "b"), NAMELESS, [0, 1]),
        (("0", "1"), ("b", "a"), [0, 1]),
        (("a", "c"), ("c", "b", "a"), [2, 0]),
    ],
)
def test_examples_are_matched_with_a_victim_by_name_or_by_number(own, labels, expected):
    found = Examples(("x", "y"), np.array([0, 1]), own).match(labels)
    assert found.labels.tolist() == expected
    assert [(found.own or found.names)[label] for label in expected] == list(own)


def test_scikit_learn_classes_of_any_kind_are_matched():
    pytest.importorskip("sklearn")
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts = ["fine film", "awful film", "fine fun", "awful bore"]
    for own, others in (
        ([1, -1, 1, -1], [[1, 0, 1, 0], [True, False, True, False], ["pos", "neg", "pos", "neg"]]),
        ([True, False, True, False], [[1, 0, 1, 0], [1, -1, 1, -1], ["true", "FALSE", "true", "false"]]),
        (["pos", "neg", "pos", "neg"], [["Positive", "NEG", "POS", "NEG"], [1, -1, 1, -1], [1, 0, 1, 0]]),
    ):
        victim = load_victim(make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, own))
        for labels in (own, *others):
            assert load_examples(victim, (texts, labels)).labels.tolist() == [1, 0, 1, 0], (own, labels)


@pytest.mark.parametrize(
    ("given", "names", "expected"),
    [
        ("Positive", NEG_POS, 1),
        (" pos ", NEG_POS, 1),
        ("1", NEG_POS, 1),
        (0, NEG_POS, 0),
        (np.int64(1), ("a", "b"), 1),
        ("5", ("1", "3", "5"), 2),
        (-1, ("-1", "1"), 0),
        ("label_1", NAMELESS, 1),
        (1, NAMELESS, 1),
    ],
)
def test_a_class_is_found_by_name_or_number(given, names, expected):
    assert find_class(given, names) == expected


@pytest.mark.parametrize("given", ["spam", 2, -1, 0.5, None, True, "us"])
def test_a_class_that_is_not_there_is_refused_with_the_classes(given):
    names = ("US", "Us") if given == "us" else NEG_POS
    with pytest.raises(ValueError, match=rf"{names[0]} \(0\), {names[1]} \(1\)"):
        find_class(given, names)


@pytest.mark.parametrize("given", [["good"], ["=a"], ["a="], ["a=1", "a=2"]])
def test_a_wrong_renaming_is_refused(given):
    with pytest.raises(ValueError, match=given[0].split("=")[0] or "=a"):
        parse_renames(given)
