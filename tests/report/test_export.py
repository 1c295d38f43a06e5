"""The records as CSV and Parquet, and the command that writes them."""

import csv
import json
import re

import pytest

from discotext.runs.folder import read_run
from discotext.runs.summary import summarise_run
from tests.report.helpers import folder, invoke, records, settings


@pytest.fixture
def run(tmp_path):
    return folder(tmp_path / "run", records(), settings())


def test_the_command_prints_tables_and_says_where_the_page_is(run, tmp_path):
    done = invoke(run)
    assert done.exit_code == 0
    assert len(re.findall(r"^solver +before +after", done.stdout, re.MULTILINE)) == 2
    assert str(run / "report.html") in done.stderr
    elsewhere = tmp_path / "other.html"
    invoke(run, "--html", elsewhere, "--solver", "disco")
    assert "greedy" not in elsewhere.read_text(encoding="utf-8")


def test_json_is_the_summary_and_nothing_else(run):
    found = read_run(run)
    expected = [summary.as_dict() for summary in summarise_run(found.settings, found.records)]
    assert list(map(json.loads, invoke(run, "--json").stdout.splitlines())) == expected


def test_csv_and_parquet_hold_every_record(run, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    invoke(run, "--csv", tmp_path / "a.csv", "--parquet", tmp_path / "a.parquet")
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    table = parquet.read_table(tmp_path / "a.parquet").to_pylist()
    by_text = sorted(records(), key=lambda record: record["id"])
    assert len(rows) == len(table) == len(by_text)
    for row, other, given in zip(rows, table, by_text, strict=True):
        assert row["text"] == other["text"] == given["text"].replace("\ud83d", "\ufffd")
        assert other["score"] == given["score"]
        assert (float(row["score"]) if row["score"] else None) == given["score"]
        assert {name: "" if value is None else str(value) for name, value in other.items()} == row
        assert row["changes"] == "; ".join(f"{one['old']}→{one['new']}" for one in given["changes"])
        assert other["changed"] == len(given["changes"])


def test_an_unfinished_run_is_reported_as_far_as_it_is(tmp_path):
    # The second solver and the second budget have not begun; a line is cut off.
    path = folder(tmp_path / "run", records()[:5], settings())
    with (path / "records.jsonl").open("ab") as file:
        file.write(b'{"id": 5, "te')
    done = invoke(path)
    assert "5 of 36 records" in done.stderr
    assert "greedy" not in done.stdout
    assert "5 of 36" in (path / "report.html").read_text(encoding="utf-8")
