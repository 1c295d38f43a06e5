"""Is the accuracy under attack as high as wanted?"""

from dataclasses import replace

import pytest

import discotext
from discotext.runs.summary import summarise_run
from discotext.runs.threshold import check_accuracy

TEXTS = ["We purchased it", "They purchased it", "We bought it", "bad", "It is so bad"]
LABELS = [0, 0, 1, 1, 1]


def scores(texts: list[str]) -> list[list[float]]:
    """Negative where "purchased" stands; its synonyms make every such text positive."""
    return [[float(text.count("purchased")), 0.5] for text in texts]


@pytest.fixture(scope="module")
def result() -> discotext.Result:
    """Five texts, all right without an attack; two of them are flipped by one word."""
    return discotext.compare(scores, (TEXTS, LABELS), ["greedy", "exact"], words=[0, 1])


def failing(summary, failed):
    """The same figures of greedy, with so many failures."""
    return replace(summary, solvers={"greedy": replace(summary.solvers["greedy"], failed=failed)})


def test_three_of_five_texts_stay_right_and_that_is_what_is_compared(result):
    checks = check_accuracy(result.summaries, 0.6)
    assert [(check.summary.budget, check.solver, check.passed) for check in checks] == [
        (0, "greedy", True), (0, "exact", True), (1, "greedy", True), (1, "exact", True)
    ]  # fmt: skip
    assert [check.passed for check in check_accuracy(result.summaries, 0.600001)] == [True, True, False, False]


@pytest.mark.parametrize("least", [-0.1, 1.5, 65, float("nan")])
def test_a_least_accuracy_that_is_no_share_is_refused(least):
    with pytest.raises(ValueError, match=str(least)):
        check_accuracy([], least)


def test_nothing_passes_where_nothing_was_measured(result):
    empty = summarise_run(result.settings, [])[0]
    (check, _) = check_accuracy([empty], 0.0)
    assert not check.passed
    assert "no records" in str(check)
    (dead,) = check_accuracy([failing(result.summary, 3)], 0.0)
    assert not dead.passed
    assert "3 of 5" in str(dead)
    (ill,) = check_accuracy([failing(result.summary, 2)], 0.0)
    assert ill.passed
