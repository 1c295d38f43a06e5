"""The texts of a page: which ones, in which order, and how their changes are marked."""

import json

import pytest

from discotext.report import make_page
from discotext.report.figures import Strongest
from discotext.report.flipped import choose_flipped, cut_pieces, mark_changes
from discotext.report.texts import describe, make_data
from discotext.runs.folder import read_run
from discotext.runs.record import Record
from tests.report.helpers import STATUSES, Reader, folder, made, record, records, run_of, settings


def test_three_flipped_texts_stand_under_the_headline_and_say_how_they_were_chosen(tmp_path):
    found = [made(0, changed=3), made(1, changed=1), made(2, changed=2), made(3, changed=4), made(4, "unchanged")]
    text = make_page(run_of(tmp_path / "run", found))
    read = Reader(text)
    shown = read.all("figure", **{"class": "example"})
    assert [one[2].partition("number ")[2][0] for one in shown] == ["1", "2", "0"]
    assert "good & <better> → bad" in shown[0][2]  # label 1 becomes 0
    assert "1 of 10 words changed" in shown[0][2]
    assert "3 of the 4 texts that disco flipped" in read.all("header")[0][2]
    first = text.index("</h1>") + len("</h1>")
    assert text[first:].startswith('<div class="showcase"')
    assert "<del>some</del> <ins>new0</ins>" in text[first : text.index("</header>")]
    assert not Reader(make_page(run_of(tmp_path / "none", found[4:]))).all("div", **{"class": "showcase"})


def test_of_texts_with_as_few_changes_the_most_acceptable_come_first_and_none_twice():
    same = "the very same text"
    rows = [made(0, accept=0.5), made(1, accept=0.9), made(2, accept=0.7, text=same), made(3, accept=0.6, text=same)]
    rows += [made(4, changed=2, accept=1.0), made(5, "improved", accept=1.0)]
    assert [one.id for one in choose_flipped(list(map(Record.from_dict, rows)), 5)] == [1, 2, 0, 4]


def test_a_long_text_is_shown_around_its_changes_only():
    row = Record.from_dict(made(0, text="start " + "word " * 500 + "end"))
    shown = mark_changes(row)
    assert len(shown) < 300
    assert shown.startswith("<del>start</del> <ins>new0</ins> word")
    assert "".join(text for kind, text in cut_pieces(row, whole=True) if kind != "old") == row.adversarial_text


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_is_a_sentence(tmp_path, status):
    found = run_of(tmp_path / "run", [record(0, status=status)])
    said = describe(found, found.records[0])
    assert said[0].isupper()
    assert len(said.split()) > 3


def test_marks_lead_from_the_text_to_the_adversarial_text_as_javascript_counts(tmp_path):
    found = read_run(folder(tmp_path / "run", records(), settings()))
    embedded = make_data(Strongest.of(found))
    rows = {(row.id, row.solver, row.share): row for row in found.records}
    for place, solver, budget, *_, changes, other in embedded["rows"]:
        text = embedded["texts"][place][1].encode("utf-16-le")
        made, at = b"", 0
        for start, end, new in changes:
            made, at = made + text[2 * at : 2 * start] + new.encode("utf-16-le"), end
        row = rows[embedded["texts"][place][0], embedded["solvers"][solver], embedded["budgetKeys"][budget]]
        assert (made + text[2 * at :]).decode("utf-16-le") == row.adversarial_text.replace("\ud83d", "\ufffd")
        assert other is None


def test_an_adversarial_text_that_changes_do_not_explain_is_shown_as_it_is(tmp_path):
    odd = record(0, adversarial_text="something else altogether")
    text = make_page(run_of(tmp_path / "run", [odd]))
    assert text.count("something else altogether") == 1  # in the data of the script


def test_a_large_run_is_shown_in_part_flipped_texts_first_and_says_so(tmp_path):
    found = [record(8, status="reached" if number % 4 else "improved", id=number) for number in range(520)]
    read = Reader(make_page(run_of(tmp_path / "run", found)))
    embedded = json.loads(read.all("script", id="data")[0][2])
    shown = [one[0] for one in embedded["texts"]]
    assert shown == [number for number in range(520) if number % 4 or number < 440]
    said = read.all("section", id="texts")[0][2]
    assert "The page holds 500 of 520 texts: 390 of the 390 that the strongest attack" in said
    assert "and 110 of the 130 others" in said
