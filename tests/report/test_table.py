"""One table value: its lines, its columns that fit, its HTML."""

import pytest

from discotext.report.table import Column, Table, count, share
from discotext.runs.summary import Estimate
from tests.report.helpers import Reader

TABLE = Table(
    "a <title>",
    [
        Column("solver", ["disco", "<b>greedy</b>"]),
        share("after", [Estimate(0.5, 0.25, 0.75), None], between=True),
        count("passes", [1234.4, 2], 5),
    ],
)


def test_lines_have_the_numbers_and_a_column_of_intervals():
    assert TABLE.spread.lines == [
        "solver          after     (95 %)  passes",
        "disco          50.0 %  25.0–75.0   1,234",
        "<b>greedy</b>       –          –       2",
    ]


def test_html_has_the_exact_numbers_for_programs_and_nothing_of_the_data_is_markup():
    read = Reader(TABLE.as_html(best=1))
    assert [one[1]["value"] for one in read.all("data")] == ["0.5", "1234.4", "2"]
    assert [one[2] for one in read.all("small")] == ["25.0–75.0"]
    assert [one[2] for one in read.all("th", scope="row")] == ["disco", "<b>greedy</b>"]
    assert len(read.all("tr", **{"class": "best"})) == 1
    assert not read.all("b")
    # A heading that is a term explains itself.
    assert [one[2] for one in read.all("a", **{"class": "term"})] == ["solver", "after", "passes"]


def test_a_notebook_is_given_styles_and_the_intervals_and_columns_are_chosen_by_name():
    read = Reader(TABLE.as_notebook())
    assert [one[2] for one in read.all("th")] == ["solver", "after", "(95 %)", "passes"]
    assert all("style" in one[1] for one in read.all("td"))
    assert TABLE.without("passes") == TABLE.only("solver", "after")


@pytest.mark.parametrize(
    ("width", "kept"), [(47, "solver a b c"), (46, "solver a c"), (34, "solver a"), (31, "solver"), (5, "solver")]
)
def test_the_columns_that_matter_least_are_left_out_first_and_rank_0_never(width, kept):
    cells = {"solver": "x" * 20, "a": "1" * 10, "b": "1" * 10, "c": "1"}
    ranks = {"solver": 0, "a": 1, "b": 3, "c": 2}
    table = Table("", [Column(name, [cells[name]], str, ranks[name]) for name in cells])
    assert [one.heading for one in table.fit(width).columns] == kept.split()
