"""Networks from files: what is read, and what is said of what cannot be."""

import io
import json
import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext import decode
from discotext.decoding.graph import Edge, make_network
from discotext.decoding.lines import InputError, Lines
from discotext.decoding.lists import combine_list, rescore_list
from discotext.decoding.network import NetworkError
from discotext.decoding.reading import read_networks
from discotext.language import train_kneser_ney


def read(tmp_path, content, **settings):
    file = tmp_path / "input"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_networks(file, **settings))


def words_of(network):
    return [[one.word for one in row] for row in network.positions]


def test_sausages_are_read_with_ids_scores_and_gaps(tmp_path):
    lines = [
        {"id": "u1", "positions": [[{"word": "a", "score": -0.1}, {"word": "", "score": -2}], ["film"]]},
        {"positions": [["x"]], "gaps": ["«", "»"]},
        {"id": 7, "positions": []},
    ]
    one, two, three = read(tmp_path, "\ufeff" + "\n\n".join(map(json.dumps, lines)))
    assert (one.id, words_of(one), one.positions[0][1].score) == ("u1", [["a", ""], ["film"]], -2.0)
    assert (two.id, two.text((0,))) == ("3", "«x»")
    assert (three.id, len(three)) == ("7", 0)


def test_scores_are_natural_logarithms_unless_told_otherwise(tmp_path):
    line = json.dumps({"positions": [[{"word": "a", "score": 0.75}, {"word": "b", "score": 0.25}]]})
    (network,) = read(tmp_path, line, scale="probability")
    assert network.positions[0][1].score == pytest.approx(math.log(0.25))
    (network,) = read(tmp_path, line.replace("0.75", "-2"), scale="log10")
    assert network.positions[0][0].score == pytest.approx(-2 * math.log(10))


POSITIONS = '{{"positions": [["ok"], {}]}}'
BAD = {
    "empty position": (POSITIONS.format("[]"), "line 2: position 1: there are no words"),
    "duplicate word": (POSITIONS.format('["a", "b", "a"]'), "line 2: position 1: the word 'a' is there twice"),
    "NaN": (POSITIONS.format('[{"word": "a", "score": NaN}]'), "line 2: position 1: the score of 'a' is nan"),
    "+inf": (POSITIONS.format('[{"word": "a", "score": Infinity}]'), "line 2: position 1: the score of 'a' is inf"),
    "huge": (POSITIONS.format('[{"word": "a", "score": 1e999}]'), "line 2: position 1: the score of 'a' is inf"),
    "probabilities": (
        POSITIONS.format('[{"word": "a", "score": 0.9}, {"word": "b", "score": 0.1}]'),
        "line 2: position 1: the scores add up to 1, as probabilities do; .* --scores probability",
    ),
    "text as score": (POSITIONS.format('[{"word": "a", "score": "x"}]'), 'line 2: position 1: .* is "x"; expected a n'),
    "no word": (POSITIONS.format("[5]"), "line 2: position 1: a word is 5"),
    "no list": (POSITIONS.format('"a"'), 'line 2: position 1 is "a"; expected a list'),
    "truncated": ('{"positions": [["a"', "line 2: character 20 is not JSON"),
    "neither": ('{"text": "a"}', 'line 2: expected an object with "positions" or with "nbest"'),
    "empty list": ('{"nbest": []}', "line 2: the n-best list is empty"),
    "list without text": ('{"nbest": [{"score": 1}]}', "line 2: entry 0 of nbest is an object"),
    "NaN in a list": ('{"nbest": [{"text": "a", "score": NaN}]}', "line 2: the score of entry 0 of nbest is nan"),
    "wrong gaps": ('{"positions": [["a"]], "gaps": [""]}', "line 2: 1 gaps were given for 1 positions"),
    "wrong span": ('{"positions": [[{"word": "a", "span": 2}]]}', "line 2: position 0: 'a' spans 2 positions"),
    "deep": ('{"positions": ' + "[" * 100_000, "line 2: "),
}


@pytest.mark.parametrize(("line", "words"), BAD.values(), ids=BAD)
def test_a_bad_line_is_named_with_its_position(tmp_path, line, words):
    with pytest.raises(InputError, match=words) as caught:
        read(tmp_path, '{"positions": [["fine"]]}\n' + line)
    assert str(tmp_path / "input") in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"  \n ", "is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "line 1: .*not UTF-8|line 1: it contains a zero byte"),
        (b'{"positions": [["a\0"]]}', "line 1: it contains a zero byte; this is a binary file"),
        (b'{"positions": [["\xff"]]}', r"line 1: byte 18 is not UTF-8 \(0xff\)"),
        (b"plain text\n", "line 1: 'plain text' is none of JSON lines, a lattice .* or hOCR"),
        (b"<html><p>nothing</p></html>", "no words of class ocrx_word"),
    ],
)
def test_what_is_no_file_of_networks_is_refused(tmp_path, content, words):
    with pytest.raises(InputError, match=words):
        read(tmp_path, content)


def test_a_line_without_an_end_is_not_read_to_its_end(monkeypatch):
    monkeypatch.setattr("discotext.decoding.lines.LONGEST", 2_000_000)
    stream = io.BytesIO(b'{"positions": ' + b"[" * 10_000_000)
    with pytest.raises(InputError, match="line 1: it has more than 2 MB; is this one record a line"):
        list(Lines(stream, "x"))
    assert stream.tell() == 2_000_001


# N-best lists


def test_an_n_best_list_is_a_choice_among_its_texts(tmp_path):
    line = {"best": "a  film", "nbest": [{"text": "the film", "score": -3}, {"text": "a film", "score": -1}, "a firm"]}
    (network,) = read(tmp_path, json.dumps(line))
    assert words_of(network) == [["a film", "the film", "a firm"]]
    assert [network.text((i,)) for i in range(3)] == ["a film", "the film", "a firm"]
    assert rescore_list("1", [("a", -2.0), ("a", -1.0)]).positions[0][0].score == -1.0


TEXTS = st.lists(st.lists(st.sampled_from("abcd"), max_size=4).map(" ".join), min_size=1, max_size=4)


@given(TEXTS, st.integers(0, 3))
def test_a_combined_list_has_every_word_and_is_a_distribution(texts, seed):
    scored = [(text, -0.5 * number * seed) for number, text in enumerate(texts)]
    network = combine_list("1", scored)
    offered = {one.word for row in network.positions for one in row}
    assert offered - {""} == {word for text in texts for word in text.split()}
    assert network.text(network.original) == texts[0]
    for row in network.positions:
        assert sum(math.exp(one.score) for one in row) == pytest.approx(1.0)
        # A word of the first text is left out only where most of the list does so.
        assert not row[0].word or all(one.word or math.exp(one.score) > 0.5 for one in row)


def test_a_language_model_takes_no_word_away_that_most_of_the_list_has():
    model = train_kneser_ney([["we", "like", "this", "beach"]], order=2, least=1)
    kept = combine_list("1", [("we like this beach", 0.0), ("we like beach", -0.1), ("we like this peach", -0.2)])
    outvoted = combine_list("2", [("we like this", 0.0), ("we like", -0.1), ("we lice", -0.2)])
    found = [one.text for one in decode([kept, outvoted], [model], word_penalty=9.0)]
    assert found == ["we like this beach", "we like"]


def test_the_shared_lists_are_read(shared_data):
    file = shared_data / "decode" / "nbest" / "dstc10.jsonl"
    if not file.exists():
        pytest.skip("there are no n-best lists among the data")
    lists = list(read_networks(file))
    assert len(lists) == 672
    combined = list(read_networks(file, lists="combine"))
    for one, other in zip(lists, combined, strict=True):
        assert one.text(one.original) == other.text(other.original)


# Graphs


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
    made = sorted(
        (tuple(network.words(choice)), round(sum(one.score for _, one in network.path(choice)), 6))
        for choice in choices
    )
    assert made == sorted((words, round(score, 6)) for words, score in paths(edges, "0", last))
    best = max(score for _, score in paths(edges, "0", last))
    assert sum(one.score for _, one in network.path(network.original)) == pytest.approx(best)


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ([], "no edges"),
        ([Edge("0", "1", "a"), Edge("1", "2", "b"), Edge("2", "1", "c")], "cycle, at or before the node [12]"),
        ([Edge("0", "1", "a"), Edge("0", "2", "b")], "2 nodes may be the end of the graph"),
        ([Edge("0", "2", "a"), Edge("1", "2", "b")], "2 nodes may be the start of the graph"),
    ],
)
def test_a_graph_without_a_way_through_is_refused(edges, words):
    with pytest.raises(NetworkError, match=words):
        make_network("1", edges)
    with pytest.raises(NetworkError, match="the end node is 9"):
        make_network("1", [Edge("0", "1", "a")], end="9")
    with pytest.raises(NetworkError, match="no path leads from the node 1 to the node 2"):
        make_network("1", [Edge("0", "1", "a"), Edge("0", "2", "a")], start="1", end="2")


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
    ("old", "new", "words"),
    [
        ("J=3 S=2 E=3", "J=3 S=2 E=0", "line 13: the graph has a cycle"),
        ("L=4", "L=5", "line 13: there are 4 edges, but L=5 says otherwise; is it truncated"),
        ("S=1 E=2", "S=1 E=9", "line 11: the edge J=1 names the node 9"),
        ("a=-3.0", "a=nan", "line 12: a=nan is not a finite number"),
        ("a=-3.0", "a=x", "line 12: a=x is not a finite number"),
        ("S=0 E=2", "S=0", "line 12: the edge J=2 has no E="),
        ("# nodes", "nodes", "line 4: 'nodes' has no field"),
        ("base=10", "base=1", "line 13: base=1 is no base"),
    ],
)
def test_a_bad_lattice_is_named_with_its_line(tmp_path, old, new, words):
    with pytest.raises(InputError, match=words):
        read(tmp_path, SLF.replace(old, new, 1))


HOCR = """<!DOCTYPE html>
<html><body><div class="ocr_page"><p class="ocr_par" id="par_1">
<span class="ocr_line"><span class="ocrx_word" title="bbox 0 0 1 1; x_wconf 90">An</span>
<span class="ocrx_word"><span class="alternatives"><ins class="alt" title="nlp 0.2">aw&amp;ul</ins>
<del class="alt" title="nlp 1.7; bbox 1 2 3 4">awful</del></span></span></span>
<span class="ocr_line"><span class="ocrx_word"><strong>film.</strong></span></span></p>
<p class="ocr_par" id="par_2"><span class="ocrx_word"> </span></p>
<span class="ocr_line"><span class="alternatives"><ins class="alt">x</ins><del class="alt">y</del></span><br></span>
</div></body></html>
"""


def test_scanned_pages_are_read_by_paragraph_and_line(tmp_path):
    one, two = read(tmp_path, HOCR)
    assert (one.id, words_of(one)) == ("par_1", [["An"], ["aw&ul", "awful"], ["film."]])
    assert one.text((0, 1, 0)) == "An awful\nfilm."
    assert [row.score for row in one.positions[1]] == [-0.2, -1.7]
    assert (two.id, words_of(two)) == ("3", [["x", "y"]])
    with pytest.raises(InputError, match="line 5: nlp is 'inf'"):
        read(tmp_path, HOCR.replace("nlp 1.7", "nlp inf"))
