"""Networks of words: their texts, and what is wrong with some."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext.decoding.network import Alternative, Network, NetworkError
from discotext.models.model import Token

GRAPH = Network.of(  # new york | newark, then city or nothing
    "graph", [[Alternative("new"), Alternative("newark", -1.0, span=2)], ["york"], ["city", ""]]
)


@given(st.lists(st.tuples(st.sampled_from(["", " ", ", ", "… "]), st.sampled_from(["a", "film", "über-x", "it's"]))))
def test_the_original_text_comes_back_as_it_was(pairs):
    gaps = (*(gap for gap, _ in pairs), "!\n")
    network = Network("1", tuple((Alternative(word), Alternative(word + "s")) for _, word in pairs), gaps)
    assert network.text(network.original) == "".join(gap + word for gap, word in pairs) + "!\n"


def test_a_skipped_word_takes_its_gap_along_but_not_the_first():
    network = Network("1", tuple((Alternative(word), Alternative("")) for word in "abc"), ("« ", " ", ", ", " »"))
    assert network.text((0, 0, 0)) == "« a b, c »"
    assert network.text((0, 1, 0)) == "« a, c »"
    assert network.text((1, 0, 1)) == "« b »"
    assert network.text((1, 1, 1)) == " »"
    phrase = Network.of("1", [["thanks"], ["alot", "a lot"]])
    assert phrase.tokens((0, 1)) == [Token("", "thanks"), Token(" ", "a"), Token(" ", "lot")]


def test_an_alternative_that_spans_covers_what_it_spans():
    assert GRAPH.spans
    assert [GRAPH.text(choice) for choice in [(0, 0, 0), (1, 0, 0), (1, 0, 1)]] == [
        "new york city",
        "newark city",
        "newark",
    ]
    assert GRAPH.path((1, 0, 0)) == [(0, Alternative("newark", -1.0, 2)), (2, Alternative("city"))]
    wide = Network.of("1", [["a", Alternative("b", span=2)], ["c", "d"]])
    assert [wide.is_consistent(choice) for choice in [(0, 1), (1, 0), (1, 1)]] == [True, True, False]


@pytest.mark.parametrize(
    ("positions", "values"),
    [
        ([["a"], []], ["position 1"]),
        ([["a", "b", "a"]], ["position 0", "'a'"]),
        ([[("a", math.nan)]], ["position 0", "'a'", "nan"]),
        ([["b"], [("a", math.inf)]], ["position 1", "'a'", "inf"]),
        ([[("a", 1e101)]], ["position 0", "'a'", "1e+101"]),
        ([[Alternative("a", span=3)], ["b"]], ["position 0", "'a'", "3 positions", "2 are left"]),
        ([[Alternative("a", span=0)]], ["'a'", "0 positions"]),
    ],
)
def test_a_wrong_network_is_refused_with_its_position_and_values(positions, values):
    with pytest.raises(NetworkError) as caught:
        Network.of("1", positions)
    assert all(value in str(caught.value) for value in values)


def test_gaps_must_fit():
    with pytest.raises(NetworkError, match="2 gaps"):
        Network("1", ((Alternative("a"),), (Alternative("b"),)), ("", " "))
