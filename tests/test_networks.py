"""Networks, and the constraints that are put on them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext.decoding.constraints import Constraints, check_budget
from discotext.decoding.network import Alternative, Network, NetworkError, looks_like_probabilities
from discotext.language.model import Token

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


def test_a_phrase_is_several_words():
    network = Network.of("1", [["thanks"], ["alot", "a lot"]])
    assert network.tokens((0, 1)) == [Token("", "thanks"), Token(" ", "a"), Token(" ", "lot")]


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
    ("positions", "words"),
    [
        ([["a"], []], "position 1: there are no words"),
        ([["a", "b", "a"]], "position 0: the word 'a' is there twice"),
        ([[("a", math.nan)]], "position 0: the score of 'a' is nan"),
        ([["b"], [("a", math.inf)]], "position 1: the score of 'a' is inf"),
        ([[Alternative("a", span=3)], ["b"]], "position 0: 'a' spans 3 positions, but 2 are left"),
        ([[Alternative("a", span=0)]], "'a' spans 0 positions"),
    ],
)
def test_a_wrong_network_is_refused_with_its_position(positions, words):
    with pytest.raises(NetworkError, match=words):
        Network.of("1", positions)


def test_gaps_must_fit():
    with pytest.raises(NetworkError, match="2 gaps were given for 2 positions"):
        Network("1", ((Alternative("a"),), (Alternative("b"),)), ("", " "))


def test_probabilities_are_told_from_logarithms():
    assert looks_like_probabilities(Network.of("1", [[("a", 0.9), ("b", 0.1)], ["c"], [("d", 1.0), ("e", 0.0)]]))
    assert not looks_like_probabilities(Network.of("1", [[("a", -0.1), ("b", -2.3)]]))
    assert not looks_like_probabilities(Network.of("1", [["a", "b"], ["c"]]))
    assert not looks_like_probabilities(Network.of("1", [[("a", 1.0)]]))


def allowed(network, constraints, position):
    return [one.word for one in constraints.apply(network).positions[position] if one.score > -math.inf]


def test_constraints_leave_what_they_allow():
    network = Network.of("1", [["The"], ["funny", "Good", "fine", "so so"], ["film", "movie", ""]])
    assert allowed(network, Constraints(forced={1: "good"}), 1) == ["Good"]
    assert allowed(network, Constraints(forced={2: ""}), 2) == [""]
    assert allowed(network, Constraints(forbidden={"FINE"}), 1) == ["funny", "Good", "so so"]
    assert allowed(network, Constraints(contain="ni", positions=[1]), 1) == ["fine"]
    assert allowed(network, Constraints(exclude="M", positions=[2]), 2) == [""]
    assert allowed(network, Constraints(longest=4), 1) == ["Good", "fine"]
    assert allowed(network, Constraints(shortest=5, positions=[1, 2]), 2) == ["movie", ""]
    assert not Constraints()
    assert Constraints(longest=3)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda net: Constraints(contain="ab", exclude="B"), "both contain and exclude 'b'"),
        (lambda net: Constraints(shortest=3, longest=2), "at least 3 and at most 2"),
        (lambda net: Constraints(forced={1: "Good"}, forbidden=["good"]), "forced at position 1 and forbidden"),
        (
            lambda net: Constraints(forced={1: "bad"}).apply(net),
            "1: none of 'god', 'good' is allowed: 'bad' is",
        ),
        (lambda net: Constraints(forced={7: "bad"}).apply(net), "forced at position 7, but the network has 2"),
        (
            lambda net: Constraints(exclude="o").apply(net),
            "1: none of 'god', 'good' is allowed: 'god' c",
        ),
        (
            lambda net: check_budget(Constraints(forced={1: "good"}).apply(net), 0),
            "1 positions may not keep",
        ),
    ],
)
def test_contradictory_constraints_are_refused_with_a_reason(make, words):
    with pytest.raises(ValueError, match=words):
        make(Network.of("1", [["a"], ["god", "good"]]))
