"""What sources propose, and lists of synonyms as users write them."""

import numpy as np
import pytest

from discotext.text.neighbours import Neighbours
from discotext.text.sources import AnyOf, SynonymList, Synonyms, VectorNeighbours, read_synonyms
from discotext.text.vectors import WordVectors
from discotext.text.words import WordContext, split


def context(word: str, tag: str) -> WordContext:
    return WordContext(split(word), (tag,), 0)


def test_several_sources_propose_what_any_of_them_does():
    first, second = SynonymList({"good": ["fine", "nice"]}), SynonymList({"good": ["nice", "great"]})
    here = context("good", "JJ")
    assert AnyOf((first, second)).propose(here) == ("fine", "nice", "great")
    assert AnyOf(()).propose(here) == ()


def test_neighbours_are_the_nearest_words_of_the_space():
    angle = np.array([0, 0.1, 0.3, 3.0])
    vectors = WordVectors(["a", "b", "c", "d"], np.stack([np.cos(angle), np.sin(angle)], 1).astype(np.float32))
    source = VectorNeighbours(vectors, Neighbours(k=2))
    assert source.propose(context("a", "NN")) == ("b", "c")
    assert source.propose(context("x", "NN")) == ()


def test_wordnet_proposes_by_part_of_speech():
    assert "leave" not in Synonyms().propose(context("left", "JJ"))
    assert Synonyms().propose(context("the", "DT")) == ()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("s.json", '{"Good": ["Fine", "very nice", "fine", "good"]}', {"good": ["fine"]}),
        ("s.tsv", "good\tfine\tnice\n\nbad\tpoor\n", {"good": ["fine", "nice"], "bad": ["poor"]}),
    ],
)
def test_lists_of_synonyms_are_read(tmp_path, name, content, words):
    (tmp_path / name).write_text(content)
    assert read_synonyms(tmp_path / name) == words


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("s.json", "{", "JSON"),
        ("s.json", "[1]", "a list"),
        ("s.json", '{"good": "fine"}', "'good'"),
        ("s.json", '{"good": [1]}', "'good'"),
        ("s.json", "{}", "no words"),
        ("s.tsv", "", "no words"),
        ("s.csv", "good,fine", "'.csv'"),
        ("s.json", b"\xff", "JSON"),
        ("s.tsv", b"good\t\xff", "line 1"),
    ],
)
def test_a_damaged_list_is_refused_with_a_reason(tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=says):
        read_synonyms(tmp_path / name)
