"""Which words of a text are looked at, and with which candidates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext import solve
from discotext.decoding.network import make_batch
from discotext.decoding.oracle import make_oracle
from discotext.decoding.passages import (
    CodeBlocks,
    Sentences,
    cut_sentences,
    find_protected,
    make_passages,
    score_changes,
)
from discotext.decoding.paths import Viterbi
from discotext.decoding.speller import Speller
from discotext.models.kneser_ney import train_kneser_ney
from discotext.text.words import split
from tests.decoding.small_models import SENTENCES

# Documents, with the words that are corrected as REALY, and those in code as realy.
DOCUMENTS = [
    "it was REALY good\n```\nrealy good\n```\nit was REALY good\n",
    "it was REALY good\n~~~ realy\nrealy good\n```\nrealy good\n~~~~\nit was REALY good\n",
    "it was REALY good\n\n    realy good\n\n\trealy good\nit was REALY good\n",
    "it was REALY good\n    it was REALY good\n",  # goes on with a paragraph
    "- it was REALY good\n  ```py\n  realy good\n  ```\n- it was REALY good",
    "it was REALY good\n````\n```\nrealy good\n",  # not closed
    "```realy``` was REALY good\nit was REALY good\n",
]


@given(st.integers(1, 4), st.data())
def test_the_gain_of_a_change_is_the_difference_of_whole_sentences(order, data):
    model = train_kneser_ney(SENTENCES[:10], order=order, least=1)
    word = st.sampled_from(["the", "dog", "film", "zebra", "a"])
    sentences = data.draw(st.lists(st.lists(word, min_size=1, max_size=6), min_size=1, max_size=3))
    number = data.draw(st.integers(0, len(sentences) - 1))
    start = data.draw(st.integers(0, len(sentences[number]) - 1))
    length = data.draw(st.integers(1, len(sentences[number]) - start))
    new = data.draw(st.lists(word, min_size=1, max_size=3))
    padded = Sentences.of(model, sentences)
    place = np.array([padded.starts[number] + start])
    gain = score_changes(model, padded, place, np.array([length]), [model.ids(new).tolist()])
    changed = sentences[number][:start] + new + sentences[number][start + length :]
    before, after = model.score_words([sentences[number], changed])
    assert gain[0] == pytest.approx(after - before, abs=1e-6)


SPECIAL = """siTer siter2 well-siter realy/siter siter.py www.siter.org me@siter.org http://siter.com/realy
siter_realy siter(realy) x=siter #siter SITER rea\u00adly realy\u00ad \u00adrealy rea\u200bly realy\u2060"""


@pytest.mark.parametrize("text", [*SPECIAL.split(), "C:\\siter", "`a siter`"])
def test_addresses_code_capitals_numbers_and_words_with_invisible_characters_are_left_alone(text, corrector):
    whole = f"my sister said {text} to the dog"
    protected = find_protected(split(whole))
    assert (any(protected[:3] + protected[-3:]), all(protected[3:-3])) == (False, True)
    assert corrector.correct(whole).text == whole


def test_the_halves_of_a_word_that_an_entity_cuts_are_left_alone_and_not_what_has_punctuation_around_it():
    for text in ("isn #39;t", "isn&#39;t", "isn&apos;t"):
        assert find_protected(split(f"it {text} good")) == [False, True, True, False]
    for text in ("(siter)", "siter,", '"siter"', "siter.", "“siter”", "siter…"):
        assert find_protected(split(f"my {text} said")) == [False, False, False]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_code_is_left_alone_in_whole_texts_and_in_their_lines(document, corrector):
    given, expected = document.replace("REALY", "realy"), document.replace("REALY", "really")
    assert corrector.correct(given).text == expected
    lines = given.splitlines(keepends=True)
    assert "".join(one.text for one in corrector.correct_all(lines, CodeBlocks())) == expected
    whole = CodeBlocks().read(document)
    inside = [any(start <= at < end for start, end in whole) for at in range(len(document))]
    blocks, at = CodeBlocks(), 0
    for line in document.splitlines(keepends=True):
        found = blocks.read(line)
        assert found == ([(0, len(line))] if inside[at] else [])
        at += len(line)


@pytest.mark.parametrize("sign", ["'", "’", "ʼ"])
def test_a_correction_has_the_apostrophe_of_the_original(sign, corrector):
    assert corrector.correct(f"my siter{sign}s letter was good").text == f"my sister{sign}s letter was good"


def test_long_sentences_are_cut_and_corrected_as_short_ones_are(corrector):
    assert cut_sentences([(0, 450)], 200) == [(0, 150), (150, 300), (300, 450)]
    assert cut_sentences([(0, 200), (200, 201)], 200) == [(0, 200), (200, 201)]
    found = corrector.correct("the dog was realy funny " * 200)
    assert found.text == "the dog was really funny " * 200


def test_leaving_out_hopeless_candidates_changes_nothing(model):
    speller = Speller(model)
    texts = [split("my siter whent to the cinama"), split("it was teh worst flim of the weak")]
    found = []
    for slack in (4.0, 30.0):
        networks = [passage.network for passage in make_passages(texts, speller, 2.2, slack)]
        batch = make_batch(networks, [len(network) for network in networks])
        solved = solve(batch, make_oracle(networks, batch, [model]), Viterbi())
        found.append([network.text(one.choice) for network, one in zip(networks, solved, strict=True)])
    assert found[0] == found[1]


def test_words_that_may_be_joined_share_a_position(model):
    (passage,) = make_passages([split("the film was some times slow")], Speller(model), 0.0, 50.0)
    (place,) = [number for number, row in enumerate(passage.network.positions) if row[0].word == "some times"]
    assert "sometimes" in {one.word for one in passage.network.positions[place]}
    assert passage.words[place + 1] - passage.words[place] == 2
