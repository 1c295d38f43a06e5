"""What a page says is what the records say, nothing in the records can be more than text, and it fits every window."""

import json
import re

import pytest

from discotext.report import make_page
from discotext.runs.folder import read_run
from discotext.runs.pairing import pair_runs
from discotext.runs.summary import summarise_run
from tests.report.helpers import (
    LABELS,
    TEXTS,
    Reader,
    browser,
    folder,
    invoke,
    made,
    measure,
    opened,
    record,
    records,
    run_of,
    settings,
    split,
)  # fmt: skip

BOTH = {"n": 4, "solvers": {"disco": "disco()", "greedy": "greedy()"}}


@pytest.fixture
def run(tmp_path):
    return folder(tmp_path / "run", records(), settings())


def test_the_page_is_whole_self_contained_and_the_same_every_time(run):
    text = make_page(read_run(run))
    read = Reader(text)
    assert text == make_page(read_run(run))
    assert read.all("html", lang="en")
    assert all(read.all("section", id=name) for name in ("solvers", "accuracy", "classes", "words", "texts"))
    for _, attributes, _ in read.found:
        assert not {"src", "style", "onclick", "onload", "srcset"} & set(attributes)
        assert (attributes.get("href") or "#").startswith("#")
    assert not re.search(r"url\(|@import|https?://|//cdn", text)
    policy = read.all("meta", **{"http-equiv": "Content-Security-Policy"})[0][1]["content"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_no_text_becomes_markup(run):
    text = make_page(read_run(run))
    read = Reader(text)
    assert len(read.all("script")) == 2  # the data and the page's own
    assert "<!--" not in text
    embedded = json.loads(read.all("script", id="data")[0][2])
    assert [one[1] for one in embedded["texts"]] == [text.replace("\ud83d", "\ufffd") for text in TEXTS]
    assert embedded["labels"] == LABELS
    assert "<b>no" not in text


def test_the_numbers_of_the_table_are_those_of_the_summary(run):
    found = read_run(run)
    read = Reader(make_page(found))
    shown = [float(one[1]["value"]) for one in read.within("data", "section", id="solvers")]
    expected = []
    for summary in summarise_run(found.settings, found.records):
        for row in summary.solvers.values():
            shares = (row.original_accuracy, row.adversarial_accuracy, row.success_rate, row.perturbation)
            expected += [*shares, row.perturbation_all, row.words_changed, row.optimal, row.failed]
            expected += [(row.forwards + row.backwards) / row.attacked, row.seconds / row.attacked]
            assert f"{100 * row.adversarial_accuracy.low:.1f}–" in read.all("main")[0][2]
    assert shown == expected


def test_the_headline_is_about_the_strongest_attack_and_of_two_as_strong_that_which_proves_more(tmp_path):
    strong = [record(number, "greedy") for number in range(4)]
    weak = [record(number, "disco", status="improved") for number in range(4)]
    read = Reader(make_page(run_of(tmp_path / "run", weak + strong, **BOTH)))
    said = read.all("h1")[0][2].replace("\u00a0", " ")
    assert said == (
        "Changing at most 20 % of the words (or one) flips 100 % of the texts that the victim had right: "
        "accuracy falls from 100.0 % to 0.0 %."
    )
    assert "flips 4 and disco 0" in read.all("section", id="solvers")[0][2]
    first = [record(0, "disco"), record(1, "disco", status="improved")]
    proved = [record(0, "greedy"), record(1, "greedy", status="impossible")]
    read = Reader(make_page(run_of(tmp_path / "other", first + proved, **BOTH | {"n": 2})))
    assert "every verdict is proved" in read.all("body")[0][2]


@pytest.mark.parametrize("status", ["misclassified", "failed", "unchanged"])
def test_a_run_in_which_nothing_happened_has_a_page(tmp_path, status):
    found = [record(number, status=status) for number in range(3)]
    assert "No text" in Reader(make_page(run_of(tmp_path / "run", found))).all("body")[0][2]


def test_budgets_in_words_and_a_target_are_said_in_words(tmp_path):
    found = [record(number, share=None, allowed=allowed) for allowed in (0, 1, 3) for number in (0, 2)]
    for row in found:
        if row["allowed"] == 0:
            row |= {"status": "unchanged", "changes": [], "adversarial_text": row["text"], "adversarial_predicted": 0}
    given = settings(2, ["disco"], ["0 words", "1 words", "3 words"], target=1)
    said = Reader(make_page(read_run(folder(tmp_path / "run", found, given)))).all("h1")[0][2]
    assert said.startswith("Changing at most 3 words flips")
    assert "into good & <better>" in said


def test_a_page_beside_another_run_has_a_section_with_the_numbers_and_the_texts_that_differ(tmp_path):
    evil = "<script>alert('x')</script> & more"
    first = run_of(tmp_path / "a", [made(n) for n in range(5)] + [made(6, "impossible"), made(8, text=evil)])
    second = run_of(
        tmp_path / "b", [made(n, "impossible") for n in range(5)] + [made(6), made(8, "impossible", text=evil)]
    )
    found = pair_runs(first, second, ("before", "after"))
    text = make_page(second, found)
    section = Reader(text).all("section", id="compared")[0][2].replace("\u00a0", " ")
    assert "leaves A 14.3 % accuracy and B 85.7 %" in section
    assert "only in B: 6 texts" in section
    assert "only in A: 1 texts" in section
    assert "new0" in section
    assert len(Reader(text).all("script")) == 2
    assert Reader(make_page(second)).all("section", id="compared") == []


# In a browser.


@browser
def test_in_a_browser_texts_are_filtered_sorted_and_searched_and_stay_texts(run, tmp_path):
    invoke(run)
    code = (
        "const seen = (hash) => { view.location.hash = hash; view.dispatchEvent(new view.Event('hashchange'));"
        "return [root.dataset.count, [...page.querySelectorAll('#cards .text')].map((one) => one.textContent),"
        "[...page.querySelectorAll('#cards .facts')].map((one) => one.textContent.split(' ')[1])]; };"
        "return [root.dataset.ready, root.dataset.error || '', page.querySelectorAll('script').length,"
        "seen('solver=disco&outcome=success&budget=all'), seen('solver=all&budget=all&search=ALERT&sort=long'),"
        "seen('solver=disco&budget=0.2&sort=short')];"
    )
    ready, error, scripts, flipped, searched, shortest = measure(tmp_path, "run/report.html", 1100, code)
    assert (ready, error, scripts) == ("yes", "", 2)
    won = [row for row in records() if row["solver"] == "disco" and row["status"] in ("reached", "fewest")]
    expected = sorted((row["id"], row["share"], row["text"], row["adversarial_text"]) for row in won)
    assert flipped[:2] == [str(len(won)), [text for one in expected for text in one[2:]]]
    assert searched[0] == "4"
    lengths = [len(split(TEXTS[int(number)])) for number in shortest[2]]
    assert lengths == sorted(lengths)
    assert len(lengths) == len(TEXTS)


@browser
@pytest.mark.parametrize("width", [320, 1600])
def test_no_window_scrolls_sideways_and_a_wide_one_is_used(run, tmp_path, width):
    invoke(run)
    client, scroll, tops, cards = measure(
        tmp_path, "run/report.html", width,
        "const top = (one) => one.getBoundingClientRect().top;"
        "return [root.clientWidth, root.scrollWidth, ['solvers', 'accuracy', 'queries'].map((id) =>"
        "top(page.getElementById(id))), [...page.querySelectorAll('#cards article')].slice(0, 2).map(top)];",
    )  # fmt: skip
    assert scroll <= client
    assert (tops[1] in (tops[0], tops[2])) is (width > 1100)
    assert (cards[0] == cards[1]) is (width > 1100)


@browser
def test_hostile_texts_on_top_of_the_page_stay_texts(tmp_path):
    evil = [
        "<script>document.title='PWNED'</script> awful",
        "<img src=x onerror=\"document.title='PWNED'\"> bad",
        "\u202eright to left\u202c فيلم جميل جدا",
        "\"quotes' `and` </blockquote></figure><b>bold</b>",
    ]
    found = [made(number, text=text) for number, text in enumerate(evil)]
    path = folder(tmp_path / "run", found, settings(4, ["disco"], ["0.2"], labels=["<i>no</i>", "\"yes'"]))
    invoke(path)
    # Without its policy, which would hide a mistake in the markup.
    page = path / "report.html"
    page.write_text(re.sub(r'<meta http-equiv="Content[^>]*>', "", page.read_text(encoding="utf-8")), encoding="utf-8")
    read = opened(page.as_uri(), tmp_path)
    assert read.all("title")[0][2] == "discotext: a <victim> on texts & more"
    assert len(read.all("script")) == 2
    assert not read.all("img")
    shown = [one[2] for one in read.all("blockquote")]
    assert len(shown) == 3
    assert all(one[1]["dir"] == "auto" for one in read.all("blockquote"))
    assert any("</blockquote></figure>" in one for one in shown) or any("<script>" in one for one in shown)
    assert "<i>no</i>" in read.all("header")[0][2]
