"""Taggers assign one tag per word, distinguish nouns from verbs, and report what is not installed."""

import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext.text import tagging
from discotext.text.tagging import PENN_TAGS, LightTagger, extract_features, mix_hashes, remove_markup
from discotext.text.words import Words, split


def tags(text: str) -> list[str]:
    return tags_of(split(text))


def tags_of(text: Words) -> list[str]:
    return LightTagger().tag([text])[0]


PIECES = ["The", "film", "can", "<br />", "#39;", "U.S.", "well-made", "don't", "1999", ". ", "!", "é"]
texts = st.text(max_size=80) | st.lists(st.sampled_from(PIECES)).map(" ".join)


@given(st.lists(texts, max_size=4))
def test_every_word_of_any_text_has_one_tag_whatever_the_other_texts_are(some):
    words = [split(text) for text in some]
    found = LightTagger().tag(words)
    assert [len(one) for one in found] == [len(text) for text in words]
    assert {tag for one in found for tag in one} <= set(PENN_TAGS)
    assert found == [tags_of(text) for text in words]


def test_tags_do_not_depend_on_the_chunks(monkeypatch):
    words = [split(f"It has {number} good films. They open the can!") for number in range(9)]
    whole = LightTagger().tag(words)
    monkeypatch.setattr(tagging, "WORDS_PER_CHUNK", 20)
    assert LightTagger().tag(words) == whole


def test_no_text_and_no_words_have_no_tags():
    assert LightTagger().tag([]) == []
    assert LightTagger().tag([split(""), split(" ... <br />")]) == [[], []]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I can open the can.", "PRP MD VB DT NN"),
        ("He left the left bank.", "PRP VBD DT JJ NN"),
        ("he left the left bank", "PRP VBD DT JJ NN"),
        ("They were watching two beautiful old films.", "PRP VBD VBG CD JJ JJ NNS"),
        ("She doesn't like it.", "PRP VBZ VB PRP"),
        ("The acting was really bad, but I liked the music.", "DT NN VBD RB JJ CC PRP VBD DT NN"),
        ("It #39;s a good film.", "PRP VBZ DT JJ NN"),
    ],
)
def test_known_sentences(text, expected):
    assert tags(text) == expected.split()


def test_names_are_recognised_and_a_capital_at_the_start_is_not_a_name():
    found = tags("Yesterday I saw Tom Hanks in London.")
    assert (found[3:5], found[-1]) == (["NNP", "NNP"], "NNP")
    assert tags("Films are fun.")[0] == "NNS"


def test_markup_changes_no_tag():
    assert tags("A fine film.<br /><br />I liked it.") == tags("A fine film. I liked it.")
    assert tags("A &quot;fine&quot; film") == tags('A "fine" film')


@given(texts)
def test_a_text_without_markup_has_the_same_words(text):
    assert remove_markup(split(text)).words == split(text).words


@pytest.mark.parametrize("mark", [".", "_", " ", "lt;", "<", "\n", ".)", "&amp;", "'"])
def test_tagging_takes_linear_time(mark):
    def measure(size):
        """The best of three, in seconds of the processor, after the text has been split."""
        text = split("A film" + "<br />" + mark * size + " ends")
        best = float("inf")
        for _ in range(3):
            began = time.process_time()
            assert len(tags_of(text)) == len(text)
            best = min(best, time.process_time() - began)
        return best

    # Eight times as long a text takes about eight times as long; what grows with the square takes 64 times as long.
    assert measure(80_000) < 24 * max(measure(10_000), 0.002)


def test_sentences_end_at_full_stops_and_not_after_a_title():
    assert extract_features([split("It ends. Mr. Brown left! Yes")]).sizes.tolist() == [2, 3, 1]


def test_the_features_are_the_same_on_every_machine():
    assert mix_hashes(1, [2, 3]).tolist() == [1929782464, 3570327682]
    keys = extract_features([split("A film")]).keys
    assert keys[:, :2].tolist() == [[4200383465, 948774926], [1689472741, 2943674564]]


def test_the_weights_load_on_first_use():
    code = (
        "import sys, discotext.text.tagging as t\n"
        "assert 'safetensors' not in sys.modules\n"
        "from discotext.text.words import split\n"
        "print(t.LightTagger().tag([split('a film')]))\n"
        "assert not {'spacy', 'torch'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[['DT', 'NN']]"
