"""Candidates for words: the index, the channel's features, and tables of confusions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext.decoding.channel import WEIGHTS, align, are_variants, describe_edits, sound_out
from discotext.decoding.speller import Speller, WordIndex, read_confusions
from discotext.models.arpa import read_arpa
from tests.decoding.small_models import distance

LETTERS = st.text(alphabet="abc", min_size=1, max_size=9)


@given(st.lists(LETTERS, max_size=12, unique=True), LETTERS, st.integers(1, 2))
def test_the_index_finds_what_a_comparison_with_every_word_finds(words, query, most):
    short = [word for word in words if len(word) <= 6]  # the slow definition would take long
    index = WordIndex(short)
    edits = {word: distance(query[:6], word, swaps=True) for word in short}
    expected = {(word, count) for word, count in edits.items() if 0 < count <= most}
    assert {(index.words[number], edits) for number, edits in index.find(query[:6], most)} == expected


@given(st.text(alphabet="ab", min_size=8, max_size=12), st.integers(0, 11), st.sampled_from("abc"))
def test_the_index_finds_edits_behind_the_letters_it_looks_at(word, place, letter):
    index = WordIndex([word])
    for typed in (word[:place] + letter + word[place:], word[:place] + word[place + 1 :]):
        found = [number for number, _ in index.find(typed, 1)]
        assert found == ([] if typed == word else [0])


def test_words_of_any_length_and_no_words():
    assert WordIndex([]).find("word", 2) == []
    assert WordIndex(["a" * 50, "a" * 31]).find("a" * 50, 2) == []
    assert WordIndex(["word"]).find("", 2) == []


@given(LETTERS.filter(lambda one: len(one) < 7), LETTERS.filter(lambda one: len(one) < 7))
def test_an_alignment_has_as_many_edits_as_the_distance(typed, meant):
    assert len(align(typed, meant)) == distance(typed, meant, swaps=True)


@pytest.mark.parametrize(
    ("typed", "meant", "feature"),
    [
        ("recieve", "receive", "swap"),
        ("untill", "until", "extra-double"),
        ("comited", "committed", "missing-double"),
        ("dont", "don't", "apostrophe"),
        ("haveto", "have to", "spaces"),
        ("nock", "knock", "first"),
        ("hapoi", "happy", "several"),
        ("walk", "walks", "inflected"),
        ("wach", "watch", "sounds"),
        ("gppd", "good", "keyboard"),
    ],
)
def test_what_the_channel_sees(typed, meant, feature):
    assert describe_edits(typed, meant)[feature] >= 1
    assert describe_edits(typed, meant).keys() <= {*WEIGHTS, "edits"}


def test_words_that_sound_alike_share_a_key_and_british_and_american_spellings_are_one_word():
    pairs = [("frount", "front"), ("kild", "killed"), ("fone", "phone"), ("rite", "write"), ("nife", "knife")]
    assert all(sound_out(a) == sound_out(b) for a, b in pairs)
    assert sound_out("dog") != sound_out("cat")
    assert are_variants("colour", "color")
    assert are_variants("theatre", "theater")
    assert not are_variants("seem", "seen")


def test_candidates_of_unknown_and_known_words(model):
    speller = Speller(model)
    assert speller.suggest("siter")[0].text == "sister"
    assert "have to" in {one.text for one in speller.suggest("haveto")}
    assert speller.join("some", "times").text == "sometimes"
    assert speller.join("the", "dog") is None
    assert speller.suggest("xx") == ()  # too short to guess
    assert speller.suggest("12a4") == ()


def test_confusion_tables_are_read_in_both_forms(tmp_path):
    path = tmp_path / "table.txt"
    path.write_text("# a comment\n\nteh\tthe\t3\nteh\tten\t1\nrecieve->receive\nabd->and, bad,\nsame\tsame\n")
    found = read_confusions([path])
    assert found == {
        "teh": {"the": 0.75, "ten": 0.25},
        "recieve": {"receive": 1.0},
        "abd": {"and": 0.5, "bad": 0.5},
    }


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("teh the", "'teh the'"),
        ("a\tb\tc\td", "c.*d'"),
        ("a\tb\tmany", "many'"),
        ("a\tb\t-1", "-1"),
        ("a\tb\tnan", "nan"),
    ],
)
def test_a_wrong_line_of_a_table_is_refused(line, value, tmp_path):
    path = tmp_path / "table.txt"
    path.write_text(f"teh\tthe\n{line}\n")
    with pytest.raises(ValueError, match=f"line 2: .*{value}"):
        read_confusions([path])


def test_a_table_offers_what_edits_do_not_reach(model):
    assert Speller(model).suggest("qqxzz") == ()
    (found,) = Speller(model, confusions={"qqxzz": {"worst": 1.0}}).suggest("qqxzz")
    assert found.text == "worst"
    plain = Speller(model).suggest("siter")[0]
    taught = Speller(model, confusions={"siter": {"sister": 1.0}}).suggest("siter")[0]
    assert taught.text == plain.text == "sister"
    assert taught.score > plain.score


@pytest.mark.parametrize(
    ("word", "meant", "kind"),
    [
        ("goverment", "government", "unknown"),
        ("alot", "a lot", "unknown"),
        ("websiet", "website", "model-only"),  # seldom, but so is what it may stand for
        ("hath", "have", "model-only"),  # another letter may make another word
    ],
)
def test_mistakes_so_common_that_the_model_has_seen_them_are_known_as_such(word, meant, kind, tmp_path):
    logs = {"goverment": -5, "government": -2, "alot": -5, "a": -1, "lot": -2, "websiet": -5, "website": -4.5}
    logs |= {"hath": -5, "have": -1.5, "<s>": -9, "</s>": -1}
    rows = "".join(f"{log}\t{name}\n" for name, log in logs.items())
    (tmp_path / "one.arpa").write_text(f"\\data\\\nngram 1={len(logs)}\n\n\\1-grams:\n{rows}\n\\end\\\n")
    found = {one.text: one.features for one in Speller(read_arpa(tmp_path / "one.arpa")).suggest(word)}
    assert kind in found[meant]
