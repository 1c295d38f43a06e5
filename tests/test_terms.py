"""Every word that a table or a report uses is defined once, and the definitions cover what is printed."""

import re
from pathlib import Path

import pytest

from discotext.core import Status
from discotext.experiment.report import bracket, sections
from discotext.experiment.summary import SolverSummary
from discotext.experiment.terms import ALIASES, TERMS, define, define_all

GLOSSARY = Path(__file__).parents[1] / "docs" / "reference" / "glossary.md"
HEADINGS = ("before", "after", "(95 %)", "success", "words", "over all texts", "proved", "passes", "s/text")
CERTIFY = ("at most changed", "accept", "certified", "(95 %)", "attacked", "(95 %) ", "bracket", "robust", "broken",
           "open", "passes", "s/text")  # fmt: skip
STATUSES = [one.name.lower() for one in Status] + ["misclassified", "unchangeable", "tied"]


@pytest.mark.parametrize(
    "heading",
    ["solver", *HEADINGS, *CERTIFY, "flipped within queries", "area", *sections.HEADINGS, *bracket.HEADINGS, *STATUSES],
)
def test_every_heading_and_status_has_a_meaning(heading):
    assert define(heading)


def test_a_meaning_is_one_or_more_whole_sentences_and_differs_from_the_others():
    for term, meaning in TERMS.items():
        assert meaning[0].isupper() or meaning[0].isdigit(), term
        assert meaning.endswith("."), term
        assert "  " not in meaning, term
    assert len(set(TERMS.values())) == len(TERMS)


def test_an_alias_leads_to_a_term_and_is_none_itself():
    assert set(ALIASES.values()) <= set(TERMS)
    assert not set(ALIASES) & set(TERMS)
    assert define("no such word") is None
    assert define_all(["(95 %)", "(95 %) "]) == {"(95 %)": TERMS["95 % interval"]}


def test_the_glossary_of_the_docs_does_not_define_the_same_word_otherwise():
    rows = dict(re.findall(r"^\| ([^|]+) \| (.+) \|$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE))
    assert rows["victim"] == TERMS["victim"][0].lower() + TERMS["victim"][1:-1]
    for word in ("tie", "flipped", "query", "unchangeable", "budget, m"):
        assert word in rows
        assert define(word.split(",")[0])


def test_definitions_name_what_summaries_count():
    # A figure of a summary that a table prints has a term; these are the ones, with their headings.
    printed = {
        "original_accuracy": "accuracy before", "adversarial_accuracy": "after", "success_rate": "success",
        "perturbation": "words changed", "perturbation_all": "over all texts", "optimal": "proved",
        "success_by_queries": "flipped within queries", "query_area": "area", "failed": "failed",
    }  # fmt: skip
    assert set(printed) <= set(SolverSummary.__dataclass_fields__)
    assert all(define(heading) for heading in printed.values())
