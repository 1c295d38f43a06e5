"""Records and summaries survive their codec, and what is not one of them is refused with a reason."""

import json
import pickle
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext.report.export import COLUMNS
from discotext.runs import Budget, Change, Estimate, Record
from discotext.runs.summary import summarise, summarise_run
from tests.conftest import EMPTY_RECORD

COUNT = st.integers(0, 2**62)
NUMBER = st.floats(-1e9, 1e9)
CHANGES = st.builds(Change, position=COUNT, start=COUNT, end=COUNT, old=st.text(max_size=5), new=st.text(max_size=5))
RECORDS = st.builds(
    Record,
    id=COUNT, text=st.text(max_size=9), label=st.integers(0, 9), predicted=st.none() | st.integers(0, 9),
    adversarial_text=st.text(max_size=9), adversarial_predicted=st.none() | st.integers(0, 9),
    score=st.none() | NUMBER, adversarial_score=st.none() | NUMBER, changes=st.lists(CHANGES, max_size=3).map(tuple),
    words=COUNT, budget=COUNT, status=st.sampled_from(["reached", "failed"]), solver=st.text(max_size=5), seed=COUNT,
    tied=st.booleans(), tolerance=st.floats(0, 1), changeable=st.none() | COUNT, candidates=st.none() | COUNT,
    refused=st.dictionaries(st.text(max_size=3), COUNT, max_size=2), unknown_swaps=COUNT,
    space=st.none() | st.text("abcdef", min_size=1, max_size=16), forwards=COUNT, backwards=COUNT,
    seconds=st.floats(0, 1e6), victim_seconds=st.floats(0, 1e6), unit=COUNT, share=st.none() | st.just("0.2"),
    allowed=st.none() | COUNT, error=st.none() | st.text(max_size=5),
)  # fmt: skip


@given(RECORDS)
def test_a_record_is_read_as_it_was_written(record):
    assert Record.from_dict(json.loads(json.dumps(record.as_dict()))) == record


def test_keys_are_the_fields_in_their_order():
    names = [one.name for one in fields(Record)]
    assert list(EMPTY_RECORD.as_dict()) == names
    named = {"label_name", "predicted_name", "adversarial_predicted_name"}
    assert set(COLUMNS) == {*names, "changed", *named} - {"refused", "unit"}


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("words", -1, "'words' is -1, below 0"),
        ("words", True, "'words' is 'True'"),
        ("score", float("nan"), "'score' is nan"),
        ("seconds", 2**63, "'seconds' is 9223372036854775808"),
        ("tied", 1, "'tied' is '1'"),
        ("changes", [3], "a change is not an object"),
        ("changes", [{"position": 0}], "there is no 'start'"),
        ("refused", {"x": -1}, "not a count"),
        ("share", 0.2, "'share' is '0.2'"),
    ],
)
def test_a_wrong_value_is_named(key, value, says):
    with pytest.raises(ValueError, match=says.replace("{", r"\{").replace("}", r"\}")):
        Record.from_dict(EMPTY_RECORD.as_dict() | {key: value})


def test_what_is_missing_is_named_and_what_a_newer_version_adds_is_ignored():
    raw = EMPTY_RECORD.as_dict()
    # Earlier versions had models judge the texts.
    assert Record.from_dict(raw | {"invented": 1, "similarity": 0.5, "perplexity": 20.0}) == EMPTY_RECORD
    with pytest.raises(ValueError, match="'status'"):
        Record.from_dict({key: value for key, value in raw.items() if key != "status"})
    # Keys that version 0.1 did not write have defaults.
    old = {key: value for key, value in raw.items() if key not in ("tied", "tolerance", "refused", "unit")}
    assert Record.from_dict(old) == EMPTY_RECORD


@given(st.integers(0, 10**9) | st.decimals("0.0001", "1", places=4))
def test_a_budget_is_read_as_it_was_written(value):
    budget = Budget(words=value) if isinstance(value, int) else Budget(share=str(value))
    assert Budget.parse(str(budget)) == budget
    assert budget.value == pytest.approx(float(value))


def test_an_estimate_is_a_number_that_keeps_its_interval():
    estimate = pickle.loads(pickle.dumps(Estimate(0.25, 0.1, 0.5)))
    assert (estimate + 1, estimate.low, estimate.high) == (1.25, 0.1, 0.5)
    assert json.dumps(estimate) == "0.25"


def test_a_summary_as_json_has_three_keys_for_each_estimate():
    figures = summarise([replace(EMPTY_RECORD, predicted=0, adversarial_predicted=1, status="reached", space="a")])
    found = figures.as_dict()
    rates = figures.success_rate, figures.success_rate.low, figures.success_rate.high
    assert tuple(value for key, value in found.items() if key.startswith("success_rate")) == rates
    assert [key for key in found if key.startswith("success_rate_")] == ["success_rate_low", "success_rate_high"]
    assert rates[0] == 1.0
    settings = {"victim": "v", "data": "d", "seed": 0, "budgets": ["0.2"], "solvers": {"s": "S()"}, "version": "0"}
    (summary,) = summarise_run(settings, [])
    assert summary.as_dict()["solvers"]["s"]["success_rate_low"] is None
