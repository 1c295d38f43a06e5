"""Correcting plain text: what is changed, what stays, and by how much."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discotext
from discotext.decoding import Corrector
from discotext.models import train_kneser_ney
from tests.decoding.small_models import SENTENCES, TEXT


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
def test_texts_are_corrected_and_the_rest_stays(before, after, corrector):
    assert corrector.correct(before).text == after


@given(st.lists(st.sampled_from(["siter ", "Realy", " the", "film", ", ", "\n", "dog ", "haveto", "<br />", "é"])))
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


def test_margin_and_budget_limit_the_changes(model):
    text = "my siter whent to the cinama with me"
    assert len(Corrector([model], margin=0.0).correct(text).changes) == 3
    assert Corrector([model], margin=1e6).correct(text).text == text
    assert len(Corrector([model], margin=0.0, words=1).correct(text).changes) == 1
    assert len(Corrector([model], margin=0.0, budget=0.25).correct(text).changes) == 2
    assert Corrector([model], margin=0.0, words=0).correct(text).text == text


def test_changes_are_explained(corrector):
    (change,) = corrector.correct("my siter went to the cinema").changes
    assert (change.old, change.new, change.start, change.end) == ("siter", "sister", 3, 8)
    assert change.margin > 0
    assert all(score <= 0 for _, score in change.alternatives)


def test_right_texts_are_not_changed(model):
    assert Corrector([model]).correct(TEXT).changes == ()


@pytest.mark.parametrize(("models", "words", "value"), [([], None, "none"), ([SENTENCES], -1, "-1")])
def test_wrong_settings_are_refused(models, words, value):
    with pytest.raises(ValueError, match=value):
        Corrector([train_kneser_ney(one) for one in models], words=words)


def test_spelling_needs_no_torch(tmp_path, model):
    lm = str(tmp_path / "small.lm")
    model.write(lm)
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from discotext.decoding import Corrector\n"
        "from discotext.models import load_language_model\n"
        f"print(Corrector([load_language_model({lm!r})], margin=0.0).correct('my siter went to the cinema').text)"
    )
    where = {**os.environ, "PYTHONPATH": str(Path(discotext.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=where)
    assert done.stdout.strip() == "my sister went to the cinema", done.stderr
