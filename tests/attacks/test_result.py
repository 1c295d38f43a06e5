"""A result in Python and in a notebook: what it prints, shows, draws and hands over."""

import re
import sys
from dataclasses import replace

import pytest

import discotext
from discotext.data import Examples
from discotext.decoding import Network
from discotext.report import make_page
from discotext.runs.folder import read_run
from discotext.runs.record import Change
from discotext.support.extras import explain_install
from tests.report.helpers import Reader

HOSTILE = '<script>alert("1")</script><img src=x onerror=alert(2)> \x1b[31m & purchased it'
TEXTS = [
    "We purchased it",
    "They purchased a house and purchased a car",
    "We sold it",
    "It was purchased by a very large company of the north",
    "They sold it",
]
LABELS = ["trade", "trade", "rest", "trade", "rest"]


def scores(texts):
    """Class 0 is "rest", class 1 is "trade": where "purchased" stands."""
    return [[0.5, float(text.count("purchased"))] for text in texts]


scores.labels = ["rest", "trade"]


@pytest.fixture(scope="module")
def result():
    """Three texts of five can be flipped: two with one change, one with two."""
    return discotext.attack(scores, (TEXTS, LABELS), "exact", words=2)


@pytest.fixture(scope="module")
def several():
    return discotext.compare(scores, (TEXTS, LABELS), ["greedy", "exact"], words=[1, 2])


@pytest.fixture(scope="module")
def many():
    """Two hundred texts, long ones among them, by four solvers under three budgets."""
    texts = [f"{text} number {number} " + "and so on " * (number % 50) for number in range(40) for text in TEXTS]
    solvers = ["greedy", "random", "left-to-right", "exact"]
    return discotext.compare(scores, (texts, LABELS * 40), solvers, words=[1, 2, 3])


def assert_short(shown, lines=10):
    assert len(shown.splitlines()) <= lines, shown
    assert max(map(len, shown.splitlines())) <= 80, shown


def test_a_result_prints_its_figures_in_a_few_lines(result):
    assert repr(result).splitlines() == [
        "Result: 5 texts, victim function",
        "solver   budget   before   after     (95 %)  success  changes",
        "exact   2 words  100.0 %  40.0 %  11.8–76.9   60.0 %      1.3",
    ]


def test_no_result_prints_more_than_ten_lines(many, tmp_path):
    assert_short(repr(many))
    assert "8 more rows in .summaries" in repr(many)
    folder = tmp_path / ("a very long name " * 8)
    proved = discotext.certify(scores, (TEXTS, LABELS), words=[1, 2, 3, 4], out=folder)
    assert_short(repr(proved))
    assert str(proved.certificates[1]) in repr(proved)
    for one in (*many.summaries, *proved.summaries):
        assert_short(repr(one))
        assert all(len(repr(row)) < 120 for row in one.solvers.values())
    assert all(len(repr(one)) < 120 for one in proved.certificates)
    assert all(len(repr(record)) < 300 for record in many.records)
    assert len(repr(many._run)) < 300


def test_names_that_somebody_chose_do_not_break_the_lines(result):
    long = {**result.settings, "victim": HOSTILE * 9, "data": "d\n" * 99}
    renamed = discotext.Result({**long, "solvers": {"x" * 300: None}}, [])
    assert_short(repr(renamed))
    assert "\x1b" not in repr(renamed)
    assert "\x1b" not in repr(replace(result.records[0], text=HOSTILE, solver="\x1b"))


def test_other_results_print_a_few_lines_too():
    network = Network.of("1", [[("sea", -0.2), ("see", -1.8)]] * 2000)
    (decoded,) = discotext.decode([network], nbest=50)
    assert len(repr(decoded)) < 250
    assert "proved to be the best" in repr(decoded)
    examples = Examples.of(["a text"] * 5000, [f"class {number}" for number in range(50)] * 100)
    assert repr(examples).startswith("Examples(5,000 texts of given; class 0: 100, class 1: 100")
    assert len(repr(examples)) < 250


def test_accuracy_is_what_the_strongest_attack_leaves(result, several):
    assert result.accuracy == 0.4
    assert (result.accuracy.low, result.accuracy.high) == pytest.approx((0.1176, 0.7693), abs=1e-4)
    each = [row.adversarial_accuracy for one in several.summaries for row in one.solvers.values()]
    assert several.accuracy == min(each) < max(each)
    with pytest.raises(ValueError, match="no records"):
        _ = discotext.Result(result.settings, []).accuracy


def test_examples_are_the_texts_with_the_fewest_changes_each_once(result, several):
    shown = result.examples()
    assert [(one.record.id, len(one.record.changes)) for one in shown] == [(0, 1), (3, 1), (1, 2)]
    assert [(one.label, one.flipped_to) for one in shown] == [("trade", "rest")] * 3
    assert shown[0].before == "We purchased it"
    assert shown[0].after == "We bought it"
    assert repr(result.examples(1)) == "text 0: trade → rest, 1 of 3 words changed\n  We [purchased → bought] it"
    assert len({one.record.id for one in several.examples(99)}) == len(several.examples(99)) == 3
    nothing = discotext.attack(scores, (TEXTS, LABELS), "exact", words=0).examples()
    assert (repr(nothing), nothing._repr_html_()) == ("no text was flipped", "<p>No text was flipped.</p>")
    for wrong in (0, -1, 2.5):
        with pytest.raises(ValueError, match=f"{wrong}; choose"):
            result.examples(wrong)


def test_a_long_text_is_shown_around_its_changes(result):
    record = next(record for record in result.records if record.id == 0)
    before = "first " * 400
    change = replace(record.changes[0], start=len(before), end=len(before) + 9, old="purchased", new="bought")
    text, changed = f"{before}purchased {'last ' * 400}", f"{before}bought {'last ' * 400}"
    long = replace(record, text=text, adversarial_text=changed, changes=(change,), words=801)
    shown = discotext.Result(result.settings, [long]).examples()[0]
    assert 60 < len(shown.marked) < 300
    assert "first [purchased → bought] last" in shown.marked
    assert shown.marked.startswith("…")
    assert shown.marked.endswith("…")
    assert len(shown._repr_html_()) < 1500
    swaps = [Change(n, 10 * n, 10 * n + 9, "purchased", "bought") for n in range(500)]
    texts = {"text": "purchased " * 500, "adversarial_text": "bought " * 500}
    full = replace(record, **texts, changes=tuple(swaps), words=500)
    assert "488 more changes" in discotext.Result(result.settings, [full]).examples()[0].marked


def test_a_notebook_shows_the_table_and_three_flipped_texts_in_colour(result, many):
    page = Reader(result._repr_html_())
    # Of the flipped texts, one, one and two changes.
    assert [len(page.all(tag)) for tag in ("table", "del", "ins", "style")] == [1, 4, 4, 0]
    assert "40.0 %" in page.found[0][2]
    styles = [attributes.get("style", "") for _, attributes, _ in page.found]
    assert all("background" in style for style in styles if "rgba" in style)
    assert len(many._repr_html_()) < 20_000
    proved = Reader(discotext.certify(scores, (TEXTS, LABELS), words=[1, 2])._repr_html_())
    assert len(proved.all("table")) == 2
    assert "certified" in proved.found[0][2]


def test_what_a_notebook_shows_has_nothing_to_run():
    def labelled(texts):
        return scores(texts)

    labelled.labels = ["<b>rest</b>", "<i>trade</i>"]
    found = discotext.attack(labelled, ([HOSTILE, "no"], [1, 0]), "exact", words=1)
    assert found.accuracy == 0.5
    hostile = discotext.Result({**found.settings, "victim": HOSTILE, "data": HOSTILE}, found.records)
    for shown in (hostile._repr_html_(), hostile.examples()._repr_html_(), hostile.examples()[0]._repr_html_()):
        found = Reader(shown).found
        assert {tag for tag, _, _ in found} <= set("div p b table thead tbody tr th td del ins small span".split())
        assert {name for _, attributes, _ in found for name in attributes} <= {"style", "dir", "scope"}
        assert '<script>alert("1")</script>' in found[0][2]
    assert "\x1b" not in repr(hostile.examples())


def test_a_data_frame_has_a_row_for_each_record_and_the_names_of_classes(several):
    pandas = pytest.importorskip("pandas")
    frame = several.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == len(several.records) == 20
    assert {"id", "text", "solver", "status", "changed", "label", "label_name", "succeeded"} <= set(frame.columns)
    assert frame["label_name"].tolist() == ["trade" if number else "rest" for number in frame["label"]]
    flipped = frame[frame["succeeded"]]
    assert set(flipped["adversarial_predicted_name"]) == {"rest"}
    assert frame["succeeded"].sum() == sum(record.succeeded for record in several.records)
    exact = frame[(frame["solver"] == "exact") & (frame["allowed"] == 2)]
    assert 1 - exact["succeeded"].mean() == several.accuracy
    assert frame.loc[0, "changed"] == len(several.records[0].changes)
    assert list(discotext.Result(several.settings, []).to_pandas().columns) == list(frame.columns)


def test_the_page_is_the_one_that_the_command_writes(tmp_path):
    made = discotext.attack(scores, (TEXTS, LABELS), "exact", words=2, out=tmp_path / "run")
    target = made.report()
    assert target == tmp_path / "run" / "report.html"
    assert target.read_text(encoding="utf-8") == make_page(read_run(tmp_path / "run"))
    # A run without a folder has the same page.
    loose = discotext.Result(made.settings, made.records)
    assert loose.report(tmp_path / "page.html").read_bytes() == target.read_bytes()
    assert loose.report(str(tmp_path / "page.html")) == tmp_path / "page.html"
    with pytest.raises(ValueError, match=r"report\.html"):
        loose.report()
    with pytest.raises(ValueError, match="no records"):
        discotext.Result(made.settings, []).report(tmp_path / "none.html")


def test_a_missing_package_is_answered_with_the_extra(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=re.escape(explain_install("notebook"))):
        result.to_pandas()


def test_where_nothing_flips_everything_still_works(tmp_path):
    robust = discotext.attack(lambda texts: [[1.0, 0.0] for _ in texts], (["We purchased it", "no"], [0, 1]))
    assert robust.accuracy == 0.5
    assert_short(repr(robust))
    Reader(robust._repr_html_())
    assert robust.report(tmp_path / "report.html").exists()
