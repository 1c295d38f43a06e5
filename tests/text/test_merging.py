"""Merged synonyms: groups against a second implementation, what they lose in closed form, and victims that use them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext.core.objectives import Untargeted
from discotext.text.candidates import Candidates
from discotext.text.merging import Exchanges, LabelCounts, MergedWords, merge_words
from discotext.text.space import Space
from discotext.text.words import split
from discotext.victims.encoded import Encoded
from discotext.victims.function import FunctionVictim
from tests.conftest import needs_sklearn, needs_torch

WORDS = [f"w{letter}" for letter in "abcdefgh"]
PAIRS = st.dictionaries(
    st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)).filter(lambda pair: pair[0] < pair[1]),
    st.floats(0, 20),
    max_size=12,
)
TEXTS = st.lists(st.tuples(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), st.integers(0, 2)), min_size=1)


def count(rows: list) -> LabelCounts:
    return LabelCounts.of([" ".join(words) for words, _ in rows], [label for _, label in rows], 3)


def components(pairs, words) -> set[frozenset[str]]:
    """Connected components, by spreading the least number."""
    number = {word: at for at, word in enumerate(words)}
    for _ in words:
        for a, b in pairs:
            number[a] = number[b] = min(number[a], number[b])
    groups = [frozenset(word for word in words if number[word] == at) for at in set(number.values())]
    return {group for group in groups if len(group) > 1}


def information(counts: LabelCounts, groups: list[list[str]]) -> float:
    """Texts times the mutual information of group and label, from its definition, over occurrences."""
    table = np.array([sum(counts[word] for word in group) for group in groups])
    total = table.sum()
    joint = table / total
    expected = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    inside = joint > 0
    return float(total * (joint[inside] * np.log(joint[inside] / expected[inside])).sum())


@given(PAIRS, TEXTS)
def test_without_a_limit_groups_are_connected_components(pairs, rows):
    counts = count(rows)
    seen = [word for word in WORDS if word in counts.counts]
    known = {pair: places for pair, places in pairs.items() if pair[0] in seen and pair[1] in seen}
    merged = merge_words(Exchanges(pairs, len(rows)), counts, unseen=False)
    assert {frozenset(group) for group in merged.groups} == components(known, seen)


@given(PAIRS, TEXTS, st.floats(0, 3))
def test_what_is_lost_is_mutual_information_and_no_merge_exceeds_the_limit(pairs, rows, limit):
    counts = count(rows)
    places = {pair: float(round(n)) for pair, n in pairs.items()}
    merged = merge_words(Exchanges(places, len(rows)), counts, limit, unseen=False)
    alone = [[word] for word in counts.counts if word not in merged.codes]
    lost = information(counts, [[word] for word in counts.counts]) - information(counts, alone + merged.groups)
    merges = sum(len(group) - 1 for group in merged.groups)
    assert -1e-9 <= lost <= limit * (merges + sum(places.values())) + 1e-9


@given(PAIRS, TEXTS, st.floats(0, 3))
def test_every_unseen_word_reads_as_one_it_may_be_exchanged_with(pairs, rows, limit):
    counts = count(rows)
    merged = merge_words(Exchanges(pairs, len(rows)), counts, limit)
    for word in {word for pair in pairs for word in pair} - set(counts.counts):
        near = {other for pair in pairs for other in pair if word in pair} - {word}
        assert any(merged.read_word(word) == merged.read_word(other) for other in near)


def test_rare_words_merge_before_frequent_ones_that_say_as_much():
    counts = LabelCounts.of(["rare", "odd", *["often", "much"] * 50], [0, 1] * 51, 2)
    pairs = {("odd", "rare"): 1.0, ("much", "often"): 1.0}
    assert merge_words(Exchanges(pairs, 102), counts, 1.0).groups == [["odd", "rare"]]


def test_words_are_read_in_their_case_and_nothing_else_changes():
    merged = MergedWords({"film": "film", "movie": "film"})
    assert merged("The MOVIE, a movie: <b>Movie</b> movies") == "The FILM, a film: <b>Film</b> movies"
    assert MergedWords.parse(merged.to_json(), "file").codes == merged.codes


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b'{"groups": 3}', b'{"groups": [[]]}', b'{"groups": [["a", 3]]}', b'{"groups": [["a"], ["a"]]}'],
)
def test_a_file_of_something_else_is_refused(content):
    with pytest.raises(ValueError, match=r"file\.json"):
        MergedWords.parse(content, "file.json")


@given(st.lists(st.sampled_from(["good", "fine", "nice", "film", "movie", "the"]), min_size=1, max_size=6), st.data())
def test_an_encoded_victim_scores_choices_as_it_scores_their_texts(words, data):
    merged = MergedWords({"good": "good", "fine": "good", "film": "film", "movie": "film"})
    inner = FunctionVictim(lambda texts: [[len(text) + text.count("good"), text.count("nice")] for text in texts])
    victim = Encoded(inner, merged)
    text = split(" ".join(words))
    others = {"good": ("fine", "nice"), "fine": ("nice",), "film": ("movie",)}
    space = Space((text,), (tuple((word, *others.get(word, ())) for word in words),), (len(words),))
    choice = [data.draw(st.integers(0, len(options) - 1)) for options in space.options[0]]
    oracle = victim.oracle(space, Untargeted([0]))
    scored = oracle.score(np.array([0]), np.array([choice], dtype=np.int32))[0]
    written = victim.scores([space.text(0, choice)])[0]
    assert scored == written[1] - written[0]


def test_an_exchange_among_merged_words_changes_nothing():
    texts = ["They purchased a car", "We bought it"]
    found = Exchanges.find(Candidates(), texts, ["purchased"])
    merged = merge_words(found, LabelCounts.of(texts, [0, 1], 2))
    assert merged("They purchased a car") == merged("They bought a car")


@needs_sklearn
def test_a_saved_pipeline_with_merged_words_scores_the_same(tmp_path):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    from discotext.victims.registry import load_victim
    from discotext.victims.sklearn.victim import SklearnVictim

    texts = ["a good film", "a bad film", "good plot", "bad plot"]
    inner = SklearnVictim(make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, [1, 0, 1, 0]))
    victim = Encoded(inner, MergedWords({"film": "film", "movie": "film"}))
    victim.save(tmp_path / "v")
    loaded = load_victim(tmp_path / "v")
    asked = ["a good movie", "some film"]
    assert np.array_equal(loaded.scores(asked), victim.scores(asked))
    assert "movie" in loaded.capabilities.vocabulary
    assert "gnu" not in loaded.capabilities.vocabulary
    (tmp_path / "v" / "merged_words.json").write_text('{"groups": []}')
    with pytest.raises(ValueError, match="checksum"):
        load_victim(tmp_path / "v")


@needs_torch
def test_gradients_pass_through_the_encoder():
    import torch

    from discotext.victims.neural.networks import Shape, WordNetwork
    from discotext.victims.neural.victim import NeuralVictim, Vocabulary

    torch.manual_seed(0)
    words = ["good", "fine", "nice", "film", "movie"]
    network = WordNetwork(Shape("dan", 2, 6, hidden=5))
    inner = NeuralVictim(network, Vocabulary(words), torch.randn(6, 6), ("0", "1"))
    victim = Encoded(inner, MergedWords({"good": "good", "fine": "good"}))
    space = Space((split("good film"),), ((("good", "fine", "nice"), ("film", "movie")),), (2,))
    oracle = victim.oracle(space, Untargeted([0]))
    alpha = np.array([0.2, 0.3, 0.5, 0.6, 0.4])
    value, gradient = oracle.relaxed(np.array([0]), alpha)
    assert gradient[0] == pytest.approx(gradient[1])  # read as the same word
    step = 1e-3
    for at in range(5):
        moved = [oracle.relaxed(np.array([0]), alpha + sign * step * np.eye(5)[at])[0][0] for sign in (1, -1)]
        assert gradient[at] == pytest.approx((moved[0] - moved[1]) / (2 * step), abs=5e-3)
    assert math.isfinite(value[0])


def test_merged_words_that_cannot_be_read_back_are_refused_when_they_are_made_or_saved(tmp_path):
    with pytest.raises(ValueError, match="'a'"):
        MergedWords({"a": "b", "b": "c"})
    inner = FunctionVictim(lambda texts: [[1.0, 0.0] for _ in texts])
    merged = MergedWords({"film": "film", "movie": "film"})
    with pytest.raises(ValueError, match="another"):
        Encoded(Encoded(inner, merged), merged).save(tmp_path / "v")
    with pytest.raises(TypeError, match="Victim"):
        Encoded(lambda texts: [[1.0, 0.0] for _ in texts], merged)
    with pytest.raises(TypeError, match="dict"):
        Encoded(inner, {"movie": "film"})
