"""Correcting plain text: candidates, the channel, what is left alone, and the command."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from discotext.cli import cli
from discotext.decoding.changes import Sentences, score_changes
from discotext.decoding.channel import WEIGHTS, align, are_variants, describe_edits, sound_out
from discotext.decoding.confusions import read_confusions
from discotext.decoding.corrector import MARGIN, Corrector
from discotext.decoding.index import DeletionIndex
from discotext.decoding.passages import find_protected
from discotext.decoding.spelling import Speller
from discotext.decoding.text import make_passages
from discotext.language.kneser_ney import train_kneser_ney
from discotext.text.words import split

TEXT = """\
i went to the cinema with my sister
my sister went to the cinema with me
we saw a really good film about a brave dog
it was the best film that i have ever seen
i have to say that it is definitely good
sometimes the film was a little slow
the dog was sometimes really funny
she said that the letters were good
i receive a letter from my sister every week
they said it was the worst film of the week
"""
SENTENCES = [line.split() for line in TEXT.splitlines()] * 5
LETTERS = st.text(alphabet="abc", min_size=1, max_size=9)


@pytest.fixture(scope="module")
def model():
    return train_kneser_ney(SENTENCES, order=3, least=1)


@pytest.fixture(scope="module")
def corrector(model):
    # So small a model leaves little to words that it does not know, and knows few others.
    return Corrector([model])


def distance(a: str, b: str) -> int:
    """The edit distance with exchanged neighbours, by its definition; slow."""
    if not a or not b:
        return len(a) + len(b)
    found = [distance(a[1:], b) + 1, distance(a, b[1:]) + 1, distance(a[1:], b[1:]) + (a[0] != b[0])]
    if len(a) > 1 and len(b) > 1 and a[0] == b[1] and a[1] == b[0]:
        found.append(distance(a[2:], b[2:]) + 1)
    return min(found)


# --- candidates


@given(st.lists(LETTERS, max_size=12, unique=True), LETTERS, st.integers(1, 2))
@settings(max_examples=60, deadline=None)
def test_the_index_finds_what_a_comparison_with_every_word_finds(words, query, most):
    index = DeletionIndex(words, 2)
    short = [word for word in words if len(word) <= 6]  # the slow definition would take long
    index = DeletionIndex(short, 2)
    expected = {(word, distance(query[:6], word)) for word in short if 0 < distance(query[:6], word) <= most}
    assert {(index.words[number], edits) for number, edits in index.find(query[:6], most)} == expected


@given(st.text(alphabet="ab", min_size=8, max_size=12), st.integers(0, 11), st.sampled_from("abc"))
def test_the_index_finds_edits_behind_the_letters_it_looks_at(word, place, letter):
    index = DeletionIndex([word], 1)
    for typed in (word[:place] + letter + word[place:], word[:place] + word[place + 1 :]):
        found = [number for number, _ in index.find(typed)]
        assert found == ([] if typed == word else [0])


def test_words_of_any_length_and_no_words():
    assert DeletionIndex([]).find("word") == []
    assert DeletionIndex(["a" * 50, ""]).find("a" * 50) == []
    assert DeletionIndex(["word"]).find("") == []
    with pytest.raises(ValueError, match="choose 1 or 2"):
        DeletionIndex(["word"], 3)


@given(LETTERS.filter(lambda one: len(one) < 7), LETTERS.filter(lambda one: len(one) < 7))
@settings(max_examples=60, deadline=None)
def test_an_alignment_has_as_many_edits_as_the_distance(typed, meant):
    assert len(align(typed, meant)) == distance(typed, meant)


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


def test_words_that_sound_alike_share_a_key():
    pairs = [("frount", "front"), ("kild", "killed"), ("fone", "phone"), ("rite", "write"), ("nife", "knife")]
    assert all(sound_out(a) == sound_out(b) for a, b in pairs)
    assert sound_out("dog") != sound_out("cat")


def test_british_and_american_spellings_are_one_word():
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


# --- the language model on changes


@given(st.integers(1, 4), st.data())
@settings(max_examples=40, deadline=None)
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


# --- what is left alone


@pytest.mark.parametrize(
    "text",
    [
        "http://siter.com/realy",
        "www.siter.org",
        "me@siter.org",
        "`siter realy`",
        "siter_realy",
        "siter.py",
        "siter(realy)",
        "x=siter",
        "#siter",
        "SITER",
        "siTer",
        "siter2",
        "well-siter",
        "C:\\siter",
        "realy/siter",
    ],
)
def test_addresses_code_capitals_and_numbers_are_left_alone(text, corrector):
    whole = f"my sister said {text} to the dog"
    words = split(whole)
    protected = find_protected(words)
    assert not any(protected[:3])
    assert not any(protected[-3:])
    assert all(protected[3:-3])
    assert corrector.correct(whole).text == whole


@pytest.mark.parametrize("text", ["isn #39;t", "isn&#39;t", "isn&apos;t"])
def test_the_halves_of_a_word_that_an_entity_cuts_are_left_alone(text):
    assert find_protected(split(f"it {text} good")) == [False, True, True, False]


@pytest.mark.parametrize("text", ["(siter)", "siter,", '"siter"', "siter.", "“siter”", "siter…"])
def test_punctuation_around_a_word_does_not_protect_it(text):
    assert find_protected(split(f"my {text} said")) == [False, False, False]


# --- correcting


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I went with my siter to the cinama.", "I went with my sister to the cinema."),
        ("I  recieve\ta letter -- from my sister!", "I  receive\ta letter -- from my sister!"),
        ("I haveto say that it is good", "I have to say that it is good"),
        ("Definitly good.", "Definitely good."),
        ("my sister Siter went to the cinema", "my sister Siter went to the cinema"),  # a name
        ("", ""),
        ("\n", "\n"),
        ("?!", "?!"),
    ],
)
def test_texts_are_corrected_and_the_rest_stays(before, after, model):
    assert Corrector([model], margin=0.0).correct(before).text == after


@given(st.lists(st.sampled_from(["siter ", "Realy", " the", "film", ", ", "\n", "dog ", "haveto", "<br />", "é"])))
@settings(max_examples=40, deadline=None)
def test_only_the_changes_differ_from_the_original(model, pieces):
    text = "".join(pieces)
    found = Corrector([model], margin=-5.0).correct(text)
    rebuilt, at = "", 0
    for change in found.changes:
        assert text[change.start : change.end] == change.old
        rebuilt += text[at : change.start] + change.new
        at = change.end
    assert rebuilt + text[at:] == found.text
    assert found.original == text
    assert found.score >= found.original_score - 1e-9
    assert found.proved


def test_a_text_does_not_depend_on_the_others(corrector):
    texts = ["my siter went to the cinema", "the dog was realy funny", "a good film", ""] * 3
    assert list(corrector.correct_all(texts)) == [corrector.correct(text) for text in texts]


def test_leaving_out_hopeless_candidates_changes_nothing(model):
    speller = Speller(model)
    texts = [split("my siter whent to the cinama"), split("it was teh worst flim of the weak")]
    from discotext.decoding.network import make_batch
    from discotext.decoding.oracle import make_oracle
    from discotext.search.loop import solve
    from discotext.solvers import Viterbi

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


def test_margin_and_budget_limit_the_changes(model):
    text = "my siter whent to the cinama with me"
    assert len(Corrector([model], margin=0.0).correct(text).changes) == 3
    assert Corrector([model], margin=1e6).correct(text).text == text
    assert len(Corrector([model], margin=0.0, words=1).correct(text).changes) == 1
    assert len(Corrector([model], margin=0.0, budget=0.25).correct(text).changes) == 2
    assert Corrector([model], margin=0.0, words=0).correct(text).text == text


def test_changes_are_explained(model):
    (change,) = Corrector([model], margin=0.0).correct("my siter went to the cinema").changes
    assert (change.old, change.new, change.start, change.end) == ("siter", "sister", 3, 8)
    assert change.margin > 0
    assert all(score <= 0 for _, score in change.alternatives)


def test_right_texts_are_not_changed(corrector):
    assert corrector.correct(TEXT).changes == ()


def test_spelling_needs_a_vocabulary():
    with pytest.raises(ValueError, match="spelling needs an n-gram model"):
        Corrector([])
    with pytest.raises(ValueError, match="choose 0 or more"):
        Corrector([train_kneser_ney(SENTENCES)], words=-1)


# --- confusion tables


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
    ("line", "message"),
    [
        ("teh the", "line 2: 'teh the' is neither"),
        ("a\tb\tc\td", "line 2: there are 4 fields"),
        ("a\tb\tmany", "line 2: the count is 'many'"),
        ("a\tb\t-1", "line 2: the count is -1"),
        ("a\tb\tnan", "line 2: the count is nan"),
    ],
)
def test_a_wrong_line_of_a_table_is_refused(line, message, tmp_path):
    path = tmp_path / "table.txt"
    path.write_text(f"teh\tthe\n{line}\n")
    with pytest.raises(ValueError, match=message):
        read_confusions([path])


def test_a_table_offers_what_edits_do_not_reach(model):
    assert Speller(model).suggest("qqxzz") == ()
    (found,) = Speller(model, confusions={"qqxzz": {"worst": 1.0}}).suggest("qqxzz")
    assert found.text == "worst"
    plain = Speller(model).suggest("siter")[0]
    taught = Speller(model, confusions={"siter": {"sister": 1.0}}).suggest("siter")[0]
    assert taught.text == plain.text == "sister"
    assert taught.score > plain.score


# --- the command


@pytest.fixture
def lm(tmp_path, model):
    model.write(tmp_path / "small.lm")
    return str(tmp_path / "small.lm")


def run(*arguments, **more):
    return CliRunner().invoke(cli, ["decode", *arguments, "--source", "spelling", "--margin", "0"], **more)


BEFORE = "My siter went to the cinema.\n\nA good film\r\nI recieve a letter from my sister every week"
AFTER = "My sister went to the cinema.\n\nA good film\r\nI receive a letter from my sister every week"


def test_the_command_corrects_a_text_a_file_and_standard_input(lm, tmp_path):
    assert run("my siter went to the cinema", "--lm", lm).stdout == "my sister went to the cinema\n"
    (tmp_path / "essay.txt").write_bytes(BEFORE.encode())
    assert run(str(tmp_path / "essay.txt"), "--lm", lm).stdout_bytes == AFTER.encode()
    done = run("-", "--lm", lm, input=BEFORE)
    assert done.stdout_bytes == AFTER.encode()
    assert "2 changed" in done.stderr


def test_the_command_tells_changes_as_json_diff_and_explanation(lm):
    done = run("-", "--lm", lm, "--json", input=BEFORE)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["id"] for line in lines] == ["1", "2", "3", "4"]
    assert "".join(line["text"] for line in lines) == AFTER
    assert lines[0]["changes"][0]["new"] == "sister"
    assert {"words", "score", "original_score", "status", "nbest"} <= lines[0].keys()
    assert run("-", "--lm", lm, "--diff", input=BEFORE).stdout.splitlines() == [
        "1: My [-siter-]{+sister+} went to the cinema.",
        "4: I [-recieve-]{+receive+} a letter from my sister every week",
    ]
    assert "siter → sister  +" in run("-", "--lm", lm, "--explain", input=BEFORE).stdout


def test_an_interrupted_file_is_continued_and_ends_the_same(lm, tmp_path, monkeypatch):
    monkeypatch.setattr("discotext.cli.spelling.LINES_PER_SAVE", 2)
    monkeypatch.setattr("discotext.decoding.corrector.WORDS_AT_ONCE", 1)
    essay, out = tmp_path / "essay.txt", tmp_path / "out.txt"
    essay.write_text((BEFORE + "\n") * 5)
    whole = run(str(essay), "--lm", lm).stdout_bytes
    from discotext.decoding import corrector

    usual, calls = corrector.make_passages, []

    def fail(*given):
        calls.append(1)
        if len(calls) > 9:
            raise RuntimeError("the power went off")
        return usual(*given)

    monkeypatch.setattr(corrector, "make_passages", fail)
    broken = run(str(essay), "--lm", lm, "--out", str(out))
    assert broken.exit_code == 1
    assert (tmp_path / "out.txt.progress").exists()
    monkeypatch.setattr(corrector, "make_passages", usual)
    other = CliRunner().invoke(cli, ["decode", str(essay), "--source", "spelling", "--lm", lm, "--out", str(out)])
    assert other.exit_code == 1
    assert "other settings" in other.stderr
    done = run(str(essay), "--lm", lm, "--out", str(out))
    assert done.exit_code == 0, done.stderr
    assert out.read_bytes() == whole
    assert not (tmp_path / "out.txt.progress").exists()
    again = run(str(essay), "--lm", lm, "--out", str(out))
    assert again.exit_code == 1
    assert "already exists" in again.stderr


def test_the_command_compares_with_the_truth(lm, tmp_path):
    (tmp_path / "truth.txt").write_text("my sister went to the cinema\n")
    truth = ["--truth", str(tmp_path / "truth.txt")]
    shown = run("my siter went to the cinema", "--lm", lm, *truth).stdout
    assert "word error rate      0.00 %" in shown
    last = json.loads(run("my siter went to the cinema", "--lm", lm, *truth, "--json").stdout.splitlines()[-1])
    assert last["wer"] == 0
    assert last["wer_original"] == pytest.approx(1 / 6)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["a text"], 2, "needs a language model"),
        (["nowhere.txt", "--lm", "LM"], 1, "there is no file 'nowhere.txt'"),
        (["a text", "--lm", "nowhere"], 1, "there is no language model"),
        (["a text", "--lm", "LM", "--nbest", "3"], 2, "--nbest is for networks"),
        (["a text", "--lm", "LM", "--diff", "--json"], 2, "two forms"),
        (["a text", "--lm", "LM", "--budget", "0.1", "--words", "2"], 2, "give one of them"),
    ],
)
def test_mistakes_end_in_one_sentence(arguments, status, message, lm):
    done = run(*[lm if one == "LM" else one for one in arguments])
    assert done.exit_code == status, done.output
    assert message in done.stderr


def test_the_command_has_the_margin_of_the_library():
    (margin,) = [one for one in cli.get_command(None, "decode").params if one.name == "margin"]
    assert margin.default == MARGIN


def test_spelling_needs_no_torch(lm):
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from discotext.decoding import Corrector\n"
        "from discotext.language import load_language_model\n"
        f"print(Corrector([load_language_model({lm!r})], margin=0.0).correct('my siter went to the cinema').text)"
    )
    import discotext

    where = str(Path(discotext.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": where},
    )
    assert done.stdout.strip() == "my sister went to the cinema", done.stderr


def test_a_real_model_corrects_and_keeps_right_text():
    pytest.importorskip("pocketsphinx", reason="needs the package pocketsphinx")
    from discotext.language.sphinx import load_pocketsphinx

    corrector = Corrector([load_pocketsphinx()])
    wrong = "I beleive the goverment will recieve the letter."
    assert corrector.correct(wrong).text == "I believe the government will receive the letter."
    # Mistakes so common that the model has seen them.
    assert corrector.correct("My freind will recieve alot of letters.").text == (
        "My friend will receive a lot of letters."
    )
    assert corrector.correct("the goverment has spoken").text == "the government has spoken"
    assert corrector.correct("he hath a blog, a website and an ipod").text == "he hath a blog, a website and an ipod"
    right = "Thirty-two people in Dunfermline, including Mr Okonkwo, said that the colour of the theatre was fine."
    assert corrector.correct(right).text == right
