"""Replacements take the form of the word they replace."""

import pytest

from discotext.text.inflection import PARTS, find_lemmas, inflect, lemmatise, match_inflection
from discotext.text.vectors import load_packaged_vectors


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
        ("Paris", "NNP", None),
    ],
)
def test_a_candidate_takes_the_form_of_a_tag(candidate, tag, form):
    assert match_inflection(candidate, tag) == form
    assert tag in PARTS or lemmatise(candidate, tag) == candidate


def test_the_form_is_reached_from_every_form():
    for tag in ("VB", "VBD", "VBG", "VBN", "VBZ"):
        for form in ("take", "took", "taking", "taken", "takes"):
            assert match_inflection(form, tag) == inflect("take", tag)[0]


def test_matching_is_idempotent_and_a_lemma_is_its_own_lemma():
    for word in load_packaged_vectors().words[::50]:
        for tag, part in PARTS.items():
            form = match_inflection(word, tag)
            if form is not None:
                assert match_inflection(form, tag) == form
            if find_lemmas(word, part):
                base = lemmatise(word, tag)
                assert lemmatise(base, tag) in (base, *find_lemmas(base, part))
