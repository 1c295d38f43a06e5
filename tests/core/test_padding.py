"""Calls of like length: complete, within their cells, and of all cuts the cheapest."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext import Batch, Problem
from discotext.core.padding import SPARE_CELLS, group_by_length
from discotext.core.wrappers import Chunked

LENGTHS = st.lists(st.integers(0, 60), max_size=40)


def cost(calls, lengths, spare_rows):
    return sum((len(call) + spare_rows) * max(1, max(lengths[row] for row in call)) + SPARE_CELLS for call in calls)


@given(LENGTHS, st.one_of(st.none(), st.integers(0, 300)))
def test_every_row_travels_once_and_within_the_cells(lengths, cells):
    calls = group_by_length(lengths, cells)
    assert sorted(row for call in calls for row in call.tolist()) == list(range(len(lengths)))
    for call in calls:
        assert len(call) == 1 or len(call) * max(1, max(lengths[row] for row in call)) <= (
            np.inf if cells is None else cells
        )
    longest = [max(lengths[row] for row in call) for call in calls]
    assert longest == sorted(longest)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=9), st.integers(0, 8))
def test_no_other_cut_is_cheaper(lengths, spare):
    order = sorted(range(len(lengths)), key=lambda row: lengths[row])
    cheapest = min(
        cost([order[begin:end] for begin, end in zip((0, *cuts), (*cuts, len(order)), strict=True)], lengths, spare)
        for count in range(len(order))
        for cuts in combinations(range(1, len(order)), count)
    )
    assert cost(group_by_length(lengths, spare_rows=spare), lengths, spare) == cheapest


def test_nothing_is_no_call():
    assert group_by_length([]) == []


def test_as_few_calls_as_fit():
    assert [len(call) for call in group_by_length([10] * 100, cells=405)] == [34, 33, 33]


@pytest.mark.parametrize("pads", [True, False])
def test_only_an_oracle_that_pads_gets_its_rows_by_length(pads):
    batch = Batch.of([Problem((2,) * size, 1) for size in (5, 50) for _ in range(20)])
    calls = []

    class Long:
        def score(self, problems, choices):
            calls.append(sorted(set(batch.sizes[problems].tolist())))
            return batch.sizes[problems].astype(float)

    oracle = Long()
    oracle.pads = pads
    everyone = np.arange(len(batch))
    found = Chunked(oracle, batch).score(everyone, batch.originals())
    np.testing.assert_array_equal(found, batch.sizes)
    assert calls == ([[5], [50]] if pads else [[5, 50]])
