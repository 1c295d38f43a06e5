"""Charts: the numbers counted by hand stand where they should, and the picture is whole."""

from xml.etree import ElementTree

import pytest

import discotext
from discotext.report.chart import BOTTOM, HIGH, TOP
from discotext.report.sections import accuracy_by_changes
from tests.attacks.test_result import LABELS, TEXTS, scores

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def result():
    """Three texts of five can be flipped: two with one change, one with two."""
    return discotext.attack(scores, (TEXTS, LABELS), "exact", words=2)


def read(chart):
    return ElementTree.fromstring(chart._repr_svg_())


def shares(line):
    """The values that a polyline is drawn at, from its places."""
    return [round(1 - (float(one.split(",")[1]) - TOP) / (HIGH - TOP - BOTTOM), 3) for one in line.split()]


def test_the_picture_of_one_budget_has_the_numbers_counted_by_hand(result):
    # Of five texts two are flipped with one change, and one more with two.
    assert accuracy_by_changes(result.records) == pytest.approx([1.0, 0.6, 0.4])
    root = read(result.plot())
    curve = next(root.iter(f"{SVG}polyline")).get("points")
    assert shares(curve) == pytest.approx([1.0, 0.6, 0.4], abs=0.002)


def test_the_curve_agrees_with_the_summary_where_an_attack_misses_its_target():
    def three(texts):  # without "purchased" a text is of class 0, whatever the target
        return [[0.5, float(text.count("purchased")), float(text.count("acquired"))] for text in texts]

    labels = [0 if label == "rest" else 1 for label in LABELS]
    found = discotext.attack(three, (TEXTS, labels), "exact", words=2, target=2)
    row = found.summary.solvers["exact"]
    curve = accuracy_by_changes(found.records)
    assert (curve[0], curve[-1]) == (row.original_accuracy, row.adversarial_accuracy)


def test_the_picture_of_several_budgets_has_a_curve_for_each_solver_with_intervals():
    several = discotext.compare(scores, (TEXTS, LABELS), ["greedy", "exact"], words=[1, 2])
    root = read(several.plot())
    hovers = [one.text for one in root.iter(f"{SVG}title")]
    for row in (row for summary in several.summaries for row in summary.solvers.values()):
        for value in (row.original_accuracy, row.adversarial_accuracy):
            assert f"{100 * value:.1f} % ({100 * value.low:.1f}–{100 * value.high:.1f})" in hovers
    assert {"greedy", "exact"} <= {one.text for one in root.iter(f"{SVG}text")}


def test_a_picture_is_saved_and_needs_records(result, tmp_path):
    chart = result.plot()
    assert chart.save(tmp_path / "run.svg").read_text(encoding="utf-8") == chart._repr_svg_()
    with pytest.raises(ValueError, match="no records"):
        discotext.Result(result.settings, []).plot()
    robust = discotext.attack(lambda texts: [[1.0, 0.0] for _ in texts], (["We purchased it", "no"], [0, 1]))
    assert accuracy_by_changes(robust.records) == [0.5, 0.5]
    read(robust.plot())
