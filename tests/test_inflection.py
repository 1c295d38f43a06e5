"""Replacements take the form of the word they replace."""

import pytest

from discotext.text.embedded import embedded_vectors
from discotext.text.inflection import PARTS, agreeing, forms, lemma, lemmas


@pytest.mark.parametrize(
    ("candidate", "tag", "form"),
    [
        ("like", "VBD", "liked"),
        ("rodent", "NNS", "rodents"),
        ("child", "NNS", "children"),
        ("good", "JJR", "better"),
        ("films", "NN", "film"),
        ("ran", "VBG", "running"),
        ("data", "NNS", "data"),
        ("beautiful", "JJR", None),
        ("of", "NN", None),
        ("movie", "DT", None),
        ("", "NN", None),
    ],
)
def test_a_candidate_takes_the_form_a_tag_asks_for(candidate, tag, form):
    assert agreeing(candidate, tag) == form


def test_the_form_is_reached_from_every_form():
    for tag in ("VB", "VBD", "VBG", "VBN", "VBZ"):
        for form in ("take", "took", "taking", "taken", "takes"):
            assert agreeing(form, tag) == forms("take", tag)[0]


def test_agreeing_is_idempotent_and_a_lemma_is_its_own_lemma():
    for word in embedded_vectors().words[::50]:
        for tag, part in PARTS.items():
            form = agreeing(word, tag)
            if form is not None:
                assert agreeing(form, tag) == form
            if lemmas(word, part):
                assert lemma(lemma(word, tag), tag) in (lemma(word, tag), *lemmas(lemma(word, tag), part))


def test_unknown_words_and_tags_are_left_alone():
    assert lemma("frobnicated", "VBD") == "frobnicated"
    assert lemma("Paris", "NNP") == "Paris"
