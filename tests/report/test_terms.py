"""Every word that a table or a report uses is defined once, and the definitions cover what is printed."""

import re
from pathlib import Path

import pytest

from discotext.core import Status
from discotext.report import make_page
from discotext.report.figures import tabulate_certificates, tabulate_pairing, tabulate_queries, tabulate_solvers
from discotext.report.terms import ALIASES, TERMS, define
from discotext.runs.folder import read_run
from discotext.runs.pairing import pair_runs
from tests.report.helpers import Reader, folder, records, settings

GLOSSARY = Path(__file__).parents[2] / "docs" / "reference" / "glossary.md"
STATUSES = [one.name.lower() for one in Status] + ["misclassified", "unchangeable", "tied"]


@pytest.fixture
def run(tmp_path):
    return read_run(folder(tmp_path / "run", records(), settings(certify={"passes": 9, "budgets": ["0.2"]})))


def test_every_heading_and_status_has_a_meaning(run):
    assert all(map(define, STATUSES))
    tables = [tabulate_solvers(run.summaries), tabulate_certificates(run.certificates)]
    headings = [column.heading for table in tables for column in table.spread.columns]
    curve = tabulate_queries(run.summaries[0]).columns
    headings += [curve[0].heading, curve[-1].heading]
    headings += [column.heading for column in tabulate_pairing(pair_runs(run, run)).columns[3:]]
    assert [heading for heading in headings if define(heading) is None] == []


def test_every_term_of_a_page_explains_itself_on_hover_and_in_the_list(run):
    read = Reader(make_page(run, pair_runs(run, run)))
    listed = {one[1]["id"]: one[2] for one in read.all("dd") if "id" in one[1]}
    terms = read.all("a", **{"class": "term"})
    assert {one[2] for one in terms} >= {"before", "success", "proved", "words", "solver", "bracket", "p"}
    for _, attributes, _ in terms:
        assert listed[attributes["href"].removeprefix("#")] == attributes["title"]


def test_an_alias_leads_to_a_term_and_is_none_itself():
    assert set(ALIASES.values()) <= set(TERMS)
    assert not set(ALIASES) & set(TERMS)
    assert define("no such word") is None


def test_the_glossary_of_the_docs_does_not_define_the_same_word_otherwise():
    rows = dict(re.findall(r"^\| ([^|]+) \| (.+) \|$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE))
    assert rows["victim"] == TERMS["victim"][0].lower() + TERMS["victim"][1:-1]
    for word in ("tie", "flipped", "query", "unchangeable", "budget, m"):
        assert word in rows
        assert define(word.split(",")[0])
