"""Is the accuracy under attack as high as wanted: the check, and JUnit XML of it."""

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

import discotext
from discotext.experiment.junit import make_junit
from discotext.experiment.summary import Summary, summarise_run
from discotext.experiment.threshold import check_accuracy

TEXTS = ["We purchased it", "They purchased it", "We bought it", "bad", "It is so bad"]
LABELS = [0, 0, 1, 1, 1]
HOSTILE = 'a <b> & "c"\n\x1b[31m\x00\ud800\ufffe]]> ü 漢'


def scores(texts: list[str]) -> list[list[float]]:
    """Negative where "purchased" stands; its synonyms make every such text positive."""
    return [[float(text.count("purchased")), 0.5] for text in texts]


@pytest.fixture(scope="module")
def result() -> discotext.Result:
    """Five texts, all right without an attack; two of them are flipped by one word."""
    return discotext.compare(scores, (TEXTS, LABELS), ["greedy", "exact"], words=[0, 1])


def rename(summary: Summary, solver: str, failed: int = 0) -> Summary:
    """The same figures, with names that somebody else chose."""
    figures = replace(next(iter(summary.solvers.values())), failed=failed)
    return replace(summary, victim=HOSTILE, data=HOSTILE, solvers={solver: figures})


def test_three_of_five_texts_stay_right_and_that_is_what_is_compared(result):
    checks = check_accuracy(result.summaries, 0.6)
    assert [(check.summary.budget, check.solver, check.value, check.passed) for check in checks] == [
        (0, "greedy", 1.0, True), (0, "exact", 1.0, True), (1, "greedy", 0.6, True), (1, "exact", 0.6, True)
    ]  # fmt: skip
    assert [check.passed for check in check_accuracy(result.summaries, 0.600001)] == [True, True, False, False]
    # Wilson's interval of 3 of 5 reaches down to 0.23, and of 5 of 5 to 0.57.
    lower = check_accuracy(result.summaries, 0.5, low=True)
    assert [check.passed for check in lower] == [True, True, False, False]
    assert [round(check.value, 2) for check in lower] == [0.57, 0.57, 0.23, 0.23]
    assert all(check.passed for check in check_accuracy(result.summaries))


@pytest.mark.parametrize("least", [-0.1, 1.5, 65, float("nan")])
def test_a_least_accuracy_that_is_no_share_is_refused(least):
    with pytest.raises(ValueError, match=r"choose a share from 0 to 1, such as 0\.65"):
        check_accuracy([], least)


def test_a_sentence_has_the_figures_and_what_was_required(result):
    check = check_accuracy(result.summaries[1:], 0.65)[0]
    assert str(check) == (
        "accuracy under attack is 60.0 % (95 %: 23.1 to 88.2 %), and 100.0 % without one; required of the accuracy "
        "under attack: at least 65 %, which is too low"
    )


def test_nothing_passes_where_nothing_was_measured(result):
    empty = summarise_run(result.settings, [])[0]
    (check, _) = check_accuracy([empty], 0.0)
    assert not check.passed
    assert "no records" in str(check)
    (dead,) = check_accuracy([rename(result.summary, "greedy", failed=3)], 0.0)
    assert not dead.passed
    assert str(dead) == "the victim failed on 3 of 5 texts, so the accuracy under attack says nothing"
    (ill,) = check_accuracy([rename(result.summary, "greedy", failed=2)], 0.0)
    assert ill.passed


def test_junit_has_a_suite_for_each_budget_and_a_case_for_each_solver(result):
    root = ET.fromstring(make_junit(result.summaries, 0.65, flipped=["We [purchased → bought] it"]))
    assert (root.tag, root.get("tests"), root.get("failures"), root.get("errors")) == ("testsuites", "4", "2", "0")
    first, second = root.findall("testsuite")
    assert [suite.get("failures") for suite in (first, second)] == ["0", "2"]
    assert [case.get("name") for case in second.findall("testcase")] == [
        "greedy, at most 1 word changed, swaps accepted with probability ≥ 0.45",
        "exact, at most 1 word changed, swaps accepted with probability ≥ 0.45",
    ]
    failure = second.find("testcase/failure")
    assert "60.0 %" in failure.get("message")
    assert failure.text.endswith("some flipped texts:\nWe [purchased → bought] it")
    properties = {one.get("name"): one.get("value") for one in second.findall("properties/property")}
    assert properties["exact.adversarial_accuracy"] == "0.6"
    low = result.summaries[1].solvers["exact"].adversarial_accuracy.low
    assert float(properties["exact.adversarial_accuracy_low"]) == low
    assert (properties["n"], properties["budget"], properties["required"]) == ("5", "1", "0.65")
    # The older schemas want: properties before test cases, and of a test case no other elements.
    assert [one.tag for one in second] == ["properties", "testcase", "testcase"]
    assert {one.tag for case in root.iter("testcase") for one in case} == {"failure", "system-out"}
    for suite in (first, second):
        assert float(suite.get("time")) >= 0


def test_without_a_least_accuracy_no_case_fails(result):
    root = ET.fromstring(make_junit(result.summaries))
    assert root.get("failures") == "0"
    assert not list(root.iter("failure"))


def test_a_victim_that_failed_is_an_error_and_not_a_failure(result):
    root = ET.fromstring(make_junit([rename(result.summary, "greedy", failed=4)], 0.5))
    assert (root.get("errors"), root.get("failures")) == ("1", "0")
    assert "failed on 4 of 5 texts" in root.find(".//error").get("message")


def test_names_and_texts_that_xml_cannot_hold_are_escaped(result):
    made = make_junit([rename(result.summary, HOSTILE)], 1.0, low=True, flipped=[HOSTILE])
    root = ET.fromstring(made)  # well-formed, whatever stands in it
    assert "\\x1b[31m\\x00\\ud800\\ufffe]]> ü 漢" in root.find(".//failure").text
    assert b"\x1b" not in made
    assert root.find(".//property[@name='victim']").get("value").startswith('a <b> & "c"\n')
