"""Word graphs: their networks have exactly their paths, and lattices are read with their scales."""

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext.decoding.lattice import Edge, make_network
from discotext.decoding.network import NetworkError
from discotext.decoding.reading import read_networks
from tests.decoding.test_reading import read


@st.composite
def graphs(draw):
    """Any small graph: nodes in order, edges forward, a way through."""
    size = draw(st.integers(2, 5))
    edges = {(i, i + 1, "w") for i in range(size - 1)}
    pairs = [(i, j) for i in range(size) for j in range(i + 1, size)]
    for start, end in draw(st.lists(st.sampled_from(pairs), max_size=5)):
        edges.add((start, end, draw(st.sampled_from(["x", "y", ""]))))
    scores = st.floats(-3, 0, width=16)
    return draw(st.permutations([Edge(str(i), str(j), word, draw(scores)) for i, j, word in sorted(edges)]))


def paths(edges, node, end):
    """Every path, as words and score."""
    if node == end:
        return [((), 0.0)]
    return [
        ((*((edge.word,) if edge.word else ()), *words), edge.score + score)
        for edge in edges
        if edge.start == node
        for words, score in paths(edges, edge.end, end)
    ]


@given(graphs())
def test_the_network_of_a_graph_has_exactly_its_paths(edges):
    last = str(max(int(edge.end) for edge in edges))
    network = make_network("1", edges, start="0", end=last)
    choices = [c for c in product(*(range(count) for count in network.counts)) if network.is_consistent(c)]
    made = []
    for choice in choices:
        score = sum(one.score for _, one in network.path(choice))
        made.append((tuple(token.word for token in network.tokens(choice)), round(score, 6)))
    assert sorted(made) == sorted((words, round(score, 6)) for words, score in paths(edges, "0", last))
    best = max(score for _, score in paths(edges, "0", last))
    assert sum(one.score for _, one in network.path(network.original)) == pytest.approx(best)


@pytest.mark.parametrize(
    ("edges", "ends", "value"),
    [
        ([], {}, "no edges"),
        ([Edge("0", "1", "a"), Edge("1", "2", "b"), Edge("2", "1", "c")], {}, "node [12]"),
        ([Edge("0", "1", "a"), Edge("0", "2", "b")], {}, "1, 2"),
        ([Edge("0", "2", "a"), Edge("1", "2", "b")], {}, "0, 1"),
        ([Edge("0", "1", "a")], {"end": "9"}, "node is 9"),
        ([Edge("0", "1", "a"), Edge("0", "2", "a")], {"start": "1", "end": "2"}, "node 1"),
    ],
)
def test_a_graph_without_a_way_through_is_refused(edges, ends, value):
    with pytest.raises(NetworkError, match=value):
        make_network("1", edges, **ends)


SLF = """VERSION=1.0
UTTERANCE=u1 acscale=0.5
base=10
# nodes
N=4 L=4
I=0 t=0.0
I=1 t=0.2
I=2 t=0.5
I=3 t=0.6 W=!NULL
J=0 S=0 E=1 W=new a=-1.0 l=-9
J=1 S=1 E=2 W="york" a=-1.0
J=2 S=0 E=2 W=newark a=-3.0
J=3 S=2 E=3 W=!SENT_END
"""


def test_lattices_are_read_with_their_scales(tmp_path):
    one, two = read(tmp_path, SLF + SLF.replace("u1", "u2"))
    assert (one.id, two.id) == ("u1", "u2")
    assert [one.text(choice) for choice in [(0, 0, 0), (1, 0, 0)]] == ["new york", "newark"]
    assert one.positions[0][1].score == pytest.approx(-1.5 * math.log(10))
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "b.slf").write_text(SLF)
    (tmp_path / "more" / "a.lat").write_text(SLF.replace("u1", "first"))
    assert [network.id for network in read_networks(tmp_path / "more")] == ["first", "u1"]


def test_words_may_stand_at_nodes(tmp_path):
    text = "VERSION=1.0\nI=0 W=!NULL\nI=1 W=a\nI=2 W=b\nJ=0 S=0 E=1 p=0.5\nJ=1 S=1 E=2\nJ=2 S=0 E=2 p=0.25\n"
    (network,) = read(tmp_path, text)
    assert network.text((0, 0)) == "a b"
    assert network.positions[0][1].score == pytest.approx(math.log(0.25))


@pytest.mark.parametrize(
    ("old", "new", "line", "value"),
    [
        ("J=3 S=2 E=3", "J=3 S=2 E=0", 13, "cycle"),
        ("L=4", "L=5", 13, "LINKS is 5"),
        ("S=1 E=2", "S=1 E=9", 11, "node 9"),
        ("a=-3.0", "a=nan", 12, "a=nan"),
        ("a=-3.0", "a=x", 12, "a=x"),
        ("S=0 E=2", "S=0", 12, "J=2 has no E="),
        ("# nodes", "nodes", 4, "'nodes'"),
        ("base=10", "base=1", 13, "base=1"),
    ],
)
def test_a_bad_lattice_is_named_with_its_line(tmp_path, old, new, line, value):
    with pytest.raises(ValueError) as caught:
        read(tmp_path, SLF.replace(old, new, 1))
    assert f"line {line}: " in str(caught.value)
    assert value in str(caught.value)
